"""Rewrites of callers for networks that became programs: tensors become buffers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.bufferization import MaterializeInDestinationOp, ToBufferOp, ToTensorOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    UnitAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from ....dialects import cl, nn


def replace_calls(calls: Iterable[func.CallOp], programs: Mapping[str, cl.ProgramOp]) -> None:
    """Replace calls of networks by runs of their programs; `programs` are by network name.

    A result goes straight to the buffer that the caller materialises it in, if that is safe. The
    caller allocates the buffer of any other result before the run and owns it, as in any
    bufferisation. A tensor that another run returned is read directly from that run's buffer.
    """
    tensors: dict[Operation, None] = {}
    for call in calls:
        copies = [_destination(result, programs) for result in call.results]
        program = programs[call.callee.root_reference.data]
        run = _ProgramRun(program, call.arguments, tensors, [copy and copy.dest for copy in copies])
        for op in run.ops:
            op.location = call.location
        run.command.attributes |= call.attributes
        for old, new in zip(call.results, run.results, strict=True):
            if new is not None:
                new.name_hint = old.name_hint
        tensors |= dict.fromkeys(run.tensors)
        for copy in copies:
            if copy is not None:
                Rewriter.erase_op(copy)
        Rewriter.replace_op(call, run.ops, run.results)
    for op in tensors:
        if op.results[0].first_use is None:
            Rewriter.erase_op(op)


def wrapper(network: func.FuncOp, program: cl.ProgramOp) -> func.FuncOp:
    """Return a function with the name and the signature of a network that runs its program."""
    function = func.FuncOp(
        network.sym_name.data,
        network.function_type,
        visibility=network.sym_visibility,
        arg_attrs=_foreign(network.arg_attrs),
        res_attrs=_foreign(network.res_attrs),
    )
    function.location = network.location
    function.attributes |= nn.without_marks(network.attributes)
    block = function.body.block
    for new, old in zip(block.args, network.body.block.args, strict=True):
        new.name_hint = old.name_hint
    run = _ProgramRun(program, block.args, (), [None] * len(network.function_type.outputs))
    block.add_ops([*run.ops, func.ReturnOp(*(op.tensor for op in run.tensors))])
    return function


def _destination(
    result: SSAValue, programs: Mapping[str, cl.ProgramOp]
) -> MaterializeInDestinationOp | None:
    """Return the copy of a call's result to a buffer that the call can write instead, or None.

    `restrict` states that no other tensor aliases the buffer, so the call does not read it. Nothing
    between the call and the copy may access memory directly.
    """
    call, copy = result.owner, result.get_user_of_unique_use()
    if not isinstance(copy, MaterializeInDestinationOp) or not isinstance(call, func.CallOp):
        return None
    tensor, buffer = nn.tensor_type(result), copy.dest
    if copy.restrict is None or copy.writable is None or copy.parent is not call.parent:
        return None
    if buffer.type != MemRefType(tensor.element_type, tensor.get_shape()):
        return None
    op = call.next_op
    while op is not None and op is not copy and op is not buffer.owner:
        if not _accesses_tensors_alone(op, programs):
            return None
        op = op.next_op
    return copy if op is copy else None


def _accesses_tensors_alone(op: Operation, programs: Mapping[str, cl.ProgramOp]) -> bool:
    """Return whether an operation accesses no memory except through tensors."""
    match op:
        case func.CallOp():
            return op.callee.root_reference.data in programs
        case MaterializeInDestinationOp():
            return op.restrict is not None
        case _:
            return is_side_effect_free(op)


class _ProgramRun:
    """The operations that run a program on tensors."""

    def __init__(
        self,
        program: cl.ProgramOp,
        tensors: Sequence[SSAValue],
        ours: Container[Operation],
        destinations: Sequence[SSAValue | None],
    ) -> None:
        """Build the operations; `ours` produced the results of other runs.

        A result without a destination gets a buffer of its own and is a tensor afterwards.
        """
        self.ours = ours
        self.ops: list[Operation] = []
        inputs = [
            self._buffer(tensor, port)
            for tensor, port in zip(tensors, program.input_ports, strict=True)
        ]
        outputs = [
            self._add(memref.AllocOp((), (), port.storage_type))
            if buffer is None
            else self._cast(buffer, port.storage_type)
            for port, buffer in zip(program.output_ports, destinations, strict=True)
        ]
        self.command = cl.RunOp(program.sym_name.data, [*inputs, *outputs])
        self.ops.append(self.command)
        made = [
            self._tensor(buffer, port) if given is None else None
            for given, buffer, port in zip(destinations, outputs, program.output_ports, strict=True)
        ]
        self.tensors = [op for op in made if op is not None]
        self.results = [op and op.tensor for op in made]

    def _buffer(self, tensor: SSAValue, port: cl.Port) -> SSAValue:
        """Return the buffer of a tensor that the program reads."""
        plain = MemRefType(port.element_type, port.shape)
        source = tensor.owner
        if isinstance(source, ToTensorOp) and self._may_read(source, plain):
            # Bufferisation does not see that this run reads the buffer: keep it from writing there.
            source.writable = None
            return self._cast(source.memref, port.storage_type)
        read_only = {"read_only": UnitAttr()}
        read = ToBufferOp(operands=[tensor], result_types=[plain], properties=read_only)
        return self._cast(self._add(read), port.storage_type)

    def _may_read(self, source: ToTensorOp, type_: MemRefType) -> bool:
        """Return whether a run can read the buffer from which a tensor was made."""
        is_constant = source in self.ours or source.writable is None
        return source.memref.type == type_ and is_constant

    def _tensor(self, buffer: SSAValue, port: cl.Port) -> ToTensorOp:
        """Return the operation that makes a tensor from a buffer that the program has written."""
        plain = self._cast(buffer, MemRefType(port.element_type, port.shape))
        op = ToTensorOp(plain, restrict=True, writable=True)
        self.ops.append(op)
        return op

    def _cast(self, buffer: SSAValue, type_: MemRefType) -> SSAValue:
        """Return `buffer` cast to `type_`: only callers have integers other than signless ones."""
        if buffer.type == type_:
            return buffer
        return self._add(UnrealizedConversionCastOp.get([buffer], [type_]))

    def _add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        (result,) = op.results
        result.name_hint = "buffer"
        return result


def _foreign(attrs: ArrayAttr[DictionaryAttr] | None) -> ArrayAttr[DictionaryAttr] | None:
    """Return parameter attributes without our marks, which would make the function a network."""
    return attrs and ArrayAttr(DictionaryAttr(nn.without_marks(entries.data)) for entries in attrs)
