"""Reference cycles are collected rarely while clopt compiles, and as before afterwards."""

import gc
import sys
from collections.abc import Generator
from contextlib import ExitStack
from threading import Event, Thread

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


def test_thresholds_that_somebody_sets_meanwhile_stay() -> None:
    with collected_rarely():
        gc.set_threshold(7, 7, 7)
        with collected_rarely():
            pass
    assert gc.get_threshold() == (7, 7, 7)


def test_threads_may_overlap() -> None:
    entered, leave = Event(), Event()

    def compile_elsewhere() -> None:
        with collected_rarely():
            entered.set()
            leave.wait(60)

    other = Thread(target=compile_elsewhere)
    with ExitStack() as ours:
        ours.enter_context(collected_rarely())
        other.start()
        entered.wait(60)
        rarely = gc.get_threshold()
    assert gc.get_threshold() == rarely, "the other thread is still inside"
    leave.set()
    other.join(60)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (1_000_000, 1_000, 1_000)])
def test_a_process_that_collects_more_rarely_keeps_to_it(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with collected_rarely():
        within = gc.get_threshold()
    assert all(now >= wanted for now, wanted in zip(within, chosen, strict=True))
    assert within[0] == chosen[0]
    assert gc.get_threshold() == chosen


@pytest.fixture
def _nothing_frozen() -> Generator[None]:
    """The tests freeze what they import."""
    was_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    yield
    if was_frozen:
        gc.freeze()


def _is_old(sought: object) -> bool:
    return any(each is sought for each in gc.get_objects(generation=2))


@pytest.mark.usefixtures("_nothing_frozen")
def test_objects_become_old_without_a_visit_once_for_each_full_collection() -> None:
    gc.collect()
    with collected_rarely():
        first = [[object()] for _ in range(1000)]
    assert _is_old(first)
    with collected_rarely():
        second = [[object()] for _ in range(1000)]
    assert not _is_old(second), "cycles of every compilation would pile up"
    gc.collect()
    with collected_rarely():
        third = [[object()] for _ in range(1000)]
    assert _is_old(third)


def test_objects_that_the_process_has_frozen_stay_so() -> None:
    assert gc.get_freeze_count(), "by the tests"
    with collected_rarely():
        pass
    assert gc.get_freeze_count()


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
