"""`vta.stream`: the instructions of a program, its micro-ops, and the bases of its addresses."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .attributes import DramKind, DramType, UopsAttr, parse_uops, tuples_text
from .config import Config, ConfigAttr
from .instructions import InsnFinishOp, InsnOp
from .isa import Uop
from .program import SymbolicOp, parse_config, verify_keys


@irdl_op_definition
class UopTableOp(IRDLOperation):
    """The micro-ops of a stream, in DRAM.

    `%u = vta.uop_table [(0, 0, 0), (1, 1, 0)]`
    """

    name = "vta.uop_table"
    uops_attr = prop_def(UopsAttr, prop_name="uops")
    result = result_def(DramType)

    def __init__(self, uops: Sequence[Uop]):
        super().__init__(
            properties={"uops": UopsAttr(tuple(uops))},
            result_types=[DramType(DramKind.UOP, len(uops))],
        )

    @property
    def uops(self) -> tuple[Uop, ...]:
        """Return the micro-ops."""
        return self.uops_attr.data

    def verify_(self) -> None:
        if self.result.type != DramType(DramKind.UOP, len(self.uops)):
            raise VerifyException(
                f"a table of {len(self.uops)} micro-ops cannot have the type {self.result.type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> UopTableOp:
        start = parser.pos
        uops = parse_uops(parser)
        if not uops:
            parser.raise_error("a table must have at least one micro-op", start, parser.pos)
        op = cls(uops)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {tuples_text(self.uops)}")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class StreamOp(IRDLOperation):
    """The instructions of a program in the order in which they are fetched.

    ```
    vta.stream @relu #vta.config<1x16_i8w8a32_15_15_18_17> {
      %x = vta.buffer "x" : !vta.dram<act, 64>
      %y = vta.buffer "y" : !vta.dram<act, 64>
      %u = vta.uop_table [(0, 0, 0)]
      vta.insn.load %u[0] to uop[0] size [1, 1] stride 1
      vta.insn.load %x[0] to acc8[0] size [1, 64] stride 64
      vta.insn.alu max imm 0 uops [0, 1] iterations [1, 64] dst [0, 1] src [0, 1] push_next
      vta.insn.store out[0] to %y[0] size [1, 64] stride 64 pop_prev push_prev
      vta.insn.load dram[0] to uop[0] size [0, 0] stride 0 pop_next
      vta.insn.finish
    }
    ```

    Addresses that are decided later may refer to its buffers, constants and table.
    """

    name = "vta.stream"
    sym_name = prop_def(SymbolNameConstraint())
    config_attr = prop_def(ConfigAttr, prop_name="config")
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, config: Config, body: Region):
        super().__init__(
            properties={"sym_name": StringAttr(name), "config": ConfigAttr(config)},
            regions=[body],
        )

    @property
    def config(self) -> Config:
        """Return the configuration of the core."""
        return self.config_attr.data

    @property
    def symbols(self) -> list[SymbolicOp]:
        """Return the instructions' buffers and constants."""
        return [op for op in self.body.block.ops if isinstance(op, SymbolicOp)]

    @property
    def table(self) -> UopTableOp | None:
        """Return its table of micro-ops, or None."""
        return next((op for op in self.body.block.ops if isinstance(op, UopTableOp)), None)

    @property
    def insns(self) -> list[InsnOp]:
        """Return its instructions."""
        return [op for op in self.body.block.ops if isinstance(op, InsnOp)]

    def verify_(self) -> None:
        if not isinstance(self.body.block.last_op, InsnFinishOp):
            raise VerifyException("a stream must end with vta.insn.finish")
        if self.body.block.args:
            raise VerifyException("a stream must have vta.buffer operations, not arguments")
        tables = 0
        for op in self.body.block.ops:
            if not isinstance(op, InsnOp | SymbolicOp | UopTableOp):
                raise VerifyException(f"{op.name} is not an operation of a VTA stream")
            tables += isinstance(op, UopTableOp)
        if tables > 1:
            raise VerifyException(f"a stream must have one table of micro-ops, not {tables}")
        verify_keys(self.symbols)

    @classmethod
    def parse(cls, parser: Parser) -> StreamOp:
        name = parser.parse_symbol_name().data
        config = parse_config(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, config, parser.parse_region())
        op.attributes |= {} if attributes is None else attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_attribute(self.config_attr)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
