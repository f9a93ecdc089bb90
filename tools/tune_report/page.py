"""The page of a search: one self-contained HTML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ...files.resources import read_text
from ...messages.printable import printable, visible
from ...reports.drawing import to_svg
from ...reports.html import Column, Content, Html, NumberCell, document, element, raw, table
from ...tuning.history import History, KernelHistory
from .charts import SERIES, course_chart, describe, kernel_chart

_COLUMNS = (
    *(Column("nodes", kind="name"), Column("kernel", kind="fixed")),
    *(Column(title, is_number=True) for title in ("launches", "share")),
    *(Column(title, is_number=True) for title in ("untuned, µs", "tuned, µs", "ratio")),
    *(Column(title, is_number=True) for title in ("trials", "faults")),
    Column("best plan", kind="plan"),
)


def page(histories: Sequence[History], title: str) -> str:
    """Return the page: for each device the gain, the search's course and a chart per kernel."""
    sections = [_section(i, history) for i, history in enumerate(histories)]
    title = visible(title)
    style = read_text(__name__, "page.css")
    heading = element("h1", f"{title}: the search for plans")
    return document(f"{title}: tuning", heading, sections, styles=[style])


def _section(index: int, history: History) -> Html:
    rules = sorted({step.record.rule for step in history.steps if step.record.rule})
    colours = {rule: f"var(--c{i % SERIES})" for i, rule in enumerate(rules)}
    kernels = [(f"d{index}k{i}", kernel) for i, kernel in enumerate(history.kernels)]
    charts = [_figure(key, kernel, colours) for key, kernel in kernels if _is_drawn(kernel)]
    return element(
        "section",
        element("h2", _text(history.any.device)),
        element("p", _headline(history), class_="headline"),
        element("dl", map(_line, _facts(history).items())),
        element("h3", "An inference, with the best plans so far"),
        raw(to_svg(course_chart(history))),
        element("h3", "Kernels"),
        table(_COLUMNS, [_row(key, kernel, history.untuned) for key, kernel in kernels]),
        element("h3", "Trials"),
        _legend(colours),
        element("div", charts, class_="charts"),
        _unsearched(history),
        _choices(f"d{index}c", history.choices),
    )


def _legend(colours: Mapping[str, str]) -> Html:
    rules = [element("li", _text(rule), style=f"--of: {c}") for rule, c in colours.items()]
    marks = {"best": "best so far", "default": "default", "fault": "no time"}
    lines = [element("li", text, class_=kind) for kind, text in marks.items()]
    return element("ul", rules, lines, class_="legend")


def _headline(history: History) -> list[Content]:
    """Return the gain in one sentence."""
    before, after = history.untuned, history.tuned
    if not before:
        return ["No plan has a time."]
    gained: list[Content] = [
        "With the best plans the kernels of an inference take ",
        *(_bold(_time(after)), f" instead of {_time(before)}: "),
        *(_bold(f"{before / after:.2f}"), " times as fast."),
    ]
    if after == before:
        time = _bold(_time(before))
        gained = ["No plan beats the defaults, which take ", time, " in an inference."]
    if history.choices:
        tried = f" Of {len(history.choices)} other decisions that were tried in the network, "
        gained += [tried, _bold(str(history.kept)), " changed."]
    return gained


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


def _row(key: str, kernel: KernelHistory, total: float) -> list[Content | NumberCell]:
    last, best = kernel.last, kernel.summary.best
    ratio = kernel.untuned / kernel.tuned if kernel.untuned and kernel.tuned else None
    name = _text(last.nodes or last.site)
    return [
        element("a", name, href=f"#{key}") if _is_drawn(kernel) else name,
        element("code", _text(last.site)),
        NumberCell.of(last.launches),
        NumberCell(kernel.cost, f"{kernel.cost / total:.1%}" if total else ""),
        NumberCell(kernel.untuned, _number(kernel.untuned)),
        NumberCell(kernel.tuned, _number(kernel.tuned)),
        NumberCell(ratio, "" if ratio is None else f"{ratio:.2f}"),
        NumberCell.of(len(kernel.steps)),
        NumberCell.of(kernel.faults.total()),
        None if best is None else element("code", _text(_plan(best.choice))),
    ]


def _is_drawn(kernel: KernelHistory) -> bool:
    """Return whether a chart shows more than one time."""
    return len(kernel.steps) > 1 or kernel.faults.total() > 0


def _unsearched(history: History) -> Html | None:
    """Return a paragraph about the kernels with only one tried plan."""
    count = sum(not _is_drawn(kernel) for kernel in history.kernels)
    if not count:
        return None
    return element(
        "p",
        f"Of {count} of {len(history.kernels)} kernels only one plan was tried, which says "
        "nothing about others. Run the search again, with more time.",
    )


def _figure(key: str, kernel: KernelHistory, colours: Mapping[str, str]) -> Html:
    last, best = kernel.last, kernel.summary.best
    times = f"{_number(kernel.untuned)} to {_number(kernel.tuned)} µs"
    name = element("b", _text(last.nodes or last.site))
    plan = _text(_plan(best.choice)) if best else "no plan has a time"
    return element(
        "figure",
        element("figcaption", name, " ", element("span", times)),
        raw(to_svg(kernel_chart(kernel, colours))),
        element("p", element("code", plan)),
        _faults(kernel),
        id=key,
    )


def _faults(kernel: KernelHistory) -> Html | None:
    """Return the faults of a kernel, folded."""
    lines = [
        element("li", element("pre", describe(number, step.record)))
        for number, step in enumerate(kernel.steps, 1)
        if step.record.fault
    ]
    if not lines:
        return None
    summary = element("summary", f"without a time: {_text(_counts(kernel.faults))}")
    return element("details", summary, element("ul", lines))


def _choices(prefix: str, sites: Iterable[KernelHistory]) -> Content:
    figures = [_figure(f"{prefix}{i}", site, {}) for i, site in enumerate(sites)]
    heading = element("h3", "Other decisions")
    return [heading, element("div", figures, class_="charts")] if figures else None


def _line(line: tuple[str, str]) -> Html:
    name, value = line
    return raw(element("dt", name) + element("dd", _text(value)))


def _plan(text: str) -> str:
    """Return a plan without the prefix that all plans share."""
    return text.removeprefix("#tir.plan<").removesuffix(">")


def _text(text: str) -> str:
    return printable(text, 300)


def _bold(text: str) -> Html:
    return element("b", text)


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
