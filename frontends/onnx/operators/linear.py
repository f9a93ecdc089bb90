"""Matrix products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of
from ...builder import Builder
from ..node import NodeContext, Table


def matmul(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Multiply as numpy.matmul: vectors are matrices of one row or column, which is dropped."""
    rows, columns = len(shape_of(a)) == 1, len(shape_of(b)) == 1
    left = builder.reshape(a, (1, *shape_of(a))) if rows else a
    right = builder.reshape(b, (*shape_of(b), 1)) if columns else b
    product = builder.matmul(left, right)
    shape = list(shape_of(product))
    if columns:
        del shape[-1]
    if rows:
        del shape[-1 if columns else -2]
    return builder.reshape(product, shape)


def import_matmul(node: NodeContext) -> SSAValue:
    """Import MatMul."""
    if node.rank(0) == 0 or node.rank(1) == 0:
        node.refuse("its inputs must not be scalars.")
    return matmul(node.builder, node.input(0), node.input(1))


def import_gemm(node: NodeContext) -> SSAValue:
    """Import Gemm: alpha A B + beta C."""
    builder, c = node.builder, node.optional(2)
    if node.rank(0) != 2 or node.rank(1) != 2:
        node.refuse("its inputs must be two matrices.")
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)
    result = builder.matmul(node.input(0), node.input(1), node.flag("transA"), node.flag("transB"))
    if alpha != 1.0:
        result = builder.binary("mul", result, alpha)
    if c is None or beta == 0.0:
        return result
    if beta != 1.0:
        c = builder.binary("mul", c, beta)
    shape = shape_of(result)
    result = builder.binary("add", result, c)
    if shape_of(result) != shape:
        node.refuse(f"C of shape {list(shape_of(c))} does not broadcast to {list(shape)}.")
    return result


def import_gemm_6(node: NodeContext) -> SSAValue:
    """Import Gemm of opset 6, whose C broadcasts only if `broadcast` is set.

    The attribute is not needed: C is broadcast to the result either way.
    """
    node.flag("broadcast")
    return import_gemm(node)


TABLE: Table = {
    "Gemm": {6: import_gemm_6, 7: import_gemm},
    "MatMul": {1: import_matmul},
}
