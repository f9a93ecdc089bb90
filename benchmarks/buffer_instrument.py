"""An instrument that replaces images by buffers, like tuners that do not support textures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.messages.source import Source, SourceModule
from clopt.tuning.measure import TEXTURES, OpenCLInstrument
from clopt.tuning.programs import TrialProgram
from clopt.tuning.timing import BuiltProgram
from clopt.tuning.trial import Task


class BufferInstrument(OpenCLInstrument):
    """Times the plans of texture kernels on buffers with the same texels.

    A buffer has no border, so coordinates are clamped. Results are not compared, because they
    differ at borders.
    """

    compares = False

    def built(self, program: TrialProgram, task: Task) -> BuiltProgram:
        return super().built(replace(program, module=in_buffers(program.module)), task)


def in_buffers(module: ModuleOp) -> ModuleOp:
    """Return a scheduled module with buffers in place of images."""
    module = module.clone()
    for op in list(module.walk()):
        if isinstance(op, tir.TexelReadOp) and tir.is_texture(op.source.type):
            _flatten(op, op.source, op.coords, op.border is not None)
        elif isinstance(op, tir.TexelWriteOp) and tir.is_texture(op.destination.type):
            _flatten(op, op.destination, op.coords, False)
        elif isinstance(op, cl.ImageViewOp):
            type_ = cast("MemRefType[Attribute]", op.result.type)
            _replace(op, cl.BufferViewOp(op.arena, op.offset, type_))
    text = StringIO()
    Printer(stream=text).print_op(module)
    source = Source("<in buffers>", TEXTURES.sub("", text.getvalue()))
    return SourceModule.parse(CloptContext(), source).module


def _flatten(
    op: tir.TexelReadOp | tir.TexelWriteOp,
    buffer: SSAValue,
    coords: Sequence[SSAValue],
    has_border: bool,
) -> None:
    """Make an operation count texels from the start of its buffer, x fastest."""
    block = op.parent_block()
    assert block is not None

    def put(new: Operation) -> SSAValue:
        block.insert_op_before(new, op)
        return new.results[0]

    def number(value: int) -> SSAValue:
        return put(arith.ConstantOp.from_int_and_width(value, IndexType()))

    extents = tir.image_of(cast("MemRefType[Attribute]", buffer.type)).extents
    position: SSAValue | None = None
    for coord, extent in reversed(list(zip(coords, extents, strict=True))):
        inside = coord
        if has_border:
            inside = put(arith.MaxSIOp(coord, number(0)))
            inside = put(arith.MinSIOp(inside, number(extent - 1)))
        if position is not None:
            inside = put(arith.AddiOp(put(arith.MuliOp(position, number(extent))), inside))
        position = inside
    assert position is not None
    if isinstance(op, tir.TexelWriteOp):
        new: Operation = tir.TexelWriteOp(op.value, op.destination, [position], op.lane)
    else:
        new = tir.TexelReadOp(op.source, [position], op.lane)
    _replace(op, new)


def _replace(op: Operation, new: Operation) -> None:
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(new, op)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.detach()
    op.erase()
