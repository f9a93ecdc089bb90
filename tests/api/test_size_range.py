"""The sizes of the programs that serve others."""

from __future__ import annotations

import pytest

from clopt.size_range import SizeRange


@pytest.mark.parametrize(
    ("size", "wanted", "quarters", "close"),
    [
        (0, 0, 0, 0),
        (1, 1, 1, 1),
        (3, 4, 4, 4),
        (9, 16, 16, 16),
        (17, 32, 24, 24),
        (65, 128, 96, 72),
        (300, 512, 384, 320),
    ],
)
def test_sizes_without_a_range(size: int, wanted: int, quarters: int, close: int):
    """A power of two, or a share of it that is at least 8."""
    assert SizeRange().rounded(size) == wanted
    assert SizeRange().rounded(size, 4) == quarters
    assert SizeRange().rounded(size, 16) == close


@pytest.mark.parametrize(
    ("size", "wanted", "close"),
    [(100, 128, 104), (200, 200, 200), (250, 256, 256), (520, 600, 576)],
)
def test_ends_of_a_range(size: int, wanted: int, close: int):
    usual_at_200 = SizeRange(1, 600, 200)
    assert usual_at_200.rounded(size) == wanted
    assert usual_at_200.rounded(size, 16) == close


@pytest.mark.parametrize("shares", [1, 4, 16])
@pytest.mark.parametrize(
    "sizes", [SizeRange(), SizeRange(1, 64, 64), SizeRange(3, 100, 12), SizeRange(0, 200)]
)
def test_the_least_size_that_a_program_serves(sizes: SizeRange, shares: int):
    for served in range(max(1, sizes.least), (sizes.most or 150) + 1):
        program = sizes.rounded(served, shares)
        least = sizes.least_rounded(program, shares)
        assert least <= served
        assert sizes.rounded(least, shares) == program
        assert least == max(1, sizes.least) or sizes.rounded(least - 1, shares) < program


@pytest.mark.parametrize("size", [1, 3, 64])
def test_one_program_for_all_sizes(size: int):
    assert SizeRange(1, 64, 64).rounded(size) == 64
    assert SizeRange(1, 64, 64).rounded(size, 16) == 64
    assert SizeRange(0, 64, 64).rounded(0) == 0
