"""A module may hold functions of somebody else: every pipeline leaves them as they are."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import VerifyException

import clopt
from clopt import CloptError
from clopt.backends.programs import weights_read
from clopt.context import CloptContext, weights_of
from clopt.dialects import nn
from clopt.dialects.cl import set_target
from clopt.messages.source import Source, SourceError, SourceModule
from clopt.passes.nn.fold_batch_norm import NNFoldBatchNormPass
from clopt.passes.pipelines import PIPELINES, run_pipeline
from clopt.targets import load_target
from clopt.tools.opt import main
from clopt.universe import CLOPT_UNIVERSE
from clopt.weights import Weights
from support import processes
from support.tir.program import run_program

NETWORK = """
  func.func @NAME(%x: tensor<2x3x8x8xf32>) -> tensor<2x4x8x8xf32> {
    %w = nn.constant dense<0.5> : tensor<4x3x3x3xf32>
    %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      pads = array<i64: 1, 1, 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>)
      -> tensor<2x4x8x8xf32>
    %y = nn.unary relu %c : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    func.return %y : tensor<2x4x8x8xf32>
  }
"""

FOREIGN = """
  func.func @dead_and_equal(%n: index, %m: memref<?xf32>) -> index {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %dead = arith.constant 7 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
      %b = arith.addi %a, %c1 : index
      %same = arith.addi %a, %c1 : index
      %sum = arith.addi %b, %same : index
      %zero = arith.addi %sum, %c0 : index
      scf.yield %zero : index
    }
    func.return %r : index
  }
  func.func @unregistered(%t: tensor<4xf32>) -> tensor<4xf32> {
    %u = "other.op"(%t) {accumulate = f16} : (tensor<4xf32>) -> tensor<4xf32>
    func.return %u : tensor<4xf32>
  }
  func.func @identity(%t: tensor<4xf32>) -> tensor<4xf32> {
    func.return %t : tensor<4xf32>
  }
  func.func private @declared(i32) -> i32
  "other.global"() {sym_name = "g"} : () -> ()
"""


def functions(text: str) -> list[str]:
    """The top-level operations that are not ours, as printed."""
    found = re.findall(r"^  (?:func\.func|\"other).*?(?=^  \S|^\})", text, re.MULTILINE | re.DOTALL)
    return [op for op in found if "@main" not in op and "@second" not in op]


def printed(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main([str(path), "--allow-unregistered-dialect", *arguments])
    return capsys.readouterr().out


@pytest.mark.parametrize("target", ["pocl", "adreno-740 clml=prefer clml_version=3"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_foreign_functions_pass_untouched(
    pipeline: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "mixed.mlir"
    networks = [NETWORK.replace("NAME", name) for name in ("main", "second")]
    path.write_text(f"module {{{networks[0]}{FOREIGN}{networks[1]}}}")
    before = functions(printed(path, capsys))
    assert len(before) == 5
    # A pipeline in the middle works on what the ones before it made.
    order = ["simplify", "fuse", "lower", "schedule", "memory"]
    passes = order[: order.index(pipeline) + 1] if pipeline in order else [pipeline]
    after = printed(path, capsys, "--target", *target.split(), "-p", ",".join(passes))
    assert functions(after) == before


def test_the_error_is_that_of_the_function_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """And not that kernels are missing, which the pass would have inserted in the end."""
    broken = NETWORK.replace("NAME", "second").replace(
        "tensor<2x3x8x8xf32>)", "tensor<2x3x8x8xf32>, %n: index)", 1
    )
    path = tmp_path / "mixed.mlir"
    path.write_text(f"module {{{NETWORK.replace('NAME', 'main')}{broken}}}")
    with pytest.raises(SystemExit):
        main([str(path), "--target", "pocl", "-p", "fuse,lower"])
    error = capsys.readouterr().err
    sentence = (
        "@second contains nn operations, but it takes or returns index, which is not a tensor; "
    )
    assert sentence in error
    assert "no such kernel" not in error


@pytest.mark.parametrize("name", [name for name in CLOPT_UNIVERSE.all_passes if name[:3] == "nn-"])
def test_no_pass_changes_a_module_in_the_module(name: str):
    """Passes that walk the module would change it, and those that walk its functions would not."""
    inner = """
  func.func @inner(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x9x9xf32>) {
    %w = nn.constant dense<0.5> : tensor<4x4x1x1xf32>
    %a = nn.unary neg %w : (tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32>
    %c = nn.conv %x, %a {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>)
      -> tensor<1x4x8x8xf32>
    %v = nn.constant dense<0.5> : tensor<4x4x2x2xf32>
    %d = nn.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x2x2xf32>)
      -> tensor<1x4x9x9xf32>
    func.return %c, %d : tensor<1x4x8x8xf32>, tensor<1x4x9x9xf32>
  }
"""
    text = f"module {{ {NETWORK.replace('NAME', 'main')} module {{ {inner} }} }}"
    ctx = CloptContext()
    module = Parser(ctx, text).parse_module()
    before = str(module.body.block.last_op)
    with suppress(CloptError):
        CLOPT_UNIVERSE.all_passes[name]()().apply(ctx, module)
    assert str(module.body.block.last_op) == before


def test_a_complaint_about_something_else_is_not_located():
    """A pass may fail in the middle of its changes, when other operations do not verify."""
    text = "cl.program @p(%x: memref<4xf32>) inputs 0 { cl.return }"
    source = SourceModule.parse(CloptContext(), Source("x.mlir", text))
    assert str(source.locate(VerifyException("the cause"))).endswith("the cause")
    with pytest.raises(SourceError, match="never written"):
        source.verify()


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("done", ["verify", "simplify", "simplify,fuse", "simplify,fuse,lower"])
def test_constants_survive_a_stock_xdsl_opt(
    done: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Large ones by their names, small ones inline, with numbers that are hard to print."""
    model = """module {
      func.func @main(%x: tensor<4x600xf32>) -> tensor<4x600xf32> {
        %large = nn.constant dense<1.5> : tensor<4x600xf32>
        %small = nn.constant dense<[[0.1], [-0.0], [3.0e-45], [1.17549435E-38]]> : tensor<4x1xf32>
        %folded = nn.binary mul %large, %small
          : (tensor<4x600xf32>, tensor<4x1xf32>) -> tensor<4x600xf32>
        %s = nn.binary add %x, %folded
          : (tensor<4x600xf32>, tensor<4x600xf32>) -> tensor<4x600xf32>
        %y = nn.binary mul %s, %small
          : (tensor<4x600xf32>, tensor<4x1xf32>) -> tensor<4x600xf32>
        func.return %y : tensor<4x600xf32>
      }
    }"""
    first, second, weights = (tmp_path / name for name in ("a.mlir", "b.mlir", "w.safetensors"))
    first.write_text(model)
    dumped = printed(first, capsys, "--target", "pocl", "-p", done, "--save-weights", str(weights))
    first.write_text(dumped)
    stock = [sys.executable, "-m", "xdsl.tools.xdsl_opt", str(first), "-p", "canonicalize,cse,dce"]
    second.write_text(processes.run(stock, check=True, capture_output=True, text=True).stdout)
    results = [results_of(path, Weights.load(weights)) for path in (first, second)]
    np.testing.assert_array_equal(results[0], results[1])


def results_of(path: Path, weights: Weights) -> np.ndarray:
    """What the module in `path` computes in the end, by the interpreter."""
    ctx = CloptContext(weights=weights)
    module = Parser(ctx, path.read_text()).parse_module()
    for name in ("simplify", "fuse", "lower", "schedule"):
        run_pipeline(ctx, module, name)
    (result,) = run_program(module, ctx.weights, [np.full((4, 600), 0.25, np.float32)])
    return result


def stock_context() -> Context:
    """A context as `xdsl-opt` has it, which carries no weights."""
    ctx = Context()
    for name, load in (XDSL_UNIVERSE.all_dialects | CLOPT_UNIVERSE.all_dialects).items():
        ctx.register_dialect(name, load)
    return ctx


BATCH_NORM = """
  func.func @main(%x: tensor<1x16x6x6xf32>) -> tensor<1x16x4x4xf32> {
    %w = nn.constant dense<0.5> : tensor<16x16x3x3xf32>
    %s = nn.constant dense<1.5e+08> : tensor<16xf32>
    %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>} : (tensor<1x16x6x6xf32>, tensor<16x16x3x3xf32>)
      -> tensor<1x16x4x4xf32>
    %y = nn.batch_norm %c, %s, %s, %s, %s {epsilon = 0.0 : f64} : (tensor<1x16x4x4xf32>,
      tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x4x4xf32>
    func.return %y : tensor<1x16x4x4xf32>
  }
"""


def test_every_pass_runs_in_a_stock_driver():
    """The weights are in the text between passes, and the program is that of `clopt`."""
    ours, text = CloptContext(), f"module {{{BATCH_NORM}}}"
    expected = Parser(ours, text).parse_module()
    set_target(expected, load_target("pocl"))
    plain = stock_context()
    stock = Parser(plain, str(expected)).parse_module()
    for pass_ in PIPELINES["opencl"]:
        pass_.apply(ours, expected)
        pass_.apply(plain, stock)
        if pass_.name.startswith(("nn-", "cl-")):  # those that store arrays are among them
            stock = Parser(plain, str(stock)).parse_module()
    weights = nn.module_weights(stock)
    nn.set_module_weights(stock, None)
    assert str(stock) == str(expected)
    assert weights is not None
    for key in weights_read(expected):
        np.testing.assert_array_equal(weights.get(key), ours.weights.get(key))


def test_clopt_reads_the_weights_of_a_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """And prints them where they were in the text."""
    module = Parser(stock_context(), f"module {{{BATCH_NORM}}}").parse_module()
    NNFoldBatchNormPass().apply(stock_context(), module)
    path = tmp_path / "folded.mlir"
    path.write_text(str(module))
    text = printed(path, capsys, "--target", "pocl", "-p", "opencl")
    ctx = CloptContext()
    lowered = Parser(ctx, text).parse_module()
    assert weights_read(lowered) <= set(weights_of(ctx, lowered).keys())
    model = clopt.compile(module, target="pocl")
    assert "nn.weights" not in model.module.attributes
    assert set(model.weights.keys()) == weights_read(model.module)


@pytest.mark.parametrize(
    ("array", "complaint"),
    [
        ('"w_0" = "0x00" : tensor<1xf32>', "the array w_0 is not a tensor<1xf32>"),
        ('"w_0" = "0x0g" : tensor<1xi8>', "the array w_0 is not a tensor<1xi8>"),
        ('"w_0" = "0x00" : tensor<1xi8>', "the array w_0 is damaged: its bytes have the key w_"),
        ('"w_0" = "0x00" : i8', "the array w_0 must be a tensor, not i8"),
        ('"w_0" = "0x00" : tensor<1xi7>', "i7 is not an element type of nn tensors"),
    ],
)
def test_weights_in_a_text_are_checked(array: str, complaint: str):
    text = f"module attributes {{nn.weights = #nn.weights<{array}>}} {{}}"
    with pytest.raises(SourceError, match=re.escape(complaint)):
        SourceModule.parse(CloptContext(), Source("x.mlir", text))
