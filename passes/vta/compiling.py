"""The passes of VTA in their order, from layers to a command of the queue."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import CloptContext
from ...dialects.vta import BinaryOp, GraphOp
from ...weights import Weights
from .assign_tokens import VTAAssignTokensPass
from .emit_binaries import VTAEmitBinariesPass
from .emit_instructions import VTAEmitInstructionsPass
from .lower_layers import VTALowerLayersPass
from .place_uops import VTAPlaceUopsPass

PASSES: tuple[ModulePass, ...] = (
    # Cuts layers into tiles.
    VTALowerLayersPass(),
    # Only now it is known which stage touches what after which.
    VTAAssignTokensPass(),
    VTAPlaceUopsPass(),
    VTAEmitInstructionsPass(),
    VTAEmitBinariesPass(),
)


def compile_graph(graph: GraphOp, weights: Weights) -> BinaryOp:
    """Replace a graph by its binary, under the same name. Arrays join `weights`.

    Raises CloptError for a layer that does not fit the scratchpads.
    """
    location = graph.location
    module = ModuleOp([graph])
    ctx = CloptContext(weights=weights)
    for pass_ in PASSES:
        pass_.apply(ctx, module)
    binary = module.body.block.first_op
    assert isinstance(binary, BinaryOp)
    binary.detach()
    binary.location = location
    return binary
