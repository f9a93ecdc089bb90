"""`-v`, `-q` and progress on every tool; the library itself only logs."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import clopt
from clopt.errors import warn
from clopt.messages.stages import stage
from clopt.tools import compile, logs, opt, run, vta_objdump
from clopt.tools.console import print_remarks, user_errors
from clopt.tools.reduce import __main__ as reduce
from clopt.tools.tune import __main__ as tune
from clopt.tools.tune.display import SearchDisplay
from clopt.tuning.session import Budget

LOGGER = logging.getLogger("clopt")
COMMANDS: list[tuple[Callable[[list[str]], None], list[str]]] = [
    (opt.main, []),
    (run.main, []),
    (compile.main, []),
    (reduce.main, []),
    (vta_objdump.main, []),
    *((tune.main, [name]) for name in tune.COMMANDS),
]


@pytest.mark.parametrize(("main", "words"), COMMANDS)
def test_every_tool_has_the_options(main: Callable[[list[str]], None], words: list[str], capsys):
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    flags = re.findall("-., --[a-z]+", capsys.readouterr().out)
    assert {"-v, --verbose", "-q, --quiet"} <= set(flags)
    assert not LOGGER.level
    assert not LOGGER.handlers


def test_verbose_tells_passes_builds_and_caches(
    model: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CLOPT_MODEL_CACHE", "auto")
    run.main([str(model), "--device", "pocl", "-v"])
    first = capsys.readouterr().err
    assert re.search(r"^clopt-run: pass nn-choose: \d+\.\d{3} s$", first, re.M)
    assert re.search(r"^clopt-run: building 1 kernel for .*: \d+\.\d\d s$", first, re.M)
    assert re.search(r"^clopt-run: the cache of models in .* does not contain", first, re.M)
    run.main([str(model), "--device", "pocl", "-v"])
    second = capsys.readouterr().err
    assert re.search(r"^clopt-run: the cache of models in .* contains this model$", second, re.M)
    assert "pass nn-choose" not in second
    assert "has compiled these 1 kernels before" in second


def test_verbose_passes_of_a_pipeline(model: Path, capsys):
    opt.main([str(model), "-p", "simplify", "-v"])
    printed = capsys.readouterr()
    assert re.search(r"^clopt: pass [a-z-]+: \d", printed.err, re.M)
    assert printed.out.startswith("builtin.module")


def test_quiet_has_errors_alone(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        warn("a warning")
        print_remarks(["a remark"])
        raise clopt.CloptError("An error.")

    monkeypatch.setattr("clopt.api.compile", refuse)
    (path := tmp_path / "m.mlir").touch()
    for words, remarks in (([], "remark: a warning\nremark: a remark\n"), (["-q"], "")):
        with pytest.raises(SystemExit):
            run.main([str(path), *words])
        assert capsys.readouterr().err == f"{remarks}clopt-run: {path}: An error.\n"


@pytest.mark.parametrize(("level", "told"), [(logging.INFO, True), (logging.ERROR, False)])
def test_a_quiet_reduction(level: int, told: bool, tmp_path: Path, capsys):
    keep = reduce._Keeper(tmp_path / "small.mlir", lambda content: f"{len(content)} bytes")
    with user_errors("tool"):
        LOGGER.setLevel(level)
        keep(SimpleNamespace(best=b"abc", trials=3))
    assert capsys.readouterr().err == ("after 3 runs of the command: 3 bytes\n" if told else "")


def test_the_library_logs_and_prints_nothing(model: Path, capfd, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "clopt")
    clopt.compile(model, device="pocl", use_cache=False)
    names = {record.name for record in caplog.records}
    assert names == {
        "clopt.compilation",
        "clopt.passes.pipelines",
        "clopt.backends.pyopencl_runtime.build",
    }
    assert capfd.readouterr() == ("", "")


def test_a_pipe_has_a_line_for_each_long_stage(capsys, monkeypatch: pytest.MonkeyPatch):
    printed: list[str] = []
    monkeypatch.setattr(logs, "PATIENCE", 0)
    with user_errors("tool"), logs.progress("compiling [b]m.onnx"):
        wait_for(capsys, printed, 1)
        for name in ("reading", "lowering"):
            with stage(logging.getLogger("clopt.somewhere"), name):
                wait_for(capsys, printed, len(printed) + 1)
        logging.getLogger("clopt.somewhere").debug("a detail")
    text = "".join(printed) + capsys.readouterr().err
    assert text == "compiling [b]m.onnx ...\nreading ...\nlowering ...\n"


def wait_for(capsys: pytest.CaptureFixture[str], printed: list[str], count: int) -> None:
    """Wait until a timer's thread has printed so many lines, for at most ten seconds."""
    for _ in range(1000):
        if text := capsys.readouterr().err:
            printed.append(text)
        if len(printed) >= count:
            return
        time.sleep(0.01)
    pytest.fail(f"only {printed}")


def test_a_search_has_a_line_for_each_stage(capsys, monkeypatch: pytest.MonkeyPatch):
    clock = iter([0, 0, 0.9, 1.0, 1.1, 2.0, 5.0])
    monkeypatch.setattr("clopt.tools.tune.display.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(logs, "PATIENCE", 1.0)
    display = SearchDisplay(Budget(None, 10))
    for trials in range(4):
        display.tell_choices(trials)
    told = ["trying other choices in the network ..."]
    assert capsys.readouterr().err.splitlines() == told


def test_a_short_stage_has_no_line(model: Path, capsys):
    run.main([str(model), "--device", "pocl"])
    assert not capsys.readouterr().err


def test_a_terminal_has_a_spinner_beside_the_stage(capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with user_errors("tool"), logs.progress("compiling [b]m.onnx"):
        pass
    assert "compiling [b]m.onnx" in capsys.readouterr().err
