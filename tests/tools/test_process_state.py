"""A tool called as a function leaves the process as it was, whether it succeeds or not."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clopt.dialects.vta import BLOCK_16, Finish
from clopt.dialects.vta.stream_file import StreamFile, write_stream
from clopt.tools import compile, opt, run, vta_objdump
from clopt.tools.reduce import __main__ as reduce
from clopt.tools.tune import __main__ as tune
from support import process_state

TEXT = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { func.return %x : tensor<4xf32> }"
TOOLS: dict[str, Callable[[list[str]], object]] = {
    "clopt": opt.main,
    "clopt-compile": compile.main,
    "clopt-reduce": reduce.main,
    "clopt-run": run.main,
    "clopt-tune": tune.main,
    "vta-objdump": vta_objdump.main,
}
COMMANDS = [
    "clopt {text}",
    "clopt {text} --disable-verify --syntax-highlight",
    "clopt {wrong} --disable-verify --syntax-highlight",
    "clopt {text} --disable-verify -p {wrong}",
    "clopt {model} -p opencl -t opencl-c --time-passes --print-ir-after-all",
    "clopt-compile {model} --target pocl -o {out} --memory-report {out}/memory.html",
    "clopt-compile {model} --target pocl --emit c -o {out}",
    "clopt-compile {wrong} -o {out}",
    "clopt-reduce {model} -o {out}.onnx -- {python} -c pass {{}}",
    "clopt-run {model} --device pocl --profile --time 2 --compare onnxruntime",
    "clopt-run {model} --list-devices",
    "clopt-run {wrong} --device pocl",
    "clopt-tune {model} --device pocl --trials 1 --workers 1",
    "clopt-tune {wrong}",
    "vta-objdump {stream} --config {config}",
    "vta-objdump {wrong}",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.by_default
def test_nothing_global_is_left_changed(
    command: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {name: tmp_path / f"file.{name}" for name in ("text", "wrong", "stream")}
    files["text"] = files["text"].with_suffix(".mlir")
    files["text"].write_text(TEXT)
    files["wrong"].write_text("!")
    files["stream"].write_bytes(write_stream(StreamFile(BLOCK_16, (Finish(),), (), (), {})))
    names = files | {"model": model, "out": tmp_path / "out"}
    words = command.format_map(names | {"python": sys.executable, "config": BLOCK_16.name})
    tool, *args = shlex.split(words)
    before = process_state.state(thorough=True)
    code = _exit_code(TOOLS[tool], args)
    capsys.readouterr()
    assert code == ("{wrong}" in command)
    assert process_state.changes(before, process_state.state(thorough=True)) == []


def _exit_code(main: Callable[[list[str]], object], args: list[str]) -> object:
    try:
        main(args)
    except SystemExit as leaving:
        return leaving.code or 0
    return 0
