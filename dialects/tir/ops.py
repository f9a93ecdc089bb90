"""Loops, calls and barriers of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from .attributes import LoopKind, LoopKindAttr
from .nesting import verify_nesting

__all__ = [
    "BarrierOp",
    "CallOp",
    "ForOp",
    "enclosing_loops",
]

_INDEX = IndexType()
_KINDS = {kind: LoopKindAttr(kind) for kind in LoopKind}


@lru_cache(maxsize=4096)
def _extent(extent: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(extent, i64)


@irdl_op_definition
class ForOp(IRDLOperation):
    """`tir.for kind %i = 0 to N { … }`: a loop of static extent from 0 with step 1."""

    name = "tir.for"
    kind = prop_def(LoopKindAttr)
    extent = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(self, kind: LoopKind, extent: int, body: Region | None = None, hint: str = ""):
        if body is None:
            body = Region(Block(arg_types=[_INDEX]))
        if hint:
            body.block.args[0].name_hint = hint
        # Schedules create thousands of loops: IRDLOperation would match these to definitions first.
        Operation.__init__(
            self, properties={"kind": _KINDS[kind], "extent": _extent(extent)}, regions=[body]
        )

    @property
    def var(self) -> SSAValue:
        """Return the loop variable."""
        return self.body.block.args[0]

    @property
    def size(self) -> int:
        """Return the number of iterations."""
        return self.extent.value.data

    def verify_(self) -> None:
        if [arg.type for arg in self.body.block.args] != [_INDEX]:
            raise VerifyException("a loop must have one variable of type index")
        if self.size < 0:
            raise VerifyException(f"a loop cannot run {self.size} times")
        if self.kind.data is LoopKind.Vectorized and self.size not in (1, 2, 3, 4, 8, 16):
            raise VerifyException(
                f"a vectorized loop must have 2, 3, 4, 8 or 16 iterations, not {self.size}"
            )
        verify_nesting(self, enclosing_loops(self))

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        kind = parser.parse_str_enum(LoopKind)
        var = parser.parse_argument(expect_type=False).resolve(_INDEX)
        parser.parse_punctuation("=")
        if parser.parse_integer() != 0:
            parser.raise_error("a tir.for must start at 0")
        parser.parse_characters("to")
        extent = parser.parse_integer()
        attrs = parser.parse_optional_attr_dict_with_keyword()
        op = cls(kind, extent, parser.parse_region([var]))
        if attrs:
            op.attributes |= attrs.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value} ")
        printer.print_ssa_value(self.var)
        printer.print_string(f" = 0 to {self.size} ")
        if self.attributes:
            printer.print_string("attributes ")
            printer.print_attr_dict(self.attributes)
            printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class CallOp(IRDLOperation):
    """A call of an OpenCL builtin that neither `arith` nor `math` has, by its OpenCL name."""

    name = "tir.call"
    callee = prop_def(StringAttr)
    args = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[args], properties={"callee": StringAttr(callee)}, result_types=[result_type]
        )


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """A barrier: all work-items of the group have finished their accesses to local memory."""

    name = "tir.barrier"
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__()

    def verify_(self) -> None:
        if any(loop.kind.data is LoopKind.Vectorized for loop in enclosing_loops(self)):
            raise VerifyException("a barrier must not be inside a vectorized loop")


def enclosing_loops(op: Operation) -> list[ForOp]:
    """Return the loops around `op`, outermost first."""
    loops: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        # `isinstance` takes as long for a negative answer as all the rest.
        if type(parent) is ForOp:
            loops.append(parent)
        parent = parent.parent_op()
    return loops[::-1]
