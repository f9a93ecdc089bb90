"""The facts of a target about VTA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from ...machine.accelerator import AcceleratorFacts
from ...machine.facts import fact
from .arguments import PLACEMENTS, SEPARATE, read_arguments
from .config import BLOCK_16, Config, VTAConfigError


@dataclass(frozen=True)
class VTAFacts(AcceleratorFacts):
    """The facts of a target about VTA."""

    READS_QUANTIZED: ClassVar[bool] = True
    NEEDS_SHIFTS: ClassVar[bool] = True

    vta: str = "off"
    """Whether int8 layers go to VTA, an accelerator that runs instructions: all that it supports
    (`prefer`), none (`off`), or those that the cost model favours (`auto`)."""
    vta_config: str = BLOCK_16.name
    """The configuration of the core: batch x block, bits of inputs, weights and sums, and log2 of
    the scratchpad bytes for micro-ops, inputs, weights and sums."""
    vta_megahertz: float = fact(100.0, "MHz", above=0)
    """Clock of the core. For `auto`, a cycle multiplies two tiles and moves 8 bytes of memory. Our
    core on an OpenCL device is slower than one in hardware."""
    vta_core_lanes: int = fact(0, "work-items", power_of_two=True)
    """Work-items of our OpenCL core, a power of two: one computes sixteen channels at a time,
    several compute one channel each. 0 means 1 on a CPU and 256 on a GPU."""

    vta_program: str = ""
    """Path of a program binary that implements the core on the device; empty for ours, which is
    built from source. The table `[vta]` in a target's file describes it."""
    vta_program_config: str = ""
    """The configuration of that program; must equal `vta_config`."""
    vta_kernel: str = ""
    """The kernel in that program."""
    vta_arguments: str = ""
    """The meaning of each parameter of that kernel, separated by spaces."""
    vta_memory: str = fact(SEPARATE, choices=PLACEMENTS)
    """The buffers of the kernel: one per memory of constants and one for activations (`separate`),
    or one for all of them (`arena`)."""

    @property
    def config(self) -> Config:
        """Return the configuration of the core."""
        return Config.parse(self.vta_config)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the arguments of the program's kernel; none without a program."""
        return tuple(self.vta_arguments.split())

    @classmethod
    def from_table(cls, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Return the facts in a table; `arguments` is a list, `program` is relative to `folder`."""
        facts = super().from_table(table, folder)
        arguments, program = facts.get("vta_arguments"), facts.get("vta_program")
        if arguments is not None:
            if not isinstance(arguments, list):
                raise ValueError(f"vta.arguments must be a list of names, not {arguments!r}")
            facts["vta_arguments"] = " ".join(map(str, cast("list[object]", arguments)))
        if isinstance(program, str):
            facts["vta_program"] = str(folder / program)
            facts.setdefault("vta_program_config", facts.get("vta_config", BLOCK_16.name))
        return facts

    def check(self, facts: Mapping[str, Any]) -> None:
        super().check(facts)
        try:
            Config.parse(facts["vta_config"])
        except VTAConfigError as error:
            raise ValueError(f"vta_config is invalid: {error}") from error
        if facts["vta_program"]:
            _check_program(facts)
        elif others := [name for name in _OF_PROGRAMS if facts[name]]:
            raise ValueError(f"{others[0]} requires a program binary; set vta_program")


_OF_PROGRAMS = ("vta_program_config", "vta_kernel", "vta_arguments")


def _check_program(facts: Mapping[str, Any]) -> None:
    program, config = facts["vta_program"], facts["vta_program_config"]
    for name in _OF_PROGRAMS:
        if not facts[name]:
            raise ValueError(f"{name} is missing for the program {program}")
    if config != facts["vta_config"]:
        raise ValueError(
            f"the program {program} is for a core {config}, but vta_config is "
            f"{facts['vta_config']}; use a program for such a core"
        )
    read_arguments(facts["vta_arguments"])
