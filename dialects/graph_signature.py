"""The signature of an accelerator's graph, `@g(%x : type) -> type`, and checks of its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class GraphSignature:
    """The name, arguments and result types of a graph that is being parsed."""

    name: str
    arguments: Sequence[Parser.Argument]
    results: Sequence[Attribute]
    place: tuple[int, int]
    """The start and end of the result types in the text."""

    @classmethod
    def parse(cls, parser: Parser) -> GraphSignature:
        """Parse a signature."""
        name = parser.parse_symbol_name().data
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        start = parser.pos
        parser.parse_punctuation("->")
        types = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        if types is None:
            types = [parser.parse_type()]
        return cls(name, args, types, (start, parser.pos))

    def check(self, parser: Parser, outputs: Sequence[SSAValue]) -> None:
        """Raise a ParseError if a graph returns values of other types."""
        if [value.type for value in outputs] != self.results:
            parser.raise_error("the returned values have other types", *self.place)


def print_signature(
    printer: Printer, name: str, inputs: Sequence[BlockArgument], outputs: Sequence[SSAValue]
) -> None:
    """Print a signature that `GraphSignature.parse` reads."""
    printer.print_string(" ")
    printer.print_symbol_name(name)
    with printer.in_parens():
        printer.print_list(inputs, printer.print_block_argument)
    printer.print_string(" -> ")
    types = [value.type for value in outputs]
    if len(types) == 1:
        printer.print_attribute(types[0])
    else:
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


def verify_results(outputs: Sequence[SSAValue], producer: type[Operation], name: str) -> None:
    """Verify that a graph returns results of its operations, each once; `name` is their name."""
    if not outputs:
        raise VerifyException("a graph must return at least one tensor")
    if any(not isinstance(value.owner, producer) for value in outputs):
        raise VerifyException(f"a graph must return results of its {name}")
    if len(set(outputs)) < len(outputs):
        raise VerifyException("a graph must not return a tensor twice")
