"""`clopt-tune worker`: a device of this machine in a fleet."""

from __future__ import annotations

import shutil
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from clopt.errors import CloptError
from clopt.targets import load_target
from clopt.tools.tune.__main__ import main
from clopt.tuning.fleet import Fleet
from support import processes
from support.tuning.networks import default_trial, residual_tasks

SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
WORKER = [sys.executable, "-m", "clopt.tools.tune", "worker"]


def connected(address: str) -> Fleet:
    """A fleet, once it has a worker."""
    for _ in range(100):
        try:
            return Fleet(address, "Portable Computing Language")
        except CloptError:
            time.sleep(0.2)
    raise AssertionError("no worker came")


def test_a_worker_measures_on_its_device():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    worker = [*WORKER, "--scheduler", address, "--device", "pocl"]
    scheduler = [*SCHEDULER, "--host", "127.0.0.1", "--port", port]
    with processes.started(scheduler), processes.started(worker):
        fleet = connected(address)
        try:
            trial = default_trial(residual_tasks(load_target("pocl"))[0])
            result = fleet.submit(replace(trial, most_runs=6)).result(timeout=120)
        finally:
            fleet.close()
    assert (result.fault, result.reason) == (None, "")
    assert result.plan == trial.plan
    assert result.device == fleet.device.name
    assert result.microseconds is not None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["guess"],
            '"guess" is neither a subcommand nor an .onnx or .mlir file; there are: search, ',
        ),
        (
            ["serach", "net.onnx"],
            '"serach" is neither a subcommand nor an .onnx or .mlir file; did you mean sea',
        ),
        (["--trials", "1"], "there is no option --trials; clopt-tune --help shows the usage."),
        (["--trials", "0", "net.onnx"], "--trials 0: must be 1 or more."),
        (
            ["worker", "--scheduler", "tcp://127.0.0.1:1", "--device", "no such"],
            'No OpenCL device matches "no such"',
        ),
        (
            ["worker", "--scheduler", "tcp://127.0.0.1:1", "--device", "pocl", "--slots", "0"],
            "--slots and --seconds must be positive numbers.",
        ),
        (
            ["worker", "--scheduler", "tcp://127.0.0.1:1"],
            "Name either a --device or a --board.",
        ),
        (
            ["worker", "--scheduler", "tcp://h:1", "--board", "tcp://b:1", "--slots", "2"],
            "A board runs one plan at a time; omit --slots.",
        ),
        (["runner", "."], ". exists and is not empty; name another folder."),
    ],
)
def test_mistakes_are_told(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str):
    with pytest.raises(SystemExit):
        main(words)
    assert f"clopt-tune: {sentence}" in capsys.readouterr().err


def test_the_wait_for_a_scheduler_is_in_the_help(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="0"):
        main(["worker", "--help"])
    assert "waits for it without a limit" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(not shutil.which("cmake"), reason="builds by CMake: install cmake")
def test_the_runner_builds_with_cmake(tmp_path: Path):
    main(["runner", str(tmp_path / "runner")])
    build = tmp_path / "build"
    for words in (["-S", str(tmp_path / "runner"), "-B", str(build)], ["--build", str(build)]):
        done = processes.run(["cmake", *words], capture_output=True, text=True)
        assert not done.returncode, done.stdout + done.stderr
    done = processes.run([build / "clopt_runner", "--help"], capture_output=True, text=True)
    assert done.stderr.startswith("usage: clopt_runner")
