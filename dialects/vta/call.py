"""`vta.call`: a graph of VTA among nn operations."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from ..offload import OffloadCallOp, OffloadGraphOp
from .binary import BinaryOp


@irdl_op_definition
class CallOp(OffloadCallOp):
    """The values that a graph computes.

    `%y = vta.call @vta_0(%x) : (tensor<1x4x8x8x1x16xi8>) -> tensor<1x4x8x8x1x16xi8>`

    Operands and results are int8 in tiles, each with the size of the graph's tensor.
    """

    name = "vta.call"
    GRAPH: ClassVar[type[OffloadGraphOp]] = BinaryOp
