"""The folder a compiled model is kept in, and how it is written and checked.

model.json            inputs, outputs, target, version, and a digest of the next two
program.mlir          the queue program, the declarations of its kernels, its CLML graphs
kernels.cl            the kernels as OpenCL C
weights.safetensors   the arrays that the program names
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from .context import CloptContext
from .dialects import clml, tir
from .dialects.cl import ConstantOp, KernelOp, ProgramOp, target_of
from .dialects.cl.program import Port
from .errors import CloptError
from .folders import replace_folder
from .weights import Weights

DESCRIPTION = "model.json"
PROGRAM = "program.mlir"
KERNELS = "kernels.cl"
WEIGHTS = "weights.safetensors"


@dataclass(frozen=True)
class SavedModel:
    """What a folder holds: all that running needs."""

    module: ModuleOp
    """Kernels are declarations."""
    source: str
    weights: Weights


def save_model(folder: Path, module: ModuleOp, source: str, weights: Weights) -> None:
    """Write a compiled module to `folder`, which is replaced if it holds a saved model.

    Whatever goes wrong, `folder` then is as it was: the files are written elsewhere and moved.
    """
    if folder.exists() and not _replaceable(folder):
        raise CloptError(f"{folder} exists and is no compiled model; name another folder.")
    declared = declare_kernels(module)
    keys = {op.key.data for op in declared.walk() if isinstance(op, ConstantOp | clml.ConstantOp)}
    text, description = str(declared) + "\n", _describe(declared)
    files = {PROGRAM: text, KERNELS: source}
    description["sha256"] = {name: _digest(content) for name, content in files.items()}
    files[DESCRIPTION] = json.dumps(description, indent=2) + "\n"

    def write(place: Path) -> None:
        for name, content in files.items():
            (place / name).write_text(content, encoding="utf-8")
        weights.subset(iter(sorted(keys))).save(place / WEIGHTS)
        shutil.copymode(place / DESCRIPTION, place / WEIGHTS)  # safetensors makes it private

    replace_folder(folder, write)


def load_model(folder: Path) -> SavedModel:
    """Read a folder that `save_model` wrote; a damaged or incomplete one is refused."""
    description = _parse_description(_read(folder, DESCRIPTION), folder)
    contents: dict[str, str] = {}
    for name in (PROGRAM, KERNELS):
        contents[name] = _read(folder, name)
        if description["sha256"].get(name) != _digest(contents[name]):
            raise CloptError(
                f"{folder / name} is not the file that was saved; compile the model again."
            )
    try:
        module = Parser(CloptContext(), contents[PROGRAM], str(folder / PROGRAM)).parse_module()
        module.verify()
    except (DiagnosticException, ParseError, VerifyException) as error:
        raise CloptError(
            f"{folder / PROGRAM} was written by clopt {description.get('clopt')} and cannot be "
            f"read by clopt {version('clopt')}; compile the model again."
        ) from error
    return SavedModel(module, contents[KERNELS], Weights.load(folder / WEIGHTS))


def declare_kernels(module: ModuleOp) -> ModuleOp:
    """A copy of `module` with a `cl.kernel` in the place of every kernel's body."""
    ops: list[Operation] = []
    for op in module.body.block.ops:
        if isinstance(op, tir.FuncOp):
            ops.append(_declaration(op))
        elif isinstance(op, ProgramOp | KernelOp | clml.GraphOp):
            ops.append(op.clone())
    return ModuleOp(ops, dict(module.attributes))


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
    program = next(op for op in module.body.block.ops if isinstance(op, ProgramOp))
    return {
        "clopt": version("clopt"),
        "target": target_of(module).name,
        "inputs": [_describe_port(port) for port in program.input_ports],
        "outputs": [_describe_port(port) for port in program.output_ports],
    }


def _describe_port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "shape": list(port.shape), "type": str(port.element_type)}


def _parse_description(text: str, folder: Path) -> dict[str, Any]:
    try:
        parsed: object = json.loads(text)
    except json.JSONDecodeError:
        parsed = None
    if isinstance(parsed, dict):
        description = cast("dict[str, Any]", parsed)
        if isinstance(description.get("sha256"), dict):
            return description
    raise CloptError(f"{folder / DESCRIPTION} is damaged; compile the model again.")


def _read(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CloptError(
            f"{folder} is no compiled model, it lacks {name}; make one with clopt-compile."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CloptError(f"Cannot read {folder / name}: {error}.") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _replaceable(folder: Path) -> bool:
    """Whether `folder` is empty or holds a saved model."""
    return folder.is_dir() and ((folder / DESCRIPTION).exists() or not any(folder.iterdir()))
