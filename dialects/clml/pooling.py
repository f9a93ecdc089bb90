"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import I64_ARRAY, int_array, ints
from ..windows import positions
from .attributes import PoolKind, PoolKindAttr
from .base import ArithmeticOp, Unit, require_pads, require_pairs
from .types import MLTensorType, Shape, ml_tensor


@irdl_op_definition
class PoolOp(ArithmeticOp):
    """The maximum or average of each window; an average counts only elements of x.

    `pads` are top, left, bottom, right; `kernel` and `strides` are for H, then W. Windows have no
    dilation, and none extends beyond the padding (ONNX's ceil_mode).
    """

    name = "clml.pool"
    x = operand_def(MLTensorType)
    kind = prop_def(PoolKindAttr)
    kernel = prop_def(I64_ARRAY)
    strides = prop_def(I64_ARRAY)
    pads = prop_def(I64_ARRAY)
    result = result_def(MLTensorType)
    assembly_format = "$kind " + FORMAT

    def __init__(
        self,
        x: SSAValue,
        result_type: MLTensorType,
        *,
        kind: PoolKind | str,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
    ):
        super().__init__(
            [x],
            {
                "kind": PoolKindAttr(PoolKind(kind)),
                "kernel": int_array(kernel),
                "strides": int_array(strides),
                "pads": int_array(pads),
            },
            result_type,
        )

    @property
    def adds_up(self) -> bool:
        return self.kind.data is PoolKind.AVERAGE

    @property
    def unit(self) -> Unit:
        return Unit.DEPTHWISE

    @property
    def multiply_adds(self) -> int:
        return prod(ml_tensor(self.result).get_shape()) * prod(ints(self.kernel))

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        n, c, *plane = operand_types[0].get_shape()
        kind = cast(PoolKindAttr, properties["kind"]).data
        require(
            kind in (PoolKind.MAX, PoolKind.AVERAGE),
            f"CLML supports max and average pooling, not {kind}",
        )
        kernel, strides, pads = (ints(properties[k]) for k in ("kernel", "strides", "pads"))
        require_pairs(kernel=kernel, strides=strides)
        require_pads(pads)
        sizes: list[int] = []
        for i, size in enumerate(plane):
            before, after = pads[i], pads[i + 2]
            require(
                max(before, after) < kernel[i],
                f"pads of {before} and {after} allow a window of {kernel[i]} with only padding",
            )
            padded = size + before + after
            sizes.append(positions(padded, kernel[i], strides[i]))
            require(
                sizes[i] >= 1,
                f"a window of {kernel[i]} does not fit into a padded size of {padded}",
            )
        return n, c, sizes[0], sizes[1]

    def _size_hint(self) -> str:
        return ": CLML has no ceil_mode"
