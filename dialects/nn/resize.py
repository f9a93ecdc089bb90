"""Interpolating resize."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from ..inferred import Properties, require
from ..properties import F64, F64_ARRAY, I64_ARRAY, flag, float_array, floats, int_array, ints, real
from .attributes import (
    CoordinateMode,
    CoordinateModeAttr,
    NearestMode,
    NearestModeAttr,
    ResizeMode,
    ResizeModeAttr,
)
from .base import MODE_FORMAT, NNOp, require_lengths
from .interfaces import HalfRule, Role, Zeros
from .types import Tensor, is_bool, shape_of, with_shape


@irdl_op_definition
class ResizeOp(NNOp):
    """x resampled to `sizes` (ONNX Resize without antialias).

    `scales` is result / input per dimension as stated in the model, so it may differ from the
    quotient of the rounded sizes. `roi` (starts, then ends) applies to tf_crop_and_resize.
    """

    name = "nn.resize"
    ROLE: ClassVar[Role | None] = Role.WINDOW
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    mode = prop_def(ResizeModeAttr)
    coordinate_mode = prop_def(CoordinateModeAttr)
    nearest_mode = prop_def(
        NearestModeAttr, default_value=NearestModeAttr(NearestMode.ROUND_PREFER_FLOOR)
    )
    cubic_coeff_a = prop_def(F64, default_value=real(-0.75))
    exclude_outside = opt_prop_def(UnitAttr)
    extrapolation_value = prop_def(F64, default_value=real(0.0))
    scales = prop_def(F64_ARRAY)
    roi = opt_prop_def(F64_ARRAY)
    sizes = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = MODE_FORMAT

    def __init__(
        self,
        x: SSAValue,
        sizes: Sequence[int],
        mode: ResizeMode | str = ResizeMode.NEAREST,
        *,
        coordinate_mode: CoordinateMode | str = CoordinateMode.HALF_PIXEL,
        nearest_mode: NearestMode | str = NearestMode.ROUND_PREFER_FLOOR,
        cubic_coeff_a: float = -0.75,
        exclude_outside: bool = False,
        extrapolation_value: float = 0.0,
        scales: Sequence[float] | None = None,
        roi: Sequence[float] | None = None,
    ):
        if scales is None:
            scales = [m / n for m, n in zip(sizes, shape_of(x), strict=True)]
        super().__init__(
            [x],
            {
                "mode": ResizeModeAttr(ResizeMode(mode)),
                "coordinate_mode": CoordinateModeAttr(CoordinateMode(coordinate_mode)),
                "nearest_mode": NearestModeAttr(NearestMode(nearest_mode)),
                "cubic_coeff_a": real(cubic_coeff_a),
                "exclude_outside": flag(exclude_outside),
                "extrapolation_value": real(extrapolation_value),
                "scales": float_array(scales),
                "roi": None if roi is None else float_array(roi),
                "sizes": int_array(sizes),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        shape, sizes = x.get_shape(), ints(properties["sizes"])
        scales, roi = floats(properties["scales"]), floats(properties.get("roi"))
        require(not is_bool(x.element_type), "resize of i1 elements is not defined")
        require_lengths(len(shape), sizes=sizes, scales=scales)
        for i, (n, m) in enumerate(zip(shape, sizes, strict=True)):
            require(m >= 1 or n == m == 0, f"size {m} of dimension {i} must be positive")
            require(n >= 1 or m == 0, f"dimension {i} has no elements to interpolate")
        require(min(scales, default=1) > 0, f"scales {list(scales)} must be positive")
        if "roi" in properties:
            require_lengths(2 * len(shape), roi=roi)
        mode = properties["coordinate_mode"]
        if mode == CoordinateModeAttr(CoordinateMode.TF_CROP_AND_RESIZE):
            require("roi" in properties, "tf_crop_and_resize requires roi")
        return [with_shape(x, sizes)]

    def visits(self) -> int:
        pairs = list(zip(shape_of(self.x), shape_of(self.result), strict=True))
        # Python computes the matrix of a dimension row by row; a row costs as much as 256 elements.
        matrices = max((m * (n + 256) for n, m in pairs), default=0)
        return max(super().visits(), matrices, prod(max(pair) for pair in pairs))

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        # Outside the cropped region is the extrapolation value.
        crops = self.coordinate_mode.data is CoordinateMode.TF_CROP_AND_RESIZE
        return not crops and zeros.linked_zero(self, axis, self.x)
