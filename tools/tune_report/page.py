"""The page of a search: one self-contained HTML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from string import Template

from ...files.resources import read_text
from ...messages.printable import printable, visible
from ...tuning.history import History, KernelHistory
from ..drawing import to_svg
from .charts import SERIES, course_chart, describe, kernel_chart

_COLUMNS = {
    "nodes": "",
    "kernel": "",
    "launches": "n",
    "share": "n",
    "untuned, µs": "n",
    "tuned, µs": "n",
    "ratio": "n",
    "trials": "n",
    "faults": "n",
    "best plan": "plan",
}
"""The columns of the table and their classes: `n` for numbers."""


def page(histories: Sequence[History], title: str) -> str:
    """Return the page: for each device the gain, the search's course and a chart per kernel."""
    template = Template(read_text(__name__, "page.html"))
    return template.substitute(
        title=escape(visible(title)),
        sections="\n".join(_section(i, history) for i, history in enumerate(histories)),
    )


def _section(index: int, history: History) -> str:
    template = Template(read_text(__name__, "section.html"))
    rules = sorted({step.record.rule[0] for step in history.steps if step.record.plan})
    colours = {rule: f"var(--c{i % SERIES})" for i, rule in enumerate(rules)}
    return template.substitute(
        device=_text(history.any.device),
        headline=_headline(history),
        summary="\n".join(map(_line, _facts(history).items())),
        course=to_svg(course_chart(history)),
        legend="".join(f'<li style="--of: {c}">{_text(rule)}</li>' for rule, c in colours.items()),
        columns="".join(f"<th{_class(kind)}>{name}</th>" for name, kind in _COLUMNS.items()),
        rows="\n".join(
            _row(f"d{index}k{i}", kernel, history.untuned)
            for i, kernel in enumerate(history.kernels)
        ),
        charts="\n".join(
            _figure(f"d{index}k{i}", kernel, colours)
            for i, kernel in enumerate(history.kernels)
            if _is_drawn(kernel)
        ),
        unsearched=_unsearched(history),
        forms=_choices("Forms", f"d{index}f", history.forms),
        layouts=_choices("Layouts", f"d{index}l", history.layouts),
    )


def _headline(history: History) -> str:
    """Return the gain in one sentence."""
    before, after = history.untuned, history.tuned
    if not before:
        return "No plan has a time."
    gained = (
        f"With the best plans the kernels of an inference take <b>{_time(after)}</b> instead of "
        f"{_time(before)}: <b>{before / after:.2f}</b> times as fast."
    )
    if after == before:
        gained = f"No plan beats the defaults, which take <b>{_time(before)}</b> in an inference."
    return " ".join([gained, *_gains_of_networks(history)])


def _gains_of_networks(history: History) -> Iterator[str]:
    """Yield a sentence for forms and for layouts of which the whole network was measured."""
    for kind, network in history.networks.items():
        before, after = network.untuned, network.tuned
        if before and after and after < before:
            yield (
                f"In the best {kind} the whole network takes <b>{_time(after)}</b> instead of "
                f"{_time(before)}."
            )
        elif before:
            yield f"No other {kind} make the whole network faster."


def _facts(history: History) -> Mapping[str, str]:
    any_, steps = history.any, history.steps
    facts = ", ".join(f"{name}={value}" for name, value in history.facts.items())
    gained = sum((each.untuned or 0) > (each.tuned or 0) for each in history.kernels)
    faults = history.faults.total()
    kinds = f", {faults} of them without a time: {_counts(history.faults)}" if faults else ""
    return {
        "driver": any_.driver,
        "target": f"{any_.target}, {facts}" if facts else any_.target,
        "kernels": f"{len(history.kernels)}, {gained} of them with a faster plan than the default",
        "trials": f"{len(steps)}{kinds}",
        "spent": f"{_duration(history.seconds)} of building, checking and timing, "
        f"from {steps[0].record.when} to {steps[-1].record.when}",
    }


def _counts(faults: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(faults.items()))


def _row(key: str, kernel: KernelHistory, total: float) -> str:
    last, best = kernel.last, kernel.summary.best
    ratio = kernel.untuned / kernel.tuned if kernel.untuned and kernel.tuned else None
    name = _text(last.nodes or last.kernel)
    cells: list[tuple[str, float | None]] = [
        (f'<a href="#{key}">{name}</a>' if _is_drawn(kernel) else name, None),
        (f'<code class="key">{_text(last.kernel)}</code>', None),
        (str(last.launches), last.launches),
        (f"{kernel.cost / total:.1%}" if total else "", kernel.cost),
        (_number(kernel.untuned), kernel.untuned),
        (_number(kernel.tuned), kernel.tuned),
        ("" if ratio is None else f"{ratio:.2f}", ratio),
        (str(len(kernel.steps)), len(kernel.steps)),
        (str(kernel.faults.total()), kernel.faults.total()),
        ("" if best is None else f"<code>{_text(_plan(best.tried))}</code>", None),
    ]
    found: list[str] = []
    for (text, number), kind in zip(cells, _COLUMNS.values(), strict=True):
        order = f' data-n="{-1 if number is None else number:g}"' if kind == "n" else ""
        found.append(f"<td{_class(kind)}{order}>{text}</td>")
    return f"<tr>{''.join(found)}</tr>"


def _is_drawn(kernel: KernelHistory) -> bool:
    """Return whether a chart shows more than one time."""
    return len(kernel.steps) > 1 or kernel.faults.total() > 0


def _unsearched(history: History) -> str:
    """Return a paragraph about the kernels of which only one plan was tried."""
    count = sum(not _is_drawn(kernel) for kernel in history.kernels)
    if not count:
        return ""
    return (
        f"<p>Of {count} of {len(history.kernels)} kernels only one plan was tried, which says "
        "nothing about others. Run the search again, with more time.</p>"
    )


def _figure(key: str, kernel: KernelHistory, colours: Mapping[str, str]) -> str:
    last, best = kernel.last, kernel.summary.best
    return (
        f'<figure id="{key}"><figcaption><b>{_text(last.nodes or last.kernel)}</b> '
        f"<span>{_number(kernel.untuned)} to {_number(kernel.tuned)} µs</span></figcaption>\n"
        f"{to_svg(kernel_chart(kernel, colours))}"
        f"<p><code>{_text(_plan(best.tried)) if best else 'no plan has a time'}</code></p>"
        f"{_faults(kernel)}</figure>"
    )


def _faults(kernel: KernelHistory) -> str:
    """Return the faults of a kernel, to unfold."""
    lines = [
        f"<li><pre>{escape(describe(number, step.record))}</pre></li>"
        for number, step in enumerate(kernel.steps, 1)
        if step.record.fault
    ]
    if not lines:
        return ""
    summary = f"<summary>without a time: {_text(_counts(kernel.faults))}</summary>"
    return f"<details>{summary}<ul>{''.join(lines)}</ul></details>"


def _choices(title: str, prefix: str, kernels: Iterable[KernelHistory]) -> str:
    figures = [_figure(f"{prefix}{i}", kernel, {}) for i, kernel in enumerate(kernels)]
    if not figures:
        return ""
    return f'<h3>{title}</h3>\n<div class="charts">{"".join(figures)}</div>'


def _line(line: tuple[str, str]) -> str:
    name, value = line
    return f"<dt>{name}</dt><dd>{_text(value)}</dd>"


def _plan(text: str) -> str:
    """Return a plan without the prefix that all plans share."""
    return text.removeprefix("#tir.plan<").removesuffix(">")


def _text(text: str) -> str:
    return escape(printable(text, 300))


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _number(time: float | None) -> str:
    return "" if time is None else f"{time:.4g}"


def _time(microseconds: float) -> str:
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.4g} ms"
    return f"{microseconds:.4g} µs"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
