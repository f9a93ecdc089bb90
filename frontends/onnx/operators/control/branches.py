"""If: select a branch at import, or the results of both at run time."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import GraphProto
from xdsl.ir import SSAValue

from .....errors import CloptError
from ....builder import TooManySteps
from ...node import NodeContext, Table
from .selecting import Wording, scalar_condition, select

_WORDING = Wording(
    "its branches must return sequences of equal lengths",
    "its branches must return tensors of equal shapes, which are known at import, not {} and {}",
)


def import_if(node: NodeContext) -> Sequence[SSAValue]:
    """Import If: inline the branch that its condition selects, or both.

    Of both, kernels of the branch that is not taken return at once. This needs results of equal
    types. If small inputs alone determine the condition, their values can select instead.
    """
    branches = node.graph("then_branch"), node.graph("else_branch")
    condition = node.input(0)
    if node.builder.known(condition) is None:
        try:
            return _either(node, condition, branches)
        except TooManySteps:
            raise
        except CloptError:
            if not node.builder.deciding_inputs(condition):
                raise
    return node.subgraph(branches[not node.constant_number(0, "condition")], ())


def _either(
    node: NodeContext, condition: SSAValue, branches: Sequence[GraphProto]
) -> Sequence[SSAValue]:
    """Import both branches of an If with a condition that is computed at run time."""
    condition = scalar_condition(node, condition)
    then, other = (node.subgraph(branch, ()) for branch in branches)
    if len(then) != len(other):
        node.refuse(f"its branches have {len(then)} and {len(other)} results.")
    return [select(node, condition, *pair, _WORDING) for pair in zip(then, other, strict=True)]


TABLE: Table = {"If": {1: import_if}}
