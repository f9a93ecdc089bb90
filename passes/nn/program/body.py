"""The commands of a queue program, made from one nn operation after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from ....decisions import Choices
from ....dialects import cl, nn
from ....dialects.cl.ops import byte_count
from ....dialects.offload import OffloadCallOp, OffloadGraphOp
from ....errors import CloptError
from ....weights import Weights
from ...locations import node_name
from .buffers import assign_buffers
from .calls import call_commands
from .constants import (
    ProgramConstants,
    buffer_type_of,
    packed_constant,
    plain_constant,
    source_constant,
)
from .kernels import KernelTable
from .layouts import check_plain, is_packed_view
from .loops import lower_loop
from .run_conditions import LaunchCondition, run_conditions


@dataclass
class ModuleContext:
    """The parts of a module that its programs share."""

    weights: Weights
    target: cl.Target
    kernels: KernelTable
    graphs: dict[str, OffloadGraphOp]
    """The graphs of accelerators that no call uses yet."""
    bodies: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    """The bodies of loops, by name."""
    choices: Choices | None = None

    def graph(self, call: OffloadCallOp) -> OffloadGraphOp:
        """Return the graph of a call; its tensors exist once, so it can serve only one call."""
        graph = self.graphs.pop(call.graph_name, None)
        if graph is None:
            raise CloptError(
                f"{node_name(call)}: the graph @{call.graph_name} is called twice, but its tensors "
                "exist once; give each call a graph of its own"
            )
        return graph


class ProgramBody:
    """The commands of a function, which are appended to a program one operation after another.

    `buffers` maps each value of the function to its buffer, once it is needed. The commands of an
    iteration of a loop go to a block of their own, `commands`; definitions stay in the program.
    """

    def __init__(
        self,
        module: ModuleContext,
        function: func.FuncOp,
        block: Block,
        arguments: Sequence[SSAValue],
        results: Sequence[SSAValue],
        commands: Block | None = None,
        constants: ProgramConstants | None = None,
        conditions: Sequence[LaunchCondition] = (),
    ):
        """Start with the buffers of the function's arguments, and those for its results.

        All launches depend on `conditions`, those of the loop whose body the function is.
        """
        self.module = module
        self.block = block
        self.commands = block if commands is None else commands
        self.constants = constants or ProgramConstants()
        self.run_conditions = run_conditions(function)
        self.outer_conditions = conditions
        self.buffers: dict[SSAValue, SSAValue] = {}
        for value, buffer in zip(function.body.block.args, arguments, strict=True):
            self.buffers[value] = self._view(buffer, value)
        self.returned = list(zip(returned_values(function), results, strict=True))
        choices = module.choices if commands is None else None
        self.assignment = assign_buffers(function, self.returned, module.target, choices)

    def lower(self, op: Operation) -> None:
        """Append the commands of one operation."""
        if not isinstance(op, nn.FusedOp | nn.RelayoutOp | func.ReturnOp):
            check_plain(op, op.operands)
        match op:
            case nn.ConstantOp():
                self._constant(op)
            case nn.ReshapeOp():
                self.buffers[op.result] = self._view(self.buffers[op.x], op.result)
            case nn.FusedOp():
                self._launch(op)
            case nn.RelayoutOp():
                self._packed_constant(op)
            case OffloadCallOp():
                self._call(op)
            case nn.LoopOp():
                check_plain(op, op.results)
                lower_loop(op, self)
            case func.ReturnOp():
                self._return()
            case _:
                raise CloptError(
                    f"{node_name(op)}: {op.name} is not in an nn.fused; run nn-fuse first"
                )

    def iterate(
        self,
        function: func.FuncOp,
        arguments: Sequence[SSAValue],
        results: Sequence[SSAValue],
        commands: Block,
        constants: ProgramConstants,
        conditions: Sequence[LaunchCondition],
    ) -> None:
        """Append an iteration of a loop, a call of `function`, to `commands`."""
        body = ProgramBody(
            self.module, function, self.block, arguments, results, commands, constants, conditions
        )
        for op in function.body.block.ops:
            body.lower(op)

    def conditions_of(self, op: Operation) -> Sequence[LaunchCondition]:
        """Return the conditions on which the launches of an operation run, with their buffers."""
        return (
            *self.outer_conditions,
            *(
                LaunchCondition(self.buffers[value], value.type, wanted)
                for value, wanted in self.run_conditions.get(op, ())
            ),
        )

    def allocate(self, value: SSAValue) -> SSAValue:
        """Return a new buffer for a value."""
        return self._add(cl.AllocOp(buffer_type_of(value)), value)

    def _constant(self, op: nn.ConstantOp) -> None:
        shared = self.constants.plain
        if op not in shared and (made := plain_constant(op, self.module.weights)) is not None:
            shared[op] = self._add(made, op.result)
        if op in shared:
            self.buffers[op.result] = shared[op]

    def _packed_constant(self, op: nn.RelayoutOp) -> None:
        if not op.result.uses:
            return
        key = source_constant(op), buffer_type_of(op.result)
        packed = self.constants.packed
        if key not in packed:
            packed[key] = self._add(packed_constant(op, self.module.weights), op.result)
        self.buffers[op.result] = packed[key]

    def _view(self, buffer: SSAValue, value: SSAValue) -> SSAValue:
        type_ = buffer_type_of(value)
        if buffer.type == type_:
            return buffer
        if cl.row_of(buffer) is not None:
            return self._part(buffer, value, 0)
        return self._add(cl.ViewOp(buffer, type_), value)

    def _launch(self, fused: nn.FusedOp) -> None:
        if is_packed_view(fused):
            (value,) = fused.outputs
            self.buffers[value] = self._view(self.buffers[fused.inputs[0]], value)
            return
        for value in fused.outputs:
            self.memory(value)
        if fused in self.assignment.slices:
            return
        if fused in self.assignment.joins:
            self._copy_parts(fused)
            return
        if all(0 in nn.shape_of(value) for value in fused.outputs):
            return
        conditions = self.conditions_of(fused)
        args = [
            *(self.buffers[value] for value in fused.inputs),
            *(each.buffer for each in conditions),
            *(self.buffers[value] for value in fused.outputs),
        ]
        rows = (i for i, arg in enumerate(args) if cl.row_of(arg) is not None)
        launch = cl.EnqueueKernelOp(self.module.kernels.name_of(fused, rows, conditions), args)
        launch.location = fused.location
        self.commands.add_op(launch)

    def _call(self, call: OffloadCallOp) -> None:
        check_plain(call, call.results)
        for op in call_commands(call, self.module.graph(call), self.memory):
            self.block.add_op(op)

    def memory(self, value: SSAValue) -> SSAValue:
        """Return the buffer of a value, allocated when any part of it is first needed."""
        if value not in self.buffers:
            self.buffers[value] = self._assigned(value)
        return self.buffers[value]

    def _assigned(self, value: SSAValue) -> SSAValue:
        """Return the buffer to which the assignment maps a value: an output, a part or its own."""
        if (param := self.assignment.outputs.get(value)) is not None:
            return self._view(param, value)
        if (part := self.assignment.parts.get(value)) is not None:
            return self._part(self.memory(part.whole), value, part.offset)
        return self.allocate(value)

    def _part(self, buffer: SSAValue, value: SSAValue, offset: int) -> SSAValue:
        """Return the bytes of `buffer` from `offset` on as the buffer of a value."""
        type_, row = buffer_type_of(value), cl.row_of(buffer)
        if row is not None:
            return self._add(cl.RowOp(row.source, row.start + offset, row.step, type_), value)
        if byte_count(type_) == byte_count(buffer.type):
            return self._view(buffer, value)
        return self._add(cl.ViewOp(buffer, type_, offset), value)

    def _copy_parts(self, fused: nn.FusedOp) -> None:
        """Append the copies of a concatenation's operands that lie elsewhere."""
        (result,) = fused.outputs
        for value, offset in self.assignment.copied(fused):
            place = self._part(self.buffers[result], value, offset)
            copy = cl.EnqueueCopyOp(self.buffers[value], place)
            copy.location = fused.location
            self.commands.add_op(copy)

    def _return(self) -> None:
        written = set(self.assignment.outputs.values())
        for value, param in self.returned:
            if param not in written:
                if nn.layout_of(value) is not None:
                    raise CloptError(
                        "an output image is also an input or another output, and no command "
                        "copies to an image of unknown channel order; make the output a buffer."
                    )
                source = self._view(self.buffers[value], value)
                self.commands.add_op(cl.EnqueueCopyOp(source, param))

    def _add(self, op: Operation, value: SSAValue) -> SSAValue:
        self.block.add_op(op)
        result = op.results[0]
        result.name_hint = value.name_hint
        return result


def returned_values(function: func.FuncOp) -> Sequence[SSAValue]:
    """Return the results of a function."""
    end = function.body.block.last_op
    return [] if end is None else list(end.operands)
