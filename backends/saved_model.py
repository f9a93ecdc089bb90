"""Saving a compiled model to a folder, and loading it with checks.

model.json            inputs, outputs, target, accelerators, version, a digest of each other file
program.mlir          the queue program, the declarations of its kernels, the graphs of accelerators
kernels.cl            the kernels as OpenCL C
fallback.mlir         optional: a program of kernels alone, for devices that cannot run the first
fallback.cl           its kernels
weights.safetensors   the arrays that the programs name
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..accelerators import accelerators
from ..context import CloptContext
from ..dialects import tir
from ..dialects.cl import KernelOp, ProgramOp, graphs_in, target_of
from ..dialects.cl.program import Port
from ..dialects.offload import OffloadGraphOp
from ..errors import CloptError
from ..files.folders import FILES, digest, digests, replace_folder
from ..files.reading import read_file
from ..messages.source import Source, SourceError, SourceModule
from ..version import VERSION
from ..weights import Weights
from .offload import accelerator_of
from .programs import program_of, weights_read

DESCRIPTION = "model.json"
PROGRAM = "program.mlir"
KERNELS = "kernels.cl"
WEIGHTS = "weights.safetensors"
_FILES = ((PROGRAM, KERNELS), ("fallback.mlir", "fallback.cl"))


@dataclass(frozen=True)
class Plan:
    """One way to compute a model: a module with one program, and the OpenCL C of its kernels.

    Without a source the module has the kernels themselves; in a folder they are declarations.
    """

    module: ModuleOp
    source: str | None = None


def save_model(folder: Path, plans: Sequence[tuple[ModuleOp, str]], weights: Weights) -> None:
    """Write compiled modules, each with its kernels, to `folder`.

    The first is the model, a second one its fallback. A folder that holds a saved model and
    nothing else is replaced. It stays unchanged if anything fails: clopt writes the files elsewhere
    and moves them.
    """
    files: dict[str, str] = {}
    keys: set[str] = set()
    for (program, kernels), (module, source) in zip(_FILES, plans, strict=False):
        declared = declare_kernels(module)
        keys |= weights_read(declared)
        files |= {program: _text_of(declared), kernels: source}
    description = _describe(plans[0][0])

    def write(place: Path) -> None:
        for name, content in files.items():
            (place / name).write_bytes(content.encode())
        weights.subset(iter(sorted(keys))).save(place / WEIGHTS)
        shutil.copymode(place / KERNELS, place / WEIGHTS)  # safetensors makes it private
        description[FILES] = digests(place)
        (place / DESCRIPTION).write_bytes(f"{json.dumps(description, indent=2)}\n".encode())

    replace_folder(folder, write, DESCRIPTION, "compiled model")


def load_model(folder: Path) -> tuple[list[Plan], Weights]:
    """Read a folder that `save_model` wrote; a damaged or incomplete one is refused."""
    description = _parse_description(_read(folder, DESCRIPTION), folder)
    _check_accelerators(folder, description)
    listed: dict[str, Any] = description[FILES]
    plans: list[Plan] = []
    for names in _FILES:
        if names[0] not in listed and plans:
            break
        program, source = (_read_checked(folder, name, listed) for name in names)
        try:
            read = SourceModule.parse(CloptContext(), Source(str(folder / names[0]), program))
            read.verify()
        except SourceError as error:
            raise CloptError(
                f"{folder / names[0]} was written by clopt {description.get('clopt')} and cannot "
                f"be read by clopt {VERSION}; compile the model again."
            ) from error
        plans.append(Plan(read.module, source))
    return plans, Weights.load(folder / WEIGHTS)


def _check_accelerators(folder: Path, description: Mapping[str, Any]) -> None:
    """Refuse a model with parts for an accelerator that is not installed."""
    for name in description.get("accelerators", ()):
        if name not in accelerators():
            raise CloptError(
                f'{folder} has parts for the accelerator "{name}", which no installed package '
                f"brings; install one, or compile the model with {name}=off."
            )


def _read_checked(folder: Path, name: str, listed: Mapping[str, Any]) -> str:
    content = _read(folder, name)
    if listed.get(name) != digest(content):
        raise CloptError(
            f"{folder / name} is not the file that was saved; compile the model again."
        )
    return content.decode()


def program_text(module: ModuleOp) -> str:
    """Return the text of a compiled module with declarations of its kernels."""
    return _text_of(declare_kernels(module))


def _text_of(declared: ModuleOp) -> str:
    return _with_aliases(str(declared)) + "\n"


def declare_kernels(module: ModuleOp) -> ModuleOp:
    """A copy of `module` in which each kernel is a `cl.kernel`, a declaration."""
    ops: list[Operation] = []
    for op in module.body.block.ops:
        if isinstance(op, tir.FuncOp):
            ops.append(_declaration(op))
        elif isinstance(op, ProgramOp | KernelOp | OffloadGraphOp):
            ops.append(op.clone())
    return ModuleOp(ops, dict(module.attributes))


# A string, or the type of a buffer, whose elements may be of a type with angle brackets.
_BUFFER_TYPES = re.compile(r'"(?:[^"\\]|\\.)*"|memref<[^<>"]*(?:<[^<>"]*>[^<>"]*)*>')


def _with_aliases(text: str) -> str:
    """`text` with a short name for each type of buffers, which the parser then reads once."""
    found = (match.group() for match in _BUFFER_TYPES.finditer(text))
    counts = Counter(each for each in found if not each.startswith('"'))
    repeated = (type_ for type_, count in counts.items() if count > 1)
    names = {type_: f"!buffer{number}" for number, type_ in enumerate(repeated)}
    renamed = _BUFFER_TYPES.sub(lambda match: names.get(match.group(), match.group()), text)
    return "".join(f"{name} = {type_}\n" for type_, name in names.items()) + renamed


def _declaration(kernel: tir.FuncOp) -> KernelOp:
    if kernel.global_size is None or kernel.local_size is None:
        raise CloptError(
            f"The kernel @{kernel.sym_name.data} has no NDRange yet; run the pipeline opencl first."
        )
    return KernelOp(
        kernel.sym_name.data,
        [param.type for param in kernel.params],
        kernel.output_indices,
        tuple(kernel.global_size.iter_values()),
        tuple(kernel.local_size.iter_values()),
        tir.rolled_bounds(kernel),
        kernel.in_place_pairs,
    )


def _describe(module: ModuleOp) -> dict[str, Any]:
    program = program_of(module)
    return {
        "clopt": VERSION,
        "target": target_of(module).name,
        "accelerators": sorted({accelerator_of(each) for each in graphs_in(program).values()}),
        "inputs": [_describe_port(port) for port in program.input_ports],
        "outputs": [_describe_port(port) for port in program.output_ports],
    }


def _describe_port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "shape": list(port.shape), "type": str(port.element_type)}


def _parse_description(text: bytes, folder: Path) -> dict[str, Any]:
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        description = cast("dict[str, Any]", parsed)
        if isinstance(description.get(FILES), dict):
            return description
    raise CloptError(f"{folder / DESCRIPTION} is damaged; compile the model again.")


def _read(folder: Path, name: str) -> bytes:
    try:
        return read_file(folder / name)
    except NotADirectoryError:
        raise CloptError(
            f"{folder} is a file; load takes a folder that CompiledModel.save or clopt-compile "
            "wrote, and compile takes the file of an ONNX model."
        ) from None
    except FileNotFoundError:
        raise CloptError(
            f"{folder} is no compiled model, it lacks {name}; make one with clopt-compile."
        ) from None
    except OSError as error:
        raise CloptError(f"Cannot read {folder / name}: {error.strerror}.") from error
