"""Products of dequantised values as products of integers with dequantised sums."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replace_field
from typing import ClassVar

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...context import weights_of
from ...dialects import cl, nn
from ...dialects.nn import Array, BinaryKind, Rounding, UnaryKind, ints, shape_of
from ...targets import multiplies_bytes
from ...weights import Weights
from .rewriting import replace, splat_of

_MOST_TERMS = 1 << 16
"""Number of 8-bit products whose sum always fits 32 bits."""
_TO_UNSIGNED = 128
"""The offset from signed to unsigned numbers of 8 bits."""


@dataclass(frozen=True)
class NNIntegerProductsPass(ModulePass):
    """Multiply 8-bit integers where a convolution or matmul multiplies dequantised ones.

    `conv(dequantize(x), dequantize(w)) + b` becomes `dequantize(conv(x, w)) + b`. Sums are i32 and
    exact; the zero point of x becomes a constant per channel in the second zero point, or padding.
    x is unsigned and the constant w signed, with its zero point subtracted, as dot-product
    instructions require. The step of a quantised result is folded into the scale of the sums.

    Integer products that ONNX widens to i32, with the zero point of x subtracted, become such
    products, too; there, the zero point of x may be known only at run time.

    On devices without such an instruction (`dot_product`), products of floats are faster. The
    `mode` auto leaves products there unchanged; `prefer` does not.
    """

    name: ClassVar[str] = "nn-integer-products"
    mode: str = "auto"

    def __post_init__(self) -> None:
        if self.mode not in ("auto", "prefer"):
            raise ValueError(f"mode must be auto or prefer, got {self.mode}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.mode == "auto" and not multiplies_bytes(cl.target_of(op)):
            return
        weights = weights_of(ctx, op)
        for patterns in ([_Products(weights)], [_FoldSteps(weights)]):
            walker = PatternRewriteWalker(GreedyRewritePatternApplier([*patterns]))
            for function in nn.networks_of(op):
                walker.rewrite_region(function.body)


@dataclass(frozen=True)
class _Factors:
    """A product's operands as integers."""

    q: SSAValue
    """Bytes: x before its zero point is subtracted."""
    zero: int | SSAValue
    """The zero point of x; an i32 value if it is known only at run time."""
    w: Array
    """Signed bytes, [O, C, K1..] or [..., K, N], with the zero point subtracted."""
    scale: Array | None
    """The scale of the sums, per channel of the result or one for all; None if they stay i32."""


@dataclass
class _Products(RewritePattern):
    """A convolution, or a product with a constant right matrix, of dequantised operands."""

    weights: Weights | None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        match op:
            case nn.ConvOp():
                self._conv(op, rewriter)
            case nn.MatmulOp() if op.transpose_a is None and len(shape_of(op.b)) == 2:
                self._matmul(op, rewriter)
            case _:
                pass

    def _conv(self, op: nn.ConvOp, rewriter: PatternRewriter) -> None:
        factors = self._factors(op.x, op.w, axis=0)
        rank, pads = len(shape_of(op.x)) - 2, ints(op.pads)
        if factors is None or (any(pads) and not isinstance(factors.zero, int)):
            return
        new: list[Operation] = []
        x, zero = _unsigned(factors, new)
        if any(pads) and isinstance(zero, int) and zero:
            low, high = pads[:rank], pads[rank:]
            new.append(nn.PadOp(x, (0, 0, *low), (0, 0, *high), value=zero))
            x, pads = new[-1].results[0], (0,) * len(pads)
        w = self._constant(factors.w, new)
        new.append(
            nn.ConvOp(
                x,
                w,
                strides=ints(op.strides),
                dilations=ints(op.dilations),
                pads=pads,
                groups=op.groups.value.data,
            )
        )
        across = (-1, *(1,) * rank)
        sums = factors.w.astype(np.int32).sum(axis=tuple(range(1, rank + 2)), dtype=np.int32)
        self._finish(factors.scale, zero, sums.reshape(across), new)
        if op.b is not None:
            new.append(nn.ReshapeOp(op.b, (shape_of(op.b)[0], *(1,) * rank)))
            new.append(nn.BinaryOp(new[-2].results[0], new[-1].results[0], BinaryKind.ADD))
        replace(rewriter, op, *new)

    def _matmul(self, op: nn.MatmulOp, rewriter: PatternRewriter) -> None:
        is_transposed = op.transpose_b is not None
        factors = self._factors(op.a, op.b, axis=0 if is_transposed else 1)
        if factors is None:
            return
        w = factors.w.T if is_transposed else factors.w
        new: list[Operation] = []
        x, zero = _unsigned(factors, new)
        new.append(nn.MatmulOp(x, self._constant(np.ascontiguousarray(w), new)))
        self._finish(factors.scale, zero, w.astype(np.int32).sum(axis=0, dtype=np.int32), new)
        replace(rewriter, op, *new)

    def _factors(self, x: SSAValue, w: SSAValue, axis: int) -> _Factors | None:
        """Return the operands as integers; None if they are not exact in 32 bits.

        `axis` is the axis of the weights' channels.
        """
        if isinstance(x.owner, nn.DequantizeOp) and isinstance(w.owner, nn.DequantizeOp):
            factors = self._dequantised(x.owner, w.owner, axis)
        else:
            factors = self._widened(x, w)
        if factors is None or not _is_byte(factors.q):
            return None
        if factors.w.size >= _MOST_TERMS * factors.w.shape[axis]:
            return None
        if factors.w.min(initial=0) < -128 or factors.w.max(initial=0) > 127:
            return None
        return replace_field(factors, w=factors.w.astype(np.int8))

    def _dequantised(self, x: nn.DequantizeOp, w: nn.DequantizeOp, axis: int) -> _Factors | None:
        """Return the integers that are dequantised to the operands."""
        scale, zero = splat_of(x.scale), splat_of(x.zero_point)
        numbers = [nn.constant_value(v, self.weights) for v in (w.q, w.scale, w.zero_point)]
        if scale is None or zero is None or not _is_byte(w.q):
            return None
        if nn.tensor_type(x.result).element_type != f32 or any(array is None for array in numbers):
            return None
        q, w_scale, w_zero = (array for array in numbers if array is not None)
        by_channel = _along(w_scale, q.shape, axis)
        if by_channel is None:
            return None
        centred = q.astype(np.int32) - w_zero.astype(np.int32)
        factor = (np.float32(scale) * by_channel).astype(np.float32)
        return _Factors(x.q, int(zero), centred, factor)

    def _widened(self, x: SSAValue, w: SSAValue) -> _Factors | None:
        """Return the bytes that are widened to i32 operands, x minus one number."""
        constant = nn.constant_value(w, self.weights)
        if constant is None or nn.tensor_type(x).element_type != i32:
            return None
        zero: int | SSAValue = 0
        if isinstance(x.owner, nn.BinaryOp) and x.owner.kind.data is BinaryKind.SUB:
            splat = splat_of(x.owner.b)
            if splat is None and shape_of(x.owner.b) != ():
                return None
            if shape_of(x.owner.a) != shape_of(x):  # the zero point broadcasts x
                return None
            x, zero = x.owner.a, x.owner.b if splat is None else int(splat)
        if not isinstance(x.owner, nn.CastOp) or not _is_byte(x.owner.x):
            return None
        return _Factors(x.owner.x, zero, constant, None)

    def _constant(self, array: Array, new: list[Operation]) -> SSAValue:
        op = nn.ConstantOp.from_array(array, self.weights)
        new.append(op)
        return op.result

    def _finish(
        self, scale: Array | None, zero: int | SSAValue, sums: Array, new: list[Operation]
    ) -> None:
        """Append the operations that turn the sums of the last operation of `new` into the product.

        `sums` are the sums of the weights, in a shape that broadcasts.
        """
        products = new[-1].results[0]
        if scale is not None:
            assert isinstance(zero, int)
            shaped = scale.reshape(sums.shape if scale.size > 1 else ())
            offset = zero * sums if (zero * sums).any() else np.zeros((), np.int32)
            arguments = [self._constant(array, new) for array in (shaped, offset)]
            new.append(nn.DequantizeOp(products, *arguments))
        elif isinstance(zero, SSAValue):
            new.append(nn.BinaryOp(self._constant(sums, new), zero, BinaryKind.MUL))
            new.append(nn.BinaryOp(products, new[-1].results[0], BinaryKind.SUB))
        elif (zero * sums).any():
            offset = self._constant((zero * sums).astype(np.int32), new)
            new.append(nn.BinaryOp(products, offset, BinaryKind.SUB))


@dataclass
class _FoldSteps(RewritePattern):
    """The division by a result's step is folded into the scale and bias of the sums before it.

    Functions in between must commute with scaling: relu and clips.
    """

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.QuantizeOp, rewriter: PatternRewriter, /) -> None:
        step = splat_of(op.scale)
        if step is None or step in (0, 1) or shape_of(op.scale) != ():
            return
        chain = _chain(op.x)
        if chain is None:
            return
        sums, *others = chain
        scale = nn.constant_value(sums.scale, self.weights)
        if scale is None:
            return
        new: list[Operation] = []
        factor = nn.ConstantOp.from_array(divided(scale, step), self.weights)
        last = nn.DequantizeOp(sums.q, factor.result, sums.zero_point)
        new += [factor, last]
        for other in others:
            following = in_steps(other, new[-1].results[0], step, self.weights)
            if following is None:
                return
            new += following
        one = nn.ConstantOp.from_array(np.ones((), np.float32))
        result = nn.QuantizeOp(
            new[-1].results[0], one.result, op.zero_point, Rounding(op.rounding.data)
        )
        replace(rewriter, op, *new, one, result)


def _chain(x: SSAValue) -> tuple[nn.DequantizeOp, *tuple[Operation, ...]] | None:
    """Return the dequantised sums from which x is computed, and the operations after them.

    Each must have one use. Return None for anything else.
    """
    following: list[Operation] = []
    while x.has_one_use() and isinstance(op := x.owner, Operation):
        if isinstance(op, nn.DequantizeOp):
            is_sum = isinstance(op.q.owner, nn.ConvOp | nn.MatmulOp)
            return (op, *reversed(following)) if is_sum else None
        if not isinstance(op, nn.UnaryOp | nn.ClipOp | nn.BinaryOp):
            return None
        following.append(op)
        x = op.operands[0]
    return None


def in_steps(
    op: Operation, x: SSAValue, step: float, weights: Weights | None
) -> list[Operation] | None:
    """Return the operation on x in units of `step`; None if it does not commute with scaling."""
    match op:
        case nn.UnaryOp() if op.kind.data is UnaryKind.RELU:
            return [nn.UnaryOp(x, UnaryKind.RELU)]
        case nn.ClipOp():
            low, high = (None if bound is None else bound / step for bound in op.bounds())
            return [nn.ClipOp(x, low, high)]
        case nn.BinaryOp() if op.kind.data is BinaryKind.ADD:
            bias = _constant_before(op.b, weights)
            if bias is None:
                return None
            constant = nn.ConstantOp.from_array(divided(bias, step), weights)
            return [constant, nn.BinaryOp(x, constant.result, BinaryKind.ADD)]
        case _:
            return None


def _constant_before(value: SSAValue, weights: Weights | None) -> Array | None:
    """Return the constant that a value dequantises or reshapes; None if it is computed."""
    match value.owner:
        case nn.ReshapeOp() as op:
            before = _constant_before(op.x, weights)
            return None if before is None else before.reshape(shape_of(value))
        case nn.DequantizeOp() as op:
            parts = [nn.constant_value(v, weights) for v in (op.q, op.scale, op.zero_point)]
            if any(part is None for part in parts):
                return None
            q, scale, zero = (part for part in parts if part is not None)
            return ((q.astype(np.int64) - zero) * scale.astype(np.float64)).astype(scale.dtype)
        case _:
            return nn.constant_value(value, weights)


def divided(array: Array, step: float) -> Array:
    """Return numbers in units of `step`, rounded once."""
    return (array.astype(np.float64) / step).astype(np.float32)


def _is_byte(value: SSAValue) -> bool:
    type_ = nn.tensor_type(value).element_type
    return nn.is_integer(type_) and nn.numpy_dtype(type_).itemsize == 1


def _along(array: Array, shape: tuple[int, ...], axis: int) -> Array | None:
    """Return one number, or one per channel along an axis of `shape`; None for anything else."""
    if array.size == 1:
        return array.reshape(1)
    aligned = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
    is_vector = aligned.size == aligned.shape[axis] == shape[axis]
    return aligned.reshape(-1) if is_vector else None


def _unsigned(factors: _Factors, new: list[Operation]) -> tuple[SSAValue, int | SSAValue]:
    """Return the integers of x and their zero point, both raised by 128 if they are signed."""
    q, zero = factors.q, factors.zero
    if nn.is_unsigned(nn.tensor_type(q).element_type):
        return q, zero
    number = nn.CastOp(q, nn.element_type(np.dtype(np.int16)))
    shift = nn.ConstantOp.from_array(np.full((), _TO_UNSIGNED, np.int16))
    moved = nn.BinaryOp(number.result, shift.result, BinaryKind.ADD)
    unsigned = nn.CastOp(moved.result, nn.element_type(np.dtype(np.uint8)))
    new += [number, shift, moved, unsigned]
    if isinstance(zero, int):
        return unsigned.result, zero + _TO_UNSIGNED
    shift = nn.ConstantOp.from_array(np.full((), _TO_UNSIGNED, np.int32))
    new += [shift, sum_ := nn.BinaryOp(zero, shift.result, BinaryKind.ADD)]
    return unsigned.result, sum_.result
