"""Lines beside a list: each reader meets the line of what it reads, and no two lines overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clopt.reports.page.lanes import lanes_of


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """Rows that read some of the rows before them."""
    count = draw(st.integers(1, 12))
    return [
        sorted(draw(st.sets(st.integers(0, row - 1), max_size=4))) if row else []
        for row in range(count)
    ]


@given(graphs())
def test_lines_connect_writers_and_readers(reads: list[list[int]]) -> None:
    found = lanes_of(reads)
    last = {source: row for row, sources in enumerate(reads) for source in sources}
    for row, (lanes, sources) in enumerate(zip(found, reads, strict=True)):
        assert sorted(line.source for line in lanes.lines if line.is_read) == sources
        for line in lanes.lines:
            assert line.source <= row <= last[line.source]
            assert line.begins == (line.source == row)
            assert line.ends == (last[line.source] == row)
        # Above and below the node, a lane has one line at most.
        for half in (
            [li for li in lanes.lines if not li.begins],
            [li for li in lanes.lines if not li.ends],
        ):
            assert len({line.lane for line in half}) == len(half)
        assert all(line.lane == lanes.node for line in lanes.lines if line.begins)
    lanes_by_source: dict[int, set[int]] = {}
    for lanes in found:
        for line in lanes.lines:
            lanes_by_source.setdefault(line.source, set()).add(line.lane)
    assert all(len(lanes) == 1 for lanes in lanes_by_source.values())


def test_a_chain_is_one_line_and_a_shortcut_another() -> None:
    chain = lanes_of([[], [0], [1], [2]])
    assert [row.node for row in chain] == [0, 0, 0, 0]
    shortcut = lanes_of([[], [0], [1], [0, 2], [3]])
    assert [row.node for row in shortcut] == [0, 1, 1, 0, 0]
