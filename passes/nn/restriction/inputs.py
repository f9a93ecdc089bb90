"""The inputs that changes of a network add, while they are found or checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....restriction import Array, Change, ChangeKind


class Inputs:
    """The arrays of added inputs, which are found for changes or checked against given ones."""

    def __init__(self, given: Sequence[Change] | None) -> None:
        """Find changes, or allow only the `given` ones."""
        self.changes: list[Change] = []
        self._given: dict[int, list[Change]] | None = None if given is None else {}
        self._arrays: dict[int, Array] = {}
        self._positions: dict[object, int] = {}
        """The position of each input, by its array; of each given one, by its place."""
        for change in given or ():
            assert self._given is not None
            self.changes.append(change)
            self._given.setdefault(change.operation, []).append(change)
            place = change.kind, change.operation, change.operand, change.axis
            self._positions[place] = change.input

    def given(self, operation: int) -> list[Change] | None:
        """Return the changes of an operation; None if they have to be found."""
        return None if self._given is None else self._given.get(operation, [])

    def add(self, kind: ChangeKind, operation: int, operand: int, axis: int, array: Array) -> bool:
        """Note a change with the array of its input; return False if it is not among the given."""
        if self._given is not None:
            position = self._positions.get((kind, operation, operand, axis))
            return position is not None and np.array_equal(
                self._arrays.setdefault(position, array), array
            )
        key = kind, axis, str(array.dtype), array.shape, array.tobytes()
        position = self._positions.setdefault(key, len(self._positions))
        self._arrays[position] = array
        self.changes.append(Change(kind, operation, operand, axis, position))
        return True

    def arrays(self) -> tuple[Array, ...]:
        """Return the arrays by position."""
        count = len({change.input for change in self.changes})
        return tuple(self._arrays[position] for position in range(count))
