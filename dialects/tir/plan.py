"""`#tir.plan`: the decisions of a kernel's schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...messages.printable import visible

PlanValue: TypeAlias = int | str | tuple[int, ...]
"""A number, a word, or a few numbers."""


@dataclass(frozen=True)
class Plan:
    """A rule, the version of its parameters, and a value for each of them."""

    rule: str
    version: int
    parameters: Mapping[str, PlanValue]

    def __hash__(self) -> int:
        return hash((self.rule, self.version, tuple(self.parameters.items())))


@irdl_attr_definition
class PlanAttr(Data[Plan]):
    """What a kernel's schedule is made of: `#tir.plan<"rows", 1, {width = 8}>`.

    The rule says which parameters there are and what they can be: numbers, words in quotes, or
    numbers in brackets.
    """

    name = "tir.plan"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Plan:
        with parser.in_angle_brackets():
            rule = parser.parse_str_literal()
            parser.parse_punctuation(",")
            version = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.BRACES, lambda: _parse_pair(parser)
            )
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            parser.raise_error(f"the plan has a parameter twice: {', '.join(names)}")
        return Plan(rule, version, dict(pairs))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.rule)
            pairs = ", ".join(f"{name} = {_text(v)}" for name, v in self.data.parameters.items())
            printer.print_string(f", {self.data.version}, {{{pairs}}}")

    def verify(self) -> None:
        if not self.data.rule or visible(self.data.rule) != self.data.rule:
            raise VerifyException(f"a plan names its rule, not '{visible(self.data.rule)}'")
        if self.data.version < 1:
            raise VerifyException(f"the versions of a rule start at 1, not {self.data.version}")


def _parse_pair(parser: AttrParser) -> tuple[str, PlanValue]:
    name = parser.parse_identifier()
    parser.parse_punctuation("=")
    word = parser.parse_optional_str_literal()
    if word is not None:
        return name, word
    numbers: Sequence[int] | None = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_integer
    )
    return name, parser.parse_integer() if numbers is None else tuple(numbers)


def _text(value: PlanValue) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return str(list(value)) if isinstance(value, tuple) else str(value)
