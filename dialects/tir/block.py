"""`tir.block`: a computation, separate from the loops that drive it."""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ..walking import operations_of
from .attributes import IterKind
from .domain import verify_domain

__all__ = ["BlockOp"]

_INDEX = IndexType()
# `IterKind(value)` takes three times as long.
_KINDS = {kind.value: kind for kind in IterKind}


@irdl_op_definition
class BlockOp(IRDLOperation):
    """A statement of a kernel over its own iteration domain (the block of TVM's TensorIR).

    The iteration variables of the body have fixed extents: spatial variables select an element,
    reduce variables accumulate. `map` computes their values from the surrounding loops. A schedule
    changes loops and `map`, never the body. Points outside the extents are not executed:
    `tir-lower-blocks` emits a guard for each variable that the loops can drive past its extent.

    A block with a reduce variable updates memory: for each store of its body, in order, `init` is
    the value of the location before the first iteration.
    """

    name = "tir.block"
    label = prop_def(StringAttr)
    map = prop_def(AffineMapAttr)
    extents = prop_def(DenseArrayBase[I64])
    kinds = prop_def(ArrayAttr[StringAttr])
    init = prop_def(ArrayAttr)
    loops = var_operand_def(IndexType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        label: str,
        loops: Sequence[SSAValue],
        extents: Sequence[int],
        kinds: Sequence[IterKind],
        body: Region | None = None,
        *,
        exprs: Sequence[AffineExpr] | None = None,
        init: Sequence[Attribute] = (),
    ):
        if exprs is None:
            exprs = [AffineExpr.dimension(i) for i in range(len(loops))]
        if body is None:
            body = Region(Block(arg_types=[_INDEX] * len(extents)))
        super().__init__(
            operands=[loops],
            properties={
                "label": StringAttr(label),
                "map": AffineMapAttr(AffineMap(len(loops), 0, tuple(exprs))),
                "extents": DenseArrayBase.from_list(i64, extents),
                "kinds": ArrayAttr([StringAttr(kind.value) for kind in kinds]),
                "init": ArrayAttr(init),
            },
            regions=[body],
        )

    @property
    def iter_vars(self) -> tuple[SSAValue, ...]:
        """Return the iteration variables, one per extent."""
        return tuple(self.body.block.args)

    @property
    def iter_extents(self) -> tuple[int, ...]:
        """Return the number of values of each iteration variable."""
        # Passes call this very often, and `DenseArrayBase.get_values` takes six times as long.
        packed = self.extents.data.data
        return unpack(f"<{len(packed) // 8}q", packed)

    @property
    def iter_kinds(self) -> tuple[IterKind, ...]:
        """Return spatial or reduce, one per iteration variable."""
        return tuple(_KINDS[kind.data] for kind in self.kinds.data)

    @property
    def exprs(self) -> tuple[AffineExpr, ...]:
        """Return the value of each iteration variable over the loop operands."""
        return self.map.data.results

    @property
    def is_reduction(self) -> bool:
        """Return whether some iteration variable accumulates."""
        return any(kind.data == IterKind.Reduce.value for kind in self.kinds.data)

    def rebind(self, loops: Sequence[SSAValue], exprs: Sequence[AffineExpr]) -> None:
        """Drive the block by other loops: `exprs` are over `loops`."""
        self.operands = list(loops)
        self.properties["map"] = AffineMapAttr(AffineMap(len(loops), 0, tuple(exprs)))

    def stores(self) -> list[memref.StoreOp]:
        """Return the stores of the body, in order."""
        return list(operations_of(memref.StoreOp, self.body))

    def loads(self) -> list[memref.LoadOp]:
        """Return the loads of the body, in order."""
        return list(operations_of(memref.LoadOp, self.body))

    def verify_(self) -> None:
        affine_map = self.map.data
        if affine_map.num_dims != len(self.loops) or affine_map.num_symbols:
            raise VerifyException(
                f"the map has {affine_map.num_dims} dimensions for {len(self.loops)} loops"
            )
        counts = {len(affine_map.results), len(self.extents), len(self.kinds), len(self.iter_vars)}
        if len(counts) != 1:
            raise VerifyException(
                "map, extents, kinds and iteration variables must agree in number"
            )
        known = set(IterKind)
        for kind in self.kinds.data:
            if kind.data not in known:
                raise VerifyException(f"'{kind.data}' must be spatial or reduce")
        stores = self.stores()
        if self.is_reduction and len(self.init) != len(stores):
            raise VerifyException(
                f"a reduction must initialise each of its {len(stores)} stores, not "
                f"{len(self.init)}"
            )
        if not self.is_reduction and self.init.data:
            raise VerifyException("only a reduction may have initial values")
        for store, value in zip(stores, self.init.data, strict=False):
            if getattr(value, "type", store.value.type) != store.value.type:
                raise VerifyException(f"the initial value {value} is not a {store.value.type}")
        if (around := enclosing_block(self)) is not None:
            raise VerifyException(
                f"a block must not be in the body of another, '{around.label.data}'"
            )
        verify_domain(self)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        label = StringAttr(parser.parse_str_literal())

        def parse_iter():
            var = parser.parse_argument(expect_type=False).resolve(_INDEX)
            parser.parse_punctuation(":")
            kind = parser.parse_str_enum(IterKind)
            return var, kind, parser.parse_integer(allow_boolean=False, allow_negative=False)

        iters = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_iter)
        parser.parse_punctuation("=")
        affine_map = parser.parse_attribute()
        if not isinstance(affine_map, AffineMapAttr):
            parser.raise_error("expected the affine map from loops to iteration variables")
        loops = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_operand(_INDEX)
        )
        init: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("init") is not None:
            init = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_attribute
            )
        attrs = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([var for var, _, _ in iters])
        return cls.create(
            operands=loops,
            properties={
                "label": label,
                "map": affine_map,
                "extents": DenseArrayBase.from_list(i64, [extent for _, _, extent in iters]),
                "kinds": ArrayAttr([StringAttr(kind.value) for _, kind, _ in iters]),
                "init": ArrayAttr(init),
            },
            attributes={} if attrs is None else attrs.data,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.print_string(" ")

        def print_iter(item: tuple[SSAValue, IterKind, int]) -> None:
            var, kind, extent = item
            printer.print_ssa_value(var)
            printer.print_string(f": {kind.value} {extent}")

        with printer.in_parens():
            printer.print_list(
                list(zip(self.iter_vars, self.iter_kinds, self.iter_extents, strict=True)),
                print_iter,
            )
        printer.print_string(" = ")
        printer.print_attribute(self.map)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.loops, printer.print_operand)
        if self.init.data:
            printer.print_string(" init ")
            with printer.in_square_brackets():
                printer.print_list(self.init.data, printer.print_attribute)
        if self.attributes:
            printer.print_string(" attributes ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def enclosing_block(op: Operation) -> BlockOp | None:
    """Return the block whose body contains `op`, or None."""
    parent = op.parent_op()
    while parent is not None and type(parent) is not BlockOp:
        parent = parent.parent_op()
    return parent
