"""The compiler gets ready, and helpers start, while a network is lowered."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from threading import Event

import numpy as np
import onnx.parser
import pytest

import clopt
from clopt.backends.pyopencl_runtime import ahead, find_device, workers

MODEL = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 18]>
net (float[4,8] x) => (float[4,4] a, float[8,8] b) {
  t = Transpose(x)
  a = MatMul(x, t)
  b = MatMul(t, x)
}""")

HELPER = (
    "import os; from clopt.backends.pyopencl_runtime.workers import answer_jobs; "
    "answer_jobs(lambda start: lambda job: b'%d %s' % (os.getpid(), start + job))"
)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Generator[list[subprocess.Popen[bytes]]]:
    """The helpers that start, for two cores; all have ended after the test."""
    found: list[subprocess.Popen[bytes]] = []
    start = workers._start

    def note(helper: str) -> subprocess.Popen[bytes]:
        found.append(start(helper))
        return found[-1]

    monkeypatch.setattr(workers, "_start", note)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    yield found
    assert all(process.poll() is not None for process in found)
    assert not any(workers._standing_by.values())


def test_work_is_shared_with_the_helper_that_stands_by(
    started: list[subprocess.Popen[bytes]],
) -> None:
    workers.stand_by(HELPER, 12)
    workers.stand_by(HELPER, 12)
    (helper,) = started
    taken = Event()

    def job(key: str) -> bytes:
        taken.set()
        return key.encode()

    sources = {"one": "1" * 60_000, "two": "2" * 60_000}
    answers = workers.share_work(sources, HELPER, lambda _: taken.wait(60), job, lambda: b"the ")
    assert answers == {key: b"%d the %s" % (helper.pid, key.encode()) for key in answers}
    assert answers
    assert started == [helper]
    workers.dismiss(HELPER)


def test_helpers_without_work_are_dismissed(started: list[subprocess.Popen[bytes]]) -> None:
    workers.stand_by(HELPER, 12)
    workers.dismiss(HELPER)
    assert len(started) == 1


def test_small_networks_start_no_helper(
    device: str, started: list[subprocess.Popen[bytes]]
) -> None:
    with ahead.compiler_ahead(find_device(device)) as get_ready:
        get_ready(9)
    assert not started


@pytest.mark.parametrize("bytes_of_helper", [1, 50_000], ids=["has work", "has none"])
def test_a_network_runs_that_a_helper_waited_for(
    device: str,
    started: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    bytes_of_helper: int,
) -> None:
    monkeypatch.setattr(ahead, "_MOST_OF_SMALL_NETWORKS", 1)
    monkeypatch.setattr(workers, "_BYTES_PER_KERNEL", 100_000)
    monkeypatch.setattr(workers, "_BYTES_PER_WORKER", bytes_of_helper)
    model = clopt.compile(MODEL, device=device, use_cache=False)
    assert len(started) == 1
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    for result, expected in zip(model.run([x]), (x @ x.T, x.T @ x), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
