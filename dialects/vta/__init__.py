"""The vta dialect: programs of a tensor accelerator with decoupled load, compute and store.

The accelerator executes a stream of 128-bit instructions. One stage loads tiles of inputs and
weights into scratchpads, one multiplies and adds them, one stores results; each takes its
instructions in order, and tokens in the queues between neighbours say when a tile may be read or
overwritten.
"""

from .config import BATCH_2, BLOCK_16, BLOCK_32, Config, ConfigAttr, VTAConfigError
from .encoding import VTAStreamError, decode, decode_uops, encode, encode_uops
from .isa import (
    Alu,
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Queue,
    Stage,
    Store,
    Uop,
)

__all__ = [
    "BATCH_2",
    "BLOCK_16",
    "BLOCK_32",
    "Alu",
    "AluOpcode",
    "Config",
    "ConfigAttr",
    "Finish",
    "Gemm",
    "Instruction",
    "Load",
    "Memory",
    "Queue",
    "Stage",
    "Store",
    "Uop",
    "VTAConfigError",
    "VTAStreamError",
    "decode",
    "decode_uops",
    "encode",
    "encode_uops",
]
