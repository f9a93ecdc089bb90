"""The page of ONNX operators, from the tables of the importer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx.defs

from clopt.frontends.onnx.functions import is_defined
from clopt.frontends.onnx.narrow import DIRECT
from clopt.frontends.onnx.node import Handler, Refusal
from clopt.frontends.onnx.operators import TABLES

NEWEST = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1}
"""The newest opset of each domain on the page, whatever the installed onnx has."""

INTRODUCTION = """\
This page lists the operators that clopt imports, and those of ONNX that it refuses. For a model,
`clopt-run model.onnx --check` lists each node that is refused with the reason, and then ends with
exit code 1.

- **versions**: ONNX numbers the definitions of an operator by the opsets that introduced them; a
  model uses the newest one up to its own opset. These are the versions that import, in all or in
  most of their forms. An error names the attribute or input of any other form. *By definition*
  means that ONNX defines the operator by others, which import.
- **refused**: the versions that do not import, and why. A version that is *too old* predates the
  oldest importer: `onnx.version_converter` makes a newer one of it. What to do about the others
  [depends on the operator](not-supported.md).

Operators marked *stored* move or convert bfloat16, float8, float4 and integers of 2 or 4 bits. The
others compute with these types in f32, or in 8 bits, and round each result once.

Kinds of devices differ in types, not in operators: f64 needs `cl_khr_fp64`.
"""


def operators_page(notice: str) -> str:
    """Return the text of docs/operators.md."""
    parts = ["# The operators\n", f"{notice}\n", INTRODUCTION]
    for domain in TABLES:
        parts += [f"## {domain or 'ai.onnx'}\n"]
        parts += ["| operator | versions | refused | small types |\n|---|---|---|---|"]
        parts += [f"| `{name}` | {' | '.join(cells)} |" for name, cells in _rows(domain)]
        parts += [""]
    return "\n".join(parts)


def _rows(domain: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield the operators of a domain by name: versions, refused ones, and use of small types."""
    schemas = _schemas(domain)
    for name in sorted({*TABLES[domain], *schemas}):
        small = "stored" if name in DIRECT and not domain else ""
        yield name, (*_versions(domain, name, schemas.get(name, [])), small)


def _schemas(domain: str) -> dict[str, list[onnx.defs.OpSchema]]:
    """Return the schemas of each operator of a domain, from the oldest to the newest."""
    found: dict[str, list[onnx.defs.OpSchema]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == domain and schema.since_version <= NEWEST.get(domain, 0):
            found.setdefault(schema.name, []).append(schema)
    for schemas in found.values():
        schemas.sort(key=lambda schema: schema.since_version)
    return found


def _versions(domain: str, name: str, schemas: Sequence[onnx.defs.OpSchema]) -> tuple[str, str]:
    """Return the versions of an operator that import, and those that do not with the reason."""
    rows = TABLES[domain].get(name, {})
    if not schemas:
        return ", ".join(map(str, sorted(rows))), ""
    starts = [schema.since_version for schema in schemas]
    ends = [*starts[1:], NEWEST[domain] + 1]
    imported: list[str] = []
    refused: dict[str, list[str]] = {}
    for schema, start, end in zip(schemas, starts, ends, strict=True):
        oldest, reason = _oldest(rows, schema, end)
        if oldest is not None:
            imported.append(str(start) if oldest == start else f"{start} (from opset {oldest})")
        elif not schema.deprecated:
            refused.setdefault(reason, []).append(str(start))
    is_defined_alone = bool(imported) and not rows
    return (
        ", ".join(imported) + " by definition" * is_defined_alone,
        "; ".join(
            ", ".join(versions) + f": {reason}" * bool(reason)
            for reason, versions in refused.items()
        ),
    )


def _oldest(
    rows: Mapping[int, Handler], schema: onnx.defs.OpSchema, end: int
) -> tuple[int | None, str]:
    """Return the oldest opset before `end` that imports a schema, or None and why none does."""
    refusals = [row.reason for row in rows.values() if isinstance(row, Refusal)]
    if refusals:
        return None, refusals[0].rstrip(".")
    opsets = range(schema.since_version, end)
    for opset in opsets:
        if any(version <= opset for version in rows) or is_defined(schema, opset):
            return opset, ""
    return None, "too old" if rows else ""
