"""A tuning record: the time, or the fault, of one choice at one site of a program.

A database is a JSON Lines file with one record per line, so records can be appended and `cat` joins
databases. Fields with default values are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

from msgspec import DecodeError, Meta, Struct, ValidationError
from msgspec.json import Decoder, Encoder, decode

from ..errors import CloptError
from ..machine.facts import Fact
from ..machine.target import Target
from ..messages.printable import printable

FORMAT = 2
"""The format number in each record. It changes whenever a site's digest reads something else."""

SPELLING = (
    *("builtins", "fp16", "rolled_loops", "biased_sums", "dot_product"),
    *("float_coordinates", "wide_accesses", "arithmetic_functions"),
    *("texels_of_rows", "half_totals"),
)
"""Facts that change the text of a kernel without changing its plan."""

COUNTING = {
    "cpu": ("compute_units", "vector_registers", "vector_width", *SPELLING),
    "gpu": ("compute_units", "texture", "weight_images", *SPELLING),
}
"""Target facts that key a measurement, by kind of device. They vary between devices of one name, or
change the code generated from a plan. Facts that choose layouts and types are left out: they change
the kernel itself."""

Kind: TypeAlias = Literal[
    "form",
    "layout",
    "operands",
    "offload",
    "group",
    "fusion",
    "attention",
    "border",
    "place",
    "plan",
    "launch",
]
"""What is chosen at a site: a `SiteKind`."""

_RULE = re.compile(r'<"([^"\\]+)", ([1-9][0-9]{0,8}), \{')
_PLAN = re.compile(r'#tir\.plan<"[^"\\]+", [1-9][0-9]{0,8}, \{[^\n{}]*\}(?:, \[<[^\n]*>\])?>')
_LINE = re.compile(r"[^\n]+")
_MOST = 1e15
"""Microseconds; a longer time is a mistake."""
_Number: TypeAlias = Annotated[float, Meta(ge=0, lt=_MOST)]
_Count: TypeAlias = Annotated[int, Meta(ge=0, lt=int(_MOST))]


class RecordKey(NamedTuple):
    """A choice at a site."""

    kind: Kind
    site: str
    choice: str


class Conditions(NamedTuple):
    """The conditions of a measurement; times of different conditions are not compared."""

    target: str
    device: str
    driver: str
    facts: str


class Record(
    Struct,
    frozen=True,
    kw_only=True,
    eq=False,
    dict=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="format",
    tag=FORMAT,
):
    """The time, or the fault, of a choice at a site. Records with the same line are equal."""

    kind: Kind
    site: str
    """The digest of a `Site`, with the number among equal ones if it has one."""
    choice: str
    """A plan or a layout as printed, or another word of a file of choices."""
    target: str
    facts: Mapping[str, Fact]
    """Facts of the target: `facts_that_count`."""
    device: str
    """The device's name and platform."""
    driver: str
    microseconds: Annotated[float, Meta(gt=0, lt=_MOST)] | None = None
    """The median time of one launch with the plan, or of a network with any other choice; None
    after a fault."""
    noise: _Number = 0.0
    """Half the width of the median's 95 % confidence interval, relative to the median."""
    runs: _Count = 0
    seconds: _Number = 0.0
    """Wall time of the whole trial."""
    fault: str = ""
    """Why there is no time: a value of `tuning.trial.Fault`."""
    reason: str = ""
    """A sentence about the fault."""
    nodes: str = ""
    """The ONNX nodes that the kernel computes."""
    launches: _Count = 1
    """Launches per inference of the tuned model."""
    default: bool = False
    """Whether clopt makes this choice without a database."""
    when: str = ""
    """When the trial ran, `2026-01-31T12:00:00Z`. Informative: the order of lines decides."""
    revision: str = ""
    """The compiler that was measured: `compiler_revision()`; empty if unknown."""
    text: str = ""
    """A digest of the OpenCL C that was timed: `TrialProgram.text`; empty if unknown."""

    def __post_init__(self) -> None:
        """Raise ValueError if fields contradict each other."""
        is_plan = self.kind == "plan"
        if not (_PLAN if is_plan else _LINE).fullmatch(self.choice):
            words = "#tir.plan<...>" if is_plan else "one line of text"
            raise ValueError(
                f'the "choice" of kind {self.kind} must be {words}, not {printable(self.choice)}'
            )
        if (self.microseconds is None) != bool(self.fault):
            raise ValueError('a record needs either "microseconds" or a "fault"')

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.line == other.line

    def __hash__(self) -> int:
        return hash(self.line)

    @property
    def place(self) -> str:
        """The file and line of the record; empty if it was not read from one."""
        return vars(self).get("place", "")

    @property
    def key(self) -> RecordKey:
        """The choice and its site."""
        return RecordKey(self.kind, self.site, self.choice)

    @cached_property
    def conditions(self) -> Conditions:
        """The target, the device with its driver, and the facts."""
        facts = str(sorted(self.facts.items()))
        return Conditions(self.target, self.device, self.driver, facts)

    @cached_property
    def rules(self) -> tuple[tuple[str, int], ...]:
        """The rule of a plan and those of its parts' plans, with their versions."""
        return tuple((name, int(version)) for name, version in _RULE.findall(self.choice))

    @property
    def rule(self) -> str:
        """The rule of a plan; empty for other kinds."""
        return self.rules[0][0] if self.kind == "plan" else ""

    @property
    def most(self) -> float:
        """The upper end of the time's interval, in microseconds; infinite after a fault."""
        return float("inf") if self.microseconds is None else self.microseconds * (1 + self.noise)

    @property
    def least(self) -> float:
        """The lower end of that interval; infinite after a fault."""
        return float("inf") if self.microseconds is None else self.microseconds * (1 - self.noise)

    @cached_property
    def line(self) -> str:
        """The record as a line of a database, without a newline."""
        return _ENCODER.encode(self).decode()

    def holds_for(self, target: Target) -> bool:
        """Return whether a target has the facts of this record."""
        return all(target.facts.get(name) == value for name, value in self.facts.items())


class _Header(Struct):
    """The part of a record that tells whether this version reads the rest."""

    format: object = None


_ENCODER = Encoder(order="deterministic")
_HEADERS, _RECORDS = Decoder(_Header), Decoder(Record)
_FAULT = re.compile(r"(?:Expected (.+?)(?:, got `.*`)?|Invalid enum value .*) - at `\$\.(\w+).*`")


def facts_that_count(target: Target) -> dict[str, Fact]:
    """Return the target facts that key a measurement."""
    return {name: target.facts[name] for name in sorted(COUNTING[target.device.device_type])}


def read_record(line: str, place: str) -> Record:
    """Parse a record. Raise CloptError, naming the place, if the line is not a record."""
    try:
        if _HEADERS.decode(line).format != FORMAT:
            raise CloptError(
                f'{place}: this version of clopt reads "format": {FORMAT}; remove the line, '
                "or use the version that wrote it."
            )
        record = _RECORDS.decode(line)
    except ValidationError as error:
        raise CloptError(f"{place}: {_sentence(str(error), line)}.") from error
    except (DecodeError, RecursionError, UnicodeError) as error:
        raise CloptError(f"{place}: not JSON: {printable(line[:80])}.") from error
    vars(record)["place"] = place
    return record


def _sentence(message: str, line: str) -> str:
    """Return a message of msgspec in our words, with the value that it is about."""
    match = _FAULT.fullmatch(message)
    if match is None:
        return f"{message[0].lower()}{message[1:]}".replace("`", '"')
    value: Any = decode(line)[match[2]]
    expected = (match[1] or f"one of {', '.join(get_args(Kind))}").replace("`", "")
    return f'"{match[2]}" must be {expected}, not {printable(str(value))}'
