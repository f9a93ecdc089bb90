"""Reference cycles are collected rarely while a tool of clopt runs, and as before afterwards."""

import gc
import sys
from collections.abc import Generator

import pytest

from clopt.garbage import collected_rarely
from support import processes


@pytest.fixture(autouse=True)
def _thresholds() -> Generator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_thresholds_are_back_after_an_error() -> None:
    @collected_rarely()
    def fail() -> None:
        assert all(now > 10 for now in gc.get_threshold())
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (1_000_000, 1_000, 1_000)])
def test_a_process_that_collects_more_rarely_keeps_to_it(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with collected_rarely():
        within = gc.get_threshold()
    assert all(now >= wanted for now, wanted in zip(within, chosen, strict=True))
    assert within[0] == chosen[0]
    assert gc.get_threshold() == chosen


_CYCLE = """
from clopt import garbage
class Cycle:
    def __init__(self): self.itself = self
    def __del__(self): print("freed", flush=True)
Cycle()
"""


@pytest.mark.parametrize(
    ("at_exit", "printed"), [("", "freed\n"), ("garbage.leave_to_the_system()", "")]
)
def test_a_tool_leaves_its_cycles_to_the_system(at_exit: str, printed: str) -> None:
    command = [sys.executable, "-c", _CYCLE + at_exit]
    ended = processes.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == printed
