"""Control flow: If selects a branch, Loop and Scan become loops or unroll if short."""

from ...node import Table
from . import branches, loop, scan

TABLE: Table = {**branches.TABLE, **loop.TABLE, **scan.TABLE}
