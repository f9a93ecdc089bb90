"""Compiling and running models from Python.

model = clopt.compile("model.onnx", dims={"batch": 1}, device="intel", texture="off")
outputs = model.run({"image": image})
model.save("compiled"); model = clopt.load("compiled")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError

from .backends.pyopencl_runtime import (
    CLML_LIBRARIES,
    Buffer,
    CExecutable,
    CommandQueue,
    Context,
    Device,
    Executable,
    Runnable,
    choose_place,
    clml_library_version,
    is_clml_runtime_enabled,
    list_devices,
    target_for,
)
from .backends.targets import TargetChoice, change_facts
from .context import CloptContext
from .dialects.cl import ArenaOp, ProgramOp, Target, set_target, target_of
from .dialects.cl.commands import uses_ml_ops
from .dialects.cl.program import Port
from .dialects.cl.target import Fact
from .dialects.nn.types import numpy_dtype
from .errors import CloptError
from .saved import load_model, save_model
from .weights import Weights

if TYPE_CHECKING:
    from .backends.pyopencl_runtime.inputs import Array, Arrays
    from .frontends.onnx.importer import ModelProto
    from .passes.memory_report import MemoryReport

__all__ = [
    "CLML_LIBRARIES",
    "CompiledModel",
    "TensorInfo",
    "compile",
    "is_clml_runtime_enabled",
    "list_devices",
    "load",
]


@dataclass(frozen=True)
class TensorInfo:
    """The name, shape and numpy type of an input or an output."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, port: Port) -> TensorInfo:
        """The public form of a program's parameter."""
        return cls(port.name, port.shape, numpy_dtype(port.element_type))


class CompiledModel:
    """A model ready to run; `module` and `weights` are what it was compiled to.

    Threads may share it: inferences take turns.
    """

    def __init__(
        self,
        module: ModuleOp,
        weights: Weights,
        make_executable: Callable[[], Runnable],
        source: str | None = None,
    ) -> None:
        program = next(op for op in module.body.block.ops if isinstance(op, ProgramOp))
        self.module = module
        self.weights = weights
        self._program = program
        self.inputs = [TensorInfo.of(port) for port in program.input_ports]
        self.outputs = [TensorInfo.of(port) for port in program.output_ports]
        self._make_executable = make_executable
        self._source = source

    @cached_property
    def executable(self) -> Runnable:
        """The program on its device, for those who bring their own queue and buffers."""
        return self._make_executable()

    @cached_property
    def source(self) -> str:
        """The OpenCL C of all kernels."""
        if self._source is not None:
            return self._source
        from .backends.opencl_c import emit

        return emit(self.module, target_of(self.module))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the compiler did otherwise than asked, one sentence each."""
        from .passes.remarks import remarks_of

        return remarks_of(self.module)

    @cached_property
    def memory(self) -> MemoryReport:
        """What the model holds on its device, counted from the program; no device is touched."""
        from .passes.memory_report import memory_report

        return memory_report(self._program, target_of(self.module))

    @property
    def device_name(self) -> str:
        """The device the model runs on."""
        device = self.executable.device
        return f"{device.name} ({device.platform})"

    def prepare(self) -> None:
        """Build the kernels and upload the weights now and not at the first run."""
        _ = self.executable

    def run(self, inputs: Arrays) -> list[Array]:
        """One inference: arrays in, by name or in order; new arrays out, in `outputs`' order."""
        return self.executable.run(inputs)

    def enqueue(self, queue: CommandQueue, buffers: Mapping[str, Buffer]) -> None:
        """Put one inference on the caller's in-order queue, on the caller's buffers; no waiting."""
        self.executable.enqueue(queue, buffers)

    def save(self, folder: str | Path) -> None:
        """Write the model to `folder`, complete or not at all; `clopt.load` reads it."""
        save_model(Path(folder), self.module, self.source, self.weights)

    def save_c(self, folder: str | Path, name: str = "model") -> None:
        """Write the model to `folder` as a C99 library that runs it without Python.

        Its functions are called `<name>_create` and so on; the folder's README says how to use
        them. The folder is written complete or not at all; one that exists is replaced if it holds
        such a library and nothing else. Raises CloptError for a name that C does not allow.
        """
        from .backends.host_c import package_files, write_package

        module = _planned(self.module)
        write_package(Path(folder), package_files(module, self.source, self.weights, name))


def compile(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Target | None = None,
    dims: Mapping[str, int] | None = None,
    device: str | int | Device | None = None,
    *,
    weights: Weights | None = None,
    context: Context | None = None,
    queue: CommandQueue | None = None,
    arena: Sequence[Buffer] | None = None,
    use_cache: bool = True,
    clml_library: str | None = None,
    precision: str = "f32",
    explain: bool = False,
    **facts: Fact,
) -> CompiledModel:
    """Compile an ONNX model (a path, its bytes, a ModelProto) or a module (a `.mlir` path, an op).

    Without the name of a target the code is made for the device it will run on: that of `queue`, of
    `context`, `device`, or the first of `list_devices()`. With one alone no device is touched
    before the first run; with both, code for the target runs on the device. Facts of the target
    change by name, as `texture="prefer"` or in the text: `target="adreno-740 texture=prefer"`.

    `precision` says how the floats inside of an f32 network are kept; its inputs and outputs stay
    f32. With "f16-storage" values and weights are stored as half and computed in float; with "f16"
    convolutions and matrix products also multiply and add halves, where the device can.
    `CompiledModel.remarks` tells what could not be done so. With `explain` a table on stderr says
    which layout each value has, and why.

    `arena` are buffers of the context for the intermediate results, each as large as
    `executable.arena_bytes` says, or larger. Models on one queue may share them.

    Operations that went to CLML (the fact `clml` of the target) are called from C, which takes a C
    compiler once for a model. The device's library computes them, or with clml_library="reference"
    ours, which runs on every device and is for trying out what would be called on a phone.

    `dims` binds symbolic dimensions by name; `weights` are those of a module that is not from ONNX.
    With `use_cache` the built kernels are kept on disk for the next process. Raises CloptError for
    a mistake in the model or the arguments.
    """
    from .passes.nn.mixed_precision import PRECISIONS

    if precision not in PRECISIONS:
        raise CloptError(f'precision is one of {", ".join(PRECISIONS)}, not "{precision}".')
    chosen, device, context, queue = _choose_target(target, clml_library, device, context, queue)
    ctx = CloptContext(weights=weights or Weights())
    module = _read_module(model, dims, ctx)
    set_target(module, change_facts(chosen, facts))
    _lower(module, ctx, precision, explain)
    make = partial(
        _make_executable,
        module,
        ctx.weights,
        clml_library,
        device=device,
        context=context,
        queue=queue,
        use_cache=use_cache,
        arena=arena,
    )
    compiled = CompiledModel(module, ctx.weights, make)
    if device is not None:
        compiled.prepare()
    return compiled


def load(
    folder: str | Path,
    device: str | int | Device | None = None,
    *,
    context: Context | None = None,
    queue: CommandQueue | None = None,
    arena: Sequence[Buffer] | None = None,
    use_cache: bool = True,
    clml_library: str | None = None,
) -> CompiledModel:
    """Load a model that `CompiledModel.save` wrote; only the device's own compiler runs again.

    The arguments are those of `compile`.
    """
    saved = load_model(Path(folder))
    make = partial(
        _make_executable,
        saved.module,
        saved.weights,
        clml_library,
        device=device,
        context=context,
        queue=queue,
        source=saved.source,
        use_cache=use_cache,
        arena=arena,
    )
    compiled = CompiledModel(saved.module, saved.weights, make, saved.source)
    compiled.prepare()
    return compiled


def _choose_target(
    target: str | Target | None,
    clml_library: str | None,
    device: str | int | Device | None,
    context: Context | None,
    queue: CommandQueue | None,
) -> tuple[Target, str | int | Device | None, Context | None, CommandQueue | None]:
    """The target, and the device, context and queue, which stay None for a target alone."""
    choice = TargetChoice.parse(target) if isinstance(target, str) else TargetChoice(None, {})
    described = target if isinstance(target, Target) else choice.load()
    if described is None or any(given is not None for given in (device, context, queue)):
        device, context, queue = choose_place(device, context, queue)
        described = described or choice.change(target_for(device))
    if not described.clml_version and clml_library is not None:
        described = replace(described, clml_version=clml_library_version(clml_library))
    return described, device, context, queue


def _read_module(
    model: str | Path | bytes | ModelProto | ModuleOp,
    dims: Mapping[str, int] | None,
    ctx: CloptContext,
) -> ModuleOp:
    """The model as a module of its own, its weights in `ctx`."""
    if isinstance(model, ModuleOp):
        module = model.clone()
    elif isinstance(model, str | Path) and Path(model).suffix == ".mlir":
        module = _parse(Path(model), ctx)
    else:
        from .frontends.onnx import import_onnx

        return import_onnx(model, ctx.weights, dims)
    if dims:
        raise CloptError("dims binds symbolic dimensions of ONNX models; a module's are fixed.")
    return module


def _parse(path: Path, ctx: CloptContext) -> ModuleOp:
    try:
        module = Parser(ctx, path.read_text(encoding="utf-8"), str(path)).parse_module()
        module.verify()
    except (OSError, UnicodeDecodeError) as error:
        raise CloptError(f"Cannot read {path}: {error}.") from error
    except ParseError as error:
        place = error.span.get_location()
        raise CloptError(f"{place.file}:{place.line}: {error.msg}") from error
    except DiagnosticException as error:
        raise CloptError(f"{path}: {error}") from error
    return module


def _lower(module: ModuleOp, ctx: CloptContext, precision: str, explain: bool) -> None:
    """Bring `module` down to one queue program, unless it is one already."""
    if any(isinstance(op, ProgramOp) for op in module.body.block.ops):
        return
    from .passes.pipelines import run_pipeline

    run_pipeline(ctx, module, "opencl", precision=precision, explain=explain)


def _planned(module: ModuleOp) -> ModuleOp:
    """`module`, or a copy of it whose intermediate results have their places in memory."""
    if any(isinstance(op, ArenaOp) for op in module.walk()):
        return module
    from .passes.pipelines import run_pipeline

    module = module.clone()
    run_pipeline(CloptContext(), module, "memory")
    return module


def _make_executable(
    module: ModuleOp, weights: Weights, clml_library: str | None, **settings: Any
) -> Runnable:
    """The program on its device, by way of C where it has operations of CLML."""
    programs = [op for op in module.body.block.ops if isinstance(op, ProgramOp)]
    if any(map(uses_ml_ops, programs)):
        return CExecutable(_planned(module), weights, clml_library=clml_library, **settings)
    return Executable(module, weights, **settings)
