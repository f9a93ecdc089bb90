"""The random numbers of a test do not depend on the tests before it.

Test modules draw from generators of their own, such as `RNG = np.random.default_rng(0)`. Each test
finds them as they were once its module was imported.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

_States = dict[str, Any]

_imported: dict[ModuleType, _States] = {}
"""The states of the generators of each module before its first test."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Reset the generators of the test's module."""
    if not isinstance(item, pytest.Function):
        return
    generators = {name: _generator(value) for name, value in vars(item.module).items()}
    found = {name: each for name, each in generators.items() if each is not None}
    states = _imported.setdefault(
        item.module, {name: each.bit_generator.state for name, each in found.items()}
    )
    for name, each in found.items():
        if name in states:
            each.bit_generator.state = states[name]


def _generator(value: object) -> np.random.Generator | None:
    """Return a generator, or the one from which a `Drawing` draws."""
    value = getattr(value, "rng", value) if callable(value) else value
    return value if isinstance(value, np.random.Generator) else None
