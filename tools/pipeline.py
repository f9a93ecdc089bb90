"""From the text of `-p` to passes; named pipelines are written like passes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ..errors import CloptError
from ..messages.sentences import did_you_mean
from .json_output import VERSION, print_json
from .tables import table, terminal

PassFactories = Mapping[str, Callable[[], type[ModulePass]]]


def parse_passes(text: str, available: PassFactories) -> tuple[ModulePass, ...]:
    """Return the passes that `text` names, in order; a named pipeline stands for its passes."""
    try:
        specs = tuple(parse_pipeline(text))
    except ArgSpecParseError as error:
        reason = str(error).strip().rsplit("\n", 1)[-1].strip(" ^-")
        raise CloptError(f'-p "{text}": this is not a pipeline: {reason}.') from error
    return tuple(p for spec in specs for p in _expand(spec, available))


def _expand(spec: ArgSpec, available: PassFactories) -> Iterable[ModulePass]:
    if spec.name in available:
        try:
            return (available[spec.name]().from_spec(spec),)
        except ValueError as error:
            raise CloptError(f'-p "{spec}": {str(error).rstrip(".")}.') from error
    from ..passes.pipelines import PIPELINES

    if spec.name in PIPELINES:
        if spec.parameters:
            raise CloptError(f'-p "{spec}": the pipeline {spec.name} takes no options.')
        return PIPELINES[spec.name]
    known = [*available, *PIPELINES]
    hint = did_you_mean(spec.name, known, "clopt --list-passes shows them all.")
    raise CloptError(f"-p: there is no pass or pipeline called {spec.name}; {hint}")


def print_passes(passes: PassFactories, is_json: bool) -> None:
    """Print tables of the named pipelines and of `passes`, each with its first sentence."""
    from ..passes.pipelines import PIPELINES

    pipelines = {name: [str(each) for each in members] for name, members in PIPELINES.items()}
    sentences = {
        name: (inspect.getdoc(load()) or "").split("\n\n")[0] for name, load in passes.items()
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
