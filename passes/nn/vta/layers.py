"""VTA layers that compute chains of quantised nn operations, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import nn, vta
from ....dialects.inferred import require
from ....dialects.nn import Array, BinaryKind, ReduceKind, Rounding, UnaryKind, ints, shape_of
from ....dialects.nn.evaluation import evaluate
from ....dialects.vta.layers import MAX_SHIFT
from ....weights import Weights
from ...locations import op_name
from .averages import division_of
from .scales import common_exponent, in_steps, scale_exponent
from .windows import averaged_window

Constant: TypeAlias = Callable[[Array], SSAValue]
"""Adds a constant to a graph; returns its value."""

_LOW, _HIGH = -128, 127
_EXACT = 1 << 24
"""Integers of smaller magnitude are exact in f32."""
_SATURATES = 16
"""The largest shift after which a sum beyond `_EXACT` still saturates int8."""


@dataclass(frozen=True)
class Layer:
    """A VTA layer to be built: `kind` on `inputs` computes `result`, which are values of nn."""

    kind: type[vta.LayerOp]
    inputs: tuple[SSAValue, ...]
    result: SSAValue
    constants: tuple[Array, ...] = ()
    """The weight and the bias, if the layer has them."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def build(self, inputs: Sequence[SSAValue], constant: Constant) -> vta.LayerOp:
        """Return the layer on values of a graph; raise VerifyException if VTA cannot compute it."""
        make = cast("Callable[..., vta.LayerOp]", self.kind)
        return make(*inputs, *map(constant, self.constants), **self.options)


@dataclass
class Chain:
    """A chain of operations that ends with an `nn.quantize`, found backwards from there."""

    end: nn.QuantizeOp
    weights: Weights
    ops: list[Operation] = field(default_factory=list[Operation])
    """The operations of the layer, last one first; if it is refused, those examined so far."""

    def layer(self) -> Layer:
        """Return the layer that computes the chain; VerifyException with one sentence otherwise."""
        self.ops.append(self.end)
        require(
            self.end.rounding.data is Rounding.HALF_UP,
            "VTA rounds halves up, but this nn.quantize rounds them to even",
        )
        exponent = scale_exponent(self.end, self.end.result, self.weights)
        value, low, high = self._bounded(self.end.x, exponent)
        element = nn.tensor_type(value).element_type
        require(element == f32, f"VTA's sums are exact in f32, but these are {element}")
        bounds = {"low": low, "high": high}
        match value.owner:
            case nn.ConvolutionOp() | nn.MatmulOp():
                return self._product(value, None, exponent, bounds)
            case nn.BinaryOp() as op if op.kind.data is BinaryKind.ADD:
                for source, added in ((op.a, op.b), (op.b, op.a)):
                    array = self._array(added)
                    if array is not None:
                        require(
                            isinstance(source.owner, nn.ConvolutionOp | nn.MatmulOp),
                            "VTA adds constants only to convolutions and matrix products",
                        )
                        self._take(value)
                        self._take_constant(added)
                        bias = _per_channel(array, shape_of(value))
                        return self._product(source, bias, exponent, bounds)
                return self._sum(op, exponent, bounds)
            case nn.DequantizeOp():
                return self._rescaled(value, exponent, bounds)
            case nn.PoolOp() as op:
                return self._average(op, exponent, bounds)
            case nn.ReduceOp() as op if op.kind.data is ReduceKind.MEAN:
                return self._average(op, exponent, bounds)
            case Operation() as op:
                raise VerifyException(f"VTA has no layer for {op_name(op)}")
            case _:
                raise VerifyException("it rounds a value that is not computed from int8")

    def _take(self, value: SSAValue) -> Operation:
        op = value.owner
        assert isinstance(op, Operation)
        self.ops.append(op)
        require(value.has_one_use(), f"the result of {op_name(op)} has another reader, as floats")
        return op

    def _bounded(self, value: SSAValue, exponent: int) -> tuple[SSAValue, int, int]:
        """Return the value before the functions that bound it, and the bounds in int8 steps."""
        low, high = _LOW, _HIGH
        while True:
            match value.owner:
                case nn.UnaryOp() as op if op.kind.data is UnaryKind.RELU:
                    inner: tuple[float | None, float | None] = (0.0, None)
                case nn.ClipOp() as op:
                    inner = op.bounds()
                case _:
                    return value, low, high
            least, most = (
                end if bound is None else _rounded(bound, exponent)
                for bound, end in zip(inner, (_LOW, _HIGH), strict=True)
            )
            # The outer bounds clamp the inner ones; of these, the upper one applies last.
            limits = low, high
            high = min(max(most, limits[0]), limits[1])
            low = min(max(min(least, most), limits[0]), limits[1])
            self._take(value)
            value = op.x

    def _activations(self, value: SSAValue) -> tuple[SSAValue, int]:
        """Return the int8 value that `value` dequantises, and the exponent of its scale."""
        op = value.owner
        if not isinstance(op, nn.DequantizeOp):
            raise VerifyException("it reads floats that are not dequantised from int8")
        self._take(value)
        require(not isinstance(op.q.owner, nn.ConstantOp), "its activations are constants")
        return op.q, scale_exponent(op, op.q, self.weights)

    def _array(self, value: SSAValue) -> Array | None:
        """Return the array of a constant, dequantised if necessary; None if it is computed."""
        op = value.owner
        if not isinstance(op, nn.DequantizeOp):
            return nn.constant_value(value, self.weights)
        arrays = [nn.constant_value(operand, self.weights) for operand in op.operands]
        known = [array for array in arrays if array is not None]
        result = evaluate(op, known) if len(known) == len(arrays) else None
        return None if result is None else result[0]

    def _take_constant(self, value: SSAValue) -> None:
        if isinstance(value.owner, nn.DequantizeOp):
            self._take(value)

    def _product(
        self, value: SSAValue, added: Array | None, exponent: int, bounds: Mapping[str, int]
    ) -> Layer:
        op = self._take(value)
        assert isinstance(op, nn.ConvolutionOp | nn.MatmulOp)
        is_dense = isinstance(op, nn.MatmulOp)
        source, constant = (op.a, op.b) if is_dense else (op.x, op.w)
        x, step = self._activations(source)
        weight = self._array(constant)
        if weight is None:
            raise VerifyException("VTA's weights must be constants, but these are computed")
        self._take_constant(constant)
        if is_dense:
            require(weight.ndim == 2, "VTA multiplies by one matrix, not by a batch of matrices")
            require(op.transpose_a is None, "VTA does not transpose activations")
            weight = weight if op.transpose_b is not None else weight.T
            x = self._unflattened(x)
            weight = weight.reshape(-1, *shape_of(x)[1:])
            kind, options = vta.DenseOp, dict[str, Any]()
        else:
            added = self._with_bias(op, added)
            kind, options = _window(op)
        is_transposed = kind is vta.ConvTransposeOp
        sums = _Sums(weight, added, step, exponent, 1 if is_transposed else 0)
        constants = sums.constants(options.get("groups", 1))
        return Layer(
            kind, (x,), self.end.result, constants, {**options, "shift": sums.shift, **bounds}
        )

    def _unflattened(self, x: SSAValue) -> SSAValue:
        """Return images whose elements are the rows of `x`, which VTA multiplies in place."""
        op = x.owner
        if not isinstance(op, nn.ReshapeOp) or not x.has_one_use():
            return x
        source, rows = shape_of(op.x), shape_of(x)
        if isinstance(op.x.owner, nn.ConstantOp) or len(source) < 2 or source[0] != rows[0]:
            return x
        self._take(x)
        return op.x

    def _with_bias(self, op: nn.ConvolutionOp, added: Array | None) -> Array | None:
        if op.b is None:
            return added
        bias = self._array(op.b)
        if bias is None:
            raise VerifyException("VTA's biases must be constants, but this one is computed")
        self._take_constant(op.b)
        if added is None:
            return bias
        raise VerifyException("VTA adds one bias to a product, but this product has two")

    def _sum(self, op: nn.BinaryOp, exponent: int, bounds: Mapping[str, int]) -> Layer:
        self._take(op.result)
        (a, first), (b, second) = self._activations(op.a), self._activations(op.b)
        finest = min(first, second, exponent)
        options = {"left_shifts": (first - finest, second - finest), "shift": exponent - finest}
        return Layer(vta.AddOp, (a, b), self.end.result, (), {**options, **bounds})

    def _rescaled(self, value: SSAValue, exponent: int, bounds: Mapping[str, int]) -> Layer:
        x, step = self._activations(value)
        options = {"multiplier": 1 << max(0, step - exponent), "shift": max(0, exponent - step)}
        return Layer(vta.ScaleOp, (x,), self.end.result, (), {**options, **bounds})

    def _average(
        self, op: nn.PoolOp | nn.ReduceOp, exponent: int, bounds: Mapping[str, int]
    ) -> Layer:
        self._take(op.result)
        x, step = self._activations(op.x)
        options = averaged_window(op)
        division = division_of(prod(options["kernel"]), step - exponent)
        return Layer(
            vta.SumPoolOp, (x,), self.end.result, (), {**options, **vars(division), **bounds}
        )


def _rounded(bound: float, exponent: int) -> int:
    """Quantise a bound like `nn.quantize`: rounding is monotonic, so bounds may follow it."""
    steps = np.floor(np.ldexp(np.float64(np.float32(bound)), -exponent) + 0.5)
    return int(np.clip(steps, _LOW, _HIGH))


def _per_channel(array: Array, shape: Sequence[int]) -> Array:
    """Return a constant that is added to results of `shape` as a vector over their channels."""
    sizes = (1,) * (len(shape) - array.ndim) + array.shape
    is_vector = all(size == 1 for axis, size in enumerate(sizes) if axis != 1)
    require(is_vector, "VTA adds one constant per channel, but these differ within a channel")
    return np.broadcast_to(array.reshape(-1), shape[1])


def _window(op: nn.ConvolutionOp) -> tuple[type[vta.LayerOp], dict[str, Any]]:
    pads = list(ints(op.pads))
    options: dict[str, Any] = {
        "strides": ints(op.strides),
        "dilations": ints(op.dilations),
        "groups": op.groups.value.data,
    }
    if isinstance(op, nn.ConvTransposeOp):
        half = len(pads) // 2
        more = ints(op.output_padding)
        pads = [*pads[:half], *(p - m for p, m in zip(pads[half:], more, strict=True))]
        return vta.ConvTransposeOp, {**options, "pads": pads}
    return vta.ConvOp, {**options, "pads": pads}


@dataclass
class _Sums:
    """The sums of a product in integers: their step, their shift and their range."""

    weight: Array
    bias: Array | None
    step: int
    """The exponent of the activations' scale."""
    result: int
    """The exponent of the results' scale."""
    axis: int
    """The weight's axis of results."""
    exponent: int = field(init=False)

    def __post_init__(self) -> None:
        # The coarsest step that represents weights and bias exactly and divides the result's.
        candidates = [self.step + common_exponent(self.weight), self.result]
        if self.bias is not None:
            candidates.append(common_exponent(self.bias))
        self.exponent = min(candidates)

    @property
    def shift(self) -> int:
        """Return the distance by which VTA shifts the sums to the right."""
        return self.result - self.exponent

    def constants(self, groups: int) -> tuple[Array, ...]:
        """Return the weight as int8 and the bias, if there is one, as int32.

        Raise VerifyException if a sum might differ from nn's.
        """
        require(
            self.shift <= MAX_SHIFT,
            f"VTA shifts sums by at most {MAX_SHIFT}, but these scales need {self.shift}",
        )
        weight = in_steps(self.weight, self.exponent - self.step, 127, "its weights")
        axes = tuple(axis for axis in range(weight.ndim) if axis != self.axis)
        reach = 128 * np.abs(weight).sum(axes)
        if self.axis and groups > 1:
            # A filter reads only its group's channels: the sum over all groups is an upper bound.
            reach = np.tile(reach, groups)
        bias = None
        if self.bias is not None:
            bias = in_steps(self.bias, self.exponent, 2**31 - 1, "its biases")
            reach = reach + np.abs(bias)
        half = 1 << self.shift - 1 if self.shift else 0
        most = int(reach.max(initial=0)) + half
        require(most < 2**31, f"its sums may reach {most}, but VTA's have 32 bits")
        require(
            most < _EXACT or self.shift <= _SATURATES,
            f"its sums may reach {most}, beyond the integers that are exact in f32, and a shift by "
            f"{self.shift} does not hide the difference",
        )
        integers = np.ascontiguousarray(weight.astype(np.int8))
        return (integers,) if bias is None else (integers, bias.astype(np.int32))
