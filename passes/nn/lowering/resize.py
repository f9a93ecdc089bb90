"""Lowering of resize: every coordinate map of ONNX as exact integer arithmetic on indices.

Along one dimension ONNX maps the output position i to the input coordinate `slope * i + offset`,
and shapes and scales are known. So the coordinate is a fraction `(a i + b) / c` of known integers:
its floor is an affine expression, and the interpolation weight a remainder divided by c. No
coordinate is rounded, whatever the device's arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from xdsl.dialects.builtin import f16, f32, i1, i32
from xdsl.ir import Attribute

from ....dialects import nn
from ....dialects.nn import CoordinateMode, NearestMode, ResizeMode
from ....errors import CloptError
from ...locations import node_name
from .body import Body, Index
from .kernel import Kernel
from .scalar import Scalar

Weight = Scalar | float
"""A factor of an interpolation, a number where it is the same everywhere."""

Tap = tuple[Index, Weight]
"""A position along one dimension and its factor."""

_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Stretch:
    """What the coordinate map of one dimension depends on, in exact numbers."""

    size: int
    resized: int
    scale: Fraction
    start: Fraction
    end: Fraction

    @property
    def length(self) -> Fraction:
        """The length of the result before it was rounded to `resized`."""
        return self.size * self.scale


Line = tuple[Fraction, Fraction]
"""Slope and offset of a coordinate map."""


def _half_pixel(axis: Stretch) -> Line:
    return 1 / axis.scale, 1 / (2 * axis.scale) - Fraction(1, 2)


def _half_pixel_symmetric(axis: Stretch) -> Line:
    slope, offset = _half_pixel(axis)
    return slope, offset + Fraction(axis.size, 2) * (1 - axis.resized / axis.length)


def _pytorch_half_pixel(axis: Stretch) -> Line:
    return _half_pixel(axis) if axis.resized > 1 else (Fraction(0), Fraction(0))


def _align_corners(axis: Stretch) -> Line:
    if axis.length == 1 or axis.resized == 1:
        return Fraction(0), Fraction(0)
    return (axis.size - 1) / (axis.length - 1), Fraction(0)


def _crop_and_resize(axis: Stretch) -> Line:
    last, span = axis.size - 1, axis.end - axis.start
    if axis.length == 1:
        return Fraction(0), last * (axis.start + span / 2)
    return last * span / (axis.length - 1), last * axis.start


COORDINATES: dict[CoordinateMode, Callable[[Stretch], Line]] = {
    CoordinateMode.HALF_PIXEL: _half_pixel,
    CoordinateMode.HALF_PIXEL_SYMMETRIC: _half_pixel_symmetric,
    CoordinateMode.PYTORCH_HALF_PIXEL: _pytorch_half_pixel,
    CoordinateMode.ALIGN_CORNERS: _align_corners,
    CoordinateMode.ASYMMETRIC: lambda axis: (1 / axis.scale, Fraction(0)),
    CoordinateMode.TF_CROP_AND_RESIZE: _crop_and_resize,
    CoordinateMode.TF_HALF_PIXEL_FOR_NN: lambda axis: (1 / axis.scale, 1 / (2 * axis.scale)),
}
"""The coordinate maps of ONNX Resize (coordinate_transformation_mode)."""


@dataclass(frozen=True)
class Coordinate:
    """The input coordinate `(a i + b) / c` of output position i."""

    a: int
    b: int
    c: int
    size: int

    def floor(self, i: Index, numerator: int = 0, denominator: int = 1) -> Index:
        """The floor of the coordinate plus `numerator / denominator`."""
        shift = self.c * numerator + self.b * denominator
        return (i * (self.a * denominator) + shift) // (self.c * denominator)

    def ceil(self, i: Index, numerator: int = 0, denominator: int = 1) -> Index:
        """The ceiling of the coordinate plus `numerator / denominator`."""
        shift = self.c * numerator + self.b * denominator
        return (i * (self.a * denominator) + shift + self.c * denominator - 1) // (
            self.c * denominator
        )

    def fraction(self, body: Body, i: Index, element_type: Attribute) -> Weight:
        """How far the coordinate lies above its floor."""
        rest = (i * self.a + self.b) % self.c
        low, high = body.bounds(rest)
        if low is not None and low == high:
            return low / self.c
        number = body.index_scalar(rest, i32).cast(f32 if element_type == f16 else element_type)
        # Half is computed in float, and a weight is not rounded to half.
        return Scalar(body, number.ssa, element_type) * (1 / self.c)

    def inside(self, body: Body, i: Index, resized: int) -> Scalar | None:
        """Whether the coordinate lies between the first and the last element; None: always."""
        valid = [p for p in range(resized) if 0 <= self.a * p + self.b <= (self.size - 1) * self.c]
        if len(valid) == resized:
            return None
        if not valid:
            return body.constant(False, i1)
        above = body.compare_index(i, "sge", valid[0])
        return above & body.compare_index(i, "sle", valid[-1])


def _nearest(mode: NearestMode, at: Coordinate, i: Index) -> Index:
    match mode:
        case NearestMode.FLOOR:
            return at.floor(i)
        case NearestMode.CEIL:
            return at.ceil(i)
        case NearestMode.ROUND_PREFER_FLOOR:
            return at.ceil(i, -1, 2)
        case NearestMode.ROUND_PREFER_CEIL:
            return at.floor(i, 1, 2)


def _linear_weights(t: Weight, _: float) -> list[Weight]:
    return [1.0 - t, t]


def _cubic_weights(t: Weight, a: float) -> list[Weight]:
    """Keys' convolution kernel at the four neighbours (cubic_coeff_a)."""
    s = 1.0 - t

    def near(x: Weight) -> Weight:
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0

    def far(x: Weight) -> Weight:
        # The outer piece a x^3 - 5 a x^2 + 8 a x - 4 a at 1 + x.
        return a * x * ((x - 2.0) * x + 1.0)

    return [far(t), near(t), near(s), far(s)]


def lower_resize(kernel: Kernel, op: nn.ResizeOp) -> None:
    """Read, or interpolate between, the elements around each output position's coordinate."""
    element_type = nn.tensor_type(op.x).element_type
    if op.mode.data is not ResizeMode.NEAREST and not nn.is_float(element_type):
        raise CloptError(
            f"{node_name(op)}: {op.mode.data.value} resize of {element_type} would round; cast the "
            "input to float first"
        )
    coordinates = [_coordinate(op, axis) for axis in range(len(nn.shape_of(op.x)))]
    crops = op.coordinate_mode.data is CoordinateMode.TF_CROP_AND_RESIZE

    def element(body: Body, index: Sequence[Index]) -> Scalar:
        def resampled() -> Scalar:
            taps = [_taps(op, body, at, i) for at, i in zip(coordinates, index, strict=True)]
            return _interpolate(op, body, taps, [])

        inside = _all_inside(op, body, coordinates, index) if crops else None
        if inside is None:
            return resampled()
        return body.where(inside, resampled, op.extrapolation_value.value.data)

    kernel.define(op.result, element)


def _coordinate(op: nn.ResizeOp, axis: int) -> Coordinate:
    size, resized = nn.shape_of(op.x)[axis], nn.shape_of(op.result)[axis]
    rank = len(nn.shape_of(op.x))
    roi = nn.floats(op.roi) or (0.0,) * rank + (1.0,) * rank
    scale = nn.floats(op.scales)[axis]
    exact = Fraction(resized, size)
    # A quotient of the sizes that was rounded to single precision
    if abs(scale - exact) > 2**-22 * scale:
        exact = _simplest(scale)
    stretch = Stretch(size, resized, exact, _simplest(roi[axis]), _simplest(roi[axis + rank]))
    slope, offset = COORDINATES[op.coordinate_mode.data](stretch)
    c = lcm(slope.denominator, offset.denominator)
    at = Coordinate(int(slope * c), int(offset * c), c, size)
    if 2 * (abs(at.a) * resized + abs(at.b) + c) > _LARGEST:
        raise CloptError(
            f"{node_name(op)}: scale {scale} needs too large numbers to be exact; give the sizes "
            "instead of scales"
        )
    return at


def _simplest(value: float) -> Fraction:
    """The simplest fraction that single precision does not tell from the value."""
    exact = Fraction(value)
    for bits in range(4, 24):
        candidate = exact.limit_denominator(2**bits)
        if abs(candidate - exact) <= abs(exact) * Fraction(1, 2**24):
            return candidate
    return exact


def _taps(op: nn.ResizeOp, body: Body, at: Coordinate, i: Index) -> list[Tap]:
    """The elements along one dimension that the result is made of."""
    if op.mode.data is ResizeMode.NEAREST:
        return [(body.clamp(_nearest(op.nearest_mode.data, at, i), at.size), 1.0)]
    fraction = at.fraction(body, i, nn.tensor_type(op.x).element_type)
    if op.mode.data is ResizeMode.LINEAR:
        first, weights = 0, _linear_weights(fraction, 0.0)
    else:
        first, weights = -1, _cubic_weights(fraction, op.cubic_coeff_a.value.data)
    floor = at.floor(i)
    positions = [floor + (first + n) for n in range(len(weights))]
    if op.exclude_outside is not None:
        weights = _exclude_outside(body, positions, weights, at.size, op)
    return [
        (body.clamp(position, at.size), weight)
        for position, weight in zip(positions, weights, strict=True)
        if weight != 0.0
    ]


def _exclude_outside(
    body: Body, positions: Sequence[Index], weights: Sequence[Weight], size: int, op: nn.ResizeOp
) -> list[Weight]:
    """Weights of elements outside of the input become zero, the others sum up to one again."""
    element_type = nn.tensor_type(op.x).element_type
    kept: list[Weight] = []
    for position, weight in zip(positions, weights, strict=True):
        inside = body.inside([position], [size])
        if inside is None:
            kept.append(weight)
            continue
        scalar = weight if isinstance(weight, Scalar) else body.constant(weight, element_type)
        kept.append(inside.select(scalar, 0.0))
    total = kept[0]
    for weight in kept[1:]:
        total = total + weight
    return [weight / total for weight in kept]


def _interpolate(
    op: nn.ResizeOp, body: Body, taps: Sequence[Sequence[Tap]], at: list[Index]
) -> Scalar:
    """The weighted sum over the taps of all dimensions, innermost first."""
    if not taps:
        return body.read(op.x, at)
    total: Scalar | None = None
    for position, weight in taps[0]:
        value = _interpolate(op, body, taps[1:], [*at, position])
        term = value if weight == 1.0 else value * weight
        total = term if total is None else total + term
    assert total is not None, "the weights sum up to one"
    return total


def _all_inside(
    op: nn.ResizeOp, body: Body, coordinates: Sequence[Coordinate], index: Sequence[Index]
) -> Scalar | None:
    condition: Scalar | None = None
    for at, i, resized in zip(coordinates, index, nn.shape_of(op.result), strict=True):
        inside = at.inside(body, i, resized)
        if inside is not None:
            condition = inside if condition is None else condition & inside
    return condition
