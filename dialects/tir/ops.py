"""Kernels: functions, loops and the small statements that live in them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .attributes import LoopKind, LoopKindAttr
from .in_place import in_place_attribute, in_place_pairs, verify_in_place

__all__ = [
    "BarrierOp",
    "CallOp",
    "ForOp",
    "FuncOp",
    "enclosing_loops",
    "rolled_bounds",
    "rolled_loops",
]

_INDEX = IndexType()


@irdl_op_definition
class FuncOp(IRDLOperation):
    """One OpenCL kernel: parameters are memrefs in the global or constant scope.

    `outputs` numbers the parameters that the kernel writes; `constants` those that every launch
    binds to a constant, whose layout a schedule may choose: `layouts` maps the position of such a
    parameter to the affine map from the constant's indices to the parameter's. `comment` is printed
    above the kernel and names the nodes it computes. `in_place = [array<i64: 0, 3>]` are pairs of
    an input and an output that a launch may give the same bytes: every work-item reads an element
    of the input only before it, and nobody else, writes that element of the output; both are
    buffers. `schedule` holds steps for
    `tir-apply-schedule`, which take the place of a rule's choice. `global_size` and `local_size`
    are the NDRange, known once every bound loop is final (`tir-lower-blocks`).
    """

    name = "tir.func"
    sym_name = prop_def(SymbolNameConstraint())
    outputs = prop_def(DenseArrayBase[I64])
    constants = opt_prop_def(DenseArrayBase[I64])
    layouts = opt_prop_def(DictionaryAttr)
    schedule = opt_prop_def(ArrayAttr[StringAttr])
    comment = opt_prop_def(StringAttr)
    in_place = opt_prop_def(ArrayAttr)
    global_size = opt_prop_def(DenseArrayBase[I64])
    local_size = opt_prop_def(DenseArrayBase[I64])
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        body: Region,
        outputs: Sequence[int],
        *,
        constants: Sequence[int] | None = None,
        comment: str | None = None,
        global_size: Sequence[int] | None = None,
        local_size: Sequence[int] | None = None,
        in_place: Sequence[tuple[int, int]] = (),
    ):
        def ints(values: Sequence[int] | None) -> DenseArrayBase[I64] | None:
            return None if values is None else DenseArrayBase.from_list(i64, values)

        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "outputs": ints(outputs),
                "constants": ints(constants),
                "comment": None if comment is None else StringAttr(comment),
                "global_size": ints(global_size),
                "local_size": ints(local_size),
                "in_place": in_place_attribute(in_place),
            },
            regions=[body],
        )

    @property
    def params(self) -> tuple[SSAValue, ...]:
        """The kernel's parameters, in the order of its arguments."""
        return tuple(self.body.block.args)

    @property
    def output_indices(self) -> tuple[int, ...]:
        """The positions of the parameters that the kernel writes."""
        return tuple(self.outputs.iter_values())

    @property
    def constant_indices(self) -> tuple[int, ...]:
        """The positions of the parameters that are constants at every launch."""
        array = self.constants
        return () if array is None else tuple(array.iter_values())

    @property
    def in_place_pairs(self) -> tuple[tuple[int, int], ...]:
        """Positions of inputs and outputs that may be the same bytes."""
        return in_place_pairs(self.in_place)

    def verify_(self) -> None:
        count = len(self.body.block.args)
        for i in self.output_indices:
            if not 0 <= i < count:
                raise VerifyException(f"output {i} is not one of the {count} parameters")
        for arg in self.body.block.args:
            if not isinstance(arg.type, MemRefType):
                raise VerifyException(f"a kernel parameter is a memref, not {arg.type}")
        types = [arg.type for arg in self.body.block.args]
        verify_in_place(self.in_place, types, set(self.output_indices))

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name()
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        attrs = parser.parse_optional_attr_dict_with_keyword(("sym_name",))
        region = parser.parse_region(args)
        given = dict(attrs.data) if attrs else {}
        known = cls.get_irdl_definition().properties
        properties = {key: given.pop(key) for key in list(given) if key in known}
        return cls.create(
            properties={"sym_name": name, **properties}, attributes=given, regions=[region]
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        attrs = {k: v for k, v in self.properties.items() if k != "sym_name"}
        printer.print_string(" attributes ")
        printer.print_attr_dict(attrs | self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


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
        super().__init__(
            properties={"kind": LoopKindAttr(kind), "extent": IntegerAttr(extent, i64)},
            regions=[body],
        )

    @property
    def var(self) -> SSAValue:
        """The loop variable."""
        return self.body.block.args[0]

    @property
    def size(self) -> int:
        """The number of iterations."""
        return self.extent.value.data

    def verify_(self) -> None:
        if [arg.type for arg in self.body.block.args] != [_INDEX]:
            raise VerifyException("a loop has one variable of type index")
        if self.size < 0:
            raise VerifyException(f"a loop cannot run {self.size} times")
        if self.kind.data is LoopKind.Vectorized and self.size not in (1, 2, 3, 4, 8, 16):
            raise VerifyException(f"no OpenCL vector has {self.size} lanes; use 2, 3, 4, 8 or 16")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        kind = parser.parse_str_enum(LoopKind)
        var = parser.parse_argument(expect_type=False).resolve(_INDEX)
        parser.parse_punctuation("=")
        if parser.parse_integer() != 0:
            parser.raise_error("a tir.for starts at 0")
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
    """All work-items of the group have finished their accesses to local memory."""

    name = "tir.barrier"
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__()


def enclosing_loops(op: Operation) -> list[ForOp]:
    """The loops around `op`, outermost first."""
    loops: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            loops.append(parent)
        parent = parent.parent_op()
    return loops[::-1]


def rolled_loops(func: FuncOp) -> list[ForOp]:
    """The `rolled` loops, in the order of the text."""
    return [
        op for op in func.body.walk() if isinstance(op, ForOp) and op.kind.data is LoopKind.Rolled
    ]


def rolled_bounds(func: FuncOp) -> tuple[int, ...]:
    """The bounds of the `rolled` loops, in the order of the text.

    They are arguments of the kernel: 32-bit integers after its buffers, the same at every launch.
    """
    return tuple(loop.size for loop in rolled_loops(func))
