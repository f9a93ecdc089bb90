"""Products of dequantised values as products of integers, whose sums are dequantised."""

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
"""Products of eight bits whose sum certainly fits 32."""
_TO_UNSIGNED = 128
"""What signed numbers of 8 bits lack to be unsigned."""


@dataclass(frozen=True)
class NNIntegerProductsPass(ModulePass):
    """Multiplies integers of 8 bits where a convolution or matmul multiplies dequantised ones.

    `conv(dequantize(x), dequantize(w)) + b` becomes `dequantize(conv(x, w)) + b`: sums are i32 and
    exact, zero points of x are constants of a channel in the second zero point, or padding. x is
    unsigned and the constant w signed, without its zero point: what instructions for such products
    take. The step of a quantised result joins the scale of the sums.

    Products of integers that ONNX widens to i32, x less its zero point, become such ones, too;
    there the zero point of x may be known only at run time.

    On devices that have no such instruction (`dot_product`) products of floats are faster, and
    `mode` auto leaves them; `prefer` does not.
    """

    name: ClassVar[str] = "nn-integer-products"
    mode: str = "auto"

    def __post_init__(self) -> None:
        if self.mode not in ("auto", "prefer"):
            raise ValueError(f"mode is auto or prefer, not {self.mode}")

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
    """The zero point of x, as i32 where only the run tells."""
    w: Array
    """Signed bytes, [O, C, K1..] or [..., K, N], from which the zero point is subtracted."""
    scale: Array | None
    """Of the sums: of the channels of the result, or one for all. None where they stay i32."""


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
        """The operands as integers; None where they are not exact in 32 bits.

        `axis` is that of the weights' channels.
        """
        if isinstance(x.owner, nn.DequantizeOp) and isinstance(w.owner, nn.DequantizeOp):
            found = self._dequantised(x.owner, w.owner, axis)
        else:
            found = self._widened(x, w)
        if found is None or not _is_byte(found.q):
            return None
        if found.w.size >= _MOST_TERMS * found.w.shape[axis]:
            return None
        if found.w.min(initial=0) < -128 or found.w.max(initial=0) > 127:
            return None
        return replace_field(found, w=found.w.astype(np.int8))

    def _dequantised(self, x: nn.DequantizeOp, w: nn.DequantizeOp, axis: int) -> _Factors | None:
        """The integers that are dequantised to the operands."""
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
        """The bytes that are widened to operands of i32, x less one number."""
        known = nn.constant_value(w, self.weights)
        if known is None or nn.tensor_type(x).element_type != i32:
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
        return _Factors(x.owner.x, zero, known, None)

    def _constant(self, array: Array, new: list[Operation]) -> SSAValue:
        op = nn.ConstantOp.from_array(array, self.weights)
        new.append(op)
        return op.result

    def _finish(
        self, scale: Array | None, zero: int | SSAValue, sums: Array, new: list[Operation]
    ) -> None:
        """Append what makes the product of the sums that the last operation of `new` computes.

        `sums` are those of the weights, in a shape that broadcasts.
        """
        found = new[-1].results[0]
        if scale is not None:
            assert isinstance(zero, int)
            shaped = scale.reshape(sums.shape if scale.size > 1 else ())
            known = zero * sums if (zero * sums).any() else np.zeros((), np.int32)
            arguments = [self._constant(array, new) for array in (shaped, known)]
            new.append(nn.DequantizeOp(found, *arguments))
        elif isinstance(zero, SSAValue):
            new.append(nn.BinaryOp(self._constant(sums, new), zero, BinaryKind.MUL))
            new.append(nn.BinaryOp(found, new[-1].results[0], BinaryKind.SUB))
        elif (zero * sums).any():
            known = self._constant((zero * sums).astype(np.int32), new)
            new.append(nn.BinaryOp(found, known, BinaryKind.SUB))


@dataclass
class _FoldSteps(RewritePattern):
    """The division by a result's step joins the scale of the sums before it, and their bias.

    Functions between them must be the same for numbers of any unit: relu, and clips.
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
    """The dequantised sums that x is computed from, and the operations after them, each used once.

    None for anything else.
    """
    found: list[Operation] = []
    while x.has_one_use() and isinstance(op := x.owner, Operation):
        if isinstance(op, nn.DequantizeOp):
            is_sum = isinstance(op.q.owner, nn.ConvOp | nn.MatmulOp)
            return (op, *reversed(found)) if is_sum else None
        if not isinstance(op, nn.UnaryOp | nn.ClipOp | nn.BinaryOp):
            return None
        found.append(op)
        x = op.operands[0]
    return None


def in_steps(
    op: Operation, x: SSAValue, step: float, weights: Weights | None
) -> list[Operation] | None:
    """The operation on x that counts in steps; None where it has another value then."""
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
    """A constant, dequantised or reshaped or neither; None where it has another origin."""
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
    """Numbers in steps, rounded once."""
    return (array.astype(np.float64) / step).astype(np.float32)


def _is_byte(value: SSAValue) -> bool:
    type_ = nn.tensor_type(value).element_type
    return nn.is_integer(type_) and nn.numpy_dtype(type_).itemsize == 1


def _along(array: Array, shape: tuple[int, ...], axis: int) -> Array | None:
    """One number, or one for each channel along an axis of `shape`; None for anything else."""
    if array.size == 1:
        return array.reshape(1)
    aligned = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
    is_vector = aligned.size == aligned.shape[axis] == shape[axis]
    return aligned.reshape(-1) if is_vector else None


def _unsigned(factors: _Factors, new: list[Operation]) -> tuple[SSAValue, int | SSAValue]:
    """The integers of x and their zero point, both 128 more if they are signed."""
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
