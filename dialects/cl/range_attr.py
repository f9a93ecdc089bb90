"""The symbol whose smaller values a program also serves, as the module's attribute `cl.range`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..properties import text
from ..ranged_size import RangedSize

if TYPE_CHECKING:
    from .kernels import Kernel

RANGE = "cl.range"


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """A symbol of the model whose value in this program is the greatest that it serves.

    `#cl.range<"batch", 5 to 8, ["x", "y"]>`: the inputs and outputs x and y consist of eight equal
    parts, one for each unit of the symbol, and only the first s of them matter for a value s. The
    program serves any s up to 8, and is to be fast from 5 on. A second list,
    `["x", "y"], ["mask"]`, names inputs whose first s parts are true and whose others are false.
    """

    name = "cl.range"

    symbol: Attribute
    """A string. Names may contain any character, so that the parser may read it as bytes."""
    start: IntAttr
    bound: IntAttr
    ports: ArrayAttr[Attribute]
    """Strings, too."""
    guards: ArrayAttr[Attribute]

    @classmethod
    def of(
        cls, symbol: str, least: int, bound: int, ports: Sequence[str], guards: Sequence[str] = ()
    ) -> RangeAttr:
        """Return the attribute for a symbol of the value `bound`."""
        lists = (ArrayAttr(map(StringAttr, names)) for names in (ports, guards))
        return cls(StringAttr(symbol), IntAttr(least), IntAttr(bound), *lists)

    @property
    def least(self) -> int:
        """The least value of the symbol for which the program is to be fast."""
        return self.start.data

    @property
    def largest(self) -> int:
        """The value of the symbol in this program."""
        return self.bound.data

    @property
    def port_names(self) -> list[str]:
        """The names of the inputs and outputs that consist of equal parts."""
        return [text(port) or "" for port in self.ports]

    @property
    def guard_names(self) -> list[str]:
        """The names of the inputs that are true for the first parts."""
        return [text(guard) or "" for guard in self.guards]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            symbol = parser.parse_attribute()
            parser.parse_punctuation(",")
            start = IntAttr(parser.parse_integer())
            parser.parse_keyword("to")
            bound = IntAttr(parser.parse_integer())
            parser.parse_punctuation(",")
            lists = [parser.parse_attribute()]
            if parser.parse_optional_punctuation(","):
                lists.append(parser.parse_attribute())
        if not all(isinstance(each, ArrayAttr) for each in lists):
            parser.raise_error("the ports of a range are a list of names")
        ports, guards = (*lists, ArrayAttr[Attribute]([]))[:2]
        return symbol, start, bound, cast("ArrayAttr[Attribute]", ports), guards

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.symbol)
            printer.print_string(f", {self.least} to {self.largest}, ")
            printer.print_attribute(self.ports)
            if self.guards.data:
                printer.print_string(", ")
                printer.print_attribute(self.guards)

    def verify(self) -> None:
        if not 1 <= self.least <= self.largest:
            raise VerifyException(f"a range must be from a positive value to another, not {self}")
        if not all(text(each) for each in (self.symbol, *self.ports, *self.guards)):
            raise VerifyException(f"the symbol and the ports of a range must be names, not {self}")


def range_of(module: ModuleOp) -> RangeAttr | None:
    """Return the range that the programs of `module` serve, or None."""
    found = module.attributes.get(RANGE)
    return found if isinstance(found, RangeAttr) else None


def sizes_map(sizes: Sequence[RangedSize]) -> AffineMap:
    """Return global sizes as a map of the symbol."""
    return AffineMap(0, 1, tuple(map(_expression, sizes)))


def sizes_of(sizes: AffineMap) -> tuple[RangedSize, ...]:
    """Return the global sizes that `sizes_map` wrote; raise VerifyException for other maps."""
    if (sizes.num_dims, sizes.num_symbols) != (0, 1):
        raise VerifyException(f"sizes must be functions of one symbol, not {sizes}")
    return tuple(map(_size, sizes.results))


def verify_sizes(
    title: str, sizes: Sequence[RangedSize], kernel: Kernel, range_: RangeAttr | None
) -> None:
    """Raise VerifyException unless `sizes` fit the kernel and end with its own global size."""
    if range_ is None:
        raise VerifyException(f"{title} has sizes, but the module has no {RANGE}")
    whole = kernel.global_size or ()
    if tuple(size.at(range_.largest) for size in sizes) != whole:
        raise VerifyException(
            f"{title} must have the kernel's global size {list(whole)} at {range_.largest}"
        )
    for size, group in zip(sizes, kernel.local_size or (1,) * len(sizes), strict=True):
        if size.step % group or size.at(1) < 1:
            raise VerifyException(
                f"{title} must launch groups of {group} at all values of the symbol"
            )


def _expression(size: RangedSize) -> AffineExpr:
    if not size.factor:
        return AffineExpr.constant(size.at(0))
    count = AffineExpr.symbol(0) * size.factor + size.offset
    if size.divisor > 1:
        count = count.ceil_div(size.divisor)
    return count * size.step


def _size(expr: AffineExpr) -> RangedSize:
    """Return the size that `_expression` wrote."""
    step, expr = _peel(expr, AffineBinaryOpKind.Mul, 1)
    divisor, inner = _peel(expr, AffineBinaryOpKind.CeilDiv, 1)
    offset, inner = _peel(inner, AffineBinaryOpKind.Add, 0)
    factor, inner = _peel(inner, AffineBinaryOpKind.Mul, 1)
    if isinstance(expr, AffineConstantExpr) and expr.value > 0:
        return RangedSize.fixed(expr.value)
    if not isinstance(inner, AffineSymExpr) or min(step, divisor, factor) < 1:
        raise VerifyException(
            f"a size must be a positive constant or of the form ((s0 * a + b) ceildiv c) * d, not "
            f"{expr}"
        )
    if divisor == 1 and not offset:
        step, factor = step * factor, 1
    return RangedSize(step, factor, offset, divisor)


def _peel(expr: AffineExpr, kind: AffineBinaryOpKind, default: int) -> tuple[int, AffineExpr]:
    """Return the constant right operand of an operation of this kind, and its left operand."""
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is kind:
        if isinstance(expr.rhs, AffineConstantExpr):
            return expr.rhs.value, expr.lhs
    return default, expr
