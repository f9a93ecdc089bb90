"""tir: kernels as loop nests over buffers with storage scopes; all OpenCL C comes from here."""

from __future__ import annotations

from xdsl.ir import Dialect

from .attributes import BOUND_AXIS, IterKind, LoopKind, LoopKindAttr, Scope, ScopeAttr
from .block import BlockOp, enclosing_block
from .in_place import in_place_attribute, in_place_pairs, verify_in_place
from .ops import BarrierOp, CallOp, ForOp, FuncOp, enclosing_loops, rolled_bounds, rolled_loops
from .texel import TexelReadOp, TexelWriteOp
from .texture import TEXEL, Image, ImageKind, coordinates, image_of, is_texel_type, is_texture

__all__ = [
    "BOUND_AXIS",
    "TEXEL",
    "TIR",
    "BarrierOp",
    "BlockOp",
    "CallOp",
    "ForOp",
    "FuncOp",
    "Image",
    "ImageKind",
    "IterKind",
    "LoopKind",
    "LoopKindAttr",
    "Scope",
    "ScopeAttr",
    "TexelReadOp",
    "TexelWriteOp",
    "coordinates",
    "enclosing_block",
    "enclosing_loops",
    "image_of",
    "in_place_attribute",
    "in_place_pairs",
    "is_texel_type",
    "is_texture",
    "rolled_bounds",
    "rolled_loops",
    "verify_in_place",
]

TIR = Dialect(
    "tir",
    [FuncOp, ForOp, BlockOp, CallOp, BarrierOp, TexelReadOp, TexelWriteOp],
    [ScopeAttr, LoopKindAttr],
)
