"""Lowering of resize: every coordinate map of ONNX as exact integer arithmetic on indices.

Along one dimension ONNX maps the output position i to the input coordinate `slope * i + offset`,
where shapes and scales are known. So the coordinate is a fraction `(a i + b) / c` of known
integers: its floor is an affine expression, and the interpolation weight is a remainder divided by
c. No coordinate is rounded, independent of the device's arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from xdsl.dialects.builtin import f16, f32, i1, i32
from xdsl.ir import Attribute

from ....dialects import nn
from ....dialects.nn import CoordinateMode, NearestMode, ResizeMode
from ....errors import CloptError
from ...locations import node_name
from .body import Body, Index
from .kernel import KernelBuilder
from .scalar import ScalarValue

Weight = ScalarValue | float
"""An interpolation weight: a Python number if it is the same for all elements."""

Tap = tuple[Index, Weight]
"""A position along one dimension and its weight."""

_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Stretch:
    """The parameters of one dimension's coordinate map, as exact numbers."""

    size: int
    resized: int
    scale: Fraction
    start: Fraction
    end: Fraction

    @property
    def length(self) -> Fraction:
        """Return the length of the result before rounding to `resized`."""
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

    def floor(self, i: Index) -> Index:
        """Return the greatest integer that does not exceed the coordinate."""
        return (i * self.a + self.b) // self.c

    def fraction(self, body: Body, i: Index, element_type: Attribute) -> Weight:
        """Return the distance of the coordinate from its floor."""
        rest = (i * self.a + self.b) % self.c
        low, high = body.bounds(rest)
        if low is not None and low == high:
            return low / self.c
        number = body.index_scalar(rest, i32).cast(f32 if element_type == f16 else element_type)
        # Halves are computed in float, so the weight is not rounded to half either.
        return ScalarValue(body, number.ssa, element_type) * (1 / self.c)


_ROUND: dict[NearestMode, Callable[[Fraction], int]] = {
    NearestMode.FLOOR: floor,
    NearestMode.CEIL: ceil,
    NearestMode.ROUND_PREFER_FLOOR: lambda x: ceil(x - Fraction(1, 2)),
    NearestMode.ROUND_PREFER_CEIL: lambda x: floor(x + Fraction(1, 2)),
}


def _nearest(line: Line, mode: NearestMode, resized: int) -> Coordinate | None:
    """Return a coordinate whose floor is the rounded coordinate at every output position.

    With slope a / c, position i requires `c t <= a i + b < c (t + 1)`, where t is the rounded
    coordinate: an interval for b. The result has the simplest slope whose intervals intersect.
    """
    slope, offset = line
    targets = [_ROUND[mode](slope * i + offset) for i in range(resized)]
    for bits in range(1, 20):
        simple = slope.limit_denominator(2**bits)
        a, c = 2 * simple.numerator, 2 * simple.denominator
        least = max(c * t - a * i for i, t in enumerate(targets))
        most = min(c * t - a * i for i, t in enumerate(targets)) + c - 1
        if least <= most:
            shift = targets[0] * c if slope == 0 else round(offset * c)
            return Coordinate(a, max(least, min(shift, most)), c)
    return None


def _linear_weights(t: Weight) -> list[Weight]:
    return [1.0 - t, t]


def _cubic_weights(t: Weight, a: float) -> list[Weight]:
    """Return Keys' convolution kernel at the four neighbours (cubic_coeff_a)."""
    s = 1.0 - t

    def near(x: Weight) -> Weight:
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0

    def far(x: Weight) -> Weight:
        # The outer piece a x^3 - 5 a x^2 + 8 a x - 4 a, evaluated at 1 + x.
        return a * x * ((x - 2.0) * x + 1.0)

    return [far(t), near(t), near(s), far(s)]


def lower_resize(kernel: KernelBuilder, op: nn.ResizeOp) -> None:
    """Read, or interpolate between, the elements around each output position's coordinate."""
    element_type = nn.tensor_type(op.x).element_type
    if op.mode.data is not ResizeMode.NEAREST and not nn.is_float(element_type):
        raise CloptError(
            f"{node_name(op)}: {op.mode.data.value} resize of {element_type} would round; cast the "
            "input to float first"
        )
    coordinates = [_coordinate(op, axis) for axis in range(len(nn.shape_of(op.x)))]

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        def resampled() -> ScalarValue:
            taps = [
                _taps(op, body, at, i, size)
                for at, i, size in zip(coordinates, index, nn.shape_of(op.x), strict=True)
            ]
            return _interpolate(op, body, taps, [])

        inside = _inside(op, body, index)
        if inside is None:
            return resampled()
        return body.where(inside, resampled, op.extrapolation_value.value.data)

    kernel.define(op.result, element)


def _stretch(op: nn.ResizeOp, axis: int, exact: bool) -> Stretch:
    """Return the parameters of one dimension; the region of interest simplified unless `exact`."""
    shape = nn.shape_of(op.x)
    size, resized = shape[axis], nn.shape_of(op.result)[axis]
    scale = nn.floats(op.scales)[axis]
    ratio = Fraction(resized, size)
    # Most scales are quotients of the sizes that an exporter rounded to single precision.
    if abs(scale - ratio) > 2**-22 * scale:
        ratio = _simplest(scale)
    roi = nn.floats(op.roi) or (0.0,) * len(shape) + (1.0,) * len(shape)
    number = Fraction if exact else _simplest
    return Stretch(size, resized, ratio, number(roi[axis]), number(roi[axis + len(shape)]))


def _coordinate(op: nn.ResizeOp, axis: int) -> Coordinate:
    to_line = COORDINATES[op.coordinate_mode.data]
    resized = nn.shape_of(op.result)[axis]
    if op.mode.data is ResizeMode.NEAREST:
        at = _nearest(to_line(_stretch(op, axis, True)), op.nearest_mode.data, resized)
    else:
        slope, offset = to_line(_stretch(op, axis, False))
        c = lcm(slope.denominator, offset.denominator)
        at = Coordinate(int(slope * c), int(offset * c), c)
    if at is None or abs(at.a) * resized + abs(at.b) + at.c > _LARGEST:
        raise CloptError(
            f"{node_name(op)}: the scale {nn.floats(op.scales)[axis]} of dimension {axis} is not a "
            "simple fraction; give sizes instead of scales"
        )
    return at


def _simplest(value: float) -> Fraction:
    """Return the simplest fraction that single precision cannot distinguish from the value."""
    exact = Fraction(value)
    for bits in range(4, 24):
        candidate = exact.limit_denominator(2**bits)
        if abs(candidate - exact) <= abs(exact) * Fraction(1, 2**24):
            return candidate
    return exact


def _taps(op: nn.ResizeOp, body: Body, at: Coordinate, i: Index, size: int) -> list[Tap]:
    """Return the elements along one dimension that an output position reads, with weights."""
    if op.mode.data is ResizeMode.NEAREST:
        return [(body.clamp(at.floor(i), size), 1.0)]
    fraction = at.fraction(body, i, nn.tensor_type(op.x).element_type)
    if op.mode.data is ResizeMode.LINEAR:
        first, weights = 0, _linear_weights(fraction)
    else:
        first, weights = -1, _cubic_weights(fraction, op.cubic_coeff_a.value.data)
    positions = [at.floor(i) + (first + n) for n in range(len(weights))]
    if op.exclude_outside is not None:
        weights = _exclude_outside(op, body, positions, weights, size)
    return [
        (body.clamp(position, size), weight)
        for position, weight in zip(positions, weights, strict=True)
        if weight != 0.0
    ]


def _exclude_outside(
    op: nn.ResizeOp, body: Body, positions: Sequence[Index], weights: Sequence[Weight], size: int
) -> list[Weight]:
    """Return the weights with zero for elements outside of the input, rescaled to sum 1."""
    element_type = nn.tensor_type(op.x).element_type
    kept: list[Weight] = []
    for position, weight in zip(positions, weights, strict=True):
        inside = body.inside([position], [size])
        if inside is None:
            kept.append(weight)
            continue
        scalar = weight if isinstance(weight, ScalarValue) else body.constant(weight, element_type)
        kept.append(inside.select(scalar, 0.0))
    total = kept[0]
    for weight in kept[1:]:
        total = total + weight
    return [weight / total for weight in kept]


def _interpolate(
    op: nn.ResizeOp, body: Body, taps: Sequence[Sequence[Tap]], at: list[Index]
) -> ScalarValue:
    """Return the weighted sum over the taps of all dimensions, innermost first."""
    if not taps:
        return body.read(op.x, at)
    total: ScalarValue | None = None
    for position, weight in taps[0]:
        value = _interpolate(op, body, taps[1:], [*at, position])
        term = value if weight == 1.0 else value * weight
        total = term if total is None else total + term
    assert total is not None, "the weights sum up to one"
    return total


def _inside(op: nn.ResizeOp, body: Body, index: Sequence[Index]) -> ScalarValue | None:
    """Return whether a cropping resize stays within the input; None if it always does."""
    if op.coordinate_mode.data is not CoordinateMode.TF_CROP_AND_RESIZE:
        return None
    condition: ScalarValue | None = None
    for axis, (i, size) in enumerate(zip(index, nn.shape_of(op.x), strict=True)):
        slope, offset = _crop_and_resize(_stretch(op, axis, True))
        resized = nn.shape_of(op.result)[axis]
        valid = [p for p in range(resized) if 0 <= slope * p + offset <= size - 1]
        if not valid:
            return body.constant(False, i1)
        for outside, predicate, limit in (
            (valid[0] > 0, "sge", valid[0]),
            (valid[-1] < resized - 1, "sle", valid[-1]),
        ):
            if outside:
                this = body.compare_index(i, predicate, limit)
                condition = this if condition is None else condition & this
    return condition
