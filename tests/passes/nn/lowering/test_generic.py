"""Generic loop nests compute on devices, and in numpy, what loops in Python do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clopt
from clopt.context import CloptContext
from clopt.dialects.nn.evaluation import interpret
from clopt.messages.source import Source, SourceModule

Arrays = list[np.ndarray[Any, Any]]

X = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)

# (operands, text of the operation with %a, %b…, result)
CASES: dict[str, tuple[Arrays, str, np.ndarray[Any, Any]]] = {
    "elements, with a row and an index": (
        [X, X[0]],
        """{maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
            affine_map<(i, j) -> (i, j)>], extents = array<i64: 3, 5>, elements = [f32]} {
        ^bb0(%x: f32, %y: f32):
          %i = nn.index 0
          %n = arith.index_cast %i : index to i32
          %f = arith.sitofp %n : i32 to f32
          %e = math.expm1 %x : f32
          %p = arith.mulf %e, %y : f32
          %s = arith.addf %p, %f : f32
          nn.yield %s : f32
        }""",
        np.expm1(X) * X[0] + np.arange(3, dtype=np.float32)[:, None],
    ),
    "a transposed read": (
        [X],
        """{maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
            extents = array<i64: 5, 3>, elements = [f32]} {
        ^bb0(%x: f32):
          %y = math.log1p %x : f32
          %z = math.absf %x : f32
          %w = math.log1p %z : f32
          nn.yield %w : f32
        }""",
        np.log1p(np.abs(X)).T,
    ),
    "a table at computed indices, the nearest where they are outside": (
        [np.array([2, 0, 9, -1], np.int64), X],
        """{maps = [affine_map<(i, j) -> (i)>, unit, affine_map<(i, j) -> (i, j)>],
            extents = array<i64: 4, 5>, elements = [f32]} {
        ^bb0(%n: i64, %t: tensor<3x5xf32>):
          %i = arith.index_cast %n : i64 to index
          %j = nn.index 1
          %c4 = arith.constant 4 : index
          %r = arith.subi %c4, %j : index
          %x = tensor.extract %t[%i, %r] : tensor<3x5xf32>
          nn.yield %x : f32
        }""",
        X[[2, 0, 2, 0]][:, ::-1],
    ),
    "a sum of squared differences over a window": (
        [X],
        """{maps = [affine_map<(i, j, k) -> (i, j * 2 + k)>, affine_map<(i, j, k) -> (j, i)>],
            extents = array<i64: 3, 2, 3>, elements = [f32], init = [1.0 : f32]} {
        ^bb0(%x: f32, %sum: f32):
          %q = arith.mulf %x, %x : f32
          %s = arith.addf %sum, %q : f32
          nn.yield %s : f32
        }""",
        np.stack([1 + (X[:, i : i + 3] ** 2).sum(1) for i in (0, 2)]),
    ),
    "integers: floor divisions, also by zero, and a shift": (
        [np.array([-7, 7, 5, 100], np.int32), np.array([2, -2, 0, 7], np.int32)],
        """{maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
            extents = array<i64: 4>, elements = [i32]} {
        ^bb0(%n: i32, %d: i32):
          %q = arith.floordivsi %n, %d : i32
          %c = arith.constant 1 : i32
          %s = arith.shli %q, %c : i32
          nn.yield %s : i32
        }""",
        np.array([-8, -8, 0, 28], np.int32),
    ),
    "booleans as numbers": (
        [X],
        """{maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
            extents = array<i64: 3, 5>, elements = [i32]} {
        ^bb0(%x: f32):
          %z = arith.constant 0.0 : f32
          %c = arith.cmpf ugt, %x, %z : f32
          %n = arith.extsi %c : i1 to i32
          nn.yield %n : i32
        }""",
        -(X > 0).astype(np.int32),
    ),
}
_TYPES = {"float32": "f32", "int32": "i32", "int64": "i64"}


def _type(array: np.ndarray[Any, Any]) -> str:
    return f"tensor<{'x'.join(map(str, array.shape))}x{_TYPES[array.dtype.name]}>"


def network(name: str) -> tuple[SourceModule, CloptContext]:
    """The function of a case."""
    operands, text, expected = CASES[name]
    names, types = [f"%{c}" for c in "ab"[: len(operands)]], [_type(x) for x in operands]
    properties, body = text.split(" {\n", 1)
    context = CloptContext()
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    result = _type(expected)
    source = f"""func.func @main({arguments}) -> {result} {{
      %y = nn.generic {", ".join(names)} {properties} : ({", ".join(types)}) -> {result} {{
      {body}
      func.return %y : {result}
    }}"""
    read = SourceModule.parse(context, Source("test", source))
    read.verify()
    return read, context


@pytest.mark.parametrize("name", CASES)
def test_in_numpy(name: str) -> None:
    read, _ = network(name)
    (function,) = read.module.ops
    (result,) = interpret(function, CASES[name][0])
    np.testing.assert_allclose(result, CASES[name][2], rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", CASES)
def test_on_a_device(name: str, device: str) -> None:
    operands, _, expected = CASES[name]
    read, _ = network(name)
    model = clopt.compile(read.module, device=device)
    (result,) = model.run({f"input{i}": x for i, x in enumerate(operands)})
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
