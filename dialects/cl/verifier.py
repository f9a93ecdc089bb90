"""The verifier of queue programs: one walk in queue order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...machine.target import Target
from .. import tir
from .byte_set import ByteSet
from .commands import Access, Command, access, access_of, is_offloaded
from .enqueue_offload import EnqueueOffloadOp
from .images import verify_image, verify_image_arguments
from .kernels import Kernel, kernels_of
from .labels import byte_range, label, title, type_list
from .liveness import lifetimes
from .memory import ArenaOp, BufferViewOp, ImageViewOp
from .offload_order import OffloadOrder, graphs_of
from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    ReturnOp,
    ViewOp,
    byte_count,
)
from .placement import Extent, MemorySlice, extent, start_of
from .planned import verify_aligned, verify_arena, verify_image_view, verify_sharing
from .range_attr import RangeAttr, range_of, verify_sizes
from .repeat import RepeatOp, RowOp, row_of
from .target_attr import ATTRIBUTE_NAME, target_of

if TYPE_CHECKING:
    from .program import ProgramOp


_INDEX_BITS = 31
"""Bits of the largest index of a row's first element, a signed argument of kernels."""


def verify_program(program: ProgramOp) -> None:
    """Raise VerifyException unless the results depend only on inputs and constants."""
    _QueueOrder(program).verify()
    verify_sharing(program, lifetimes(program))


class _QueueOrder:
    """A walk over a program in queue order that tracks the bytes written so far."""

    def __init__(self, program: ProgramOp):
        self.program = program
        args = program.body.block.args
        self.read_only: dict[SSAValue, str] = dict.fromkeys(args[: program.input_count], "an input")
        self.parts: dict[SSAValue, MemorySlice] = {arg: MemorySlice(arg, 0) for arg in args}
        self.extents: dict[SSAValue, Extent] = {}
        self.written: defaultdict[SSAValue, ByteSet] = defaultdict(ByteSet)
        parent = program.parent_op()
        self.kernels: Mapping[str, Kernel] | None = None
        self.graphs: OffloadOrder | None = None
        self.target: Target | None = None
        self.range: RangeAttr | None = None
        self.iteration = 0
        """The iteration of the repetition that is verified; 0 outside of any."""
        if isinstance(parent, ModuleOp):
            self.kernels = kernels_of(parent)
            self.range = range_of(parent)
            if is_offloaded(program):
                self.graphs = OffloadOrder(graphs_of(parent), self.parts, self._extent)
            if ATTRIBUTE_NAME in parent.attributes:
                self.target = target_of(parent)

    def verify(self) -> None:
        """Verify the whole program."""
        for op in self.program.body.block.ops:
            self._operands(op)
            self._results(op)
            self._command(op)
        outputs = self.program.body.block.args[self.program.input_count :]
        for port, arg in zip(self.program.output_ports, outputs, strict=True):
            self._output(port.name, arg)
        if self.graphs is not None:
            self.graphs.finish(self.program)

    def _operands(self, op: Operation) -> None:
        """Verify that definitions precede uses, and that only views use arenas."""
        for operand in op.operands:
            if operand not in self.parts:
                raise VerifyException(f"{title(op)} uses {label(operand)} before it is defined")
            is_arena = isinstance(operand.owner, ArenaOp)
            if is_arena and not isinstance(op, BufferViewOp | ImageViewOp):
                raise VerifyException(
                    f"{title(op)} uses the arena {label(operand)} itself; make a cl.buffer_view"
                )
            if row_of(operand) is not None and not isinstance(op, Command):
                raise VerifyException(
                    f"{title(op)} uses the row {label(operand)}: only commands may"
                )

    def _results(self, op: Operation) -> None:
        for result in op.results:
            self.parts[result] = MemorySlice(result, 0)
            if isinstance(op, ViewOp | RowOp):
                source = self.parts[op.source]
                self.parts[result] = MemorySlice(source.root, source.offset + start_of(op))
            if self.target is not None and tir.is_texture(result.type):
                verify_image(label(result), result.type, self.target)
                verify_aligned(op, result, self._extent(result), self.target)

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
            case EnqueueKernelOp():
                self._launch(op)
            case EnqueueCopyOp() | EnqueueOffloadOp():
                self._given_images(op)
                self._enqueue(op)
            case RepeatOp():
                self._repeat(op)
            case AllocOp() | ArenaOp() | BufferViewOp() | ImageViewOp() | ReturnOp() | RowOp():
                pass
            case _:
                raise VerifyException(f"{op.name} is not an operation of a queue program")

    def _repeat(self, op: RepeatOp) -> None:
        """Verify the commands of one iteration, and the rows that they use in the others."""
        moving: list[Command] = []
        for command in op.body.block.ops:
            if not isinstance(command, EnqueueKernelOp | EnqueueCopyOp):
                raise VerifyException(
                    f"{title(command)} cannot be repeated; launches and copies can"
                )
            self._operands(command)
            self._command(command)
            if any(row_of(operand) is not None for operand in command.operands):
                moving.append(command)
        if self.kernels is None:
            return
        accesses = [(command, access(command, self.kernels)) for command in moving]
        for command, done in accesses:
            self._verify_rows(command, done, op.trip_count)
        for self.iteration in range(1, op.trip_count):
            for command, done in accesses:
                for i in done.reads:
                    self._read(command, command.operands[i])
                for i in done.writes:
                    self._write(command, command.operands[i])
        self.iteration = 0

    def _verify_rows(self, op: Command, done: Access, trips: int) -> None:
        """Verify that rows stay inside of their buffers, and apart from what is written."""
        swept = [self._swept(value, trips) for value in op.operands]
        for value, extent_ in zip(op.operands, swept, strict=True):
            row = row_of(value)
            if row is not None and not self._extent(row.source).contains(extent_):
                raise VerifyException(
                    f"{title(op)} uses {label(value)}, which leaves {label(row.source)} within "
                    f"{trips} iterations"
                )
            if row is not None and byte_count(row.source.type) > row.element_bytes << _INDEX_BITS:
                raise VerifyException(
                    f"{title(op)} uses {label(value)}, a row of a buffer of more than "
                    f"2^{_INDEX_BITS} elements, which a 32-bit index cannot address"
                )
        steps = [0 if (row := row_of(value)) is None else row.step for value in op.operands]
        for i, j in product(done.writes, range(len(swept))):
            if steps[i] != steps[j] and swept[i].overlaps(swept[j]):
                raise VerifyException(
                    f"{title(op)} writes {label(op.operands[i])}, which reaches "
                    f"{label(op.operands[j])} in some iteration; give them different bytes"
                )

    def _swept(self, value: SSAValue, trips: int) -> Extent:
        """Return the bytes from the first to the last that a value covers in any iteration."""
        at, row = self._extent(value), row_of(value)
        moved = 0 if row is None else row.step * (trips - 1)
        return Extent(at.memory, at.begin + min(moved, 0), at.end + max(moved, 0))

    def _given_images(self, op: Command) -> None:
        """Reject commands that move bytes of the user's images: their channel order is unknown."""
        for operand in op.operands:
            if tir.is_texture(operand.type) and isinstance(operand, BlockArgument):
                raise VerifyException(
                    f"{title(op)} takes {label(operand)}, an image whose channels the user "
                    "chooses; launch a kernel, which converts them"
                )

    def _launch(self, op: EnqueueKernelOp) -> None:
        if self.kernels is None:  # a detached program: kernels cannot be looked up
            return
        kernel = self.kernels.get(op.kernel_name)
        if kernel is None:
            raise VerifyException(f"{title(op)}: the module has no such kernel")
        types = [arg.type for arg in op.args]
        if not kernel.accepts(types):
            raise VerifyException(
                f"{title(op)}: the arguments ({type_list(types)}) do not match the "
                f"kernel's parameters ({type_list(kernel.arg_types)})"
            )
        for i, arg in enumerate(op.args):
            if i in kernel.constants and not isinstance(arg.owner, ConstantOp):
                raise VerifyException(
                    f"{title(op)} binds {label(arg)} to parameter {i}, which the kernel "
                    "lists in its constants; bind a cl.constant"
                )
            if row_of(arg) is not None and i not in kernel.rows:
                raise VerifyException(
                    f"{title(op)} binds the row {label(arg)} to parameter {i}, which the kernel "
                    "does not list in its rows"
                )
        if (sizes := op.ranged_sizes) is not None:
            verify_sizes(title(op), sizes, kernel, self.range)
        if kernel.has_turns:
            self._turns(op, kernel)
        else:
            self._enqueue(op)
        if self.target is not None:
            verify_image_arguments(title(op), types, set(kernel.outputs), self.target)
            group, limit = prod(kernel.local_size or ()), self.target.device.max_work_group_size
            if group > limit:
                raise VerifyException(
                    f"{title(op)} has work-groups of {group}, but {self.target.name} allows {limit}"
                )

    def _enqueue(self, op: Command) -> None:
        """Verify that reads follow writes, that writes are allowed, and that both are disjoint."""
        self._turn(op, op.operands, access(op, self.kernels or {}))
        self._aligned(op)
        if isinstance(op, EnqueueOffloadOp) and self.graphs is not None:
            self.graphs.enqueue(op)

    def _turns(self, op: EnqueueKernelOp, kernel: Kernel) -> None:
        """Verify a launch in which kernels take turns as if each of them were launched.

        Those of a kernel that is only declared are not known.
        """
        self._aligned(op)
        if not kernel.turns:
            for i in kernel.outputs:
                self._write(op, op.args[i])
        for turn in kernel.turns:
            types = [op.args[i].type for i in turn.arguments]
            if not turn.kernel.accepts(types):
                raise VerifyException(
                    f"{title(op)}: the arguments of the turn of @{turn.kernel.name} "
                    f"({type_list(types)}) do not match the kernel's parameters "
                    f"({type_list(turn.kernel.arg_types)})"
                )
            self._turn(op, [op.args[i] for i in turn.arguments], access_of(turn.kernel))

    def _aligned(self, op: Command) -> None:
        """Verify that the arguments of kernels start where the target's sub-buffers may."""
        if self.target is not None and not isinstance(op, EnqueueCopyOp):
            for arg in op.operands:
                row = row_of(arg)
                placed = arg if row is None else row.source
                verify_aligned(op, placed, self._extent(placed), self.target)

    def _turn(self, op: Command, operands: Sequence[SSAValue], done: Access) -> None:
        """Verify the accesses of a command, or of a kernel that takes a turn in it."""
        for i in done.reads:
            self._read(op, operands[i])
        for i in done.writes:
            self._write(op, operands[i])
        for output, other in product(done.writes, range(len(operands))):
            if other not in done.writes or other > output:
                self._alias(op, operands, (other, output), done)

    def _alias(
        self, op: Command, operands: Sequence[SSAValue], pair: tuple[int, int], done: Access
    ) -> None:
        """Verify that a written operand shares no byte with others, except in-place pairs."""
        other, output = pair
        values = operands[other], operands[output]
        given, written = map(self._extent, values)
        if not given.overlaps(written):
            return
        shared = f"{title(op)} {self._shared(*values)}"
        if not isinstance(op, EnqueueKernelOp):
            is_copy = isinstance(op, EnqueueCopyOp)
            what = "copy overlaps itself" if is_copy else "command of a graph computes in place"
            raise VerifyException(f"{shared}: no {what}; give them different bytes")
        if any(tir.is_texture(value.type) for value in values):
            raise VerifyException(
                f"{shared}: a kernel cannot read an image that it writes; write the result to "
                "another image"
            )
        if (other, output) not in done.in_place:
            raise VerifyException(
                f"{shared}, but the kernel's in_place does not list [{other}, {output}]; give them "
                "different bytes"
            )
        if given != written:
            raise VerifyException(
                f"{shared}, but not all of their bytes, so it cannot compute in place; give them "
                "the same bytes, or different ones"
            )

    def _shared(self, given: SSAValue, written: SSAValue) -> str:
        """Return the clause of a message for two overlapping values of a command."""
        first, second = self._extent(given), self._extent(written)
        shared = byte_range(max(first.begin, second.begin), min(first.end, second.end))
        return (
            f"is given {label(given)} and writes {label(written)}, which share {shared} of "
            f"{label(first.memory)}"
        )

    def _extent(self, value: SSAValue) -> Extent:
        cached = self.extents.get(value)
        if cached is None:
            cached = self.extents[value] = extent(value, self.parts[value])
        if self.iteration and (row := row_of(value)) is not None:
            moved = row.step * self.iteration
            return Extent(cached.memory, cached.begin + moved, cached.end + moved)
        return cached

    def _read(self, op: Operation, value: SSAValue) -> None:
        missing = self._unwritten(value)
        if missing is None:
            return
        at = self._extent(value)
        part = f"{byte_range(*missing)} of {label(at.memory)} are"
        what = "it is" if missing == (at.begin, at.end) else part
        raise VerifyException(f"{title(op)} reads {label(value)} before {what} written")

    def _write(self, op: Command, value: SSAValue) -> None:
        root, at = self.parts[value].root, self._extent(value)
        if root in self.read_only:
            raise VerifyException(
                f"{title(op)} writes {label(value)}, which is {self.read_only[root]}"
            )
        self.written[root].add(at.begin, at.end)
        if self.graphs is not None:
            self.graphs.wrote(op, value)

    def _unwritten(self, value: SSAValue) -> tuple[int, int] | None:
        """Return the first range of bytes of a value that was never written, or None."""
        root, at = self.parts[value].root, self._extent(value)
        return (
            None if root in self.read_only else self.written[root].first_missing(at.begin, at.end)
        )

    def _output(self, name: str, arg: SSAValue) -> None:
        missing, at = self._unwritten(arg), self._extent(arg)
        if missing is not None:
            part = f"is written in parts, but {byte_range(*missing)} are"
            what = "is" if missing == (at.begin, at.end) else part
            raise VerifyException(f'the output "{name}" {what} never written')
