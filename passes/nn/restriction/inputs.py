"""The inputs that changes of a network add, while they are found or checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np

from ....restriction import Array, Change, ChangeKind


class Inputs:
    """The arrays of added inputs, which are found for changes or checked against given ones."""

    def __init__(self, given: Sequence[Change] | None) -> None:
        """Find changes, or allow only the `given` ones."""
        self.changes: list[Change] = [*(given or ())]
        self._is_given = given is not None
        self._arrays: dict[int, Array] = {}
        self._positions: dict[object, int] = {}

    def given(self, operation: int) -> list[Change] | None:
        """Return the changes of an operation; None if they have to be found."""
        if not self._is_given:
            return None
        return [change for change in self.changes if change.operation == operation]

    def add(self, kind: ChangeKind, operation: int, operand: int, axis: int, array: Array) -> bool:
        """Note a change with the array of its input; return False if it is not among the given."""
        if self._is_given:
            return self._agrees(Change(kind, operation, operand, axis, -1), array)
        key = kind, axis, str(array.dtype), array.shape, array.tobytes()
        position = self._positions.setdefault(key, len(self._positions))
        self._arrays[position] = array
        self.changes.append(Change(kind, operation, operand, axis, position))
        return True

    def _agrees(self, wanted: Change, array: Array) -> bool:
        key = astuple(wanted)[:-1]
        found = [each.input for each in self.changes if astuple(each)[:-1] == key]
        known = [self._arrays.setdefault(position, array) for position in found]
        return bool(known) and np.array_equal(known[0], array)

    def arrays(self) -> tuple[Array, ...]:
        """Return the arrays by position."""
        return tuple(self._arrays[position] for position in sorted(self._arrays))
