"""A record of a tuning database: what a device said of a plan, layouts, a fusion or a form.

A database is JSON lines: a record is an object on a line of its own, so that records can be
appended and `cat` joins databases. Fields with their defaults are left out.
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
"""The format of a record, which it carries; the number changes with what `kernel_key` reads."""

SPELLING = (
    *("builtins", "fp16", "rolled_loops", "biased_sums", "dot_product"),
    *("float_coordinates", "wide_accesses", "arithmetic_functions"),
    *("texels_of_rows", "half_totals"),
)
"""Facts that change the text of a kernel whose plan stays."""

COUNTING = {
    "cpu": ("compute_units", "vector_registers", "vector_width", *SPELLING),
    "gpu": ("compute_units", "texture", "weight_images", *SPELLING),
}
"""Target facts that key a measurement, by kind of device: they vary between devices of one name, or
change the code generated from a plan. The layouts and types that facts choose are in the kernel."""

_PLAN = re.compile(r'#tir\.plan<"([^"\\]+)", ([1-9][0-9]{0,8}), \{[^\n{}]*\}(?:, \[<[^\n]*>\])?>')
_RULE = re.compile(r'<"([^"\\]+)", ([1-9][0-9]{0,8}), \{')
_PARTS = re.compile(r", \[<.*>\]>$")
_LINE = re.compile(r"[^\n]+")
JOINED, APART = "joined", "apart"
"""The two values of `Record.fusion`."""
_LONGEST = 1e15
"""Microseconds; more is a mistake."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What a device said of a plan, of layouts, of a fusion or of a form: a time or a fault."""

    kernel: str
    """The kernel's content: `plan_file.kernel_key`. With layouts that of operations of a network,
    which become a kernel only by them: `Work.digest`. With a fusion that of a pair of kernels:
    `Pair.key`. With a form that of a convolution: `Convolution.digest`."""
    target: str
    facts: tuple[tuple[str, Fact], ...]
    """Facts of the target, sorted by name: `facts_that_count`."""
    plan: str = ""
    """`#tir.plan<...>`, as it is printed; empty where the record is of something else."""
    layouts: str = ""
    """The layouts of what the operations read and write: `Variant.layouts`."""
    fusion: str = ""
    """Whether the pair was `joined` or `apart` in the network where it took this time."""
    form: str = ""
    """The form of a convolution: `Convolution.forms`."""
    device: str
    """The device's name and platform."""
    driver: str
    microseconds: float | None = None
    """The median of one launch; None after a fault."""
    noise: float = 0.0
    """Half of the width of the median's 95 % interval, as a share of the median."""
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
    """Launches in an inference of the model that was tuned."""
    default: bool = False
    """Whether clopt would have chosen the plan by itself."""
    when: str = ""
    """The time of the trial, `2026-01-31T12:00:00Z`, for people: the order of lines decides."""
    revision: str = ""
    """The compiler whose text was timed: `compiler_revision()`; empty in old records."""
    place: str = field(default="", compare=False)
    """The file and line that it is from."""

    @cached_property
    def rule(self) -> tuple[str, int]:
        """The rule of the plan, and its version; only of a record of a plan."""
        match = _PLAN.fullmatch(self.plan)
        assert match, "a record is checked"
        return match[1], int(match[2])

    @cached_property
    def rules(self) -> frozenset[tuple[str, int]]:
        """The rules of the plan and of those of its parts, with their versions."""
        return frozenset((name, int(version)) for name, version in _RULE.findall(self.plan))

    @property
    def tried(self) -> str:
        """The plan, the layouts, the fusion or the form."""
        return self.plan or self.layouts or self.fusion or self.form

    @property
    def most(self) -> float:
        """The end of the interval of the time, in microseconds; infinite after a fault."""
        return float("inf") if self.microseconds is None else self.microseconds * (1 + self.noise)

    @property
    def least(self) -> float:
        """The beginning of that interval; infinite after a fault."""
        return float("inf") if self.microseconds is None else self.microseconds * (1 - self.noise)

    @cached_property
    def line(self) -> str:
        """The record as a line of a database, without its end."""
        kept: dict[str, Any] = {"format": FORMAT}
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                kept[name] = dict(value) if name == "facts" else value
        return json.dumps(kept)


_DEFAULTS: Mapping[str, Any] = {e.name: e.default for e in fields(Record) if e.name != "place"}


class _Kind(NamedTuple):
    """What the value of a field is."""

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
    """Return the facts of a target for which a measurement holds."""
    return tuple((name, target.facts[name]) for name in sorted(COUNTING[target.device.device_type]))


def read_record(line: str, place: str) -> Record:
    """Return the record of a line; CloptError, naming the place, for a line that is none."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CloptError(f"{place}: this is no JSON: {printable(line[:80])}.") from error
    if not isinstance(value, dict):
        raise CloptError(f"{place}: a record is an object of JSON.")
    values = cast("dict[str, Any]", value)
    if values.pop("format", None) != FORMAT:
        raise CloptError(
            f'{place}: a record of this version of clopt has "format": {FORMAT}; remove the line, '
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
    """Return what is wrong with the fields of a record, or an empty text."""
    for name, value in values.items():
        kind = _KINDS.get(name)
        if kind is None:
            return f'"{printable(name)}" is no field of a record'
        if type(value) not in kind.types:
            return f'"{name}" is {kind}, not {printable(str(value))}'
    for name in _REQUIRED:
        if name not in values:
            return f'the record has no "{name}"'
    for fact in values["facts"].values():
        if type(fact) not in _FACT_TYPES:
            return "facts are words, numbers, true or false"
    return _fault_of_choice(values) or _fault_of_numbers(values)


def _fault_of_choice(values: Mapping[str, Any]) -> str:
    choices = [values.get(name) for name in ("plan", "layouts", "fusion", "form")]
    plan, layouts, fusion, form = choices
    if sum(choice is not None for choice in choices) != 1:
        return 'a record has either a "plan", "layouts", a "fusion" or a "form"'
    if plan is not None and not _PLAN.fullmatch(plan):
        return f"this is no plan: {printable(plan)}"
    if layouts is not None and not _LINE.fullmatch(layouts):
        return f"these are no layouts: {printable(layouts)}"
    if fusion not in (None, JOINED, APART):
        return f'"fusion" is {JOINED} or {APART}, not {printable(fusion)}'
    if form is not None and not _LINE.fullmatch(form):
        return f"this is no form: {printable(form)}"
    return ""


def _fault_of_numbers(values: Mapping[str, Any]) -> str:
    time = values.get("microseconds")
    if (time is None) != bool(values.get("fault")):
        return 'a record has either "microseconds" or a "fault"'
    if time is not None and not 0 < time < _LONGEST:
        return f"a time is more than 0 microseconds, not {time}"
    for name in ("noise", "seconds", "runs", "launches"):
        if not 0 <= values.get(name, 0) < _LONGEST:
            return f'"{name}" is 0 or more, not {values[name]}'
    return ""


def without_parts(plan: str) -> str:
    """Return the text of a plan as it was when plans did not name those of their parts."""
    return _PARTS.sub(">", plan)


def is_of(record: Record, target: cl.Target) -> bool:
    """Whether the facts of a record are those of a target."""
    facts = target.facts
    return all(facts.get(name) == value for name, value in record.facts)
