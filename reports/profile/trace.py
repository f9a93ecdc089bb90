"""A profile as a trace in Chrome's JSON format, for Perfetto (ui.perfetto.dev)."""

from __future__ import annotations

import json
from typing import Any

from .values import Profile, ProfileRow, TimeSpan

_PROCESS = 1
_COMMANDS, _NODES, _RUNS = _TRACKS = {1: "commands", 2: "ONNX nodes", 3: "inferences"}


def trace_text(profile: Profile, name: str) -> str:
    """Return the trace of all runs in the order of the device; `name` is its title."""
    begin = min((span.start for row in profile.rows for span in row.spans), default=0)
    events = [_metadata("process_name", name, 0)]
    events += [_metadata("thread_name", track, number) for number, track in _TRACKS.items()]
    for run in range(profile.runs if profile.rows else 0):
        spans = [row.spans[run] for row in profile.rows]
        first = min(span.start for span in spans)
        whole = TimeSpan(first, max(span.end for span in spans) - first)
        events.append(_slice(_RUNS, f"inference {run}", "inference", whole, begin))
        for row, span in zip(profile.rows, spans, strict=True):
            facts = _facts(row, span)
            events.append(_slice(_COMMANDS, row.name, row.kind, span, begin, facts))
            events.append(_slice(_NODES, row.node, "node", span, begin, facts))
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, indent=1) + "\n"


def _metadata(kind: str, name: str, thread: int) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": _PROCESS, "tid": thread, "args": {"name": name}}


def _slice(
    track: int,
    name: str,
    kind: str,
    span: TimeSpan,
    begin: int,
    facts: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        "cat": kind,
        "ph": "X",
        "pid": _PROCESS,
        "tid": track,
        # Microseconds, as the format wants them.
        "ts": 1e-3 * (span.start - begin),
        "dur": 1e-3 * span.nanoseconds,
        "args": facts or {},
    }


def _facts(row: ProfileRow, span: TimeSpan) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kernel": row.name,
        "node": row.node,
        "nodes": row.fused,
        "multiply-adds": row.work.multiply_adds,
        "bytes": row.work.bytes,
    }
    if row.least is not None and span.nanoseconds:
        facts["share of the roofline"] = round(row.least / span.nanoseconds, 4)
    return facts
