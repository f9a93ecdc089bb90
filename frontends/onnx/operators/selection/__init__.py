"""Operators that select elements, whose number only the device knows."""

from ...node import Table
from . import masks, suppression

TABLE: Table = {**masks.TABLE, **suppression.TABLE}
