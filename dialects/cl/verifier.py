"""The verifier of queue programs: one walk in the order of the queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from .. import tir
from .byte_set import ByteSet
from .images import verify_image, verify_image_arguments
from .kernels import Kernel, kernels_of
from .labels import byte_range, label, title, type_list
from .liveness import lifetimes
from .memory import ArenaOp, BufferViewOp, ImageViewOp
from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    ReturnOp,
    ViewOp,
)
from .placement import Extent, Part, extent
from .planned import verify_aligned, verify_arena, verify_image_view, verify_sharing
from .target import ATTRIBUTE_NAME, Target, target_of

if TYPE_CHECKING:
    from .program import ProgramOp


def verify_program(program: ProgramOp) -> None:
    """VerifyException unless what `program` computes depends on its inputs and constants alone."""
    _QueueOrder(program).verify()
    verify_sharing(program, lifetimes(program))


class _QueueOrder:
    """Walks a program once in queue order and keeps what was written so far."""

    def __init__(self, program: ProgramOp):
        self.program = program
        args = program.body.block.args
        self.read_only: dict[SSAValue, str] = dict.fromkeys(args[: program.input_count], "an input")
        self.parts: dict[SSAValue, Part] = {arg: Part(arg, 0) for arg in args}
        self.written: defaultdict[SSAValue, ByteSet] = defaultdict(ByteSet)
        parent = program.parent_op()
        self.kernels: Mapping[str, Kernel] | None = None
        self.target: Target | None = None
        if isinstance(parent, ModuleOp):
            self.kernels = kernels_of(parent)
            if ATTRIBUTE_NAME in parent.attributes:
                self.target = target_of(parent)

    def verify(self) -> None:
        for op in self.program.body.block.ops:
            self._operands(op)
            self._results(op)
            self._command(op)
        args = self.program.body.block.args
        for port, arg in zip(
            self.program.output_ports, args[self.program.input_count :], strict=True
        ):
            self._output(port.name, arg)

    def _operands(self, op: Operation) -> None:
        """Values stand before their uses, and only views use arenas."""
        for operand in op.operands:
            if operand not in self.parts:
                raise VerifyException(f"{title(op)} uses {label(operand)} before it is defined")
            is_arena = isinstance(operand.owner, ArenaOp)
            if is_arena and not isinstance(op, BufferViewOp | ImageViewOp):
                raise VerifyException(
                    f"{title(op)} uses the arena {label(operand)} itself; make a cl.buffer_view"
                )

    def _results(self, op: Operation) -> None:
        for result in op.results:
            self.parts[result] = Part(result, 0)
            if isinstance(op, ViewOp):
                source = self.parts[op.source]
                self.parts[result] = Part(source.root, source.offset + op.offset)
            if self.target is not None:
                verify_image(label(result), result.type, self.target)
                if tir.is_texture(result.type):
                    self._aligned(op, result, self.target)

    def _command(self, op: Operation) -> None:
        match op:
            case ConstantOp():
                self.read_only[op.result] = "a constant"
            case ViewOp():
                root = self.parts[op.source].root
                if tir.is_texture(op.result.type) and isinstance(root, BlockArgument):
                    raise VerifyException(
                        f"{label(op.result)} is an image over the parameter {label(root)}, whose "
                        "buffer the user may change with every inference; copy it"
                    )
            case ArenaOp() if self.target is not None:
                verify_arena(op, self.target)
            case ImageViewOp() if self.target is not None:
                verify_image_view(op, self.target)
            case EnqueueCopyOp():
                self._copy(op)
            case EnqueueKernelOp():
                self._launch(op)
            case AllocOp() | ArenaOp() | BufferViewOp() | ImageViewOp() | ReturnOp():
                pass
            case _:
                raise VerifyException(f"{op.name} is no command of a queue program")

    def _launch(self, op: EnqueueKernelOp) -> None:
        if self.kernels is None:  # a detached program: kernels cannot be looked up
            return
        kernel = self.kernels.get(op.kernel_name)
        if kernel is None:
            raise VerifyException(f"{title(op)}: the module has no such kernel")
        if not kernel.accepts(op.args.types):
            raise VerifyException(
                f"{title(op)}: the arguments ({type_list(op.args.types)}) do not match the "
                f"kernel's parameters ({type_list(kernel.arg_types)})"
            )
        for i, arg in enumerate(op.args):
            if i not in kernel.outputs:
                self._read(op, arg)
        for i in sorted(kernel.outputs):
            self._write(op, op.args[i])
        self._arguments(op, kernel)

    def _arguments(self, op: EnqueueKernelOp, kernel: Kernel) -> None:
        """What a launch writes shares no byte with its other arguments, except in place."""
        extents = [self._extent(arg) for arg in op.args]
        for output, other in product(sorted(kernel.outputs), range(len(extents))):
            repeated = other in kernel.outputs and other <= output
            if repeated or not extents[other].overlaps(extents[output]):
                continue
            shared = self._shared(op.args[other], op.args[output])
            if tir.is_texture(op.args[other].type) or tir.is_texture(op.args[output].type):
                raise VerifyException(
                    f"{title(op)} {shared}: no kernel reads an image that it writes; write the "
                    "result to another image"
                )
            if (other, output) not in kernel.in_place:
                raise VerifyException(
                    f"{title(op)} {shared}, but the kernel's in_place does not list "
                    f"[{other}, {output}]; give them different bytes"
                )
            if extents[other] != extents[output]:
                raise VerifyException(
                    f"{title(op)} {shared}, but not all of their bytes, so it cannot compute in "
                    "place; give them the same bytes, or different ones"
                )
        if self.target is not None:
            for arg in op.args:
                self._aligned(op, arg, self.target)
            verify_image_arguments(title(op), op.args.types, set(kernel.outputs), self.target)

    def _copy(self, op: EnqueueCopyOp) -> None:
        self._read(op, op.source)
        self._write(op, op.destination)
        if self._extent(op.source).overlaps(self._extent(op.destination)):
            raise VerifyException(
                f"{title(op)} {self._shared(op.source, op.destination)}: no copy overlaps itself; "
                "give them different bytes"
            )

    def _aligned(self, op: Operation, value: SSAValue, target: Target) -> None:
        verify_aligned(title(op), value, self._extent(value), target)

    def _shared(self, given: SSAValue, written: SSAValue) -> str:
        """What a command does to two values that overlap."""
        first, second = self._extent(given), self._extent(written)
        shared = byte_range(max(first.begin, second.begin), min(first.end, second.end))
        return (
            f"is given {label(given)} and writes {label(written)}, which share {shared} of "
            f"{label(first.memory)}"
        )

    def _extent(self, value: SSAValue) -> Extent:
        return extent(value, self.parts[value])

    def _read(self, op: Operation, value: SSAValue) -> None:
        missing = self._unwritten(value)
        if missing is None:
            return
        whole = self._range(value) == missing
        root = self.parts[value].root
        what = "it is" if whole else f"{byte_range(*missing)} of {label(root)} are"
        raise VerifyException(f"{title(op)} reads {label(value)} before {what} written")

    def _write(self, op: Operation, value: SSAValue) -> None:
        root = self.parts[value].root
        if root in self.read_only:
            raise VerifyException(
                f"{title(op)} writes {label(value)}, which is {self.read_only[root]}"
            )
        self.written[root].add(*self._range(value))

    def _unwritten(self, value: SSAValue) -> tuple[int, int] | None:
        """The first bytes of a value's root that belong to it and were never written."""
        root = self.parts[value].root
        if root in self.read_only:
            return None
        return self.written[root].first_missing(*self._range(value))

    def _range(self, value: SSAValue) -> tuple[int, int]:
        """The bytes of a value's root that belong to it."""
        at, offset = self._extent(value), self.parts[value].offset
        return offset, offset + at.end - at.begin

    def _output(self, name: str, arg: SSAValue) -> None:
        missing = self._unwritten(arg)
        if missing is not None:
            whole = self._range(arg) == missing
            what = "is" if whole else f"is written in parts, but {byte_range(*missing)} are"
            raise VerifyException(f'the output "{name}" {what} never written')
