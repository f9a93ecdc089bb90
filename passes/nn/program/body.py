"""The commands of a queue program, made from one nn operation after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from ....decisions import Choices
from ....dialects import cl, nn
from ....dialects.cl.ops import byte_count
from ....dialects.offload import OffloadCallOp, OffloadGraphOp
from ....errors import CloptError
from ....weights import Weights
from ...locations import node_name
from .buffers import assign_buffers
from .calls import call_commands
from .constants import packed_constant, plain_constant, source_constant
from .kernels import KernelTable
from .layouts import check_plain, is_packed_view


@dataclass
class ModuleContext:
    """The parts of a module that its programs share."""

    weights: Weights
    target: cl.Target
    kernels: KernelTable
    graphs: dict[str, OffloadGraphOp]
    """The graphs of accelerators that no call uses yet."""
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
    """The body of a program while it is filled with the commands of a function.

    `buffers` maps each value of the function to its buffer, once it is needed.
    """

    def __init__(self, module: ModuleContext, function: func.FuncOp, program: cl.ProgramOp):
        self.module = module
        self.block = program.body.block
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.packed: dict[tuple[nn.ConstantOp, Attribute], SSAValue] = {}
        arguments = function.body.block.args
        for value, param in zip(arguments, self.block.args, strict=False):
            param.name_hint = value.name_hint
            self.buffers[value] = param
        params = self.block.args[program.input_count :]
        self.returned = list(zip(returned_values(function), params, strict=True))
        self.assignment = assign_buffers(function, self.returned, module.target, module.choices)

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
            case func.ReturnOp():
                self._return()
            case _:
                raise CloptError(
                    f"{node_name(op)}: {op.name} is not in an nn.fused; run nn-fuse first"
                )

    def _constant(self, op: nn.ConstantOp) -> None:
        constant = plain_constant(op, self.module.weights)
        if constant is not None:
            self.buffers[op.result] = self._add(constant, op.result)

    def _packed_constant(self, op: nn.RelayoutOp) -> None:
        if not op.result.uses:
            return
        key = source_constant(op), _buffer_type(op.result)
        if key not in self.packed:
            constant = packed_constant(op, self.module.weights)
            self.packed[key] = self._add(constant, op.result)
        self.buffers[op.result] = self.packed[key]

    def _view(self, buffer: SSAValue, value: SSAValue) -> SSAValue:
        type_ = _buffer_type(value)
        return buffer if buffer.type == type_ else self._add(cl.ViewOp(buffer, type_), value)

    def _launch(self, fused: nn.FusedOp) -> None:
        if is_packed_view(fused):
            (value,) = fused.outputs
            self.buffers[value] = self._view(self.buffers[fused.inputs[0]], value)
            return
        for value in fused.outputs:
            self._memory(value)
        if fused in self.assignment.slices:
            return
        if fused in self.assignment.joins:
            self._copy_parts(fused)
            return
        if all(0 in nn.shape_of(value) for value in fused.outputs):
            return
        args = [self.buffers[value] for value in (*fused.inputs, *fused.outputs)]
        launch = cl.EnqueueKernelOp(self.module.kernels.name_of(fused), args)
        launch.location = fused.location
        self.block.add_op(launch)

    def _call(self, call: OffloadCallOp) -> None:
        check_plain(call, call.results)
        for op in call_commands(call, self.module.graph(call), self._memory):
            self.block.add_op(op)

    def _memory(self, value: SSAValue) -> SSAValue:
        """Return the buffer of a value, allocated when any part of it is first needed."""
        if value not in self.buffers:
            self.buffers[value] = self._assigned(value)
        return self.buffers[value]

    def _assigned(self, value: SSAValue) -> SSAValue:
        """Return the buffer to which the assignment maps a value: an output, a part or its own."""
        if (param := self.assignment.outputs.get(value)) is not None:
            return self._view(param, value)
        if (part := self.assignment.parts.get(value)) is not None:
            return self._part(self._memory(part.whole), value, part.offset)
        return self._add(cl.AllocOp(_buffer_type(value)), value)

    def _part(self, buffer: SSAValue, value: SSAValue, offset: int) -> SSAValue:
        """Return the bytes of `buffer` from `offset` on as the buffer of a value."""
        type_ = _buffer_type(value)
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
            self.block.add_op(copy)

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
                self.block.add_op(cl.EnqueueCopyOp(source, param))
        self.block.add_op(cl.ReturnOp())

    def _add(self, op: Operation, value: SSAValue) -> SSAValue:
        self.block.add_op(op)
        result = op.results[0]
        result.name_hint = value.name_hint
        return result


def returned_values(function: func.FuncOp) -> Sequence[SSAValue]:
    """Return the results of a function."""
    end = function.body.block.last_op
    return [] if end is None else list(end.operands)


def _buffer_type(value: SSAValue) -> MemRefType:
    return nn.buffer_type(nn.tensor_type(value))
