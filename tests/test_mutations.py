"""The mistakes that measure the tests still fit the sources."""

from __future__ import annotations

from collections import Counter

import pytest
from mutations.table import ROOT, Mutation, mutations


@pytest.mark.parametrize("mutation", mutations(), ids=lambda each: each.name.replace(" ", "-"))
def test_a_mistake_can_be_made(mutation: Mutation):
    assert mutation.text(ROOT) != (ROOT / mutation.file).read_text()
    assert mutation.tests
    assert all((ROOT / test).exists() for test in mutation.tests)


def test_there_are_fifty():
    names = Counter(each.name for each in mutations())
    assert len(names) == 50
    assert set(names.values()) == {1}
