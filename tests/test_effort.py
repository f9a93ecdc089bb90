"""The seed of a run decides what Hypothesis draws."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import effort


@pytest.fixture(autouse=True)
def _restore() -> Generator[None]:
    before = effort.is_long(), effort.seed_asked(), effort.is_thorough()
    yield
    effort.configure(*before)


def draws(seed: int | None) -> list[int]:
    """The examples of a property in a run with this seed."""
    effort.configure(False, seed)
    found: list[int] = []

    @given(st.integers())
    def a_property(x: int) -> None:
        found.append(x)

    a_property()
    return found


def test_same_seed_same_examples() -> None:
    assert draws(5) == draws(5)
    assert draws(5) != draws(6)


def test_without_a_seed_every_run_draws_the_same() -> None:
    assert draws(None) == draws(None)


@pytest.mark.parametrize(
    ("long", "thorough", "count"), [(False, False, 3), (False, True, 5), (True, False, 50)]
)
def test_examples_that_build_kernels_are_half_by_default(
    long: bool, thorough: bool, count: int
) -> None:
    effort.configure(long, None, thorough)
    assert effort.builds(5) == count
