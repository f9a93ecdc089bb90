"""A plan file: one line per plan, made to be read, compared and edited by hand.

    clopt-plans 1
    # @conv_1: conv, relu
    5d0c9f0b51a5a3a2 pocl,compute_units=2 - #tir.plan<"register-tile", 1, {...}>

An entry consists of the kernel's digest, the target, the measured microseconds or `-`, and the
plan. `#` starts a comment. The target is a name and the facts that must hold. If several entries
match a kernel and a target, the last one wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, StringAttr
from xdsl.printer import Printer

from ...dialects import cl, tir
from ...errors import CloptError
from ...machine.facts import Fact
from ...messages.printable import printable
from ...messages.sentences import as_sentence, reason_of
from ...messages.source import Source, SourceModule
from ...targets import fact_of
from .rules import rules

HEADER = "clopt-plans 1"
"""The first line. The number changes whenever `kernel_key` reads something else."""

_UNTIMED = "-"
_DECIDING = {"cpu": ("compute_units", "vector_registers"), "gpu": ("compute_units",)}
"""Facts, by kind of device, that vary between devices of one name and decide what is fast."""


@dataclass(frozen=True)
class Entry:
    """The plan of a kernel on a target."""

    kernel: str
    """A digest of the kernel: `kernel_key`."""
    target: str
    facts: Mapping[str, Fact]
    """Facts that the target must have for the entry to apply."""
    plan: tir.Plan
    microseconds: float | None = None
    """The measured time of one launch, or None."""
    comment: str = ""
    place: str = ""
    """The file and line of the entry."""

    def holds_for(self, target: cl.Target) -> bool:
        """Return whether the entry applies to `target`."""
        same = all(target.facts.get(name) == value for name, value in self.facts.items())
        return same and self.target == target.name

    def __str__(self) -> str:
        facts = "".join(f",{name}={_text(value)}" for name, value in self.facts.items())
        time = _UNTIMED if self.microseconds is None else f"{self.microseconds:g}"
        line = f"{self.kernel} {self.target}{facts} {time} {tir.PlanAttr(self.plan)}\n"
        return f"# {printable(self.comment)}\n{line}" if self.comment else line


@dataclass(frozen=True)
class PlanFile:
    """The entries of a plan file."""

    name: str
    entries: Mapping[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])
    """The entries of each kernel, in file order."""

    @classmethod
    def read(cls, path: Path) -> PlanFile:
        """Read a plan file. Raise CloptError with the line of the first mistake."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CloptError(f"Cannot read {path}: {reason_of(error)}.") from error
        header, *lines = text.split("\n")
        if header.strip() != HEADER:
            raise CloptError(f'{path}:1: the first line of a plan file must be "{HEADER}".')
        ctx = plan_context()
        entries: dict[str, list[Entry]] = {}
        for number, line in enumerate(lines, 2):
            if line.strip() and not line.lstrip().startswith("#"):
                entry = _read_entry(ctx, line, f"{path}:{number}")
                entries.setdefault(entry.kernel, []).append(entry)
        return cls(str(path), entries)

    def find(self, func: tir.FuncOp, target: cl.Target) -> Entry | None:
        """Return the entry for a naive kernel on a target, or None."""
        found = self.entries.get(kernel_key(func), [])
        return next((entry for entry in reversed(found) if entry.holds_for(target)), None)


def plan_text(entries: Iterable[Entry]) -> str:
    """Return the text of a plan file with these entries."""
    return f"{HEADER}\n{''.join(map(str, entries))}"


def entry_of(func: tir.FuncOp, target: cl.Target) -> Entry:
    """Return a plan file's entry for a naive kernel and its plan."""
    assert func.plan is not None
    if len(target.name.split()) != 1 or "," in target.name or target.name.startswith("#"):
        raise CloptError(
            f'a plan file cannot hold the target name "{printable(target.name)}"; '
            "choose a name without spaces and commas."
        )
    facts = {name: target.facts[name] for name in _DECIDING[target.device.device_type]}
    nodes = "" if func.comment is None else f": {func.comment.data}"
    comment = f"@{func.sym_name.data}{nodes}"
    return Entry(kernel_key(func), target.name, facts, func.plan.data, comment=comment)


def kernel_key(func: tir.FuncOp) -> str:
    """Return a digest of what a naive kernel computes, without its names, comment and plan."""
    kernel = func.clone()
    kernel.plan = kernel.schedule = kernel.comment = kernel.roles = None
    for op in kernel.walk():
        args = (arg for region in op.regions for block in region.blocks for arg in block.args)
        for value in (*op.results, *args):
            value.name_hint = None
        if isinstance(op, tir.BlockOp):
            op.label = StringAttr("")
    kernel.sym_name = StringAttr("kernel")
    text = StringIO()
    Printer(stream=text, print_generic_format=True).print_op(kernel)
    return sha256(text.getvalue().encode()).hexdigest()[:16]


def _read_entry(ctx: Context, line: str, place: str) -> Entry:
    """Return the entry of a line. Its rule must exist, but may have another version."""
    words = line.split(maxsplit=3)
    if len(words) < 4:
        raise CloptError(f"{place}: an entry needs a kernel, a target, a time or -, and a plan.")
    kernel, target, time, text = words
    name, *pairs = target.split(",")
    plan = read_plan(ctx, text, place)
    known = [rule.name for rule in rules()]
    if plan.rule not in known:
        raise CloptError(f"{place}: unknown rule '{plan.rule}'; the rules are {', '.join(known)}.")
    facts = dict(_read_fact(pair, place) for pair in pairs)
    return Entry(kernel, name, facts, plan, _read_time(time, place), place=place)


def _read_fact(pair: str, place: str) -> tuple[str, Fact]:
    name, _, text = pair.partition("=")
    try:
        value = fact_of(name, text)
        cl.Target().with_facts({name: value})
    except ValueError as error:
        raise CloptError(f"{place}: {as_sentence(str(error))}") from error
    return name, value


def _read_time(text: str, place: str) -> float | None:
    if text == _UNTIMED:
        return None
    try:
        microseconds = float(text)
    except ValueError:
        microseconds = -1.0
    if not 0 <= microseconds < float("inf"):
        raise CloptError(f"{place}: expected microseconds or {_UNTIMED}, got {printable(text)}.")
    return microseconds


def plan_context() -> Context:
    """Return a context that can parse plans."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(tir.TIR)
    return ctx


def read_plan(ctx: Context, text: str, place: str) -> tir.Plan:
    """Parse a plan. Raise CloptError, naming the place, if the text is not a plan."""
    # Inside a dictionary the parser rejects any text that follows the plan.
    source = Source(place, f"module attributes {{plan = {text}}} {{}}")
    try:
        module = SourceModule.parse(ctx, source).module
    except CloptError as error:
        raise CloptError(f"{place}: not a plan: {printable(text)}.") from error
    match module.attributes:
        case {"plan": tir.PlanAttr() as plan, **others} if not others:
            return plan.data
        case _:
            raise CloptError(f"{place}: not a plan: {printable(text)}.")


def _text(value: Fact) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
