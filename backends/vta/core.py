"""The source of the OpenCL core, and the build options for a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...dialects.vta.config import Config
from ...dialects.vta.encoding import UopWords
from ...dialects.vta.isa import Instruction, Memory
from ...errors import CloptError
from ...files.resources import read_text
from .schedule import schedule_stream

KERNEL = "vta_core"
"""The kernel of `core.cl`."""

_UNIT = 16  # bytes of one access, and channels of a vector

_VECTORS = (1, 16)


@dataclass(frozen=True)
class CoreForm:
    """The mapping of a core to work-items; the results are the same for all forms."""

    lanes: int = 1
    """Work-items of the group that is a core; a power of two."""
    vector: int = 16
    """Output channels per lane: 16 suits CPUs with vector registers, 1 suits GPUs."""
    local_scratchpads: bool = False
    """Whether scratchpads are in local memory during a launch."""

    def __post_init__(self) -> None:
        if self.vector not in _VECTORS:
            raise CloptError(f"A lane of a VTA core must have 1 or 16 channels, not {self.vector}.")
        if self.lanes < 1 or self.lanes & (self.lanes - 1):
            raise CloptError(f"The lanes of a VTA core must be a power of two, not {self.lanes}.")

    def replicas(self, config: Config) -> int:
        """Return the number of lanes that share the iterations of one column."""
        return max(1, self.lanes // (config.batch * config.block_out // self.vector))


def core_source() -> str:
    """Return the OpenCL C of the core, which `build_options` configures."""
    return read_text(__name__, "core.cl")


def build_options(config: Config, form: CoreForm) -> list[str]:
    """Return the options for building `core_source`; raise CloptError like `core_macros`."""
    macros = core_macros(config, form)
    return ["-cl-std=CL1.2", *(f"-D{name}={value}" for name, value in macros.items())]


def core_macros(config: Config, form: CoreForm) -> dict[str, int]:
    """Return the macros that configure `core_source`.

    Raises CloptError for blocks of less than 16 channels, which the core does not support.
    """
    if config.block_in % _UNIT or config.block_out % _UNIT:
        raise CloptError(
            f"The OpenCL core needs blocks of at least {_UNIT} channels, but {config.name} has "
            f"{config.block_in}; choose a larger block."
        )
    return {
        "BATCH": config.batch,
        "BLOCK_IN": config.block_in,
        "BLOCK_OUT": config.block_out,
        "LANES": form.lanes,
        "VECTOR": form.vector,
        "LOCAL_SCRATCHPADS": int(form.local_scratchpads),
        **{
            f"LOG_{memory.name}_DEPTH": config.log_depth(memory)
            for memory in (Memory.UOP, Memory.INP, Memory.WGT, Memory.ACC)
        },
    }


def scratch_bytes(config: Config, form: CoreForm) -> int:
    """Return the bytes of one core's scratchpads; vector lanes keep INP and WGT as floats."""
    operand = 4 if form.vector > 1 else 1
    factors = {Memory.UOP: 1, Memory.ACC: 1, Memory.OUT: 1} | dict.fromkeys(_OPERANDS, operand)
    return sum(
        config.depth(memory) * config.element_bytes(memory) * factor
        for memory, factor in factors.items()
    )


_OPERANDS = (Memory.INP, Memory.WGT)


def schedule_core(
    instructions: Sequence[Instruction], micro_ops: UopWords, config: Config, form: CoreForm
) -> npt.NDArray[np.uint8]:
    """Return a `Share` per instruction, all zero with one lane."""
    if form.lanes == 1:
        return np.zeros(len(instructions), np.uint8)
    return schedule_stream(instructions, micro_ops, config, form.replicas(config))
