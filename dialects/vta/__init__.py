"""The vta dialect: programs of a tensor accelerator with decoupled load, compute and store.

The accelerator executes a stream of 128-bit instructions. One stage loads tiles of inputs and
weights into scratchpads, one multiplies and adds them, one stores results; each takes its
instructions in order, and tokens in the queues between neighbours say when a tile may be read or
overwritten.

A `vta.graph` has layers on int8 tensors, with their integer arithmetic stated exactly.

A `vta.program` has one operation for each instruction, with buffers and tokens as values. Its
verifier proves that no two stages race, that no stage waits forever, and that every index is one of
its memory. `vta-emit-instructions` makes a `vta.stream` of it: 128-bit instructions and 32-bit
micro-ops as they are encoded, but for the addresses of buffers.
"""

from xdsl.ir import Dialect

from .attributes import (
    ATTRIBUTES,
    KINDS,
    AluKind,
    DramKind,
    DramType,
    Loop,
    LoopsAttr,
    Scratchpad,
    TokenType,
    UopsAttr,
)
from .binary import BinaryOp, Code, StoredArray, TensorCounts
from .call import CallOp
from .computing import AluOp, FinishOp, GemmOp, NopOp, UopsOp
from .config import BATCH_2, BLOCK_16, BLOCK_32, Config, ConfigAttr, VTAConfigError
from .encoding import VTAStreamError, decode, decode_uops, encode, encode_uops
from .graph import GraphOp, ReturnOp
from .instructions import (
    INSN_OPS,
    InsnAluOp,
    InsnFinishOp,
    InsnGemmOp,
    InsnLoadOp,
    InsnOp,
    InsnStoreOp,
    MemoryAttr,
)
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
from .layers import AddOp, LayerOp, ScaleOp
from .products import ConvolutionOp, ConvOp, ConvTransposeOp, DenseOp
from .program import BufferOp, ConstantOp, ProgramOp, SymbolicOp
from .stream import StreamOp, UopTableOp
from .stream_check import check_stream
from .tile_base import TileOp
from .transfers import LoadAcc8Op, LoadOp, LoadUopsOp, StoreOp, TransferOp
from .windows import ConcatOp, MaxPoolOp, PoolOp, SumPoolOp, UpsampleOp

VTA = Dialect(
    "vta",
    [
        AddOp,
        AluOp,
        BinaryOp,
        BufferOp,
        CallOp,
        ConcatOp,
        ConstantOp,
        ConvOp,
        ConvTransposeOp,
        DenseOp,
        FinishOp,
        GemmOp,
        GraphOp,
        InsnAluOp,
        InsnFinishOp,
        InsnGemmOp,
        InsnLoadOp,
        InsnStoreOp,
        LoadAcc8Op,
        LoadOp,
        LoadUopsOp,
        MaxPoolOp,
        NopOp,
        ProgramOp,
        ReturnOp,
        ScaleOp,
        StoreOp,
        StreamOp,
        SumPoolOp,
        UopTableOp,
        UpsampleOp,
    ],
    [ConfigAttr, MemoryAttr, *ATTRIBUTES],
)

__all__ = [
    "ATTRIBUTES",
    "BATCH_2",
    "BLOCK_16",
    "BLOCK_32",
    "INSN_OPS",
    "KINDS",
    "VTA",
    "AddOp",
    "Alu",
    "AluKind",
    "AluOp",
    "AluOpcode",
    "BinaryOp",
    "BufferOp",
    "CallOp",
    "Code",
    "ConcatOp",
    "Config",
    "ConfigAttr",
    "ConstantOp",
    "ConvOp",
    "ConvTransposeOp",
    "ConvolutionOp",
    "DenseOp",
    "DramKind",
    "DramType",
    "Finish",
    "FinishOp",
    "Gemm",
    "GemmOp",
    "GraphOp",
    "InsnAluOp",
    "InsnFinishOp",
    "InsnGemmOp",
    "InsnLoadOp",
    "InsnOp",
    "InsnStoreOp",
    "Instruction",
    "LayerOp",
    "Load",
    "LoadAcc8Op",
    "LoadOp",
    "LoadUopsOp",
    "Loop",
    "LoopsAttr",
    "MaxPoolOp",
    "Memory",
    "MemoryAttr",
    "NopOp",
    "PoolOp",
    "ProgramOp",
    "Queue",
    "ReturnOp",
    "ScaleOp",
    "Scratchpad",
    "Stage",
    "Store",
    "StoreOp",
    "StoredArray",
    "StreamOp",
    "SumPoolOp",
    "SymbolicOp",
    "TensorCounts",
    "TileOp",
    "TokenType",
    "TransferOp",
    "Uop",
    "UopTableOp",
    "UopsAttr",
    "UopsOp",
    "UpsampleOp",
    "VTAConfigError",
    "VTAStreamError",
    "check_stream",
    "decode",
    "decode_uops",
    "encode",
    "encode_uops",
]
