"""Work-item and work-group indices to which loops are bound."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase

from ...dialects import tir
from ...errors import CloptError
from .storage import sizes_of
from .values import DeclareIndex, ExpressionGraph, Variable

_FUNCTIONS = {
    "global": "get_global_id",
    "group": "get_group_id",
    "local": "get_local_id",
}


class WorkItems:
    """The work-item indices of one kernel."""

    def __init__(self, func: tir.FuncOp, graph: ExpressionGraph):
        self.func = func
        self.graph = graph
        self._variables: dict[tuple[tir.LoopKind, str], Variable] = {}

    def variable(self, loop: tir.ForOp, launched: int) -> Variable:
        """Return the variable of a work-item index: one in scope with this name, or a new one."""
        kind, axis, block = loop.kind.data, loop.kind.data.axis, self.graph.block
        hint = loop.var.name_hint or "i"
        variable = self._variables.get((kind, hint))
        if variable is not None and any(variable.home is outer for outer in block.chain()):
            return variable
        variable = self._variables[kind, hint] = Variable(hint, block)
        if launched > 1:
            function = _FUNCTIONS[kind.value.split("_")[0]]
            self.graph.add(DeclareIndex(block, (), frozenset(), variable, function, axis))
        return variable

    def launched(self, loop: tir.ForOp) -> int:
        """Return the number of values of the work-item index; if unknown, the loop's extent."""
        kind, axis = loop.kind.data.value.split("_")[0], loop.kind.data.axis
        total = _size(self.func.global_size, axis)
        group = _size(self.func.local_size, axis)
        if kind == "local":
            launched = group
        elif kind == "group":
            launched = total // group if total is not None and group is not None else None
        else:
            launched = total
        launched = loop.size if launched is None else launched
        if launched < loop.size:
            raise CloptError(
                f"kernel {self.func.sym_name.data} is launched with {launched} work-items along "
                f"{loop.kind.data.value}, but its loop needs {loop.size}"
            )
        return launched


def _size(sizes: DenseArrayBase | None, axis: int) -> int | None:
    if sizes is None:
        return None
    return dict(enumerate(sizes_of(sizes))).get(axis, 1)
