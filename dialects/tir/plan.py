"""`#tir.plan`: the parameters of a kernel's schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
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
    """A schedule rule, the version of its parameters, and a value for each parameter."""

    rule: str
    version: int
    parameters: Mapping[str, PlanValue]
    parts: tuple[Plan, ...] = ()
    """The plans of the kernels that the rule splits this one into, in order; empty if they are
    still to be chosen."""

    def __hash__(self) -> int:
        return hash((self.rule, self.version, tuple(self.parameters.items()), self.parts))

    def __str__(self) -> str:
        pairs = ", ".join(f"{name} = {_text(v)}" for name, v in self.parameters.items())
        parts = f", [{', '.join(map(str, self.parts))}]" if self.parts else ""
        return f'<"{self.rule}", {self.version}, {{{pairs}}}{parts}>'

    @property
    def digest(self) -> str:
        """The first 16 hex digits of the SHA-256 of the plan's text."""
        return sha256(str(self).encode()).hexdigest()[:16]


PlanCheck: TypeAlias = Callable[[Plan], str | None]
_checks: list[PlanCheck] = []


def check_plans_by(check: PlanCheck) -> None:
    """Make the verifier of kernels reject plans for which `check` returns a reason.

    The package of the rules registers the check, because this dialect knows only the syntax.
    """
    _checks[:] = [check]


def plan_fault(plan: Plan) -> str | None:
    """Return why a plan is invalid for every kernel, or None."""
    return next((fault for check in _checks if (fault := check(plan)) is not None), None)


@irdl_attr_definition
class PlanAttr(Data[Plan]):
    """The plan of a kernel's schedule: `#tir.plan<"rows", 1, {width = 8}>`.

    The rule determines the parameters and their domains: numbers, words in quotes, or numbers in
    brackets. The plan of a rule that splits the kernel may be followed by the plans of the parts:
    `#tir.plan<"split-reduction", 1, {along = 0, parts = 3}, [<"gpu-tile", …>, <"texels", …>]>`.
    """

    name = "tir.plan"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Plan:
        """Parse a plan and the plans of its parts."""
        with parser.in_angle_brackets():
            rule = parser.parse_str_literal()
            parser.parse_punctuation(",")
            version = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.BRACES, lambda: _parse_pair(parser)
            )
            parts: list[Plan] = []
            if parser.parse_optional_punctuation(",") is not None:
                parts = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, lambda: cls.parse_parameter(parser)
                )
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            parser.raise_error(f"the plan has a parameter twice: {', '.join(names)}")
        return Plan(rule, version, dict(pairs), tuple(parts))

    def print_parameter(self, printer: Printer) -> None:
        """Print a plan and the plans of its parts."""
        printer.print_string(str(self.data))

    def verify(self) -> None:
        """Require a rule and a version."""
        _verify(self.data)


def _verify(plan: Plan) -> None:
    if not plan.rule or visible(plan.rule) != plan.rule:
        raise VerifyException(f"a plan must name its rule, not '{visible(plan.rule)}'")
    if plan.version < 1:
        raise VerifyException(f"the version of a rule must be at least 1, not {plan.version}")
    for part in plan.parts:
        _verify(part)


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
