"""The facts of a target about CLML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...machine.accelerator import AcceleratorFacts, require_from_zero, require_positive
from .graph import VERSIONS

NEWEST = VERSIONS[-1]
"""The newest major version of the interface."""


@dataclass(frozen=True)
class CLMLFacts(AcceleratorFacts):
    """The facts of a target about CLML."""

    clml: str = "off"
    """Whether operations go to CLML, Qualcomm's library: all that it can compute (`prefer`), none
    (`off`), or those that gain by the costs of the target (`auto`)."""
    clml_version: int = 0
    """Major version of the CLML interface that the device has, 1 to 5; 0 without CLML."""
    clml_convolution_mads_per_nanosecond: float = 24.0
    """Multiply-adds of a convolution, transposed or not, that CLML does on one compute unit.
    This and the other costs of CLML are in the scale of those of our kernels: what `auto` compares.
    """
    clml_depthwise_mads_per_nanosecond: float = 6.0
    """The same for depthwise convolutions, and the elements in the windows of pools."""
    clml_matmul_mads_per_nanosecond: float = 12.0
    """The same for fully connected layers and matrix products."""
    clml_bandwidth: float = 16.0
    """Bytes per nanosecond (GB/s) that commands of CLML read and write, copies too."""
    clml_launch_microseconds: float = 5.0
    """Microseconds that a command of CLML takes beyond its work."""

    def check(self, facts: Mapping[str, Any]) -> None:
        super().check(facts)
        require_positive(facts, *_SPEEDS)
        require_from_zero(facts, "clml_launch_microseconds")
        if not 0 <= self.clml_version <= NEWEST:
            raise ValueError(f"clml_version must be 0 to {NEWEST}, not {self.clml_version}")


_SPEEDS = (
    "clml_convolution_mads_per_nanosecond",
    "clml_depthwise_mads_per_nanosecond",
    "clml_matmul_mads_per_nanosecond",
    "clml_bandwidth",
)
