"""What each kind of decision is worth: networks with all sites of a kind decided the other way.

    python benchmarks/decisions.py MODEL... [--device pocl] [--output results/decisions-pocl]

A network is compiled as usual, then once for each kind of site, with the other choice demanded at
all sites of that kind. All forms take turns.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from provenance import measured

import clopt
from clopt.compiled_model import CompiledModel
from clopt.decisions.choice_file import choices_text
from clopt.decisions.choices import choices_of
from clopt.dialects import cl
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
    choices: str
    """What was changed, for people."""
    sites: int
    model: CompiledModel


def compiled(path: Path, device: str, choices: str) -> CompiledModel:
    """Compile a network with the choices of a file's text."""
    with tempfile.NamedTemporaryFile("w", suffix=".choices") as file:
        file.write(choices)
        file.flush()
        return clopt.compile(path, device=device, choices=file.name, use_cache=False, tuning="off")


def changed(choice: cl.ChoiceAttr, others: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return a choice, the one to demand in its place, and its line; None to leave it."""
    text = choices_text([choice])
    line = text.splitlines()[-1]
    kind, site, before = line.split(" ", 2)
    before = "layout" if before.startswith("#nn.layout") else before
    after = others.get(before)
    return None if after is None else (before, after, f"{kind} {site} {after}")


def forms(path: Path, device: str) -> Iterator[Form]:
    """Yield the network as usual, then with each kind of decision taken the other way."""
    header = choices_text([])
    usual = compiled(path, device, header)
    yield Form("", "", 0, usual)
    noted = choices_of(usual.module) or []
    for kind, others in OTHERS.items():
        found = [changed(each, others) for each in noted if each.kind.data == kind]
        rows = [row for row in found if row is not None]
        if not rows:
            continue
        words = ", ".join(sorted({f"{before} | {after}" for before, after, _ in rows}))
        try:
            model = compiled(path, device, header + "".join(f"{row[2]}\n" for row in rows))
        except clopt.CloptError as error:
            print(f"{path.stem}: {kind}: {error}")
            continue
        yield Form(kind, words, len(rows), model)


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
        before, after = (
            ", ".join(dict.fromkeys(each.split(" | ")[i] for each in form.choices.split(", ")))
            for i in (0, 1)
        )
        cells = [path.stem, form.kind, before, after, str(form.sites)]
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
