"""The kernels that calibration times, as scheduled kernels of the tir dialect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ....dialects.tir.turn import COUNTERS
from ....machine.target import Target
from ....messages.source import Source, SourceModule

STEPS = 64
"""Steps of a tile's reduction; its operands fit the L1 cache of every processor."""
LANES = 16
"""Floats per vector in the kernel `copy`."""


@dataclass(frozen=True)
class TileKernel:
    """A kernel whose work-items each compute a tile of accumulators, as in a matrix product."""

    width: int
    """Lanes of a vector."""
    rows: int
    vectors: int
    """Vectors per row."""
    items: int
    rounds: int
    """How often a work-item repeats the reduction over `STEPS`."""

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return f"tile_{self.width}_{self.rounds}x{self.items}"

    @property
    def columns(self) -> int:
        """Floats per row."""
        return self.width * self.vectors

    @property
    def sizes(self) -> tuple[int, ...]:
        """Floats of each buffer: a column and a row per step, and a tile per work-item."""
        return STEPS * self.rows, STEPS * self.columns, self.items * self.rows * self.columns

    @property
    def mads(self) -> int:
        """Multiply-adds of a launch."""
        return self.items * self.rounds * STEPS * self.rows * self.columns

    def __str__(self) -> str:
        tile = f"memref<{self.rows}x{self.columns}xf32, #tir.scope<private>>"
        column, row = f"memref<{STEPS}x{self.rows}xf32>", f"memref<{STEPS}x{self.columns}xf32>"
        results = f"memref<{self.items}x{self.rows}x{self.columns}xf32>"

        def for_each(body: str) -> str:
            """Return loops that execute `body` for each element (m, n) of the tile."""
            return f"""
tir.for unrolled %m = 0 to {self.rows} {{
  tir.for unrolled %vector = 0 to {self.vectors} {{
    tir.for vectorized %lane = 0 to {self.width} {{
      %n = affine.apply affine_map<(d0, d1) -> (d0 * {self.width} + d1)> (%vector, %lane)
      {body}
    }}
  }}
}}"""

        clear = f"""
%zero = arith.constant 0.000000e+00 : f32
memref.store %zero, %sum[%m, %n] : {tile}"""
        add = f"""
%x = memref.load %a[%k, %m] : {column}
%y = memref.load %b[%k, %n] : {row}
%old = memref.load %sum[%m, %n] : {tile}
%product = arith.mulf %x, %y : f32
%new = arith.addf %old, %product : f32
memref.store %new, %sum[%m, %n] : {tile}"""
        store = f"""
%result = memref.load %sum[%m, %n] : {tile}
memref.store %result, %c[%item, %m, %n] : {results}"""
        return f"""
tir.func @{self.name}(%a: {column}, %b: {row}, %c: {results}) {_launch(self.items, 2)} {{
  tir.for global_x %item = 0 to {self.items} {{
    %sum = memref.alloca() : {tile}
    {for_each(clear)}
    tir.for serial %round = 0 to {self.rounds} {{
      tir.for serial %k = 0 to {STEPS} {{
        {for_each(add)}
      }}
    }}
    {for_each(store)}
  }}
}}"""


@dataclass(frozen=True)
class CopyKernel:
    """A kernel whose work-items each copy a part of one buffer to another."""

    items: int
    vectors: int
    """Vectors per part."""

    name = "copy"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Floats of each buffer."""
        return (self.items * self.vectors * LANES,) * 2

    def __str__(self) -> str:
        parts = f"memref<{self.items}x{self.vectors}x{LANES}xf32>"
        return f"""
tir.func @{self.name}(%from: {parts}, %to: {parts}) {_launch(self.items, 1)} {{
  tir.for global_x %item = 0 to {self.items} {{
    tir.for serial %vector = 0 to {self.vectors} {{
      tir.for vectorized %lane = 0 to {LANES} {{
        %x = memref.load %from[%item, %vector, %lane] : {parts}
        memref.store %x, %to[%item, %vector, %lane] : {parts}
      }}
    }}
  }}
}}"""


@dataclass(frozen=True)
class TurnsKernel:
    """A kernel in which a tile kernel takes several turns; launch it with its `items`."""

    tile: TileKernel
    turns: int

    name = "turns"

    @property
    def items(self) -> int:
        """Work-groups of the launch."""
        return self.tile.items

    @property
    def sizes(self) -> tuple[int, ...]:
        """Words of each buffer: the counters, and those of the tile kernel."""
        return COUNTERS.element_count(), *self.tile.sizes

    def __str__(self) -> str:
        tile = self.tile
        types = [
            f"memref<{STEPS}x{tile.rows}xf32>",
            f"memref<{STEPS}x{tile.columns}xf32>",
            f"memref<{tile.items}x{tile.rows}x{tile.columns}xf32>",
        ]
        params = ", ".join(f"%{name}: {type_}" for name, type_ in zip("abc", types, strict=True))
        turn = f"tir.turn @{tile.name}(%a, %b, %c) : {', '.join(types)}"
        turns = "\n  ".join([turn] * self.turns)
        return f"""{tile}
tir.func @{self.name}(%turns: {COUNTERS}, {params}) {_launch(self.items, 0, 3)} {{
  {turns}
}}"""


CalibrationKernel: TypeAlias = TileKernel | CopyKernel | TurnsKernel


def _launch(items: int, *outputs: int) -> str:
    return (
        f"attributes {{outputs = array<i64: {', '.join(map(str, outputs))}>, "
        f"local_size = array<i64: 1, 1, 1>, global_size = array<i64: {items}, 1, 1>}}"
    )


def source_of(kernels: Iterable[CalibrationKernel]) -> str:
    """Return the OpenCL C of `kernels`."""
    # Imported here: calibration is rare, and these modules take a tenth of clopt's import time.
    from ....context import CloptContext
    from ...opencl_c import emit

    text = "\n".join(map(str, kernels))
    return emit(SourceModule.parse(CloptContext(), Source("calibration", text)).module, Target())
