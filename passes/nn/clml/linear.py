"""Legalisation of matrix products, as fully connected layers or products of row-major matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects import clml, nn
from ....dialects.clml import Layout, Shape
from ....dialects.inferred import require
from ....dialects.nn import Array, shape_of
from .builder import CommandBuilder, require_constant, sizes_of


def is_bias(op: Operation, product: Operation) -> bool:
    """Return whether `op` adds a constant to a matrix product without broadcasting the product."""
    if not isinstance(op, nn.BinaryOp) or op.kind.data is not nn.BinaryKind.ADD:
        return False
    bias = op.b if op.a.owner is product else op.a
    if not isinstance(bias.owner, nn.ConstantOp):
        return False
    return op.result.type == product.results[0].type


def _matrix(value: SSAValue, transposed: bool) -> tuple[int, int]:
    """Return the rows and columns of an operand after its transposition."""
    *batch, rows, columns = shape_of(value)
    require(prod(batch) == 1, f"CLML multiplies two matrices, not batches of {prod(batch)}")
    return (columns, rows) if transposed else (rows, columns)


def fully_connected(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.matmul` of one row by constants, with its bias."""
    op = ops[0]
    assert isinstance(op, nn.MatmulOp)
    rows, k = _matrix(op.a, op.transpose_a is not None)
    _, n = _matrix(op.b, op.transpose_b is not None)
    require(rows == 1, f"a fully connected layer of CLML needs a batch of 1, not {rows}")
    require_constant(op.b)
    transpose = op.transpose_b is not None
    bias: SSAValue | None = None
    if len(ops) > 1:
        add = ops[1]
        assert isinstance(add, nn.BinaryOp)
        value = add.b if add.a is op.result else add.a

        def as_row(array: Array) -> Array:
            return np.broadcast_to(array.reshape(-1), (n,))

        whole = nn.count(shape_of(value)) == n
        bias = builder.weight(value, (1, n, 1, 1), transform=None if whole else as_row)
    x = builder.shaped(builder.read(op.a), (1, k, 1, 1))
    w = builder.weight(op.b, (1, 1, n, k) if transpose else (1, 1, k, n))
    result = builder.like(x, (1, n, 1, 1))
    y = builder.add(clml.FullyConnectedOp(x, w, bias, result, transpose=transpose))
    return builder.shaped(y, sizes_of(shape_of(ops[-1].results[0])))


def _gemm_sizes(op: nn.MatmulOp) -> tuple[Shape, Shape, Shape]:
    """Return the sizes that CLML expects of a, b and the product."""
    m, k = _matrix(op.a, op.transpose_a is not None)
    _, n = _matrix(op.b, op.transpose_b is not None)
    a: Shape = (m, k, 1, 1) if op.transpose_a is None else (k, m, 1, 1)
    b: Shape = (1, 1, k, n) if op.transpose_b is None else (1, 1, n, k)
    return a, b, (m, n, 1, 1)


def is_alone(ops: Sequence[Operation]) -> bool:
    """Return whether a product must be the only match of its graph.

    A matrix product has rows where other commands have the batch, which must be 1 for them. Since
    it reads and writes row-major memory, a graph of its own costs no copies.
    """
    op = ops[0]
    assert isinstance(op, nn.MatmulOp)
    a, b, result = _gemm_sizes(op)
    return any(
        sizes_of(shape_of(value)) != sizes
        for value, sizes in ((op.a, a), (op.b, b), (op.result, result))
        if not isinstance(value.owner, nn.ConstantOp)
    )


def gemm(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.matmul` of two matrices."""
    (op,) = ops
    assert isinstance(op, nn.MatmulOp)
    sizes_a, sizes_b, result = _gemm_sizes(op)
    m, k = _matrix(op.a, op.transpose_a is not None)
    require(op.a is not op.b, "CLML requires two different tensors, but both operands are the same")
    a, b = (
        builder.weight(value, sizes, Layout.NCHW)
        if isinstance(value.owner, nn.ConstantOp)
        else builder.read(value, Layout.NCHW, sizes)
        for value, sizes in ((op.a, sizes_a), (op.b, sizes_b))
    )
    return builder.add(
        clml.GemmOp(
            a,
            b,
            builder.like(a, result),
            m=m,
            n=result[1],
            k=k,
            transpose_a=op.transpose_a is not None,
            transpose_b=op.transpose_b is not None,
        )
    )
