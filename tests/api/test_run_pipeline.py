"""`clopt.run_pipeline`: passes from Python, over modules and text, and pipelines as passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.universe import XDSL_UNIVERSE
from xdsl.xdsl_opt_main import xDSLOptMain

import clopt
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.cl import target_of
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.mixed_precision import NNMixedPrecisionPass
from clopt.passes.pipelines import PIPELINES
from clopt.universe import CLOPT_UNIVERSE, NAMED_PIPELINES

TEXT = """builtin.module {
  func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %two = nn.constant dense<2.0> : tensor<4x3xf32>
    %four = nn.binary mul %two, %two : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %y = nn.binary mul %x, %four : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    func.return %y : tensor<4x3xf32>
  }
}"""


def parsed(ctx: Context | None = None) -> ModuleOp:
    return Parser(ctx or CloptContext(), TEXT).parse_module()


def test_a_module_is_compiled_as_it_comes_back(device: str, quick_builds: None):
    """With its weights, which a pass has changed; the module that was given is unchanged."""
    module = parsed()
    lowered = clopt.run_pipeline(module, "opencl", "pocl")
    assert str(module) == str(parsed())
    assert target_of(lowered).name == "pocl"
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    (result,) = clopt.compile(lowered, device=device).run([x])
    np.testing.assert_array_equal(result, 4 * x)


def test_the_forms_of_a_module_and_of_a_pipeline_agree():
    expected = str(clopt.run_pipeline(parsed(), "simplify,nn-fuse", "pocl texture=off"))
    target = target_of(clopt.run_pipeline(TEXT, "", "pocl texture=off"))
    passes = [*PIPELINES["simplify"], NNFusePass()]
    assert str(clopt.run_pipeline(TEXT, passes, target)) == expected
    assert "nn.fused" in expected


def test_a_callback_sees_each_pass():
    seen: list[str] = []
    clopt.run_pipeline(
        TEXT, "fuse", callback=lambda last, _, __: seen.append(getattr(last, "name", ""))
    )
    assert seen == ["", *(each.name for each in PIPELINES["fuse"])]


@pytest.mark.parametrize("name", NAMED_PIPELINES)
def test_a_named_pipeline_is_a_pass_of_any_driver(name: str):
    """A plain context, as `xdsl-opt` has it; the passes before come from clopt's own."""
    plain = Context()
    for dialect, load in (XDSL_UNIVERSE.all_dialects | CLOPT_UNIVERSE.all_dialects).items():
        plain.register_dialect(dialect, load)
    stages = ["simplify", "fuse", "lower", "schedule", "memory"]
    pipeline = name.removeprefix("clopt-")
    before = stages[: stages.index(pipeline)] if pipeline in stages else []
    given = clopt.run_pipeline(TEXT, ",".join(before), "pocl")
    expected = clopt.run_pipeline(given, pipeline)
    module = Parser(plain, str(given)).parse_module()
    CLOPT_UNIVERSE.all_passes[name]()().apply(plain, module)
    for each in (module, expected):
        nn.set_module_weights(each, None)
    assert str(module) == str(expected)
    assert str(module) != str(given) or pipeline == "memory"


def test_a_stock_driver_runs_a_named_pipeline(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "module.mlir"
    path.write_text(TEXT)
    xDSLOptMain(args=[str(path), "-p", "clopt-opencl"]).run()
    lowered = Parser(CloptContext(), capsys.readouterr().out).parse_module()
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    (result,) = clopt.compile(lowered, device="pocl").run([x])
    np.testing.assert_array_equal(result, 4 * x)


def test_each_pipeline_has_a_pass():
    assert sorted(NAMED_PIPELINES) == sorted(f"clopt-{name}" for name in PIPELINES)


@pytest.mark.parametrize("name", CLOPT_UNIVERSE.all_passes)
def test_passes_are_frozen_dataclasses_with_options_as_fields(name: str):
    pass_ = CLOPT_UNIVERSE.all_passes[name]()()
    assert type(pass_).__dataclass_params__.frozen  # pyright: ignore
    assert type(pass_).from_spec(pass_.spec(include_default=True)) == pass_
    assert hash(dataclasses.replace(pass_)) == hash(pass_)
    options = {f.name for f in dataclasses.fields(pass_)}
    # An annotation without the decorator would be no option.
    own = {key for key, kind in type(pass_).__annotations__.items() if "ClassVar" not in str(kind)}
    assert own <= options
    assert repr(pass_).startswith(f"{type(pass_).__name__}(")


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "pass": (lambda: clopt.run_pipeline(TEXT, "nn-fuze"), "called nn-fuze; did you mean nn-fuse"),
    "option": (lambda: clopt.run_pipeline(TEXT, "nn-fuse{x=1}"), 'pipeline "nn-fuse.*x'),
    "pipeline": (lambda: clopt.run_pipeline(TEXT, "fuse{x=1}"), "fuse takes no options"),
    "text": (lambda: clopt.run_pipeline(TEXT, "nn-fuse{"), "this is not a pipeline"),
    "passes": (lambda: clopt.run_pipeline(TEXT, [NNFusePass]), r"as NNFusePass\(\), not"),  # pyright: ignore
    "number": (lambda: clopt.run_pipeline(TEXT, 3), "or passes .*, not int"),  # pyright: ignore
    "nothing": (lambda: clopt.run_pipeline(TEXT, None), "or passes .*, not NoneType"),  # pyright: ignore
    "module": (lambda: clopt.run_pipeline(3, "fuse"), "a ModuleOp or MLIR text, not int"),  # pyright: ignore
    "parse": (lambda: clopt.run_pipeline("func.func {", "fuse"), r"the text:1:\d+"),
    "target": (lambda: clopt.run_pipeline(TEXT, "fuse", 3), "target must be a name and facts"),  # pyright: ignore
    "weights": (lambda: clopt.run_pipeline(TEXT, "fuse", weights={}), "weights must be a clopt"),  # pyright: ignore
    "limit": (lambda: clopt.run_pipeline(TEXT, "fuse", memory_limit=1), "for example opencl"),
    "value": (
        lambda: clopt.run_pipeline(TEXT, "nn-mixed-precision{precision=f8}"),
        "precision must be one of",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_sentence(case: str):
    call, sentence = WRONG[case]
    with pytest.raises(clopt.CloptError, match=sentence) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_options_are_checked_when_a_pass_is_made():
    with pytest.raises(ValueError, match="precision must be one of"):
        NNMixedPrecisionPass("f8")
