"""Generic loop nests in numpy: the body is evaluated for all parallel iterations at once."""

from __future__ import annotations

import math as scalar_math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f16, f32, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from .. import Array, GenericOp, IndexOp, ints, numpy_dtype, shape_of, tensor_type

Function = Callable[..., Any]

_erf = np.vectorize(scalar_math.erf, otypes=[np.float64])


def _divided(function: Function) -> Function:
    """Return an integer quotient or remainder that is 0 if the divisor is 0."""

    def divided(a: Array, b: Array) -> Array:
        return np.where(b == 0, 0, function(a, np.where(b == 0, 1, b)))

    return divided


def _truncated(a: Array, b: Array) -> Array:
    return (np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b)


def _sum(a: Array, b: Array) -> Array:
    return a ^ b if a.dtype == np.bool_ else a + b


def _difference(a: Array, b: Array) -> Array:
    return a ^ b if a.dtype == np.bool_ else a - b


def _signed(x: Array) -> Array:
    """Return a boolean as a signed integer: its one bit is the sign."""
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def _inverse_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _unsigned(function: Function) -> Function:
    def on_bits(*operands: Array) -> Array:
        types = [np.dtype(f"u{x.dtype.itemsize}") for x in operands]
        return function(*(x.astype(t) for x, t in zip(operands, types, strict=True)))

    return on_bits


_FUNCTIONS: dict[type[Operation], Function] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.NegfOp: np.negative,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
    arith.AddiOp: _sum,
    arith.SubiOp: _difference,
    arith.MuliOp: np.multiply,
    arith.DivSIOp: _divided(_truncated),
    arith.RemSIOp: _divided(np.fmod),
    arith.FloorDivSIOp: _divided(np.floor_divide),
    arith.DivUIOp: _unsigned(_divided(np.floor_divide)),
    arith.RemUIOp: _unsigned(_divided(np.remainder)),
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.MaxUIOp: _unsigned(np.maximum),
    arith.MinUIOp: _unsigned(np.minimum),
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    arith.ShRUIOp: _unsigned(np.right_shift),
    arith.SelectOp: np.where,
    arith.ExtUIOp: _unsigned(np.positive),
    arith.UIToFPOp: _unsigned(np.positive),
    arith.ExtSIOp: _signed,
    arith.TruncIOp: np.positive,
    math.AbsFOp: np.abs,
    math.CeilOp: np.ceil,
    math.FloorOp: np.floor,
    math.RoundEvenOp: np.rint,
    math.TruncOp: np.trunc,
    math.SqrtOp: np.sqrt,
    math.RsqrtOp: _inverse_root,
    math.ExpOp: np.exp,
    math.ExpM1Op: np.expm1,
    math.LogOp: np.log,
    math.Log1pOp: np.log1p,
    math.SinOp: np.sin,
    math.CosOp: np.cos,
    math.TanOp: np.tan,
    math.AsinOp: np.arcsin,
    math.AcosOp: np.arccos,
    math.AtanOp: np.arctan,
    math.SinhOp: np.sinh,
    math.CoshOp: np.cosh,
    math.TanhOp: np.tanh,
    math.AsinhOp: np.arcsinh,
    math.AcoshOp: np.arccosh,
    math.AtanhOp: np.arctanh,
    math.ErfOp: _erf,
    math.PowFOp: np.power,
    math.CopySignOp: np.copysign,
}
"""Scalar operations except casts and comparisons, which `_scalar` evaluates."""

_COMPARE: Sequence[Function] = (
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
    *map(_unsigned, (np.less, np.less_equal, np.greater, np.greater_equal)),
)
"""By the number of the `arith.cmpi` predicate."""

_ORDERED: Sequence[Function] = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal)


def _compare_floats(predicate: int, a: Array, b: Array) -> Array:
    """Evaluate an `arith.cmpf` predicate: 1 to 7 are ordered, 8 to 14 unordered."""
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return np.full(unordered.shape, predicate == 15)
    kind = (predicate - 1) % 7
    if kind < 5:
        plain = _ORDERED[kind](a, b)
    else:
        plain = np.not_equal(a, b) if kind == 5 else np.full(unordered.shape, True)
    if predicate < 8:
        return plain & ~unordered
    # ueq (8) is eq or unordered, une (13) ne or unordered; 14 is uno.
    return (plain | unordered) if predicate < 14 else unordered


def dtype_of(type: Attribute) -> np.dtype[Any]:
    """Return the numpy type of a scalar; f16 is computed in f32."""
    if isinstance(type, IndexType):
        type = i64
    return numpy_dtype(f32 if type == f16 else type)


def evaluate_generic(op: GenericOp, operands: Sequence[Array]) -> tuple[Array, ...]:
    """Return the results of a generic; evaluate the body once per iteration of the reductions."""
    extents, written, reduced = op.loop_extents, op.written_loops, op.reduced_loops
    mesh = np.ix_(*(np.arange(extents[loop]) for loop in written))
    loops: list[Any] = [0] * len(extents)
    for loop, positions in zip(written, mesh, strict=True):
        loops[loop] = positions
    shape = tuple(extents[loop] for loop in written)
    results = [
        np.full(shape, start, dtype_of(tensor_type(value).element_type))
        for start, value in zip(op.starts, op.outputs, strict=False)
    ]
    for step in product(*(range(extents[loop]) for loop in reduced)):
        for loop, position in zip(reduced, step, strict=True):
            loops[loop] = position
        results = [np.broadcast_to(x, shape) for x in _body(op, operands, loops, results)]
    arrays: list[Array] = []
    for map_, array, value in zip(op.result_maps, results, op.outputs, strict=True):
        order = [written.index(loop) for loop in _loops_of(map_)]
        arrays.append(array.transpose(order).reshape(shape_of(value)))
    return tuple(arrays)


def _loops_of(map_: AffineMap) -> list[int]:
    return [dim for index in map_.results for dim in index.used_dims()]


def _body(
    op: GenericOp, operands: Sequence[Array], loops: Sequence[Any], so_far: Sequence[Array]
) -> list[Array]:
    block = op.body.block
    values: dict[SSAValue, Any] = {}
    for argument, map_, array in zip(block.args, op.operand_maps, operands, strict=False):
        if map_ is None:
            values[argument] = array
            continue
        element = array[tuple(index.eval(loops, []) for index in map_.results)]
        values[argument] = np.asarray(element).astype(dtype_of(argument.type))
    values.update(zip(block.args[len(operands) :], so_far, strict=True))
    *ops, last = block.ops
    for inner in ops:
        values[inner.results[0]] = _scalar(inner, [values[v] for v in inner.operands], loops)
    return [values[v] for v in last.operands]


def _scalar(op: Operation, x: Sequence[Any], loops: Sequence[Any]) -> Array:
    type = op.results[0].type
    match op:
        case IndexOp():
            result = loops[ints(op.loop)[0]]
        case tensor.ExtractOp():
            table, *indices = x
            sizes = cast(Array, table).shape
            result = table[tuple(np.clip(i, 0, n - 1) for i, n in zip(indices, sizes, strict=True))]
        case arith.ConstantOp():
            result = cast("IntegerAttr | FloatAttr", op.value).value.data
        case arith.CmpiOp():
            result = _COMPARE[op.predicate.value.data](*x)
        case arith.CmpfOp():
            result = _compare_floats(op.predicate.value.data, *x)
        case arith.BitcastOp():
            result = np.asarray(x[0]).view(dtype_of(type))
        case arith.TruncFOp() if type == f16:
            result = x[0].astype(np.float16)
        case arith.TruncIOp() if type == i1:
            result = x[0] & 1
        case _:
            function = _FUNCTIONS.get(op.__class__)
            result = x[0] if function is None else function(*x)
    return np.asarray(result).astype(dtype_of(type))


EVALUATORS: dict[type[Operation], Any] = {GenericOp: evaluate_generic}
