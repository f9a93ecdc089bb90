"""The tables of passes and pipelines that `clopt --list-passes` prints."""

from __future__ import annotations

import inspect

from ..passes.pipeline_text import PassFactories
from ..universe import NAMED_PIPELINES
from .json_output import VERSION, print_json
from .tables import table, terminal


def print_passes(passes: PassFactories, is_json: bool) -> None:
    """Print tables of the named pipelines and of `passes`, each with its first sentence."""
    from ..passes.pipelines import PIPELINES

    pipelines = {name: [str(each) for each in members] for name, members in PIPELINES.items()}
    # Only drivers without named pipelines need these as passes.
    sentences = {
        name: (inspect.getdoc(load()) or "").split("\n\n")[0]
        for name, load in passes.items()
        if name not in NAMED_PIPELINES
    }
    if is_json:
        return print_json({"version": VERSION, "pipelines": pipelines, "passes": sentences})
    console = terminal()
    rows = table("pipeline", "passes")
    for name, members in pipelines.items():
        rows.add_row(name, ", ".join(members))
    console.print(rows)
    rows = table("pass", "what it does")
    for name, sentence in sentences.items():
        rows.add_row(name, sentence)
    console.print(rows)
