"""What each kind of decision is worth: networks with all sites of a kind decided the other way.

    python benchmarks/decisions.py MODEL... [--device pocl] [--output results/decisions-pocl]

A network is compiled as usual, then once for each kind of site, with the other choice demanded at
all sites of that kind. All forms take turns.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from provenance import measured
from xdsl.dialects.builtin import StringAttr

import clopt
from clopt.compiled_model import CompiledModel
from clopt.decisions.choice_file import choices_text
from clopt.decisions.choices import choice_of, choice_text, choices_of, site_of
from clopt.dialects import cl, nn
from clopt.tuning.confirm import take_turns

OTHERS: Mapping[str, Mapping[str, str]] = {
    "form": {"winograd 2": "direct", "winograd 4": "direct", "matmul": "direct", "flat": "stacked"},
    "layout": {"layout": "plain"},
    "attention": {"joined": "apart"},
    "border": {"memory": "loops", "loops": "memory"},
    "place": {"part": "kernel"},
    "group": {"merged": "apart"},
    "fusion": {"joined": "apart"},
    "launch": {"shared": "own"},
}
"""The choice to demand in place of each choice, by kind of site."""

HEAD = """# What decisions are worth

{origin}.
Each row has the time of an inference, by the device's clock, with all sites of a kind decided the
other way, over the time with clopt's own choices: medians of rounds in which all forms of a network
take turns. `sites` were changed; the others of the kind already had that choice. Above 1, the
decision gains; `noise` is half of the 95 % interval of the median. A kind without a row has no site
to change.

{means}

| network | kind | from | to | sites | ms | other, ms | ratio | noise |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Form:
    """A network with some choices demanded."""

    kind: str
    before: str
    """The choices that clopt makes."""
    after: str
    """Those demanded in their place."""
    sites: int
    model: CompiledModel


@dataclass(frozen=True)
class Change:
    """A choice, and the one to demand in its place."""

    before: str
    after: str
    demand: cl.ChoiceAttr


def compiled(path: Path, device: str, demands: Iterable[cl.ChoiceAttr] = ()) -> CompiledModel:
    """Compile a network with some choices demanded."""
    with tempfile.NamedTemporaryFile("w", suffix=".choices") as file:
        file.write(choices_text(demands))
        file.flush()
        return clopt.compile(path, device=device, choices=file.name, use_cache=False, tuning="off")


def changed(choice: cl.ChoiceAttr, others: Mapping[str, str]) -> Change | None:
    """Return the change of a choice; None to leave it."""
    made = choice.choice
    before = "layout" if isinstance(made, nn.LayoutAttr) else choice_text(made)
    after = others.get(before)
    if after is None:
        return None
    return Change(before, after, choice_of(site_of(choice), StringAttr(after)))


def forms(path: Path, device: str) -> Iterator[Form]:
    """Yield the network as usual, then with each kind of decision taken the other way."""
    usual = compiled(path, device)
    yield Form("", "", "", 0, usual)
    noted = choices_of(usual.module) or []
    for kind, others in OTHERS.items():
        found = [changed(each, others) for each in noted if each.kind.data == kind]
        changes = [change for change in found if change is not None]
        if not changes:
            continue
        pairs = sorted({(change.before, change.after) for change in changes})
        before, after = (", ".join(dict.fromkeys(words)) for words in zip(*pairs, strict=True))
        try:
            model = compiled(path, device, [change.demand for change in changes])
        except clopt.CloptError as error:
            print(f"{path.stem}: {kind}: {error}")
            continue
        yield Form(kind, before, after, len(changes), model)


@dataclass(frozen=True)
class Row:
    """The cost of one kind of decision taken the other way, in one network."""

    kind: str
    ratio: float
    text: str


def rows_of(path: Path, device: str) -> Iterator[Row]:
    """Yield the rows of a network."""
    usual, *others = forms(path, device)
    base, *runs = take_turns([usual.model, *(form.model for form in others)])
    for form, run in zip(others, runs, strict=True):
        ratio = run.relative_to(base)
        cells = [path.stem, form.kind, form.before, form.after, str(form.sites)]
        cells += [f"{each.whole.median / 1e3:.3f}" for each in (base, run)]
        cells += [f"{ratio.median:.3f}", f"{ratio.noise:.1%}"]
        yield Row(form.kind, ratio.median, f"| {' | '.join(cells)} |")


def means(rows: list[Row]) -> str:
    """Return a table of the geometric mean of each kind."""
    kinds: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row.ratio)
    lines = ["| kind | networks | geometric mean | least | greatest |", "|---|---|---|---|---|"]
    lines += [
        f"| {kind} | {len(each)} | {geometric_mean(each):.3f} | {min(each):.3f} | {max(each):.3f} |"
        for kind, each in sorted(kinds.items())
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure the networks of the command line and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    rows: list[Row] = []
    for path in args.models:
        for row in rows_of(path, args.device):
            print(row.text, flush=True)
            rows.append(row)
    if args.output is not None:
        text = HEAD.format(origin=measured(), means=means(rows))
        args.output.with_suffix(".md").write_text(text + "".join(f"{row.text}\n" for row in rows))


if __name__ == "__main__":
    main()
