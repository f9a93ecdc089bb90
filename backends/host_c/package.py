"""The files of a C package."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects import cl
from ...dialects.nn.types import numpy_dtype
from ...errors import CloptError
from ...folders import replace_folder
from ...weights import Weights
from .c_text import comment
from .model_source import (
    print_info,
    print_program,
    print_sources,
    print_tables,
    program_sources,
)
from .names import Names, check_model_name, identifier
from .tables import Root, RootKind, Tables, make_tables
from .weights_file import DIGEST_BYTES, gather

if TYPE_CHECKING:
    from ..clml.offload import Offload

DESCRIPTION = "package.json"
"""What a package says of itself, the names of its files included."""

_HERE = Path(__file__).parent
_RUNTIME = "clopt_runtime"


def package_files(module: ModuleOp, source: str, weights: Weights, name: str) -> dict[str, bytes]:
    """The files of a C package for a compiled module: what is in them, by path.

    `module` has one planned `cl.program`, `source` is the OpenCL C of its kernels, `name` begins
    the names of the package's functions. Raises CloptError for a name that C does not allow, and
    for a module that is not compiled.
    """
    check_model_name(name)
    tables = make_tables(module, weights)
    offload = _offload_of(tables.program, weights)
    keys = [root.key for root in tables.roots if root.kind is RootKind.Constant]
    constants = gather(weights, keys + (offload.keys if offload else []))
    sources = program_sources(tables, source)
    body = print_tables(tables, source, constants.offsets)
    operations = offload.tables(constants.offsets, name) if offload else ""
    digest = _digest(name, body + operations, source, constants.payload)
    target = cl.target_of(module).name
    values = {
        "name": name,
        "NAME": name.upper(),
        "version": version("clopt"),
        "target": target,
        "tables": body.rstrip("\n"),
        "info": print_info(tables, name, target, constants.file_bytes),
        "program": print_program(
            tables, sources, source, digest, name, _program_fields(offload, name)
        ),
        "kernels": print_sources(sources, name).rstrip("\n"),
        "indices": _indices(tables, name),
        "tensors": _tensor_rows(tables, name),
        "arenas": _arena_text(tables.arenas),
        "weights": f"{constants.file_bytes:,}",
        **_offload_values(offload, name),
    }
    texts = _texts(name, values, source)
    if offload:
        texts |= {f"{name}_clml.c": operations, **offload.files()}
    contents = {path: text.encode() for path, text in texts.items()}
    contents["weights.bin"] = constants.file(digest)
    description = _describe(tables, name, target, [*contents, DESCRIPTION])
    if offload:
        description["clml"] = offload.describe()
    contents[DESCRIPTION] = (json.dumps(description, indent=2) + "\n").encode()
    return contents


def _texts(name: str, values: Mapping[str, str], source: str) -> dict[str, str]:
    """The files that every package has, by path."""
    return {
        f"{name}.h": _fill("model.h.in", values),
        f"{name}.c": _fill("model.c.in", values),
        f"{name}_kernels.c": _fill("kernels.c.in", values),
        "kernels.cl": source,
        "main.c": _fill("main.c.in", values),
        "CMakeLists.txt": _fill("CMakeLists.txt.in", values),
        "README.md": _fill("README.md.in", values),
        **{f"{_RUNTIME}/{file}": text for file, text in _runtime_texts().items()},
    }


def write_package(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write a package to `folder`, complete or not at all.

    A folder that exists is replaced if nothing but a package is in it; otherwise CloptError.
    """
    _check_replaceable(folder)

    def write(place: Path) -> None:
        for path, content in contents.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)

    replace_folder(folder, write)


def _check_replaceable(folder: Path) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    written = _written_files(folder / DESCRIPTION)
    if written is None:
        raise CloptError(f"{folder} exists and is no C package of clopt; name another folder.")
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if strange := sorted(found - written):
        raise CloptError(
            f"{folder} has {strange[0]}, which clopt did not write; move it, or name another "
            "folder."
        )


def _written_files(description: Path) -> set[str] | None:
    """The files of the package that has this description; None where it is none."""
    try:
        parsed: object = json.loads(description.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    listed = cast("dict[str, object]", parsed).get("files") if isinstance(parsed, dict) else None
    return set(map(str, cast("list[object]", listed))) if isinstance(listed, list) else None


def _digest(name: str, tables: str, source: str, payload: bytes) -> bytes:
    """What ties a model's sources to its weights."""
    digest = hashlib.sha256()
    for part in (name.encode(), tables.encode(), source.encode(), payload):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()[:DIGEST_BYTES]


def _offload_of(program: cl.ProgramOp, weights: Weights) -> Offload | None:
    """What CLML computes of a program."""
    if not cl.uses_ml_ops(program):
        return None
    from ..clml.offload import Offload

    return Offload(program, weights)


def _program_fields(offload: Offload | None, name: str) -> dict[str, str]:
    if offload is None:
        return {}
    return {"offload": f"&{offload.symbol}", "offload_tables": f"&{name}_clml"}


def _offload_values(offload: Offload | None, name: str) -> dict[str, str]:
    """What the templates say of a vendor's library; without one, nothing of it."""
    values = {
        "offload_cmake": "",
        "offload_declarations": "",
        "offload_need": "",
        "offload_readme": "",
        "sources": f"{name}.c {name}_kernels.c",
        "library": _RUNTIME,
        "compile": f"-I{_RUNTIME} *.c {_RUNTIME}/*.c -lOpenCL",
    }
    if offload is None:
        return values
    facts = {"name": name} | {key: str(value) for key, value in offload.describe().items()}
    return values | {
        "offload_cmake": _fill_text(offload.template("CMakeLists.txt"), facts),
        "offload_declarations": (
            f"\n/* The operations of CLML are in {name}_clml.c. */\n"
            f"extern const struct clopt_clml_tables {name}_clml;\n"
            f"extern const clopt_offload {offload.symbol};\n"
        ),
        "offload_need": ", a device with CLML",
        "offload_readme": _fill_text(offload.template("README.md"), facts),
        "sources": f"{values['sources']} {name}_clml.c",
        "library": offload.symbol,
        "compile": (
            f"-I{_RUNTIME} -I{offload.symbol} -Iclml *.c {_RUNTIME}/*.c {offload.symbol}/*.c "
            "-lOpenCL -ldl"
        ),
    }


def _runtime_texts() -> dict[str, str]:
    sources = sorted((_HERE / "runtime").glob("*.[ch]"))
    return {file.name: file.read_text(encoding="utf-8") for file in sources}


def _fill(template: str, values: Mapping[str, str]) -> str:
    """A template with the values of its `@names@`."""
    return _fill_text((_HERE / "templates" / template).read_text(encoding="utf-8"), values)


def _fill_text(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], text)


def _indices(tables: Tables, name: str) -> str:
    """Enumerators for the inputs and outputs."""
    prefix = name.upper()
    names = Names(f"{prefix}_INPUT_COUNT", f"{prefix}_OUTPUT_COUNT", f"{prefix}_TENSOR_COUNT")
    rows: list[str] = []
    for i, port in enumerate(tables.program.ports):
        kind = "input" if i < tables.program.input_count else "output"
        shape = "x".join(map(str, port.shape)) or "a scalar"
        what = comment(f"{kind} {port.name}: {numpy_dtype(port.element_type).name} {shape}")
        rows.append(f"    {names.add(f'{prefix}_{identifier(port.name).upper()}')} = {i}, {what}")
    inputs, count = tables.program.input_count, len(tables.program.ports)
    rows.append(f"    {prefix}_INPUT_COUNT = {inputs},")
    rows.append(f"    {prefix}_OUTPUT_COUNT = {count - inputs},")
    rows.append(f"    {prefix}_TENSOR_COUNT = {count}")
    return "\n".join(rows)


def _tensor_rows(tables: Tables, name: str) -> str:
    """The inputs and outputs as rows of a table in Markdown."""
    rows: list[str] = []
    for i, port in enumerate(tables.program.ports):
        kind = "input" if i < tables.program.input_count else "output"
        shape = "x".join(map(str, port.shape)) or "scalar"
        rows.append(
            f"| {i} | {kind} | `{port.name}` | {numpy_dtype(port.element_type).name} | {shape} | "
            f"{tables.roots[i].bytes:,} |"
        )
    return "\n".join(rows)


def _arena_text(arenas: Sequence[Root]) -> str:
    if not arenas:
        return "It has no intermediate results in buffers, so it takes no arena."
    sizes = " and ".join(f"{arena.bytes:,}" for arena in arenas)
    noun = "one arena" if len(arenas) == 1 else f"{len(arenas)} arenas"
    return f"All intermediate results lie in {noun} of {sizes} bytes."


def _describe(tables: Tables, name: str, target: str, paths: Sequence[str]) -> dict[str, Any]:
    ports = [
        {"name": p.name, "shape": list(p.shape), "type": str(p.element_type)}
        for p in tables.program.ports
    ]
    inputs = tables.program.input_count
    return {
        "clopt": version("clopt"),
        "name": name,
        "target": target,
        "inputs": ports[:inputs],
        "outputs": ports[inputs:],
        "arenas": [arena.bytes for arena in tables.arenas],
        "files": sorted(paths),
    }
