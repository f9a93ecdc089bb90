"""`cl.enqueue_offload`: one command of an accelerator's graph on the queue."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    MemRefType,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from .ops import parse_offset, print_offset


@irdl_op_definition
class EnqueueOffloadOp(IRDLOperation):
    """Runs one command, by its number from 0, of an accelerator's graph in the module.

    `cl.enqueue_offload @toy_0[3] (%x, %y) -> (%z) : memref<…>, memref<…>, memref<…>`

    `reads` are the memories of the tensors that the command reads, without constants, in order.
    `writes` are the memories of the tensors that it writes, then its scratch. The graph determines
    the memory of a tensor: a dense buffer of its elements, or a row of bytes, `memref<…xi8>`, that
    only commands of the graph can interpret.
    """

    name = "cl.enqueue_offload"
    graph = prop_def(FlatSymbolRefAttrConstr)
    number = prop_def(IntegerAttr)
    reads = var_operand_def(MemRefType)
    writes = var_operand_def(MemRefType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, graph: str, number: int, reads: Sequence[SSAValue], writes: Sequence[SSAValue]
    ):
        super().__init__(
            operands=[reads, writes],
            properties={"graph": SymbolRefAttr(graph), "number": IntegerAttr(number, i64)},
        )

    @property
    def graph_name(self) -> str:
        """Return the name of the graph."""
        return self.graph.root_reference.data

    @property
    def index(self) -> int:
        """Return the number of the command in its graph."""
        return self.number.value.data

    @classmethod
    def parse(cls, parser: Parser) -> EnqueueOffloadOp:
        graph = parser.parse_symbol_name().data
        number = parse_offset(parser)

        def operands():
            return parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_unresolved_operand
            )

        reads = operands()
        parser.parse_punctuation("->")
        writes = operands()
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        types = (
            parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            if parser.parse_optional_punctuation(":")
            else []
        )
        values = parser.resolve_operands([*reads, *writes], types, start)
        op = cls(graph, number, values[: len(reads)], values[len(reads) :])
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.graph_name)
        print_offset(printer, self.index)
        for separator, values in ((" ", self.reads), (" -> ", self.writes)):
            printer.print_string(separator)
            with printer.in_parens():
                printer.print_list(values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        if self.operands:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)
