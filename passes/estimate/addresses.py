"""Addresses of accesses as linear functions of the loops around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects import tir
from ...dialects.tir.affine import linear
from ...dialects.tir.linear import Linear
from ..tir.schedule.analysis import index_expr, memref_of

Steps = Mapping[int, int | None]
"""Elements by which an iteration of each loop moves an address, by the loop's number; None where it
is not linear, as for a gathered index."""


class Addresses:
    """Finds the steps of addresses in one kernel."""

    def __init__(self) -> None:
        self._sizes: list[int | None] = []
        self._leaves: dict[SSAValue, AffineExpr] = {}

    def add(self, loop: tir.ForOp) -> int:
        """Give a loop a number."""
        number = len(self._sizes)
        self._sizes.append(loop.size)
        self._leaves[loop.body.block.args[0]] = AffineExpr.dimension(number)
        return number

    def of_elements(self, buffer: SSAValue, indices: Iterable[SSAValue]) -> Steps | None:
        """Return the steps of an element's address; None where an index is computed."""
        return self._steps(indices, _strides(memref_of(buffer).get_shape()))

    def of_texels(self, buffer: SSAValue, coords: Sequence[SSAValue]) -> Steps | None:
        """Return the steps of a texel's address, as if rows followed each other in a buffer."""
        strides = [tir.TEXEL]
        if len(coords) > 1:
            for extent in tir.image_of(memref_of(buffer)).extents[:-1]:
                strides.append(strides[-1] * extent)
        return self._steps(coords, strides)

    def _steps(self, indices: Iterable[SSAValue], strides: Sequence[int]) -> Steps | None:
        total = Linear({}, 0)
        for value, stride in zip(indices, strides, strict=True):
            expr = index_expr(value, self._leaves)
            if expr is None:
                return None
            total += linear(expr, self._sizes).scaled(stride)
        strides_of_loops = enumerate(total.strides(len(self._sizes)))
        return {loop: step for loop, step in strides_of_loops if step != 0}


def _strides(shape: Sequence[int]) -> list[int]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return strides[: len(shape)][::-1]
