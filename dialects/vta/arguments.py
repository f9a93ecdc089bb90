"""The arguments of a kernel that implements a core, by name."""

from __future__ import annotations

from .isa import Memory

BUFFERS = ("instructions", "schedule", "ranges", "scratch")
"""Buffers that the runtime creates."""

MEMORIES = {
    "uop": Memory.UOP,
    "wgt": Memory.WGT,
    "acc": Memory.ACC,
    "inp": Memory.INP,
    "acc8": Memory.ACC_8BIT,
    "out": Memory.OUT,
}
"""Buffers for the memories in DRAM; `<name>_at` is the first byte in the buffer."""

SCALARS = {
    "launch": 4,
    "instruction_count": 4,
    "first_instruction": 4,
    **{f"{name}_at": 8 for name in MEMORIES},
}
"""Scalar arguments and their bytes: the first three are uint, the others ulong.

`launch` is the index of the launch among the launches of a stream, `instruction_count` the number
of all instructions, and `first_instruction` is 0.
"""

ARGUMENTS = (*BUFFERS, *MEMORIES, *SCALARS)
"""The allowed arguments of a kernel."""

ARENA = "arena"
"""All memories of DRAM in one buffer; every address counts from its first byte."""
SEPARATE = "separate"
"""One buffer per memory of constants, and one for all activations."""
PLACEMENTS = (SEPARATE, ARENA)


def read_arguments(text: str) -> tuple[str, ...]:
    """Return the names in `text`, separated by spaces; raise ValueError for invalid arguments."""
    names = tuple(text.split())
    for name in names:
        if name not in ARGUMENTS:
            raise ValueError(
                f'"{name}" is not an argument of a VTA kernel; the arguments are '
                f"{', '.join(ARGUMENTS)}"
            )
    missing = [name for name in ("instructions", "out") if name not in names]
    if missing:
        raise ValueError(f"the arguments of a VTA kernel lack {' and '.join(missing)}")
    return names
