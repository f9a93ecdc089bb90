"""Parsing of pipelines; named pipelines are written like passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ..errors import CloptError
from ..messages.sentences import did_you_mean

PassFactories: TypeAlias = Mapping[str, Callable[[], type[ModulePass]]]
"""The passes that can be named; each is imported on first use."""


def parse_passes(text: str, available: PassFactories, argument: str) -> tuple[ModulePass, ...]:
    """Return the passes that `text` names, in order, with named pipelines expanded.

    `argument` is the option that holds the text, for messages. Raise CloptError if `text` is not a
    pipeline or names an unknown pass.
    """
    try:
        specs = tuple(parse_pipeline(text))
    except ArgSpecParseError as error:
        reason = str(error).strip().rsplit("\n", 1)[-1].strip(" ^-")
        raise CloptError(f'{argument} "{text}": this is not a pipeline: {reason}.') from error
    return tuple(pass_ for spec in specs for pass_ in _expand(spec, available, argument))


def _expand(spec: ArgSpec, available: PassFactories, argument: str) -> Iterable[ModulePass]:
    # Imported here: it imports every pass, which takes longer than listing their names.
    """Return the passes that one element of a pipeline stands for."""
    from .pipelines import PIPELINES

    if spec.name in PIPELINES:
        if spec.parameters:
            raise CloptError(f'{argument} "{spec}": the pipeline {spec.name} takes no options.')
        return PIPELINES[spec.name]
    if spec.name in available:
        try:
            return (available[spec.name]().from_spec(spec),)
        except ValueError as error:
            raise CloptError(f'{argument} "{spec}": {str(error).rstrip(".")}.') from error
    names = [*available, *PIPELINES]
    hint = did_you_mean(spec.name, names, "clopt --list-passes shows them all.")
    raise CloptError(f"{argument}: there is no pass or pipeline called {spec.name}; {hint}")
