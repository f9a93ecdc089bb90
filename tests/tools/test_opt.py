"""`clopt` from outside: exit codes, sentences, files."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.passes import ModulePass

from clopt.tools.opt import main
from clopt.universe import CLOPT_UNIVERSE

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"

GOOD = "func.func @f(%x: i32) -> i32 {\n  func.return %x : i32\n}\n"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.mlir"
    path.write_text(GOOD)
    return path


def sentence(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """The sentence with which `clopt` refuses: exit code 1, nothing on stdout.

    One line; where the place in the input is known, that line of it and a caret follow.
    """
    with pytest.raises(SystemExit) as leaving:
        main([str(arg) for arg in args])
    assert leaving.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    first, *excerpt = err.splitlines()
    assert len(excerpt) in (0, 2)
    assert not excerpt or excerpt[1].endswith("^")
    assert first.startswith("clopt: ")
    return err.removeprefix("clopt: ").strip()


BAD_TEXT = {
    "func.func @f() {": "bad.mlir:1:17: ",
    "\n\n%": "bad.mlir:3:1: ",
    "nonsense\n\n": "bad.mlir:1:1: Operation nonsense is not registered\nnonsense\n^",
    'func.func @f() {\n  "' + 40 * "a": "bad.mlir:2:3: a string that begins here",
    "\xff\x00": "bad.mlir:1:1: Unexpected character",
    "func.func @f() {\n\t\tx\n}": "bad.mlir:2:3: Operation x is not registered\n\t\tx\n\t\t^",
    300 * " " + "\x07": "\n" + 99 * " " + "?\n" + 99 * " " + "^",
    "module attributes {a = #nn.nonsense<3>} {}": "'nn.nonsense' is not registered",
    'func.func @f() {\n  "nn.nonsense"() : () -> ()\n}': "Operation nn.nonsense is not registered",
    "func.func @f() -> i32 {\n  func.return\n}": "bad.mlir:2:3: 'func.return': Expected arguments",
    "func.func @f(%x : tensor<-3xf32>) {\n  func.return\n}": "bad.mlir:1:26: Expected shape",
}


def test_empty_input_has_no_excerpt(tmp_path: Path, capsys):
    path = tmp_path / "empty.mlir"
    path.write_text("\n\n")
    assert sentence(capsys, path).endswith("empty.mlir:1:1: Could not parse entire input!")


@pytest.mark.parametrize("text", BAD_TEXT)
def test_malformed_mlir_names_the_line(tmp_path: Path, capsys, text: str):
    path = tmp_path / "bad.mlir"
    path.write_bytes(text.encode("latin-1"))
    assert BAD_TEXT[text] in sentence(capsys, path)


def test_stdin_is_text_or_an_onnx_model(monkeypatch: pytest.MonkeyPatch, capsys):
    for content, name in ((GOOD.encode(), "@f"), (DIGITS.read_bytes(), "@main")):
        for words in ([], ["-"]):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
            main(words if name == "@f" else [*words, "--dim", "batch=1"])
            assert f"func.func {name}" in capsys.readouterr().out


NOT_LOWERED = {
    "": "@main is not lowered to kernels: run the pipeline opencl first, as in -p opencl",
    "-p simplify,fuse": "@main is not lowered to kernels",
    "-p simplify,fuse,nn-to-cl": "has no loops: run the pass nn-to-tir and the pipeline schedule",
    "-p simplify,fuse,lower": "has no schedule: run the pipeline schedule first, as in -p schedule",
}


@pytest.mark.parametrize("passes", NOT_LOWERED)
def test_kernels_of_a_model_that_is_not_lowered(passes: str, capsys):
    words = [DIGITS, "--dim", "batch=1", "-t", "opencl-c", *passes.split()]
    assert NOT_LOWERED[passes] in sentence(capsys, *words)


def test_functions_of_others_are_no_kernels(good: Path, capsys):
    main([str(good), "-t", "opencl-c"])
    assert capsys.readouterr() == ("", "")


class Failing(ModulePass):
    """A user's pass with a bug."""

    name = "failing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("lost")


class Breaking(ModulePass):
    """A user's pass that leaves IR that does not verify."""

    name = "breaking"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        next(o for o in op.walk() if isinstance(o, ReturnOp)).operands = []


def with_users_pass(monkeypatch: pytest.MonkeyPatch, kind: type[ModulePass]) -> None:
    monkeypatch.setitem(CLOPT_UNIVERSE.all_passes, kind.name, lambda: kind)


def test_failure_of_a_users_pass_is_theirs(monkeypatch: pytest.MonkeyPatch, good: Path, capsys):
    with_users_pass(monkeypatch, Failing)
    with pytest.raises(SystemExit) as leaving:
        main([str(good), "-p", "dce,failing,cse"])
    assert leaving.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert 'in apply\n    raise KeyError("lost")\n' in err
    assert lines[-2] == "KeyError: 'lost'"
    assert lines[-1] == (
        f"clopt: the pass failing raised KeyError; it belongs to {__name__}, not to clopt."
    )
    assert "bug in clopt" not in err
    assert "tools/opt.py" not in err


def test_wrong_ir_after_a_users_pass_is_theirs(monkeypatch: pytest.MonkeyPatch, good: Path, capsys):
    with_users_pass(monkeypatch, Breaking)
    said = sentence(capsys, good, "-p", "breaking")
    assert f"good.mlir:2:3: after pass breaking (a bug in {__name__}): 'func.return'" in said


def test_nothing_is_written_for_bad_input(tmp_path: Path, capsys):
    path, output = tmp_path / "bad.mlir", tmp_path / "out.mlir"
    path.write_text(f"{GOOD}// -----\nnonsense")
    output.write_text("from before")
    sentence(capsys, path, "--split-input-file", "-o", output)
    assert output.read_text() == "from before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.mlir", "out.mlir"]


def test_output_file(good: Path, tmp_path: Path):
    output = tmp_path / "out.mlir"
    main([str(good), "-o", str(output)])
    assert "func.func @f" in output.read_text()


BAD_OPTIONS = {
    "-p cse,canonicalise": "no pass or pipeline called canonicalise; did you mean canonicalize?",
    "-p dce{depth=3}": 'Provided arguments ["depth"] not found',
    "-p dce{{": "this is not a pipeline",
    "--print-ir-after=cse -p dce": "--print-ir-after=cse: this pass is not in the pipeline",
    "--target nonsense": 'There is no target "nonsense"',
    "--target pocl speed=high": '"speed" is not a fact of a target; docs/targets.md lists',
    "--target texture=prefer": "texture=prefer needs a device with images, and generic has none",
    "--target=pocl,texture=yes": 'texture must be "off" or "auto" or "prefer", not "yes"',
    "--weights no.safetensors": "the weights file no.safetensors",
    "--dim batch=1": "--dim binds dimensions of ONNX models only",
    "-o no/such/folder/out.mlir": "cannot write here",
    "--save-weights no/such/folder/w": "Cannot write the weights file no/such/folder/w",
    "--dump-dir /dev/null/dumps": "/dev/null/dumps: cannot write here",
}


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_wrong_options(good: Path, capsys, options: str):
    assert BAD_OPTIONS[options] in sentence(capsys, good, *options.split(" "))


@pytest.mark.parametrize("name", ["absent.mlir", "absent.onnx"])
def test_missing_file(capsys, name: str):
    assert sentence(capsys, name) == f"{name}: cannot read this file: No such file or directory."


def test_unknown_kind_of_file(tmp_path: Path, capsys):
    path = tmp_path / "model.pt"
    path.touch()
    assert "clopt reads .mlir and .onnx files" in sentence(capsys, path)


def test_dump_dir_has_a_numbered_file_for_each_pass(good: Path, tmp_path: Path):
    folder = tmp_path / "dumps"
    main([str(good), "-p", "canonicalize,dce", "--dump-dir", str(folder)])
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["00-input.mlir", "01-canonicalize.mlir", "02-dce.mlir"]


@pytest.mark.parametrize("target", ["pocl", "adreno-740 texture=prefer"])
def test_clopt_reads_every_dump_and_prints_it_again(target: str, tmp_path: Path, capsys):
    folder = tmp_path / "dumps"
    words = [DIGITS, "--dim", "batch=1", "--target", target, "-p", "opencl", "--dump-dir", folder]
    main([str(word) for word in words])
    dumps = sorted(folder.iterdir())
    assert len(dumps) > 20
    assert "tensor<10xf32>" in dumps[0].read_text()
    capsys.readouterr()
    for dump in dumps:
        main([str(dump)])
        text = capsys.readouterr().out
        assert text == dump.read_text(), dump.name
        assert len(text.partition("{\n")[0]) < 120, "only facts that differ from the target's"


def test_a_constant_that_was_left_out_is_told(tmp_path: Path, capsys):
    main([str(DIGITS), "--dim=batch=1", "--elide-larger-than=4", "-o", str(tmp_path / "a.mlir")])
    said = sentence(capsys, tmp_path / "a.mlir")
    assert "; --elide-larger-than left the constant out\n" in said


@pytest.mark.by_default(cases=1)
def test_list_passes_shows_pipelines_and_passes(capsys):
    main(["--list-passes"])
    out = capsys.readouterr().out
    assert "opencl" in out
    assert "canonicalize" in out


def test_named_pipeline_is_expanded(good: Path, tmp_path: Path):
    folder = tmp_path / "dumps"
    main([str(good), "-p", "simplify", "--dump-dir", str(folder)])
    assert (folder / "00-input.mlir").exists()
    assert len(list(folder.iterdir())) > 2


def test_explanation_needs_plans(good: Path, capsys):
    said = sentence(capsys, good, "-p", "simplify", "--explain-plan")
    assert said == "--explain-plan: tir-choose-plan is not in the pipeline."


def test_list_rules_needs_no_kernel(capsys: pytest.CaptureFixture[str]):
    main(["--list-rules"])
    out = capsys.readouterr().out
    assert "register-tile" in out
    assert "lanes of a vector along the columns" in out
    main(["--list-rules", "--json"])
    told = json.loads(capsys.readouterr().out)
    (rule,) = (each for each in told["rules"] if each["name"] == "register-tile")
    types = {each["name"]: each["type"] for each in rule["parameters"]}
    assert (types["rows"], types["panel"], types["order"]) == ("number", "word", "numbers")


def test_the_passes_as_json(capsys: pytest.CaptureFixture[str]):
    main(["--list-passes", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["version"] == 1
    assert told["passes"].keys() >= {"nn-fuse", "tir-choose-plan"}
    assert "nn-fuse" in told["pipelines"]["fuse"]
    assert all(told["passes"].values())
    with pytest.raises(SystemExit):
        main(["--json", "absent.mlir"])
    assert "--json goes with --list-passes" in capsys.readouterr().err
