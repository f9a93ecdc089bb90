"""A record of a tuning database: a measured plan, layout, fusion or form.

A database is a JSON Lines file with one object per line, so records can be appended and `cat` joins
databases. Fields with default values are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, cast

from ...dialects import cl
from ...errors import CloptError
from ...machine.facts import Fact
from ...messages.printable import printable

FORMAT = 1
"""The format number in each record. It changes whenever `kernel_key` reads something else."""

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

_PLAN = re.compile(r'#tir\.plan<"([^"\\]+)", ([1-9][0-9]{0,8}), \{[^\n{}]*\}(?:, \[<[^\n]*>\])?>')
_RULE = re.compile(r'<"([^"\\]+)", ([1-9][0-9]{0,8}), \{')
_PARTS = re.compile(r", \[<.*>\]>$")
_LINE = re.compile(r"[^\n]+")
JOINED, APART = "joined", "apart"
"""The two values of `Record.fusion`."""
_LONGEST = 1e15
"""Microseconds; a longer time is a mistake."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A measured plan, layout, fusion or form: its time, or a fault."""

    kernel: str
    """A digest of what was measured: a kernel (`plan_file.kernel_key`), with layouts the operations
    of a network that become a kernel (`Work.digest`), with a fusion a pair of kernels (`Pair.key`),
    with a form a convolution (`ConvolutionSite.digest`)."""
    target: str
    facts: tuple[tuple[str, Fact], ...]
    """Facts of the target, sorted by name: `facts_that_count`."""
    plan: str = ""
    """`#tir.plan<...>` as printed; empty if the record is not of a plan."""
    layouts: str = ""
    """The layouts of the operations' inputs and outputs: `Variant.layouts`."""
    fusion: str = ""
    """Whether the pair was `joined` or `apart` in the measured network."""
    form: str = ""
    """The form of a convolution: `ConvolutionSite.forms`."""
    device: str
    """The device's name and platform."""
    driver: str
    microseconds: float | None = None
    """The median time of one launch; None after a fault."""
    noise: float = 0.0
    """Half the width of the median's 95 % confidence interval, relative to the median."""
    runs: int = 0
    seconds: float = 0.0
    """Wall time of the whole trial."""
    fault: str = ""
    """Why there is no time: a value of `tuning.trial.Fault`."""
    reason: str = ""
    """A sentence about the fault."""
    nodes: str = ""
    """The ONNX nodes that the kernel computes."""
    launches: int = 1
    """Launches per inference of the tuned model."""
    default: bool = False
    """Whether clopt chooses this plan without a database."""
    when: str = ""
    """When the trial ran, `2026-01-31T12:00:00Z`. Informative: the order of lines decides.
    """
    revision: str = ""
    """The compiler that was measured: `compiler_revision()`; empty in old records."""
    place: str = field(default="", compare=False)
    """The file and line of the record."""

    @cached_property
    def rule(self) -> tuple[str, int]:
        """The rule of the plan and its version; only for records of plans."""
        match = _PLAN.fullmatch(self.plan)
        assert match, "a record is checked"
        return match[1], int(match[2])

    @cached_property
    def rules(self) -> frozenset[tuple[str, int]]:
        """The rules of the plan and of its parts' plans, with their versions."""
        return frozenset((name, int(version)) for name, version in _RULE.findall(self.plan))

    @property
    def tried(self) -> str:
        """The plan, layout, fusion or form that was measured."""
        return self.plan or self.layouts or self.fusion or self.form

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
        kept: dict[str, Any] = {"format": FORMAT}
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                kept[name] = dict(value) if name == "facts" else value
        return json.dumps(kept)


_DEFAULTS: Mapping[str, Any] = {e.name: e.default for e in fields(Record) if e.name != "place"}


class _Kind(NamedTuple):
    """The type of a field's value."""

    types: frozenset[type[Any]]
    words: str

    def __str__(self) -> str:
        return self.words


_WORD = _Kind(frozenset((str,)), "a word")
_NUMBER = _Kind(frozenset((float, int)), "a number")
_WHOLE = _Kind(frozenset((int,)), "a whole number")
_KINDS: Mapping[str, _Kind] = dict.fromkeys(_DEFAULTS, _WORD) | {
    "facts": _Kind(frozenset((dict,)), "an object"),
    "microseconds": _NUMBER,
    "noise": _NUMBER,
    "seconds": _NUMBER,
    "runs": _WHOLE,
    "launches": _WHOLE,
    "default": _Kind(frozenset((bool,)), "true or false"),
}
_REQUIRED = [name for name, default in _DEFAULTS.items() if default is MISSING]
_FACT_TYPES = frozenset((str, bool, int, float))


def facts_that_count(target: cl.Target) -> tuple[tuple[str, Fact], ...]:
    """Return the target facts that key a measurement."""
    return tuple((name, target.facts[name]) for name in sorted(COUNTING[target.device.device_type]))


def read_record(line: str, place: str) -> Record:
    """Parse a record. Raise CloptError, naming the place, if the line is not a record."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CloptError(f"{place}: not JSON: {printable(line[:80])}.") from error
    if not isinstance(value, dict):
        raise CloptError(f"{place}: a record must be a JSON object.")
    values = cast("dict[str, Any]", value)
    if values.pop("format", None) != FORMAT:
        raise CloptError(
            f'{place}: this version of clopt reads "format": {FORMAT}; remove the line, '
            "or use the version that wrote it."
        )
    fault = _fault_of(values)
    if fault:
        raise CloptError(f"{place}: {fault}.")
    for name in ("microseconds", "noise", "seconds"):
        if type(values.get(name)) is int:
            values[name] = float(values[name])
    values["facts"] = tuple(sorted(values["facts"].items()))
    return Record(**values, place=place)


def _fault_of(values: Mapping[str, Any]) -> str:
    """Return what is wrong with the fields of a record, or ""."""
    for name, value in values.items():
        kind = _KINDS.get(name)
        if kind is None:
            return f'unknown field "{printable(name)}"'
        if type(value) not in kind.types:
            return f'"{name}" must be {kind}, not {printable(str(value))}'
    for name in _REQUIRED:
        if name not in values:
            return f'the record has no "{name}"'
    for fact in values["facts"].values():
        if type(fact) not in _FACT_TYPES:
            return "facts must be words, numbers, true or false"
    return _fault_of_choice(values) or _fault_of_numbers(values)


def _fault_of_choice(values: Mapping[str, Any]) -> str:
    choices = [values.get(name) for name in ("plan", "layouts", "fusion", "form")]
    plan, layouts, fusion, form = choices
    if sum(choice is not None for choice in choices) != 1:
        return 'a record needs exactly one of "plan", "layouts", "fusion" and "form"'
    if plan is not None and not _PLAN.fullmatch(plan):
        return f"not a plan: {printable(plan)}"
    if layouts is not None and not _LINE.fullmatch(layouts):
        return f"not layouts: {printable(layouts)}"
    if fusion not in (None, JOINED, APART):
        return f'"fusion" must be {JOINED} or {APART}, not {printable(fusion)}'
    if form is not None and not _LINE.fullmatch(form):
        return f"not a form: {printable(form)}"
    return ""


def _fault_of_numbers(values: Mapping[str, Any]) -> str:
    time = values.get("microseconds")
    if (time is None) != bool(values.get("fault")):
        return 'a record needs either "microseconds" or a "fault"'
    if time is not None and not 0 < time < _LONGEST:
        return f"a time must be above 0 microseconds, not {time}"
    for name in ("noise", "seconds", "runs", "launches"):
        if not 0 <= values.get(name, 0) < _LONGEST:
            return f'"{name}" must be 0 or more, not {values[name]}'
    return ""


def without_parts(plan: str) -> str:
    """Return the text of a plan without the plans of its parts, which old records lack."""
    return _PARTS.sub(">", plan)


def is_of(record: Record, target: cl.Target) -> bool:
    """Return whether a target has the facts of a record."""
    facts = target.facts
    return all(facts.get(name) == value for name, value in record.facts)
