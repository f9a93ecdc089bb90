"""Lowering of matmul: a reduction over K, batch dimensions broadcast."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import nn
from .body import Body, Index
from .convolution import contracted
from .elementwise import broadcast_index
from .kernel import Accumulator, KernelBuilder, sum_type
from .scalar import ScalarValue


def lower_matmul(kernel: KernelBuilder, op: nn.MatmulOp) -> None:
    """Define `c[…, m, n] = sum over k of a[…, m, k] b[…, k, n]`."""
    a_shape, b_shape = nn.shape_of(op.a), nn.shape_of(op.b)
    transpose_a, transpose_b = op.transpose_a is not None, op.transpose_b is not None
    depth = a_shape[-2] if transpose_a else a_shape[-1]
    element_type = nn.tensor_type(op.result).element_type

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        *batch, m, n = index
        (k,) = reduce
        a_batch = broadcast_index(batch, a_shape[:-2])
        b_batch = broadcast_index(batch, b_shape[:-2])
        a = body.read(op.a, [*a_batch, k, m] if transpose_a else [*a_batch, m, k])
        b = body.read(op.b, [*b_batch, n, k] if transpose_b else [*b_batch, k, n])
        return [sums[0] + a.cast(element_type) * b.cast(element_type)]

    shape = nn.shape_of(op.result)
    axes = [f"b{i}" for i in range(len(shape) - 2)] + ["m", "n", "k"]
    b_rank = len(b_shape)
    b_k, b_n = (b_rank - 1, b_rank - 2) if transpose_b else (b_rank - 2, b_rank - 1)
    *outer, n = kernel.written_extents(op.result)
    a_k = len(a_shape) - (2 if transpose_a else 1)
    k = contracted(kernel, (op.a, a_k), (op.b, b_k))
    (element,) = kernel.reduction(
        "matmul",
        shape,
        [depth],
        [Accumulator(element_type, 0, sum_type(op))],
        update,
        axes,
        (*outer, max(n, kernel.tails.read(op.b, b_n)), k),
    )
    kernel.define(op.result, element)
