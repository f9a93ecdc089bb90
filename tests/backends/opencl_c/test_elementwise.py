"""Every operation in scalar, unrolled and vector code, against numpy, on every OpenCL runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from support.tir.hand_written import Array, run

pytestmark = pytest.mark.in_turns

LANES = 48
"""A multiple of every vector width."""

NUMPY = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Operations from `%a`, `%b` (and `%c`, of the result's type) to `%r`."""

    name: str
    operand: str
    result: str
    ops: str
    reference: Callable[..., Any]
    tolerance: float = 0.0
    positive: bool = False

    def __str__(self) -> str:
        return f"{self.name}-{self.operand}"


def _binary(name: str, type_: str, reference: Callable[..., Any], **options: Any) -> Case:
    return Case(name, type_, type_, f"%r = {name} %a, %b : {type_}", reference, **options)


def _math(name: str, reference: Callable[..., Any], **options: Any) -> Case:
    options = {"tolerance": 2e-6} | options
    return Case(
        name, "f32", "f32", f"%r = math.{name} %a : f32", lambda a, b: reference(a), **options
    )


def _call(name: str, reference: Callable[..., Any], **options: Any) -> Case:
    ops = f'%r = tir.call "{name}"(%a) : (f32) -> f32'
    options = {"tolerance": 2e-6} | options
    return Case(f"call_{name}", "f32", "f32", ops, lambda a, b: reference(a), **options)


def _compare(op: str, predicate: str, type_: str, reference: Callable[..., Any]) -> Case:
    ops = f"%r = arith.{op} {predicate}, %a, %b : {type_}"
    return Case(f"{op}_{predicate}", type_, "i1", ops, reference)


def _cast(op: str, from_: str, to: str, reference: Callable[..., Any], **options: Any) -> Case:
    ops = f"%r = arith.{op} %a : {from_} to {to}"
    return Case(f"{op}_{to}", from_, to, ops, lambda a, b: reference(a), **options)


def _unsigned(array: Array) -> Array:
    return array.view(np.dtype(f"u{array.dtype}"))


def _u(reference: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: reference(_unsigned(a), _unsigned(b)).astype(a.dtype)


def _trunc_div(a: Array, b: Array) -> Array:
    q = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
    return (q * np.sign(a) * np.sign(b)).astype(a.dtype)


INTS = ("i8", "i16", "i32", "i64")
CASES = [
    *(_binary("arith.addf", t, np.add) for t in ("f32", "f64")),
    *(_binary("arith.mulf", t, np.multiply) for t in ("f32", "f64")),
    _binary("arith.subf", "f32", np.subtract),
    _binary("arith.divf", "f32", np.divide, tolerance=1e-6, positive=True),
    _binary("arith.maximumf", "f32", np.maximum),
    _binary("arith.minimumf", "f32", np.minimum),
    _binary("arith.maxnumf", "f32", np.fmax),
    _binary("arith.minnumf", "f32", np.fmin),
    _binary("arith.addf", "f16", np.add, tolerance=1e-3),
    _binary("arith.mulf", "f16", np.multiply, tolerance=1e-3),
    *(_binary("arith.addi", t, np.add) for t in INTS),
    *(_binary("arith.subi", t, np.subtract) for t in INTS),
    *(_binary("arith.muli", t, np.multiply) for t in ("i8", "i16")),
    *(_binary("arith.divsi", t, _trunc_div) for t in INTS),
    *(_binary("arith.divui", t, _u(np.floor_divide)) for t in INTS),
    *(_binary("arith.remsi", t, np.fmod) for t in INTS),
    *(_binary("arith.remui", t, _u(np.remainder)) for t in INTS),
    *(_binary("arith.floordivsi", t, np.floor_divide) for t in INTS),
    *(_binary("arith.ceildivsi", t, lambda a, b: -(-a // b)) for t in ("i32", "i64")),
    *(_binary("arith.andi", t, np.bitwise_and) for t in ("i1", "i8", "i32")),
    *(_binary("arith.ori", t, np.bitwise_or) for t in ("i1", "i16", "i64")),
    *(_binary("arith.xori", t, np.bitwise_xor) for t in ("i1", "i8", "i32")),
    *(_binary("arith.maxsi", t, np.maximum) for t in INTS),
    *(_binary("arith.minui", t, _u(np.minimum)) for t in INTS),
    *(_binary("arith.maxui", t, _u(np.maximum)) for t in ("i8", "i32")),
    Case(
        "shifts", "i32", "i32",
        """
        %three = arith.constant 3 : i32
        %left = arith.shli %a, %three : i32
        %signed = arith.shrsi %left, %three : i32
        %r = arith.shrui %signed, %three : i32
        """,
        lambda a, b: ((_unsigned((a << 3) >> 3)) >> 3).astype(np.int32),
    ),
    Case(
        "unsigned_chain", "i8", "i32",
        """
        %s = arith.addi %a, %b : i8
        %q = arith.divui %s, %b : i8
        %r = arith.extui %q : i8 to i32
        """,
        lambda a, b: (_unsigned(a + b) // _unsigned(b)).astype(np.int32),
    ),
    *(
        _compare("cmpi", predicate, type_, reference)
        for predicate, reference in (
            ("eq", np.equal), ("ne", np.not_equal), ("slt", np.less), ("sge", np.greater_equal),
            ("ult", lambda a, b: _unsigned(a) < _unsigned(b)),
            ("uge", lambda a, b: _unsigned(a) >= _unsigned(b)),
        )
        for type_ in ("i8", "i32", "i64")
    ),
    *(
        _compare("cmpf", predicate, "f32", reference)
        for predicate, reference in (
            ("oeq", np.equal), ("une", np.not_equal), ("olt", np.less), ("oge", np.greater_equal),
            ("ult", lambda a, b: ~(a >= b)), ("ugt", lambda a, b: ~(a <= b)),
            ("one", lambda a, b: (a < b) | (a > b)), ("ueq", lambda a, b: ~((a < b) | (a > b))),
            ("ord", lambda a, b: ~(np.isnan(a) | np.isnan(b))),
            ("uno", lambda a, b: np.isnan(a) | np.isnan(b)),
        )
    ),
    _cast("sitofp", "i32", "f32", lambda a: a.astype(np.float32)),
    _cast("sitofp", "i8", "f32", lambda a: a.astype(np.float32)),
    _cast("sitofp", "i64", "f64", lambda a: a.astype(np.float64)),
    _cast("uitofp", "i8", "f32", lambda a: _unsigned(a).astype(np.float32)),
    _cast("uitofp", "i32", "f64", lambda a: _unsigned(a).astype(np.float64)),
    _cast("uitofp", "i1", "f32", lambda a: a.astype(np.float32)),
    _cast("fptosi", "f32", "i32", lambda a: a.astype(np.int32), positive=True),
    _cast("fptosi", "f64", "i8", lambda a: a.astype(np.int8), positive=True),
    _cast("fptoui", "f32", "i16", lambda a: a.astype(np.uint16).view(np.int16), positive=True),
    _cast("extsi", "i8", "i64", lambda a: a.astype(np.int64)),
    _cast("extui", "i16", "i32", lambda a: _unsigned(a).astype(np.int32)),
    _cast("extui", "i1", "i64", lambda a: a.astype(np.int64)),
    _cast("extui", "i1", "i8", lambda a: a.astype(np.int8)),
    _cast("extsi", "i1", "i32", lambda a: -a.astype(np.int32)),
    _cast("trunci", "i64", "i8", lambda a: a.astype(np.int8)),
    _cast("trunci", "i32", "i1", lambda a: (a & 1).astype(np.bool_)),
    _cast("extf", "f32", "f64", lambda a: a.astype(np.float64)),
    _cast("extf", "f16", "f32", lambda a: a.astype(np.float32)),
    _cast("truncf", "f64", "f32", lambda a: a.astype(np.float32)),
    _cast("truncf", "f32", "f16", lambda a: a.astype(np.float16)),
    _cast("bitcast", "f32", "i32", lambda a: a.view(np.int32)),
    *(
        Case(
            f"select_{condition}_{type_}", type_, type_,
            f"""
            %test = arith.cmp{condition} %a, %b : {type_}
            %r = arith.select %test, %a, %b : {type_}
            """,
            lambda a, b: np.where(a > b, a, b),
        )
        for condition, types in (("i sgt,", ("i8", "i32", "i64")), ("f ogt,", ("f64", "f16")))
        for type_ in types
    ),
    Case(
        "select_across_sizes", "f32", "i64",
        """
        %test = arith.cmpf ogt, %a, %b : f32
        %yes = arith.constant 5 : i64
        %no = arith.constant -7 : i64
        %r = arith.select %test, %yes, %no : i64
        """,
        lambda a, b: np.where(a > b, 5, -7),
    ),
    Case(
        "masks_of_two_sizes", "f32", "i1",
        """
        %wide = arith.extf %a : f32 to f64
        %limit = arith.constant 0.5 : f64
        %p = arith.cmpf ogt, %wide, %limit : f64
        %q = arith.cmpf olt, %a, %b : f32
        %true = arith.constant true
        %s = arith.xori %q, %true : i1
        %r = arith.andi %p, %s : i1
        """,
        lambda a, b: (a > 0.5) & ~(a < b),
    ),
    Case(
        "relu", "f32", "f32",
        """
        %zero = arith.constant 0.0 : f32
        %r = arith.maximumf %a, %zero : f32
        """,
        lambda a, b: np.maximum(a, np.float32(0)),
    ),
    Case("negf", "f32", "f32", "%r = arith.negf %a : f32", lambda a, b: -a),
    Case("absi", "i16", "i16", "%r = math.absi %a : i16", lambda a, b: np.abs(a)),
    Case(
        "fpowi", "f32", "f32",
        """
        %n = arith.constant 3 : i32
        %r = math.fpowi %a, %n : f32, i32
        """,
        lambda a, b: a**3, tolerance=2e-6,
    ),
    Case(
        "isnan", "f32", "i1", '%r = tir.call "isnan"(%a) : (f32) -> i1', lambda a, b: np.isnan(a)
    ),
    Case(
        "fmod", "f32", "f32", '%r = tir.call "fmod"(%a, %b) : (f32, f32) -> f32', np.fmod,
        tolerance=1e-6, positive=True,
    ),
    _math("absf", np.abs, tolerance=0.0),
    _math("ceil", np.ceil), _math("floor", np.floor), _math("trunc", np.trunc),
    _math("roundeven", np.rint), _math("exp", np.exp), _math("exp2", np.exp2),
    _math("expm1", np.expm1), _math("tanh", np.tanh), _math("sin", np.sin), _math("cos", np.cos),
    _math("atan", np.arctan), _math("asinh", np.arcsinh), _math("sinh", np.sinh),
    _math("sqrt", np.sqrt, positive=True), _math("log", np.log, positive=True),
    _math("rsqrt", lambda a: 1 / np.sqrt(a), positive=True),
    _math("log1p", np.log1p, positive=True), _math("cbrt", np.cbrt),
    _call("cosh", np.cosh), _call("exp10", lambda a: 10.0**a, tolerance=1e-5),
]  # fmt: skip


def _inputs(case: Case) -> tuple[Array, Array]:
    random = np.random.default_rng(len(case.name))
    dtype = np.dtype(NUMPY[case.operand])
    if dtype == np.bool_:
        return random.random(LANES) < 0.5, random.random(LANES) < 0.5
    if dtype.kind == "f":
        a, b = random.normal(0, 2, (2, LANES)).astype(dtype)
        if case.positive:
            return np.abs(a) + dtype.type(0.25), np.abs(b) + dtype.type(0.25)
        a[:6] = [np.nan, 1, np.nan, np.inf, -np.inf, 2]
        b[:6] = [1, np.nan, np.nan, 1, 1, 2]
        return a, b
    info = np.iinfo(dtype)
    limit = min(int(info.max), 1 << 30)
    a = random.integers(-limit, limit, LANES).astype(dtype)
    b = random.integers(1, min(limit, 60), LANES).astype(dtype)
    b[::2] *= -1
    a[::5] = b[::5]
    return a, b


def _kernel(cases: Sequence[Case], kind: str, width: int) -> str:
    """One kernel for many cases: a compiler's start costs more than a case."""
    params, bodies = "", ""
    for n, case in enumerate(cases):
        operand, result = f"memref<{LANES}x{case.operand}>", f"memref<{LANES}x{case.result}>"
        params += f"{', ' if n else ''}%x{n}: {operand}, %y{n}: {operand}, %z{n}: {result}"
        bodies += f"""
        tir.for {kind} %j = 0 to {width} {{
          %at = affine.apply affine_map<(d0, d1) -> (d0 * {width} + d1)> (%i, %j)
          %a = memref.load %x{n}[%at] : {operand}
          %b = memref.load %y{n}[%at] : {operand}
          {case.ops}
          memref.store %r, %z{n}[%at] : {result}
        }}
        """
    outputs = ", ".join(str(3 * n + 2) for n in range(len(cases)))
    return f"""
    tir.func @f({params}) attributes {{outputs = array<i64: {outputs}>}} {{
      tir.for global_x %i = 0 to {LANES // width} {{
        {bodies}
      }}
    }}
    """


def _mismatch(case: Case, a: Array, b: Array, found: Array) -> list[str]:
    with np.errstate(all="ignore"):
        expected = np.asarray(case.reference(a, b)).astype(found.dtype)
    bad = ~np.isclose(found, expected, case.tolerance, case.tolerance, equal_nan=True)
    if not bad.any():
        return []
    return [f"{case}: {a[bad]} {b[bad]} -> {found[bad]}, not {expected[bad]}"]


@pytest.mark.parametrize(
    ("kind", "width"),
    [("serial", 6), ("unrolled", 2), ("vectorized", 8), ("vectorized", 3), ("vectorized", 16)],
)
@pytest.mark.parametrize("part", range(4))
def test_matches_numpy(device: str, part: int, kind: str, width: int) -> None:
    cases = CASES[part::4]
    arrays: list[Array] = []
    for case in cases:
        arrays += [*_inputs(case), np.zeros(LANES, NUMPY[case.result])]
    found = run(device, _kernel(cases, kind, width), arrays, (LANES // width,))
    failures: list[str] = []
    for n, case in enumerate(cases):
        failures += _mismatch(case, *arrays[3 * n : 3 * n + 2], found[3 * n + 2])
    assert not failures, "\n".join(failures)
