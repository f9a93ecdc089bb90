"""The tir dialect: kernels as loop nests over buffers with storage scopes, printed as OpenCL C."""

from __future__ import annotations

from xdsl.ir import Dialect

from .attributes import (
    AHEAD,
    BOUND_AXIS,
    EXPANDED,
    GRID,
    PLAIN,
    IterKind,
    LoopKind,
    LoopKindAttr,
    Scope,
    ScopeAttr,
)
from .block import BlockOp, enclosing_block
from .dot import QUAD, DotOp, LoadQuadOp
from .func import FuncOp, is_row, rolled_bounds, rolled_loops
from .in_place import in_place_attribute, in_place_pairs, verify_in_place
from .kernel import verify_ndrange
from .layouts import (
    Part,
    coarsest_first,
    layout_part,
    packed_shape,
    packed_type,
    verify_layouts,
)
from .nesting import verify_indices, verify_nesting
from .ops import BarrierOp, CallOp, ForOp, enclosing_loops
from .plan import Plan, PlanAttr, check_plans_by
from .run_condition import (
    RunCondition,
    run_conditions_attribute,
    run_conditions_of,
    verify_run_conditions,
)
from .texel import TexelReadOp, TexelWriteOp
from .texture import TEXEL, Image, ImageKind, coordinates, image_of, is_texel_type, is_texture
from .turn import COUNTERS, TurnOp, called_kernels, kernels_with_turns, turns_of

__all__ = [
    "AHEAD",
    "BOUND_AXIS",
    "COUNTERS",
    "EXPANDED",
    "GRID",
    "PLAIN",
    "QUAD",
    "TEXEL",
    "TIR",
    "BarrierOp",
    "BlockOp",
    "CallOp",
    "DotOp",
    "ForOp",
    "FuncOp",
    "Image",
    "ImageKind",
    "IterKind",
    "LoadQuadOp",
    "LoopKind",
    "LoopKindAttr",
    "Part",
    "Plan",
    "PlanAttr",
    "RunCondition",
    "Scope",
    "ScopeAttr",
    "TexelReadOp",
    "TexelWriteOp",
    "TurnOp",
    "called_kernels",
    "check_plans_by",
    "coarsest_first",
    "coordinates",
    "enclosing_block",
    "enclosing_loops",
    "image_of",
    "in_place_attribute",
    "in_place_pairs",
    "is_row",
    "is_texel_type",
    "is_texture",
    "kernels_with_turns",
    "layout_part",
    "packed_shape",
    "packed_type",
    "rolled_bounds",
    "rolled_loops",
    "run_conditions_attribute",
    "run_conditions_of",
    "turns_of",
    "verify_in_place",
    "verify_indices",
    "verify_layouts",
    "verify_ndrange",
    "verify_nesting",
    "verify_run_conditions",
]

TIR = Dialect(
    "tir",
    [
        FuncOp,
        ForOp,
        BlockOp,
        CallOp,
        BarrierOp,
        TexelReadOp,
        TexelWriteOp,
        LoadQuadOp,
        DotOp,
        TurnOp,
    ],
    [ScopeAttr, LoopKindAttr, PlanAttr],
)
