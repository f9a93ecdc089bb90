"""The facts of a target about CLML."""

from __future__ import annotations

from dataclasses import dataclass

from ...machine.accelerator import AcceleratorFacts
from ...machine.facts import fact
from .graph import VERSIONS

NEWEST = VERSIONS[-1]
"""The newest major version of the interface."""


@dataclass(frozen=True)
class CLMLFacts(AcceleratorFacts):
    """The facts of a target about CLML."""

    clml: str = "off"
    """Whether operations go to CLML, Qualcomm's library: all that it supports (`prefer`), none
    (`off`), or those that the cost model favours (`auto`)."""
    clml_version: int = fact(0, "major version", most=NEWEST)
    """Major version of the device's CLML interface, 1 to 5; 0 without CLML."""
    clml_convolution_mads_per_nanosecond: float = fact(24.0, "multiply-adds / ns", above=0)
    """Rate of CLML's convolutions, transposed or not, on one compute unit. `auto` compares the
    costs of CLML with those of our kernels, so both must have the same scale."""
    clml_depthwise_mads_per_nanosecond: float = fact(6.0, "multiply-adds / ns", above=0)
    """The same for depthwise convolutions, and for window elements of pools."""
    clml_matmul_mads_per_nanosecond: float = fact(12.0, "multiply-adds / ns", above=0)
    """The same for fully connected layers and matmuls."""
    clml_bandwidth: float = fact(16.0, "bytes / ns", above=0)
    """Bandwidth of CLML commands and of copies to and from its tensors, in GB/s."""
    clml_launch_microseconds: float = fact(5.0, "µs", least=0)
    """Time that a CLML command takes beyond its work."""
