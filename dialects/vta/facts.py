"""The facts of a target about VTA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..facts import AcceleratorFacts, require_positive
from .config import BLOCK_16, Config, VTAConfigError


@dataclass(frozen=True)
class VTAFacts(AcceleratorFacts):
    """The facts of a target about VTA."""

    READS_QUANTIZED: ClassVar[bool] = True

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

    @property
    def config(self) -> Config:
        """The configuration of the core."""
        return Config.parse(self.vta_config)

    def check(self, facts: Mapping[str, Any]) -> None:
        super().check(facts)
        require_positive(facts, "vta_megahertz")
        try:
            Config.parse(facts["vta_config"])
        except VTAConfigError as error:
            raise ValueError(f"vta_config is wrong: {error}") from error
        lanes = facts["vta_core_lanes"]
        if lanes < 0 or lanes & (lanes - 1):
            raise ValueError(f"vta_core_lanes is 0 or a power of two, not {lanes}")
