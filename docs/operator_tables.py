"""The page of ONNX operators, from the tables of the importer."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from clopt.frontends.onnx.functions import is_defined
from clopt.frontends.onnx.narrow import DIRECT
from clopt.frontends.onnx.node import Refusal
from clopt.frontends.onnx.operators import TABLES

NEWEST = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1}
"""The newest opset of each domain on the page, whatever the installed onnx has."""

INTRODUCTION = """\
This page lists the operators that clopt imports, and those of ONNX that it refuses. For a model,
`clopt-run model.onnx --check` lists each node that is refused with the reason, and then ends with
exit code 1.

- **from n**: the operator imports as opset n and every later opset define it, in all or in most of
  its forms. An error names the attribute or input of any other form.
- **by definition**: ONNX defines the operator by others, which import.
- **refused**: the operator does not import. [What to do](not-supported.md) depends on the operator.

Operators marked *stored* move or convert bfloat16, float8, float4 and integers of 2 or 4 bits. The
others compute with these types in f32, or in 8 bits, and round each result once.

Kinds of devices differ in types, not in operators: f64 needs `cl_khr_fp64`.
"""


def operators_page(notice: str) -> str:
    """Return the text of docs/operators.md."""
    parts = ["# The operators\n", f"{notice}\n", INTRODUCTION]
    for domain in TABLES:
        parts += [f"## {domain or 'ai.onnx'}\n"]
        parts += ["| operator | status | small types |\n|---|---|---|"]
        parts += [f"| `{name}` | {status} | {small} |" for name, status, small in _rows(domain)]
        parts += [""]
    return "\n".join(parts)


def _rows(domain: str) -> Iterator[tuple[str, str, str]]:
    """Yield the operators of a domain by name: the status, and the use of small types."""
    newest = _newest(domain)
    for name in sorted({*TABLES[domain], *newest}):
        small = "stored" if name in DIRECT and not domain else ""
        yield name, _status(domain, name, newest.get(name)), small


def _newest(domain: str) -> dict[str, onnx.defs.OpSchema]:
    """Return the newest schema of each operator of a domain."""
    found: dict[str, onnx.defs.OpSchema] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain != domain or schema.since_version > NEWEST.get(domain, 0):
            continue
        known = found.get(schema.name)
        if known is None or known.since_version < schema.since_version:
            found[schema.name] = schema
    return found


def _status(domain: str, name: str, schema: onnx.defs.OpSchema | None) -> str:
    """Return the oldest opset in which an operator is supported, or that it is refused."""
    rows = TABLES[domain].get(name, {})
    if refusals := [row.reason for row in rows.values() if isinstance(row, Refusal)]:
        return f"refused: {refusals[0].rstrip('.')}"
    if rows:
        return f"from {min(rows)}"
    if schema is not None and is_defined(schema, NEWEST[domain]):
        return "by definition"
    return "refused"
