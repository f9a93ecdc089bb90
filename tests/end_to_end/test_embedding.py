"""Functions of another compiler run our programs: whatever they hold, results are numpy's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import clopt
from clopt.backends.programs import program_alone
from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.cl import set_target
from clopt.errors import CloptError
from clopt.passes.pipelines import run_pipeline
from clopt.targets import load_target
from support import host
from support.tir.program import run_program

ROOT = Path(__file__).parents[2]

# Two networks, one called twice, one of them a part of a function with a scalar, an index, a branch
# and a loop; and a function that calls itself.
MODULE = """
func.func @scale(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>) -> tensor<4x6xf32>
    attributes {nn.network} {
  %p = nn.matmul %x, %w : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %y = nn.binary mul %p, %half : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}
func.func @bump(%x: tensor<5xui8>) -> tensor<5xui8> {
  %one = nn.constant dense<1> : tensor<ui8>
  %y = nn.binary add %x, %one : (tensor<5xui8>, tensor<ui8>) -> tensor<5xui8>
  func.return %y : tensor<5xui8>
}
func.func @host(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %b: tensor<5xui8>, %n: index, %relu: i1)
    -> (tensor<4x6xf32>, tensor<5xui8>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = nn.reduce sum %w {axes = array<i64: 0>, keepdims} : (tensor<6x6xf32>) -> tensor<1x6xf32>
  %y = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> (tensor<4x6xf32>) {
    %u = func.call @scale(%t, %w) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
    %v = nn.binary add %u, %sum : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
    scf.yield %v : tensor<4x6xf32>
  }
  %z = scf.if %relu -> (tensor<4x6xf32>) {
    %r = nn.unary relu %y : (tensor<4x6xf32>) -> tensor<4x6xf32>
    scf.yield %r : tensor<4x6xf32>
  } else {
    scf.yield %y : tensor<4x6xf32>
  }
  %c = func.call @bump(%b) : (tensor<5xui8>) -> tensor<5xui8>
  %d = func.call @bump(%c) : (tensor<5xui8>) -> tensor<5xui8>
  func.return %z, %d : tensor<4x6xf32>, tensor<5xui8>
}
func.func @power(%x: tensor<5xui8>, %n: index) -> tensor<5xui8> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %done = arith.cmpi eq, %n, %zero : index
  cf.cond_br %done, ^end(%x : tensor<5xui8>), ^more
^more:
  %y = nn.binary add %x, %x : (tensor<5xui8>, tensor<5xui8>) -> tensor<5xui8>
  %m = arith.subi %n, %one : index
  %z = func.call @power(%y, %m) : (tensor<5xui8>, index) -> tensor<5xui8>
  cf.br ^end(%z : tensor<5xui8>)
^end(%r: tensor<5xui8>):
  func.return %r : tensor<5xui8>
}
"""


def lowered(ctx: CloptContext) -> ModuleOp:
    module = Parser(ctx, MODULE).parse_module()
    set_target(module, load_target("pocl"))
    run_pipeline(ctx, module, "opencl")
    assert not any(op.name.startswith("nn.") for op in module.walk())
    return module


def alone(module: ModuleOp, name: str) -> ModuleOp:
    """A module of one program, as backends take it."""
    (program,) = (
        op for op in module.ops if isinstance(op, cl.ProgramOp) and op.sym_name.data == name
    )
    return program_alone(program)


def check(module: ModuleOp, run: host.RunProgram) -> None:
    """Compare the functions of `module` with numpy."""
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 6), (6, 6)))
    bytes_ = np.array([0, 1, 7, 254, 255], np.uint8)
    expected = x
    for _ in range(3):
        expected = 0.5 * (expected @ w) + w.sum(0, keepdims=True)
    for relu in (0, 1):
        result, bumped = host.call(module, "host", (x, w, bytes_, 3, relu), run)
        wanted = np.maximum(expected, 0) if relu else expected
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(bumped, bytes_ + np.uint8(2))
    (power,) = host.call(module, "power", (bytes_, 3), run)
    np.testing.assert_array_equal(power, bytes_ * np.uint8(8))


def test_functions_of_other_dialects_run_our_programs():
    ctx = CloptContext()
    module = lowered(ctx)
    parsed = Parser(CloptContext(), str(module)).parse_module()
    parsed.verify()

    def run(name: str, inputs: Sequence[Any]) -> Sequence[Any]:
        return run_program(alone(module, name), ctx.weights, inputs)

    check(parsed, run)


def test_programs_run_on_a_device(device: str, quick_builds: None):
    ctx = CloptContext()
    module = lowered(ctx)
    models: dict[str, clopt.CompiledModel] = {}

    def run(name: str, inputs: Sequence[Any]) -> Sequence[Any]:
        if name not in models:
            single = alone(module, name)
            models[name] = clopt.compile(single, device=device, weights=ctx.weights)
        ports = zip(models[name].inputs, inputs, strict=True)
        outputs = models[name].run({info.name: array.view(info.dtype) for info, array in ports})
        return [array.view(np.int8) if array.dtype == np.uint8 else array for array in outputs]

    check(module, run)


def test_the_example_of_the_page(device: str, quick_builds: None, monkeypatch: pytest.MonkeyPatch):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/embedding.md").read_text(), re.S)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(clopt, "compile", partial(clopt.compile, device=device))
    names: dict[str, Any] = {"clopt": clopt}
    exec(example, names)
    (result,) = names["model"].run({"input0": np.zeros((4, 8), np.float32)})
    np.testing.assert_allclose(result, np.full((4, 8), 1 / 8), rtol=1e-6)


def test_compile_refuses_a_function_that_is_not_ours_alone():
    """A compiled model would be a part of it."""
    ctx = CloptContext()
    module = Parser(ctx, MODULE).parse_module()
    with pytest.raises(
        CloptError, match="@host contains nn operations, but it takes or returns index"
    ):
        clopt.compile(module, target="pocl")


CALLS = """
func.func private @scale(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %half = nn.constant dense<0.5> : tensor<f32>
  %y = nn.binary mul %x, %half : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %a = func.call @scale(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %b = nn.unary exp %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = func.call @scale(%b) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %c : tensor<4x6xf32>
}
"""


def test_a_network_that_calls_another_is_one_kernel(device: str, quick_builds: None):
    model = clopt.compile(Parser(CloptContext(), CALLS).parse_module(), device=device)
    assert model.source.count("__kernel") == 1
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    np.testing.assert_allclose(model.run([x])[0], np.exp(x / 2) / 2, rtol=1e-6)


def test_calls_that_double_without_end_are_refused():
    """Each function calls the one before it twice."""
    text = CALLS.replace("@main", "@f0")
    for i in range(60):
        lines = CALLS[CALLS.index("func.func @main") :]
        text += lines.replace("@main", f"@f{i + 1}").replace("@scale", f"@f{i}")
    with pytest.raises(CloptError, match=r"@f\d+ has more than \d+ operations when its calls are"):
        clopt.compile(Parser(CloptContext(), text).parse_module(), target="pocl")
