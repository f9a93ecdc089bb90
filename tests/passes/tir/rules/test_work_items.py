"""What groups of work-items leave idle."""

from __future__ import annotations

from clopt.passes.tir.rules.texels.work_items import Shapes
from clopt.targets import load_target

ADRENO = load_target("adreno-740")


def test_a_group_of_two_waves_is_as_good_as_its_lanes() -> None:
    """A group of 120 has the waves of one of 128, and leaves 8 lanes idle."""
    nest = Shapes((25, 24), ADRENO)
    assert nest.best() == (24, 5)
    assert nest.use() == 120 / 128


def test_divided_indices_cost_where_the_device_says_so() -> None:
    """A transpose of 3 x 3 heads: the grid has three axes, so that one index is divided."""
    sizes = (3, 3, 197, 16)
    assert len(Shapes(sizes, ADRENO).best()) == 3
    assert len(Shapes(sizes, ADRENO.with_facts({"further_division_cost": 0.0})).best()) == 2
