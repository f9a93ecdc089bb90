"""A file of choices: one line per decision, made to be read, compared and edited by hand.

    clopt-choices 1
    # conv_3
    form 5d0c9f0b51a5a3a2 winograd 4
    # @conv_1: conv, relu
    plan 45e56ecf52fec923 #tir.plan<"register-tile", 4, {...}>

A line consists of the kind of the decision, the site's digest and the choice. `#` at the start of a
line begins a comment. The last of several lines for a site counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, StringAttr
from xdsl.ir import Attribute

from ..dialects import cl, nn, tir
from ..dialects.properties import text
from ..errors import CloptError
from ..messages.printable import printable
from ..messages.sentences import reason_of
from ..messages.source import Source, SourceModule
from .choices import choice_of, choice_text, site_of
from .sites import Site

HEADER = "clopt-choices 1"
"""The first line. The number changes whenever digests of sites are computed from something else."""


def read_choices(path: Path) -> list[cl.ChoiceAttr]:
    """Read a file of choices. Raise CloptError with the line of the first mistake."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CloptError(f"Cannot read {path}: {reason_of(error)}.") from error
    header, *lines = content.split("\n")
    if header.strip() != HEADER:
        raise CloptError(f'{path}:1: the first line of a file of choices must be "{HEADER}".')
    found: dict[Site, cl.ChoiceAttr] = {}
    for number, line in enumerate(lines, 2):
        if line.strip() and not line.lstrip().startswith("#"):
            choice = _read_line(line, f"{path}:{number}")
            found[site_of(choice)] = choice
    return list(found.values())


def choices_text(choices: Iterable[cl.ChoiceAttr]) -> str:
    """Return the text of a file with these choices."""
    return f"{HEADER}\n{''.join(map(_lines, choices))}"


def read_choice(choice: str, place: str) -> Attribute:
    """Parse a choice: a word, or an attribute, which starts with `#`.

    Raises CloptError, naming the place, for an attribute that does not parse.
    """
    return read_attribute(choice, place) if choice.startswith("#") else StringAttr(choice)


def read_plan(plan: str, place: str) -> tir.Plan:
    """Parse a plan. Raise CloptError, naming the place, for any other text."""
    found = read_attribute(plan, place)
    if not isinstance(found, tir.PlanAttr):
        raise CloptError(f"{place}: not a plan: {printable(plan)}.")
    return found.data


def read_attribute(attribute: str, place: str) -> Attribute:
    """Parse a plan or a layout. Raise CloptError, naming the place, for any other text."""
    # Inside a dictionary the parser rejects any text that follows the attribute.
    source = Source(place, f"module attributes {{choice = {attribute}}} {{}}")
    refusal = CloptError(f"{place}: neither a plan nor a layout: {printable(attribute)}.")
    try:
        found = SourceModule.parse(_context(), source).module.attributes
    except CloptError as error:
        raise refusal from error
    if [*found] != ["choice"]:
        raise refusal
    return found["choice"]


@cache
def _context() -> Context:
    ctx = Context()
    for dialect in (Builtin, nn.NN, tir.TIR):
        ctx.load_dialect(dialect)
    return ctx


def _read_line(line: str, place: str) -> cl.ChoiceAttr:
    words = line.split(maxsplit=2)
    if len(words) < 3:
        raise CloptError(f"{place}: a line needs a kind of decision, a digest and a choice.")
    kind, digest, choice = words
    try:
        site = Site.parse(kind, digest)
    except ValueError as error:
        raise CloptError(f"{place}: {error}.") from error
    return choice_of(site, read_choice(choice.strip(), place))


def _lines(choice: cl.ChoiceAttr) -> str:
    nodes = text(choice.nodes)
    comment = f"# {printable(nodes)}\n" if nodes else ""
    return f"{comment}{choice.kind.data} {choice.digest.data} {choice_text(choice.choice)}\n"
