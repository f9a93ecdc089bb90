"""The VTA passes in order, from layers to a command of the queue."""

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
    # Split layers into tiles.
    VTALowerLayersPass(),
    # After the split, the order in which stages touch elements is known.
    VTAAssignTokensPass(),
    VTAPlaceUopsPass(),
    VTAEmitInstructionsPass(),
    VTAEmitBinariesPass(),
)


def compile_graph(graph: GraphOp, weights: Weights) -> BinaryOp:
    """Replace a graph by a binary with the same name, and add its arrays to `weights`.

    Raises CloptError if a layer does not fit the scratchpads.
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
