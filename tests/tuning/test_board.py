"""The runner in C, through TCP and a pipe: it computes and times what Python's runtime does."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.host_c.runner_files import (
    number,
    numbers,
    program_content,
    runner_files,
    sized,
)
from clopt.backends.pyopencl_runtime import find_device
from clopt.decisions.database import TuningDatabase
from clopt.errors import CloptError
from clopt.files.frames import receive_frame, send_frame
from clopt.targets import load_target
from clopt.tools.tune import machines as machines_here
from clopt.tools.tune.__main__ import main
from clopt.tuning import board as board_file
from clopt.tuning.board import Board
from clopt.tuning.choice_search import ChoiceSearch
from clopt.tuning.journal import DatabaseJournal
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.networks import TunedModel
from clopt.tuning.programs import Programs
from clopt.tuning.trial import Fault, Result, Trial
from clopt.tuning.turns import Turns
from clopt.tuning.workers import LocalMachines
from support import processes
from support.c.compilers import link_objects, objects
from support.c.compilers import runtime as runtime
from support.onnx.models import model
from support.tuning.networks import default_trial, residual_tasks

POCL = "Portable Computing Language"
CONV = Path(__file__).parents[2] / "docs" / "conv.onnx"


@pytest.fixture(scope="module")
def runner(runtime: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner, compiled without a warning from the files that a board gets."""
    folder = tmp_path_factory.mktemp("runner")
    for path, content in runner_files().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    made = objects("gcc", sorted(folder.glob("*.c")), folder)
    return link_objects([*made, *runtime], folder / "clopt_runner")


@contextmanager
def listening(runner: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    with processes.started([runner, "--device", POCL, "--port", port]) as process:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", int(port))).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"tcp://127.0.0.1:{port}", process


def piped(runner: Path, device: str = POCL) -> str:
    return shlex.join([str(runner), "--device", device])


def measured(board: Board, trial: Trial) -> Result:
    turns = Turns()
    with turns.beside_others():
        return board.measure(trial, turns)


def short_trials(target: str, **facts: str) -> list[Trial]:
    tasks = residual_tasks(load_target(target).with_facts(facts), channels=4)
    return [replace(default_trial(task), most_runs=6) for task in tasks]


def test_kernels_are_measured_through_a_pipe(runner: Path):
    board = Board(piped(runner))
    here = find_device("pocl")
    assert board.device().name == f"{here.name} ({here.platform})"
    assert board.device().driver == here.driver
    for trial in short_trials("pocl"):
        result = measured(board, trial)
        assert (result.fault, result.reason) == (None, "")
        assert (result.kernel, result.plan) == (trial.task.kernel, trial.plan)
        assert result.runs == 6
        assert result.microseconds is not None
        assert 0 < result.microseconds < 1e6 * result.seconds


def test_images_reach_the_board(runner: Path):
    """Intel's runtime has images, of which the program of a texel rule is full."""
    trials = [
        trial
        for trial in short_trials("adreno-740", texture="prefer")
        if "texture" in trial.task.program
    ]
    result = measured(Board(piped(runner, find_device("intel").name)), trials[0])
    assert (result.fault, result.reason) == (None, "")
    assert result.microseconds is not None


def test_a_board_computes_the_bits_of_this_machine(runner: Path):
    trial = short_trials("pocl")[0]
    program = Programs(trial.task).of(trial.plan)
    there = Board(piped(runner)).built(program, trial.task)
    here = OpenCLInstrument("pocl").built(program, trial.task)
    rng = np.random.default_rng(0)
    operands = [rng.standard_normal(info.shape, np.float32) for info in here.inputs]
    for found, expected in zip(there.run(operands), here.run(operands), strict=True):
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()


@pytest.mark.long  # workers that crash and hang are in the short form
def test_a_runner_that_crashes_or_hangs_costs_one_connection(runner: Path):
    """A stopped process answers as little as one that a kernel keeps busy."""
    first, *others = short_trials("pocl")
    with listening(runner) as (address, process):
        with machines(address, seconds=60) as found:
            assert found.submit(first).result(timeout=60).fault is None
            os.kill(child_of(process.pid), signal.SIGSEGV)
            assert found.submit(others[0]).result(timeout=60).fault is None
        with machines(address, seconds=0.5) as found:
            os.kill(child_of(process.pid), signal.SIGSTOP)
            assert found.submit(first).result(timeout=60).fault is Fault.HUNG
        with machines(address, seconds=60) as found:
            assert found.submit(first).result(timeout=60).fault is None


@contextmanager
def machines(address: str, seconds: float) -> Iterator[LocalMachines]:
    found = LocalMachines(Board(address), seconds=seconds)
    try:
        yield found
    finally:
        found.close()


def child_of(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def test_a_runner_refuses_what_is_no_program(runner: Path):
    trial = short_trials("pocl")[0]
    program = Programs(trial.task).of(trial.plan)
    model = clopt.compile(program.module, trial.task.target, weights=program.context.weights)
    content = program_content(model.module, model.source, model.weights)
    sentences = {
        number(99): "The runner does not know this message.",
        numbers(3, 1): "There is no program to run.",
        numbers(2, 0) + sized(b"x"): "There is no tensor of this number and size.",
        number(1) + content[:-1]: "The message is no program.",
        number(1) + content + b"\0": "The message is no program.",
        number(1) + b"\xff" * 400: "The message is no program.",
    }
    with processes.started(
        shlex.split(piped(runner)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for request, sentence in sentences.items():
            send_frame(process.stdin, request)
            answer = receive_frame(process.stdout)
            assert answer[:8] != number(0)
            assert answer[16:].decode() == sentence
        send_frame(process.stdin, number(1) + content)
        assert receive_frame(process.stdout) == number(0)
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("tcp://127.0.0.1:1", "No runner answers at tcp://127.0.0.1:1"),
        ("tcp://board", "tcp://board has no port"),
        ("tcp://board:70000", "tcp://board:70000 has no port"),
        ("no-such-runner", "No runner answers at no-such-runner"),
        ("ssh 'board", "--board ssh 'board: No closing quotation; quote it as for a shell."),
        ("sleep 60", "No runner answers at sleep 60: start clopt_runner there."),
    ],
)
def test_a_board_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, address: str, sentence: str
):
    monkeypatch.setattr(board_file, "_START", 0.2)
    with pytest.raises(CloptError, match=f"^{re.escape(sentence)}"):
        Board(address).device()


_OK = numbers(0)
_TEXTS = sized(b"name") + sized(b"platform") + sized(b"driver")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "No runner answers at {}: start clopt_runner there."),
        (number(1 << 62), "The program that answers at {} is not clopt_runner; name the"),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "The program that answers at {} is not clopt_runner; name",
        ),
        (
            sized(_OK + numbers(1) + sized(b"\xff") * 3),
            "The program that answers at {} is not clopt_runner",
        ),
        (
            sized(_OK + numbers(1) + sized(b"one")),
            "The program that answers at {} is not clopt_runner; name",
        ),
        (sized(_OK + numbers(9) + _TEXTS), "The runner has protocol version 9, not 1;"),
    ],
)
def test_what_answers_and_is_no_runner_is_told(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, sentence: str
):
    """A port that never answered once took ten minutes, and advice for another problem."""
    monkeypatch.setattr(board_file, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        connections: list[socket.socket] = []

        def serve() -> None:
            connections.append(server.accept()[0])  # open, but silent behind the answer
            connections[0].sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        with pytest.raises(CloptError, match=f"^{re.escape(sentence.format(address))}"):
            Board(address).device()
        thread.join(timeout=10)
        connections[0].close()


def test_a_search_on_a_board(
    runner: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    onnx.save(model("float[2,3] x", "y = Relu(x)"), tmp_path / "net.onnx")
    monkeypatch.delattr(machines_here, "OpenCLInstrument")
    board = piped(runner)
    words = [str(tmp_path / "net.onnx"), "--target", "pocl", "--board", board, "--trials", "2"]
    main(words)
    database = tmp_path / "net.tuning.jsonl"
    assert f"The database is {database}; clopt finds it there." in capsys.readouterr().out
    device, records = Board(board).device(), TuningDatabase.read(database).records
    assert len(records) >= 2
    assert any(record.default for record in records)
    assert {(each.device, each.driver, each.fault) for each in records} == {
        (device.name, device.driver, "")
    }


def test_networks_take_turns_on_a_board(runner: Path, tmp_path: Path):
    """A board holds one program, so that each turn loads its network again."""
    network = TunedModel(CONV, None, "pocl", {"batch": 1})
    with closing(Board(piped(runner))) as board:
        journal = DatabaseJournal(tmp_path / "db", board.device())
        found = ChoiceSearch(network, journal, build=board.network, most=1).run()
        assert found is not None
        assert found.tried == 1
        assert found.before > 0
        tried = TuningDatabase.read(journal.path).records
        assert tried
        assert all(journal.place.measured(each) and not each.fault for each in tried)
        compiled = network.compiled("off")
        x = np.random.default_rng(0).random((1, 3, 16, 16), np.float32)
        there = board.network(compiled).run([x])
    here = clopt.compile(CONV, "pocl", dims={"batch": 1}, device=POCL, tuning="off").run([x])
    np.testing.assert_array_equal(there, here)


def test_a_device_that_the_board_lacks_is_told(runner: Path):
    with pytest.raises(CloptError, match=r"^There is no OpenCL device of this name\.$"):
        Board(piped(runner, "no such device")).device()
