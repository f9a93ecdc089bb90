"""`cl.kernel`: the declaration of a kernel whose body is not in the module."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .. import tir
from ..properties import int_array, ints
from .ops import byte_count


@irdl_op_definition
class KernelOp(IRDLOperation):
    """Declares a kernel whose body is elsewhere, as in a saved program: what launches need.

    `cl.kernel @conv(memref<4xf32>, memref<4xf32>) outputs [1] global [64] local [8]`

    `bounds [3]` are the bounds of its rolled loops, passed as arguments after the buffers
    (`tir.rolled_bounds`). `in_place [[0, 1]]` lists inputs and outputs that may share their bytes,
    as in `tir.func`. `function "name"` is the kernel's name in its source, if it differs.

    `rows [0]` lists the arguments that may be rows (`cl.row`), each with an index after the bounds.

    `turns` means that kernels take turns in it (`tir.turn`), so that its arguments may share bytes.

    `scalars [[0, 4, 12]]` lists scalar arguments: position, size in bytes and value of each.
    `program "key"` means that the weight `key` is the kernel's program, a binary.
    """

    name = "cl.kernel"
    sym_name = prop_def(SymbolNameConstraint())
    arg_types = prop_def(ArrayAttr)
    outputs = prop_def(DenseArrayBase)
    global_size = prop_def(DenseArrayBase)
    local_size = prop_def(DenseArrayBase)
    bounds = opt_prop_def(DenseArrayBase)
    rows = opt_prop_def(DenseArrayBase)
    in_place = opt_prop_def(ArrayAttr)
    function = opt_prop_def(StringAttr)
    scalars = opt_prop_def(ArrayAttr)
    program = opt_prop_def(StringAttr)
    turns = opt_prop_def(UnitAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        name: str,
        arg_types: Sequence[Attribute],
        outputs: Sequence[int],
        global_size: Sequence[int],
        local_size: Sequence[int],
        bounds: Sequence[int] = (),
        in_place: Sequence[tuple[int, int]] = (),
        function: str = "",
        scalars: Sequence[tuple[int, int, int]] = (),
        program: str = "",
        rows: Sequence[int] = (),
        turns: bool = False,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "arg_types": ArrayAttr(arg_types),
                "outputs": DenseArrayBase.from_list(i64, outputs),
                "global_size": DenseArrayBase.from_list(i64, global_size),
                "local_size": DenseArrayBase.from_list(i64, local_size),
                "bounds": DenseArrayBase.from_list(i64, bounds) if bounds else None,
                "rows": DenseArrayBase.from_list(i64, rows) if rows else None,
                "in_place": tir.in_place_attribute(in_place),
                "function": StringAttr(function) if function else None,
                "scalars": ArrayAttr(map(int_array, scalars)) if scalars else None,
                "program": StringAttr(program) if program else None,
                "turns": UnitAttr() if turns else None,
            }
        )

    @property
    def scalar_rows(self) -> list[tuple[int, int, int]]:
        """Return the position, size in bytes and value of each scalar argument."""
        rows = () if self.scalars is None else self.scalars.data
        return [(at, size, value) for at, size, value in map(ints, rows)]

    def verify_(self) -> None:
        for type_ in self.arg_types:
            byte_count(type_)
        self._verify_scalars()
        for what, positions in (("output", ints(self.outputs)), ("row", ints(self.rows))):
            for i in positions:
                if not 0 <= i < len(self.arg_types):
                    raise VerifyException(
                        f"{what} {i} is not one of {len(self.arg_types)} parameters"
                    )
        tir.verify_in_place(self.in_place, self.arg_types.data, set(ints(self.outputs)))
        tir.verify_ndrange(ints(self.global_size), ints(self.local_size))

    def _verify_scalars(self) -> None:
        places = [at for at, _, _ in self.scalar_rows]
        count = len(self.arg_types) + len(places)
        if places != sorted(set(places)) or not all(0 <= at < count for at in places):
            raise VerifyException(
                f"scalars {places} must be ascending positions of {count} parameters"
            )
        if self.bounds is not None and places:
            raise VerifyException("a kernel must not have both bounds and scalars")
        if self.rows is not None and places:
            raise VerifyException("a kernel must not have both rows and scalars")
        if any(size not in (4, 8) for _, size, _ in self.scalar_rows):
            raise VerifyException("a scalar must have 4 or 8 bytes")

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name().data
        arg_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)

        def integers() -> list[int]:
            return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

        def required(keyword: str) -> list[int]:
            parser.parse_keyword(keyword)
            return integers()

        outputs, global_size, local_size = map(required, ("outputs", "global", "local"))
        bounds = integers() if parser.parse_optional_keyword("bounds") else []
        rows_ = integers() if parser.parse_optional_keyword("rows") else []
        pairs: list[list[int]] = []
        start = parser.pos
        if parser.parse_optional_keyword("in_place"):
            pairs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, integers)
        if any(len(pair) != 2 for pair in pairs):
            parser.raise_error(
                "in_place must list pairs of an input and an output", start, parser.pos
            )
        in_place = [(input_, output) for input_, output in pairs]
        named = parser.parse_optional_keyword("function")
        function = parser.parse_str_literal() if named else ""
        rows = (
            parser.parse_comma_separated_list(parser.Delimiter.SQUARE, integers)
            if parser.parse_optional_keyword("scalars")
            else []
        )
        if any(len(row) != 3 for row in rows):
            parser.raise_error(
                "a scalar must be a position, a size in bytes and a value", start, parser.pos
            )
        scalars = [(at, size, value) for at, size, value in rows]
        program = parser.parse_str_literal() if parser.parse_optional_keyword("program") else ""
        op = cls(
            name, arg_types, outputs, global_size, local_size, bounds, in_place, function, scalars,
            program, rows_, parser.parse_optional_keyword("turns") is not None,
        )  # fmt: skip
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.arg_types, printer.print_attribute)
        printer.print_string(f" outputs {list(ints(self.outputs))}")
        printer.print_string(f" global {list(ints(self.global_size))}")
        printer.print_string(f" local {list(ints(self.local_size))}")
        if self.bounds is not None:
            printer.print_string(f" bounds {list(ints(self.bounds))}")
        if self.rows is not None:
            printer.print_string(f" rows {list(ints(self.rows))}")
        if self.in_place is not None:
            pairs = tir.in_place_pairs(self.in_place)
            printer.print_string(f" in_place {[list(pair) for pair in pairs]}")
        if self.function is not None:
            printer.print_string(" function ")
            printer.print_string_literal(self.function.data)
        if self.scalars is not None:
            printer.print_string(f" scalars {[list(row) for row in self.scalar_rows]}")
        if self.program is not None:
            printer.print_string(" program ")
            printer.print_string_literal(self.program.data)
        if self.turns is not None:
            printer.print_string(" turns")
        printer.print_op_attributes(self.attributes)
