"""The text of the files of a C package: templates, filled with the tables of its plans."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ...dialects.cl.program import Port
from ...dialects.nn.types import numpy_dtype
from ...dialects.tir import image_of
from ...files.folders import FILES, digest
from ...files.resources import read_sources, read_text
from ...messages.printable import printable
from ...version import VERSION
from ...weights import Weights
from ..offload import CommandLibrary
from .c_text import comment, comment_text
from .model_source import (
    print_info,
    print_program,
    print_sources,
    print_tables,
    program_sources,
)
from .names import SIGNIFICANT, Names, identifier
from .plans import PackagePlan
from .tables import Tables
from .weights_file import DIGEST_BYTES, gather

DESCRIPTION = "package.json"
"""The manifest of a package: its interface, and its other files with their digests."""

_RUNTIME = "clopt_runtime"
_ONLY = "only"


class Package:
    """The files of a package that has one plan."""

    def __init__(
        self, plans: Sequence[PackagePlan], weights: Weights, name: str, target: str
    ) -> None:
        self.plans = plans
        self.plan = plans[-1]
        """The plan in the file `<name>.c`."""
        self.offload = plans[0].offload
        self.name = name
        self.target = target
        self.suffix = self.offload.library.lower() if self.offload else ""
        self.constants = gather(weights, (key for plan in plans for key in plan.keys))
        offsets = self.constants.offsets
        self.programs = {
            file: weights.get(key).tobytes()
            for plan in plans
            for key, file in plan.tables.programs.items()
        }
        """Program binaries by file name."""
        self.bodies = [
            print_tables(plan.tables, plan.source, offsets) + plan.size_tables for plan in plans
        ]
        optional = len(plans) > 1
        self.operations = self.offload.tables(offsets, name, optional) if self.offload else ""
        self.digest = _digest(
            name,
            "".join([*self.bodies, self.operations]),
            "".join(plan.source for plan in plans),
            self.constants.payload,
        )
        self.arenas = [max(sizes) for sizes in zip_longest(*(p.arenas for p in plans), fillvalue=0)]
        """Bytes of arenas that suffice for every plan."""

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files by path."""
        contents = {path: text.encode() for path, text in self.texts().items()}
        contents["weights.bin"] = self.constants.file(self.digest)
        contents |= self.programs
        description = self.describe(contents)
        contents[DESCRIPTION] = (json.dumps(description, indent=2) + "\n").encode()
        return contents

    def texts(self) -> dict[str, str]:
        """Return the text files, without the description."""
        values = self.values()
        texts = {
            f"{self.name}.h": fill("model.h.in", values),
            f"{self.name}.c": fill("model.c.in", values),
            f"{self.name}_kernels.c": fill("kernels.c.in", values),
            "kernels.cl": self.plan.source,
            "main.c": fill("main.c.in", values),
            "CMakeLists.txt": fill("CMakeLists.txt.in", values),
            "README.md": fill("README.md.in", values),
            **{f"{_RUNTIME}/{file}": text for file, text in _runtime_texts().items()},
        }
        if self.offload:
            texts |= {f"{self.name}_{self.suffix}.c": self.operations, **self.offload.files()}
        return texts

    def values(self) -> dict[str, str]:
        """Return the values of the templates' placeholders."""
        name, tables = self.name, self.plan.tables
        return {
            "name": name,
            "NAME": name.upper(),
            "version": VERSION,
            "target": comment_text(self.target),
            "tables": self.bodies[-1].rstrip("\n"),
            "info": self.info(self.plan),
            "plan_info": "",
            "storage": "static const clopt_program program",
            "first_plan": "program",
            "program": self.program(self.plan, f"{name}_info", f"{name}_sources"),
            "kernels": self.kernels(self.plan, f"{name}_sources").rstrip("\n"),
            "kernels_file": "kernels.cl",
            "indices": _indices(tables, name),
            "tensors": _tensor_rows(tables),
            "arenas": _arena_text(self.arenas),
            "plans": " and ".join(plan.name for plan in self.plans),
            "weights": f"{self.constants.file_bytes:,}",
            "offload_cmake": "",
            "offload_declarations": "",
            "offload_definitions": "",
            "offload_need": "",
            "offload_build_need": "",
            "offload_readme": "",
            "sizes_readme": _about_sizes(name, self.dims),
            "programs_cmake": "".join(map(_COPY_PROGRAM.format, self.programs)),
            "programs_readme": _about_programs(list(self.programs)),
            "sources": f"{name}.c {name}_kernels.c",
            "library": _RUNTIME,
            "compile": f"-I{_RUNTIME} *.c {_RUNTIME}/*.c -lOpenCL",
            **(self.offload_values(self.offload, _ONLY) if self.offload else {}),
        }

    def offload_values(self, offload: CommandLibrary, alternatives: str) -> dict[str, str]:
        """Return the values of the templates' placeholders for a vendor's library."""
        name, folder = self.name, offload.symbol
        facts = {"name": name} | {key: str(value) for key, value in offload.describe().items()}
        facts |= offload.texts[alternatives]
        return {
            "offload_cmake": fill_text(offload.template("CMakeLists.txt"), facts),
            "offload_declarations": self.declarations(offload),
            "offload_need": f", a device with {offload.library} or the reference library below,",
            "offload_build_need": f";\nfor {offload.library} on a device, its build needs "
            f"the header of the vendor's SDK ([{offload.library}](#{offload.library.lower()}))",
            "offload_readme": fill_text(offload.template("README.md"), facts),
            "sources": f"{name}.c {name}_kernels.c {name}_{self.suffix}.c",
            "library": folder,
            "compile": (
                f"-I{_RUNTIME} -I{folder} -I{self.suffix} *.c {_RUNTIME}/*.c {folder}/*.c "
                "-lOpenCL -ldl"
            ),
        }

    def declarations(self, offload: CommandLibrary) -> str:
        """Return the declarations of a library's symbols for the file of a plan."""
        tables = f"{self.name}_{self.suffix}"
        return (
            f"\n/* The operations of {offload.library} are in {tables}.c. */\n"
            f"extern const struct {offload.symbol}_tables {tables};\n"
            f"extern const clopt_offload {offload.symbol};\n"
        )

    def info(self, plan: PackagePlan, arena_sizes: str = "arena_sizes") -> str:
        """Return the initialiser of a plan's `clopt_info`, or of the package's."""
        arenas = plan.arenas if arena_sizes == "arena_sizes" else self.arenas
        table = (arena_sizes, len(arenas))
        facts = self.name, self.target, self.constants.file_bytes
        return print_info(plan.tables, *facts, table, len(self.dims))

    @property
    def dims(self) -> Mapping[str, list[int]]:
        """The least and the largest size of each open dimension."""
        sizes = self.plan.sizes
        return {} if sizes is None else {n: [min(s), max(s)] for n, s in sizes.ends.items()}

    def program(self, plan: PackagePlan, info: str, sources: str, **fields: str) -> str:
        """Return the initialiser of a plan's `clopt_program`."""
        names = {"info": info, "sources": sources}
        if plan.offload:
            tables = f"&{self.name}_{self.suffix}"
            fields = {"offload": f"&{plan.offload.symbol}", "offload_tables": tables} | fields
        texts = program_sources(plan.tables, plan.source)
        fields = plan.size_fields | fields
        return print_program(plan.tables, texts, plan.source, self.digest, names, fields)

    def kernels(self, plan: PackagePlan, table: str) -> str:
        """Return the table of a plan's kernels."""
        return print_sources(program_sources(plan.tables, plan.source), table)

    def describe(self, contents: Mapping[str, bytes]) -> dict[str, Any]:
        """Return the package's description."""
        program = self.plan.tables.program
        ports = [
            {"name": p.name, "shape": list(p.shape), "type": str(p.element_type)}
            for p in program.ports
        ]
        description: dict[str, Any] = {
            "clopt": VERSION,
            "name": self.name,
            "target": self.target,
            "inputs": ports[: program.input_count],
            "outputs": ports[program.input_count :],
            "arenas": self.arenas,
            "plans": [plan.name for plan in self.plans],
            FILES: {path: digest(contents[path]) for path in sorted(contents)},
        }
        if self.dims:
            description["dims"] = self.dims
        if self.offload:
            description[self.suffix] = self.offload.describe()
        return description


_COPY_PROGRAM = "\n    configure_file({0} {0} COPYONLY)"


def _about_sizes(name: str, dims: Mapping[str, Sequence[int]]) -> str:
    if not dims:
        return ""
    texts = [f"{_code(dim)} from {least} to {most}" for dim, (least, most) in dims.items()]
    return (
        f"\nOpen sizes: {' and '.join(texts)}. The table shows the largest tensors; buffers\n"
        f"must hold these. `{name}_set_dim(model, name, size)` sets a size for later inferences,\n"
        f"whose inputs and outputs are arrays without gaps; `{name}_shape` and `{name}_bytes`\n"
        "return their extents and bytes.\n"
    )


def _about_programs(files: Sequence[str]) -> str:
    if not files:
        return ""
    names = " and ".join(f"`{file}`" for file in files)
    return (
        f"\n\nPart of the network runs on a program binary for the device, {names}. It is read\n"
        "from the folder of `options.weights_path`, or from `options.programs_folder`."
    )


def _digest(name: str, tables: str, source: str, payload: bytes) -> bytes:
    """Return the digest that ties a model's sources to its weights."""
    digest = hashlib.sha256()
    for part in (name.encode(), tables.encode(), source.encode(), payload):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()[:DIGEST_BYTES]


def _runtime_texts() -> dict[str, str]:
    return read_sources(__name__, "runtime")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template filled with the values of its `@names@`."""
    return fill_text(read_text(__name__, f"templates/{template}"), values)


def fill_text(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], text)


def _indices(tables: Tables, name: str) -> str:
    """Return enumerators for the inputs and outputs that differ in their first 63 characters."""
    prefix = name.upper()
    names = Names(f"{prefix}_INPUT_COUNT", f"{prefix}_OUTPUT_COUNT", f"{prefix}_TENSOR_COUNT")
    digits = len(f"_{len(tables.program.ports)}")
    longest = SIGNIFICANT - len(f"{prefix}_OUTPUT_") - digits
    rows: list[str] = []
    for i, port in enumerate(tables.program.ports):
        kind = "input" if i < tables.program.input_count else "output"
        shape = _shape(port) or "a scalar"
        dtype = numpy_dtype(port.element_type).name
        what = comment(f"{printable(port.name, 50)}: {dtype} {shape}")
        wanted = f"{prefix}_{kind}_{identifier(port.name, longest)}".upper()
        rows.append(f"    {names.add(wanted)} = {i}, {what}")
    inputs, count = tables.program.input_count, len(tables.program.ports)
    rows.append(f"    {prefix}_INPUT_COUNT = {inputs},")
    rows.append(f"    {prefix}_OUTPUT_COUNT = {count - inputs},")
    rows.append(f"    {prefix}_TENSOR_COUNT = {count}")
    return "\n".join(rows)


def _shape(port: Port) -> str:
    """Return the extents of a tensor, and of the image that the user binds for it."""
    shape = "x".join(map(str, port.shape))
    if port.image is None:
        return shape
    width, height = image_of(port.image).extents
    return f"{shape} in an image of {width} x {height} texels"


def _tensor_rows(tables: Tables) -> str:
    """Return the inputs and outputs as rows of a Markdown table."""
    rows: list[str] = []
    for i, port in enumerate(tables.program.ports):
        kind = "input" if i < tables.program.input_count else "output"
        shape = _shape(port) or "scalar"
        rows.append(
            f"| {i} | {kind} | {_code(port.name)} | {numpy_dtype(port.element_type).name} | "
            f"{shape} | {tables.roots[i].bytes:,} |"
        )
    return "\n".join(rows)


def _code(text: str) -> str:
    """Return `text` as code in a row of a Markdown table."""
    shown = printable(text).replace("|", r"\|")
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence, space = "`" * (longest + 1), " " if longest or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _arena_text(arenas: Sequence[int]) -> str:
    if not arenas:
        return "It has no intermediate results in buffers, so it needs no arena."
    sizes = " and ".join(f"{size:,}" for size in arenas)
    noun = "one arena" if len(arenas) == 1 else f"{len(arenas)} arenas"
    return f"All intermediate results lie in {noun} of {sizes} bytes."
