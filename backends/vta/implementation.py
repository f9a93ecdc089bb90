"""How a device implements VTA, as data: a table of a TOML file.

    [vta]
    config = "1x16_i8w8a32_15_15_18_17"
    program = "board.aocx"
    kernel = "vta"
    arguments = ["instruction_count", "instructions", "uop", "acc", "inp", "wgt", "out"]

Without `program` the device builds our core from its source; `lanes`, `vector` and
`local_scratchpads` say in which form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...dialects.vta.config import Config
from ...dialects.vta.isa import Memory
from ...errors import CloptError
from .core import KERNEL, CoreForm

BUFFERS = ("instructions", "schedule", "ranges", "scratch")
"""Arguments that are buffers which the runtime makes."""

MEMORIES = {
    "uop": Memory.UOP,
    "wgt": Memory.WGT,
    "acc": Memory.ACC,
    "inp": Memory.INP,
    "acc8": Memory.ACC_8BIT,
    "out": Memory.OUT,
}
"""Arguments that are buffers of the memories of DRAM; `<name>_at` is the first byte in it."""

SCALARS = ("launch", "instruction_count", *(f"{name}_at" for name in MEMORIES))
"""Arguments that are numbers: uint the first two, ulong the others.

`launch` is the number of the launch among those of a stream, `instruction_count` that of all
instructions.
"""

ARGUMENTS = (*BUFFERS, *MEMORIES, *SCALARS)
"""What the parameters of a kernel may be."""

_CORE_ARGUMENTS = (
    *("instructions", "schedule", "ranges", "launch", "scratch"),
    *(argument for name in MEMORIES for argument in (name, f"{name}_at")),
)


@dataclass(frozen=True)
class Implementation:
    """A VTA on a device: its configuration, its kernel and how that is called."""

    config: Config = field(default_factory=Config)
    program: Path | None = None
    """A program binary of the device; None for our core."""
    kernel: str = KERNEL
    arguments: tuple[str, ...] = _CORE_ARGUMENTS
    """What each parameter of the kernel is, of ARGUMENTS; streams use only memories that it has."""
    form: CoreForm = field(default_factory=CoreForm)
    cores: int = 1
    """Work-groups, each with a stream and scratchpads of its own."""
    instructions_per_launch: int = 0
    """Where a device ends long kernels: the most that one launch executes; 0 for all."""

    @property
    def moves_memories(self) -> bool:
        """Whether a memory may start behind the first byte of its buffer."""
        return all(f"{name}_at" in self.arguments for name in MEMORIES)

    @property
    def splits_launches(self) -> bool:
        """Whether a stream may take several launches, and several cores."""
        return {"ranges", "launch", "scratch"} <= set(self.arguments)


_FORM: Mapping[str, type] = {"lanes": int, "vector": int, "local_scratchpads": bool}
_KEYS: Mapping[str, type] = {
    "config": str,
    "program": str,
    "kernel": str,
    "arguments": list,
    "cores": int,
    "instructions_per_launch": int,
    **_FORM,
}


def read_implementation(table: Mapping[str, Any], folder: Path) -> Implementation:
    """The implementation that a table describes, whose program is beside it in `folder`.

    Raises CloptError for a key or value that the table must not have.
    """
    for key, value in table.items():
        if key not in _KEYS:
            raise CloptError(f'vta has no key "{key}"; it has {", ".join(_KEYS)}.')
        if type(value) is not _KEYS[key]:
            raise CloptError(f"vta.{key} is of type {_KEYS[key].__name__}, and not {value!r}.")
    given = dict(table)
    if "config" in given:
        given["config"] = Config.parse(given["config"])
    if "program" in given:
        given["program"] = folder / given["program"]
    if "arguments" in given:
        given["arguments"] = _read_arguments(given["arguments"])
    form = CoreForm(**{key: given.pop(key) for key in _FORM if key in given})
    implementation = Implementation(**given, form=form)
    if implementation.cores < 1 or implementation.instructions_per_launch < 0:
        raise CloptError("vta.cores is 1 or more, vta.instructions_per_launch 0 or more.")
    several = implementation.cores > 1 or implementation.instructions_per_launch
    if several and not implementation.splits_launches:
        raise CloptError(
            "Several cores, and launches of a part of a stream, need a kernel with the arguments "
            "ranges, launch and scratch."
        )
    return implementation


def _read_arguments(names: list[Any]) -> tuple[str, ...]:
    for name in names:
        if name not in ARGUMENTS:
            raise CloptError(
                f"{name!r} is no argument of a VTA kernel; it takes {', '.join(ARGUMENTS)}."
            )
    missing = [name for name in ("instructions", "out") if name not in names]
    if missing:
        raise CloptError(f"vta.arguments lacks {' and '.join(missing)}.")
    return tuple(names)
