"""Saving of compiled models to folders, and loading with checks.

model.json            inputs, outputs, target, accelerators, version, a digest of each other file
program.mlir          the queue program, declarations of its kernels, the graphs of accelerators
kernels.cl            the kernels as OpenCL C
fallback.mlir         optional: a program of kernels only, for devices that cannot run the first
fallback.cl           the fallback's kernels
weights.safetensors   the arrays that the programs name

A model for ranges of sizes has its other programs in folders 1, 2 and so on, see `saved_sizes`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

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
class SavedPlan:
    """One way to compute a model: a module with one program, and the OpenCL C of its kernels.

    Without a source, the module contains the kernels themselves; in a folder it only declares them.
    """

    module: ModuleOp
    source: str | None = None


Plans: TypeAlias = Sequence[tuple[ModuleOp, str]]
"""Compiled modules, each with its kernels: a program, and perhaps its fallback."""


def save_model(
    folder: Path,
    plans: Plans,
    weights: Weights,
    others: Sequence[Plans] = (),
    more: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write a program to `folder`, perhaps with others for the same weights, and with more files.

    A folder that holds only a saved model is replaced. If anything fails, the folder stays
    unchanged, because the files are written elsewhere and then moved.
    """
    files = dict(more)
    keys: set[str] = set()
    for number, alternatives in enumerate((plans, *others)):
        for names, (module, source) in zip(_files(number), alternatives, strict=False):
            declared = declare_kernels(module)
            keys |= weights_read(declared)
            texts = _text_of(declared), source
            files |= {name: text.encode() for name, text in zip(names, texts, strict=True)}
    description = _describe(plans[0][0])

    def write(place: Path) -> None:
        for name, content in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_bytes(content)
        weights.subset(iter(sorted(keys))).save(place / WEIGHTS)
        shutil.copymode(place / KERNELS, place / WEIGHTS)  # safetensors makes its file private
        description[FILES] = digests(place)
        (place / DESCRIPTION).write_bytes(f"{json.dumps(description, indent=2)}\n".encode())

    replace_folder(folder, write, DESCRIPTION, "compiled model")


def _files(number: int) -> list[tuple[str, str]]:
    """Return the names of the files of a program, and of its fallback."""
    folder = f"{number}/" if number else ""
    return [(folder + program, folder + kernels) for program, kernels in _FILES]


def load_model(folder: Path) -> tuple[list[SavedPlan], Weights]:
    """Read a folder that `save_model` wrote; raise CloptError if it is damaged or incomplete."""
    saved = SavedFiles.of(folder)
    return saved.plans(saved.texts(0)), Weights.load(folder / WEIGHTS)


class PlanText(NamedTuple):
    """The contents of the files of a plan."""

    name: str
    """The name of the program's file."""
    program: str
    source: str


@dataclass(frozen=True)
class SavedFiles:
    """The files of a saved model, each of which is checked when it is read."""

    folder: Path
    description: Mapping[str, Any]

    @classmethod
    def of(cls, folder: Path) -> SavedFiles:
        """Read the description of a folder that `save_model` wrote."""
        description = _parse_description(_read(folder, DESCRIPTION), folder)
        _check_accelerators(folder, description)
        return cls(folder, description)

    @property
    def listed(self) -> Mapping[str, Any]:
        """The digests of the files by name."""
        return self.description[FILES]

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise CloptError if it has changed."""
        content = _read(self.folder, name)
        if self.listed.get(name) != digest(content):
            raise CloptError(
                f"{self.folder / name} differs from the file that was saved; compile the model "
                "again."
            )
        return content

    def texts(self, number: int) -> list[PlanText]:
        """Return the text of a program, and of its fallback if it has one."""
        texts: list[PlanText] = []
        for program, kernels in _files(number):
            if program not in self.listed and texts:
                break
            texts.append(PlanText(program, *(self.read(n).decode() for n in (program, kernels))))
        return texts

    def plans(self, texts: Sequence[PlanText]) -> list[SavedPlan]:
        """Return the plans that texts describe."""
        return [SavedPlan(self._parsed(each.name, each.program), each.source) for each in texts]

    def _parsed(self, name: str, text: str) -> ModuleOp:
        try:
            parsed = SourceModule.parse(CloptContext(), Source(str(self.folder / name), text))
            parsed.verify()
        except SourceError as error:
            raise CloptError(
                f"{self.folder / name} was written by clopt {self.description.get('clopt')}, but "
                f"clopt {VERSION} cannot read it; compile the model again."
            ) from error
        return parsed.module


def _check_accelerators(folder: Path, description: Mapping[str, Any]) -> None:
    """Raise CloptError if the model has parts for an accelerator that is not installed."""
    for name in description.get("accelerators", ()):
        if name not in accelerators():
            raise CloptError(
                f'{folder} has parts for the accelerator "{name}", which no installed package '
                f"provides; install one, or compile the model with {name}=off."
            )


def program_text(module: ModuleOp) -> str:
    """Return the text of a compiled module in which kernels are only declared."""
    return _text_of(declare_kernels(module))


def _text_of(declared: ModuleOp) -> str:
    return _with_aliases(str(declared)) + "\n"


def declare_kernels(module: ModuleOp) -> ModuleOp:
    """Return a copy of `module` in which each kernel is a declaration, a `cl.kernel`."""
    ops: list[Operation] = []
    called = tir.called_kernels(module)
    for op in module.body.block.ops:
        if isinstance(op, tir.FuncOp) and op.sym_name.data in called:
            continue  # part of the source of another kernel
        if isinstance(op, tir.FuncOp):
            ops.append(_declaration(op))
        elif isinstance(op, ProgramOp | KernelOp | OffloadGraphOp):
            ops.append(op.clone())
    return ModuleOp(ops, dict(module.attributes))


# Matches strings, to skip them, and buffer types, whose element type may have angle brackets.
_BUFFER_TYPES = re.compile(r'"(?:[^"\\]|\\.)*"|memref<[^<>"]*(?:<[^<>"]*>[^<>"]*)*>')


def _with_aliases(text: str) -> str:
    """Return `text` with an alias for each repeated buffer type, so that it is parsed only once."""
    matches = (match.group() for match in _BUFFER_TYPES.finditer(text))
    counts = Counter(match for match in matches if not match.startswith('"'))
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
        rows=kernel.row_indices,
        turns=bool(tir.turns_of(kernel)),
    )


def _describe(module: ModuleOp) -> dict[str, Any]:
    program = program_of(module)
    return {
        "clopt": VERSION,
        "target": target_of(module).name,
        "accelerators": sorted({accelerator_of(g) for g in graphs_in(program).values()}),
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
            f"{folder} is a file; load needs a folder that CompiledModel.save or clopt-compile "
            "wrote, and compile needs the file of an ONNX model."
        ) from None
    except FileNotFoundError:
        raise CloptError(
            f"{folder} is not a compiled model, it lacks {name}; make one with clopt-compile."
        ) from None
    except OSError as error:
        raise CloptError(f"Cannot read {folder / name}: {error.strerror}.") from error
