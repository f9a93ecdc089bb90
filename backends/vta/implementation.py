"""The implementation of the VTA on a device: our core in some form, or a program binary.

The table `[vta]` of a target file selects it (`dialects/vta/facts.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...dialects.cl import Target
from ...dialects.vta.arguments import MEMORIES, SEPARATE
from ...dialects.vta.config import Config
from ...dialects.vta.facts import VTAFacts
from .core import KERNEL, CoreForm

_GPU_LANES = 256
"""A work-group size that all GPUs support."""

_CORE_ARGUMENTS = (
    *("instructions", "schedule", "ranges", "launch", "scratch"),
    *(argument for name in MEMORIES for argument in (name, f"{name}_at")),
)


@dataclass(frozen=True)
class Implementation:
    """A VTA on a device: its configuration, its kernel and the kernel's parameters."""

    config: Config = field(default_factory=Config)
    program: Path | None = None
    """A program binary of the device; None for our core."""
    kernel: str = KERNEL
    arguments: tuple[str, ...] = _CORE_ARGUMENTS
    """The meaning of each kernel parameter, from `dialects.vta.arguments.ARGUMENTS`. Streams may
    only use memories that have a parameter."""
    memory: str = SEPARATE
    """How graphs use buffers: one of `dialects.vta.arguments.PLACEMENTS`."""
    form: CoreForm = field(default_factory=CoreForm)
    cores: int = 1
    """Work-groups, each with its own stream and scratchpads."""
    instructions_per_launch: int = 0
    """Most instructions that one launch executes, for devices that abort long kernels; 0 for no
    limit."""

    @property
    def moves_memories(self) -> bool:
        """Whether a memory may start after the first byte of its buffer."""
        return all(f"{name}_at" in self.arguments for name in MEMORIES)

    @property
    def splits_launches(self) -> bool:
        """Whether a stream may use several launches and several cores."""
        return {"ranges", "launch", "scratch"} <= set(self.arguments)


def implementation_of(target: Target) -> Implementation:
    """Return a target's implementation: its program binary if it names one, else our core."""
    facts, form = VTAFacts.of(target), form_for(target)
    if not facts.vta_program:
        return Implementation(facts.config, form=form)
    program = Path(facts.vta_program)
    arguments, memory = facts.arguments, facts.vta_memory
    return Implementation(facts.config, program, facts.vta_kernel, arguments, memory, form)


def form_for(target: Target) -> CoreForm:
    """Return the form of the core on a target; by default a binary has one lane."""
    facts = VTAFacts.of(target)
    suited = 1 if target.device.device_type == "cpu" or facts.vta_program else _GPU_LANES
    lanes = facts.vta_core_lanes or suited
    return CoreForm(lanes=lanes, vector=16 if lanes == 1 else 1)
