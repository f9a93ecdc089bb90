"""The model that a command line names: a file, a folder, or stdin."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import api
from ..errors import CloptError
from ..formats import format_of
from ..messages.explanations import tables
from ..messages.open_dimensions import OpenModelError
from ..options import REPORT
from ..weights import Weights
from .console import (
    EXPLAIN,
    MEMORY_LIMIT,
    MODEL_OPTIONS,
    STDIN,
    Options,
    about,
    is_onnx,
    print_remarks,
    read_bytes,
)
from .inputs import Bindings
from .logs import progress
from .option_values import parse_bytes, parse_in_place, parse_open_dims

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

COMPILE_OPTIONS: Options = [
    *MODEL_OPTIONS,
    (
        ("--weights",),
        {
            "metavar": "FILE",
            "help": "safetensors file with the arrays of an .mlir file, as "
            "clopt --save-weights writes it",
        },
    ),
    (
        ("--precision",),
        {
            "choices": ["f32", "f16-storage", "f16"],
            "default": "f32",
            "help": "for f32 networks: store values as half and compute in float (f16-storage), or "
            "also multiply and add halves where the device can (f16)",
        },
    ),
    (
        ("--strict-half",),
        {
            "action": "store_true",
            "help": "for f16 networks: round the result of every operation to half",
        },
    ),
    (
        ("--choices",),
        {
            "metavar": "FILE",
            "help": "a file of decisions, as clopt -t choices writes it; clopt decides all others",
        },
    ),
    (
        ("--tuning",),
        {
            "metavar": "FILE",
            "help": "the tuning database for plans, or off (default: the databases beside the "
            "model, in your cache and in clopt itself)",
        },
    ),
    MEMORY_LIMIT,
    (
        ("--image",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME",
            "help": "the application provides this input or output as an image of RGBA texels, "
            "such as a camera's; for targets with texture=prefer or auto (repeatable)",
        },
    ),
    (
        ("--in-place",),
        {
            "action": "append",
            "default": [],
            "metavar": "OUTPUT=INPUT",
            "help": "the output overwrites the input, such as a cache, where the application binds "
            "one buffer to both (repeatable)",
        },
    ),
    (
        ("--report",),
        {
            "metavar": "FILE",
            "type": Path,
            "help": "write a self-contained .html page about the model: its commands as a graph, "
            "layouts and plans with reasons, memory, the kernels' source",
        },
    ),
    EXPLAIN,
]
"""The options of `compile_model`, in `clopt-run` and `clopt-compile`."""


class ModelKind(Enum):
    """The kinds of models, with their names in messages."""

    ONNX = "ONNX model"
    Other = "model of another format"
    Module = "module"
    Folder = "compiled model"


@dataclass(frozen=True)
class ModelSource:
    """The model that the command line names."""

    name: str
    kind: ModelKind
    content: Path | bytes | ModuleOp

    @classmethod
    def of(cls, name: str) -> ModelSource:
        """Read a model; raise CloptError for a missing file or text that is not a module."""
        if name == STDIN:
            content, name = read_bytes(None), "<stdin>"
            if not content.strip():
                raise CloptError("stdin is empty; send an ONNX model or MLIR text to it.")
            if is_onnx(content):
                return cls(name, ModelKind.ONNX, content)
            from ..context import CloptContext
            from ..messages.source import Source, SourceModule

            parsed = SourceModule.parse(
                CloptContext(), Source(name, content.decode(errors="replace"))
            )
            parsed.verify()
            return cls(name, ModelKind.Module, parsed.module)
        path = Path(name)
        if not path.exists():
            raise CloptError(f"{path}: no such file or folder.")
        if path.is_dir():
            return cls(name, ModelKind.Folder, path)
        kinds = {"mlir": ModelKind.Module, "onnx": ModelKind.ONNX}
        return cls(name, kinds.get(format_of(path), ModelKind.Other), path)

    @property
    def stem(self) -> str:
        """The name without folders and suffix."""
        return Path(self.name).stem.strip("<>")


def compile_model(
    source: ModelSource,
    options: argparse.Namespace,
    find_bindings: Callable[[OpenModelError], Bindings] | None = None,
    **more: Any,
) -> api.CompiledModel:
    """Compile a model with the options of the command line, and print its remarks.

    `find_bindings` computes sizes for dimensions without `--dim`, and values that decide shapes, or
    raises CloptError. Without it, a model with ranges stays open. `more` are arguments of
    `api.compile` that only one tool has.
    """
    # A model with its own weights would silently ignore the file.
    if options.weights and source.kind is not ModelKind.Module:
        raise CloptError(
            f"{source.name}: --weights applies to .mlir files; other models have their own weights."
        )
    with about(source.name), progress(f"compiling {Path(source.name).name}"):
        model = api.compile(
            source.content,
            dims=parse_open_dims(options.dim),
            target=options.device_target,
            device=options.device,
            weights=Weights.load(options.weights) if options.weights else None,
            precision=options.precision,
            strict_half=options.strict_half,
            explain=REPORT if options.report else options.explain,
            choices=options.choices,
            tuning=options.tuning,
            memory_limit=parse_bytes("--memory-limit", options.memory_limit),
            images=options.image,
            in_place=parse_in_place(options.in_place),
            **more,
        )
        if isinstance(model, api.SequenceModel):
            model = _with_tensors(model, source, options)
        while isinstance(model, api.DynamicModel):
            if find_bindings is not None:
                model = model.bound(*find_bindings(model.reason))
            elif model.is_ranged:
                break
            else:
                raise model.reason
    print_remarks(model.remarks)
    if options.report and options.explain and model.decisions is not None:
        print(*tables(model.decisions.explanations), sep="\n", file=sys.stderr)
    return model


def _with_tensors(
    model: api.SequenceModel, source: ModelSource, options: argparse.Namespace
) -> api.CompiledModel:
    """Return the model for the lengths of `--dim`, which has a tensor for each element.

    Raises CloptError if a length is missing, or if an option runs the ONNX model, too.
    """
    for flag in ("compare", "debug_accuracy", "nan"):
        if getattr(options, flag, None):
            raise CloptError(
                f"{source.name}: --{flag.replace('_', '-')} needs inputs and outputs that are "
                "tensors, and this model has sequences, optionals or maps; compare it in Python."
            )
    return model.stated()
