"""Integer division by zero, and of the least number by -1, gives numpy's result and never traps."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser
from xdsl.ir import Block

import clopt
from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate

TYPES = {name: np.dtype(name) for name in ("int8", "uint8", "int16", "int32", "uint32", "int64")}
NODES = {
    "div": "Div({a}, {b})",
    "mod": "Mod({a}, {b})",
    "fmod": "Mod<fmod=1>({a}, {b})",
}


def operands(dtype: np.dtype) -> list[np.ndarray]:
    """All pairs of the numbers where division traps or rounds, 19 lanes: vectors and a rest."""
    info = np.iinfo(dtype)
    values = [info.min, info.max, 0, 1, 7, 100]
    divisors = [0, 1, 3, info.max] + ([-1, -3, info.min] if info.min else [])
    pairs = [(a, b) for a in values for b in divisors]
    pairs += [(7, 0)] * (-len(pairs) % 19)
    return [np.array(column, dtype).reshape(-1, 19) for column in zip(*pairs, strict=True)]


def expected(kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The quotient truncated, 0 where b is 0, with the bits of a."""
    result = np.zeros(a.shape, a.dtype)
    for at in np.ndindex(a.shape):
        x, y = int(a[at]), int(b[at])
        if y:
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            value = {"div": quotient, "mod": x % y, "fmod": x - quotient * y}[kind]
            result[at] = np.array(value & (2 ** (8 * a.itemsize) - 1), np.uint64).astype(a.dtype)
    return result


@pytest.mark.parametrize("kind", NODES)
def test_definition(kind: str) -> None:
    for dtype in TYPES.values():
        a, b = operands(dtype)
        block = Block(arg_types=[nn.array_type(a), nn.array_type(b)])
        with np.errstate(divide="ignore", over="ignore"):
            (found,) = evaluate(nn.BinaryOp(*block.args, kind), [a, b]) or ()
        np.testing.assert_array_equal(found, expected(kind, a, b), err_msg=dtype.name)


@pytest.mark.parametrize("lanes", [1, 8, 16])
def test_division_on_devices(device: str, lanes: int) -> None:
    inputs, outputs, nodes, arrays = [], [], [], {}
    for name, dtype in TYPES.items():
        arrays |= dict(zip((f"{name}_a", f"{name}_b"), operands(dtype), strict=True))
        rows, columns = arrays[f"{name}_a"].shape
        inputs += [f"{name}[{rows},{columns}] {name}_{operand}" for operand in "ab"]
        outputs += [f"{name}[{rows},{columns}] {name}_{kind}" for kind in NODES]
        nodes += [
            f"{name}_{kind} = {node.format(a=f'{name}_a', b=f'{name}_b')}"
            for kind, node in NODES.items()
        ]
    text = (
        f'<ir_version: 8, opset_import: ["" : 14]> g ({", ".join(inputs)}) '
        f"=> ({', '.join(outputs)}) {{ {' '.join(nodes)} }}"
    )
    compiled = clopt.compile(parser.parse_model(text), device=device, vector_width=lanes)
    for output, found in zip(compiled.outputs, compiled.run(arrays), strict=True):
        name, kind = output.name.split("_")
        a, b = arrays[f"{name}_a"], arrays[f"{name}_b"]
        np.testing.assert_array_equal(found, expected(kind, a, b), err_msg=output.name)


def test_known_divisors_need_no_test() -> None:
    text = """<ir_version: 8, opset_import: ["" : 14]> g (int32[64] x) => (int32[64] y)
    <int32 d = {7}> { y = Div(x, d) }"""
    source = clopt.compile(parser.parse_model(text), target="pocl").source
    assert " / 7" in source
    assert "==" not in source
