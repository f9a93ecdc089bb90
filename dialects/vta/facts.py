"""The facts of a target about VTA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from ...machine.accelerator import AcceleratorFacts, require_choice, require_positive
from .arguments import PLACEMENTS, SEPARATE, read_arguments
from .config import BLOCK_16, Config, VTAConfigError


@dataclass(frozen=True)
class VTAFacts(AcceleratorFacts):
    """The facts of a target about VTA."""

    READS_QUANTIZED: ClassVar[bool] = True
    NEEDS_SHIFTS: ClassVar[bool] = True

    vta: str = "off"
    """Whether int8 layers go to VTA, an accelerator that runs instructions: all that it can compute
    (`prefer`), none (`off`), or those that gain by the costs of the target (`auto`)."""
    vta_config: str = BLOCK_16.name
    """The configuration of the core: batch x block, widths of inputs, weights and sums in bits, and
    log2 of the bytes of the scratchpads for micro-ops, inputs, weights and sums."""
    vta_megahertz: float = 100.0
    """The clock of the core, for the costs of `auto`: a product of two tiles in a cycle, 8 bytes of
    memory. It is that of a core in hardware; ours on an OpenCL device is slower."""
    vta_core_lanes: int = 0
    """Work-items that are one core, where it is our OpenCL core; a power of two. One computes
    sixteen channels at a time, several have a channel each. 0 is one on a CPU, 256 on a GPU."""

    vta_program: str = ""
    """The path of a program binary that is the core on the device; without one it is ours, from
    source. `[vta]` in a target's file describes it."""
    vta_program_config: str = ""
    """The configuration that the program has; `vta_config` is the same."""
    vta_kernel: str = ""
    """The program's kernel."""
    vta_arguments: str = ""
    """What each parameter of that kernel is, between spaces."""
    vta_memory: str = SEPARATE
    """The buffers that the kernel takes: one for each memory of constants and one for activations
    (`separate`), or one for all of them (`arena`)."""

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
        require_positive(facts, "vta_megahertz")
        try:
            Config.parse(facts["vta_config"])
        except VTAConfigError as error:
            raise ValueError(f"vta_config is invalid: {error}") from error
        lanes = facts["vta_core_lanes"]
        if lanes < 0 or lanes & (lanes - 1):
            raise ValueError(f"vta_core_lanes must be 0 or a power of two, not {lanes}")
        require_choice(facts, "vta_memory", PLACEMENTS)
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
