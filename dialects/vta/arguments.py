"""What the parameters of a kernel that is a core may be, by name."""

from __future__ import annotations

from .isa import Memory

BUFFERS = ("instructions", "schedule", "ranges", "scratch")
"""Buffers that the runtime makes."""

MEMORIES = {
    "uop": Memory.UOP,
    "wgt": Memory.WGT,
    "acc": Memory.ACC,
    "inp": Memory.INP,
    "acc8": Memory.ACC_8BIT,
    "out": Memory.OUT,
}
"""Buffers of the memories of DRAM; `<name>_at` is the first byte in it."""

SCALARS = {
    "launch": 4,
    "instruction_count": 4,
    "first_instruction": 4,
    **{f"{name}_at": 8 for name in MEMORIES},
}
"""Numbers and their bytes: uint the first three, ulong the others.

`launch` is the number of the launch among those of a stream, `instruction_count` that of all
instructions, and `first_instruction` is 0.
"""

ARGUMENTS = (*BUFFERS, *MEMORIES, *SCALARS)
"""What the parameters of a kernel may be."""

ARENA = "arena"
"""All memories of DRAM in one buffer, in which every address counts from its first byte."""
SEPARATE = "separate"
"""A buffer for each memory of constants, and one for all activations."""
PLACEMENTS = (SEPARATE, ARENA)


def read_arguments(text: str) -> tuple[str, ...]:
    """The names in `text`, between spaces; ValueError where they are no parameters of a core."""
    names = tuple(text.split())
    for name in names:
        if name not in ARGUMENTS:
            raise ValueError(
                f'"{name}" is no argument of a VTA kernel; it takes {", ".join(ARGUMENTS)}'
            )
    missing = [name for name in ("instructions", "out") if name not in names]
    if missing:
        raise ValueError(f"the arguments of a VTA kernel lack {' and '.join(missing)}")
    return names
