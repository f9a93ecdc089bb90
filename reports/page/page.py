"""The frame of a report: heading, key figures and sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...files.resources import read_text
from ...messages.printable import visible
from ..html import Content, Html, document, element
from ..memory.page import memory_section
from ..memory.summary import size_text
from .decisions import decisions_section
from .flow import COPY, INPUT, KERNEL, OUTPUT
from .kernels import kernels_section
from .network import network_section
from .reported_model import ReportedModel
from .timeline import timeline_section
from .times import milliseconds


def page(model: ReportedModel) -> str:
    """Return the page: one self-contained file, the same for the same model."""
    title = visible(model.title)
    sections: list[tuple[str, str, Content]] = [
        ("network", "Network", network_section(model)),
        *_timed(model),
        ("decisions", "Decisions", decisions_section(model)),
        ("memory", "Memory", memory_section(model.memory, title)),
        ("kernels", "Kernels", kernels_section(model)),
    ]
    return document(
        title,
        element("header", element("h1", title), _subtitle(model), _tiles(model)),
        element("nav", [element("a", name, href=f"#{key}") for key, name, _ in sections]),
        [element("section", element("h2", name), body, id=key) for key, name, body in sections],
        styles=[read_text(__name__, "report.css")],
        scripts=[read_text(__name__, "source.js")],
    )


def _timed(model: ReportedModel) -> Iterator[tuple[str, str, Content]]:
    if model.profile is not None:
        yield "time", "Time", timeline_section(model, model.profile)


def _subtitle(model: ReportedModel) -> Html:
    description = model.description
    where = f"compiled for {description.target} by clopt {description.clopt}"
    ran = f", measured on {visible(model.device)}" if model.profile is not None else ""
    return element("p", where, ran, class_="quiet")


def _tiles(model: ReportedModel) -> Html:
    """Return the key figures at the top of the page."""
    memory, steps = model.memory, Counter(step.kind for step in model.steps)
    ports = steps[INPUT] + steps[OUTPUT]
    commands = steps.total() - ports
    tiles: list[Html] = []
    if model.profile is not None:
        runs = f"median of {model.profile.runs} runs"
        tiles.append(_tile(milliseconds(model.profile.nanoseconds), "an inference", runs))
    kernels = len(model.description.kernels)
    kinds = [
        *([f"{steps[KERNEL]} launches of {kernels} kernels"] if kernels else []),
        *(f"{steps[name]} by {name}" for name in model.accelerators),
        *([f"{steps[COPY]} copies"] if steps[COPY] else []),
    ]
    tiles.append(_tile(str(commands), "commands", ", ".join(kinds)))
    if model.decisions is not None:
        nodes = len(model.decisions.nodes)
        tiles.append(_tile(str(nodes), "nodes", "of the network as imported"))
    ratio = f"{memory.ratio:.3f} x the lower bound"
    tiles.append(_tile(size_text(memory.arena_bytes), "intermediates", ratio))
    tiles.append(_tile(size_text(memory.weights), "weights", "as the kernels read them"))
    total = "weights, intermediates, inputs, outputs"
    tiles.append(_tile(size_text(memory.total), "on the device", total))
    return element("div", tiles, class_="tiles")


def _tile(figure: str, name: str, comment: str) -> Html:
    parts = [element("b", figure), element("span", name), element("small", comment)]
    return element("div", parts, class_="tile")
