"""`vta.program`, and its buffers and constants."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..properties import I64, integer
from .attributes import DramKind, DramType
from .computing import FinishOp
from .config import Config, ConfigAttr
from .tile_base import TileOp
from .verifier import verify_program


class SymbolicOp(IRDLOperation):
    """A buffer or constant in DRAM whose address is decided later; relocations refer to its key."""

    key_attr = prop_def(StringAttr, prop_name="key")
    result = result_def(DramType)
    assembly_format = "$key attr-dict `:` type($result)"

    def __init__(self, key: str, result_type: DramType):
        super().__init__(properties={"key": StringAttr(key)}, result_types=[result_type])

    @property
    def key(self) -> str:
        """Return the name."""
        return self.key_attr.data

    @property
    def type(self) -> DramType:
        """Return its kind and number of elements."""
        return self.result.type


@irdl_op_definition
class BufferOp(SymbolicOp):
    """A buffer of the caller, by name: activations that a program reads, writes, or both.

    `%x = vta.buffer "x" : !vta.dram<act, 1024>`

    Buffers do not overlap.
    """

    name = "vta.buffer"

    def verify_(self) -> None:
        if self.type.kind is DramKind.UOP:
            raise VerifyException("micro-ops must be part of the program, not of a buffer")


@irdl_op_definition
class ConstantOp(SymbolicOp):
    """The array `key` of the weights store.

    `%w = vta.constant "w_0123456789abcdef" : !vta.dram<wgt, 36>`

    Each element is a tile: int8 of block_out x block_in for wgt, int32 of batch x block_out for
    acc.
    """

    name = "vta.constant"

    def verify_(self) -> None:
        if self.type.kind not in (DramKind.WGT, DramKind.ACC):
            raise VerifyException(f"a constant must be of kind wgt or acc, not {self.type.kind}")


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """Operations on tiles, with dependence tokens: the work of the accelerator by stage.

    ```
    vta.program @relu #vta.config<1x16_i8w8a32_15_15_18_17> {
      %x = vta.buffer "x" : !vta.dram<act, 64>
      %y = vta.buffer "y" : !vta.dram<act, 64>
      vta.load_acc8 %x[0] to acc[0] size [1, 64]
      %done = vta.alu max imm 0 uops [(0, 0, 0)] loops [(64, 1, 1, 0)] signal(c2s)
      %stored = vta.store out[0] to %y[0] size [1, 64] wait(%done) signal(s2c)
      vta.finish wait(%stored)
    }
    ```

    A stage executes its operations in the order of the text, the stages run in parallel, and only
    tokens order the accesses of two stages to an element. The operations of a program without any
    token run one by one: its tokens have not been inserted yet. `write_to_read`, 0 by default, is
    the minimum number of micro-ops from a write to a read of a tile of acc within one operation.
    """

    name = "vta.program"
    sym_name = prop_def(SymbolNameConstraint())
    config_attr = prop_def(ConfigAttr, prop_name="config")
    write_to_read_attr = opt_prop_def(I64, prop_name="write_to_read")
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(self, name: str, config: Config, body: Region, *, write_to_read: int = 0):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "config": ConfigAttr(config),
                "write_to_read": integer(write_to_read) if write_to_read else None,
            },
            regions=[body],
        )

    @property
    def config(self) -> Config:
        """Return the configuration of the core."""
        return self.config_attr.data

    @property
    def write_to_read(self) -> int:
        """Return the minimum number of micro-ops from a write to a read of a tile."""
        return 0 if self.write_to_read_attr is None else self.write_to_read_attr.value.data

    @property
    def is_serial(self) -> bool:
        """Return whether no operation has tokens, so that they run one by one."""
        return not any(op.waits or op.signals for op in self.steps)

    @property
    def symbols(self) -> list[SymbolicOp]:
        """Return its buffers and constants."""
        return [op for op in self.body.block.ops if isinstance(op, SymbolicOp)]

    @property
    def steps(self) -> Iterator[TileOp]:
        """Yield its operations in order, without buffers and constants."""
        return (op for op in self.body.block.ops if isinstance(op, TileOp))

    def verify_(self) -> None:
        if not isinstance(self.body.block.last_op, FinishOp):
            raise VerifyException("a program must end with vta.finish")
        if self.body.block.args:
            raise VerifyException("a program must have vta.buffer operations, not arguments")
        for op in self.body.block.ops:
            if not isinstance(op, TileOp | SymbolicOp):
                raise VerifyException(f"{op.name} is not an operation of a VTA program")
        verify_keys(self.symbols)
        verify_program(self)

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_symbol_name().data
        config = parse_config(parser)
        distance = parser.parse_integer() if parser.parse_optional_keyword("write_to_read") else 0
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, config, parser.parse_region(), write_to_read=distance)
        op.attributes |= {} if attributes is None else attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_attribute(self.config_attr)
        if self.write_to_read:
            printer.print_string(f" write_to_read {self.write_to_read}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


def verify_keys(symbols: list[SymbolicOp]) -> None:
    """Verify that the keys of buffers and constants are unique."""
    seen: set[str] = set()
    for symbol in symbols:
        if symbol.key in seen:
            raise VerifyException(f'two buffers or constants have the key "{symbol.key}"')
        seen.add(symbol.key)


def parse_config(parser: Parser) -> Config:
    """Parse `#vta.config<…>`."""
    start = parser.pos
    config = parser.parse_attribute()
    if not isinstance(config, ConfigAttr):
        parser.raise_error("expected a #vta.config", start, parser.pos)
    return config.data
