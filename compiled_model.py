"""A compiled model in Python: its plans, its memory, and the device that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .errors import CloptError, UnavailableError
from .messages.arguments import check_type
from .model_contents import Contents, ModuleContents

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.pyopencl_runtime import Bindable, CommandQueue, Image, Runnable
    from .backends.pyopencl_runtime.arrays import Array, Arrays, Given, Outputs
    from .backends.saved_model import SavedPlan
    from .backends.stored_program import StoredProgram
    from .description import Description
    from .dialects.cl import ProgramOp
    from .options import Origin, Place
    from .reports.decisions import Decisions
    from .reports.memory import MemoryReport
    from .reports.profile import Profile
    from .reports.quantization import QuantizationReport
    from .weights import Weights


_T = TypeVar("_T", bound="Given")


class CompiledModel:
    """A model ready to run; `module` and `weights` are the compiled program.

    Threads may share it: inferences take turns.
    """

    def __init__(
        self,
        contents: Contents,
        make_executable: Callable[[], Runnable],
        fallback: CompiledModel | None = None,
    ) -> None:
        """`fallback` is the same network by kernels alone, for devices that cannot run this."""
        self.contents = contents
        self.inputs, self.outputs = contents.inputs, contents.outputs
        self.fallback = fallback
        self.quantization: QuantizationReport | None = None
        """The errors of values in int8, if `compile` was asked for them."""
        self.origin: Origin | None = None
        """How `compile` or `load` was asked for the device, if one of them made this."""
        self.decisions: Decisions | None = None
        """The choices of the passes, if `compile` was asked for them by `explain="report"`."""
        self._make_executable = make_executable
        self._refusal: str | None = None

    @property
    def module(self) -> ModuleOp:
        """The compiled program."""
        return self.contents.module

    @property
    def weights(self) -> Weights:
        """The arrays that the program names."""
        return self.contents.weights

    @property
    def program(self) -> ProgramOp:
        """The queue program, in a module that may only declare its kernels."""
        return self.contents.program

    @property
    def target_name(self) -> str:
        """The name of the target."""
        return self.contents.target_name

    @property
    def accelerators(self) -> tuple[str, ...]:
        """The accelerators that compute a part, by their names for people."""
        return tuple(self.contents.accelerators)

    def __repr__(self) -> str:
        place = self.target_name
        if "executable" in self.__dict__:
            place += f", on {self.device_name}"
        inputs, outputs = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        return (
            f"CompiledModel({inputs} -> {outputs}; {self.memory.total:,} bytes on the device; "
            f"for {place})"
        )

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[..., CompiledModel], Any]:
        """Return what a pickle holds: programs, weights, and the name of the device.

        CloptError for a model with the caller's context, queue or arena.
        """
        from .pickled_model import restore, state_of

        return restore, state_of(self)

    def __copy__(self) -> CompiledModel:
        """Return a second model on the same device, with memory of its own.

        It may run at the same time as the first.
        """
        rebuild, state = self.__reduce_ex__(None)
        return rebuild(*state)

    def __deepcopy__(self, memo: object) -> CompiledModel:
        """Return what `__copy__` returns: weights never change."""
        return self.__copy__()

    @cached_property
    def executable(self) -> Runnable:
        """The program on its device, for callers with their own queue and buffers."""
        try:
            return self._make_executable()
        except UnavailableError as error:
            if self.fallback is None:
                raise
            self._refusal = str(error)
            return self.fallback.executable

    @property
    def plan(self) -> str:
        """Which plan runs: "kernels", or the accelerator that computes a part."""
        return " and ".join(self._running.contents.accelerators) or "kernels"

    @property
    def _running(self) -> CompiledModel:
        return self.fallback if self.plan_reason is not None and self.fallback else self

    @property
    def plan_reason(self) -> str | None:
        """A sentence about why the fallback runs; None where it does not."""
        _ = self.executable
        return self._refusal

    @property
    def source(self) -> str:
        """The OpenCL C of all kernels."""
        return self.contents.source

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the points where the compiler departed from the arguments."""
        return self.contents.remarks

    def describe(self) -> Description:
        """Return all that a runtime needs to launch the program, as plain data and as JSON.

        docs/description.md explains it. A fallback has a description of its own.
        """
        return self.contents.description

    @cached_property
    def memory(self) -> MemoryReport:
        """The model's memory on its device, computed from the program without the device."""
        from .dialects.cl import target_of
        from .reports.memory import memory_report

        return memory_report(self.program, target_of(module_of(self.program)))

    def report(
        self,
        path: str | Path | None = None,
        *,
        profile: Profile | None = None,
        title: str | None = None,
    ) -> str:
        """Return a page about the model as HTML, and write it to `path` if that is given.

        It shows the commands as a graph, the plan of the memory, and each kernel with its source;
        with `profile`, the result of `profile()`, also where the time goes. Compile with
        `explain="report"` for the layouts, the plans and the reasons. One file, which needs no
        network and no other file.
        """
        from .files.writing import write_atomically
        from .reports.page import ReportedModel, page

        check_type("path", path, (str, PathLike), "the path of an .html file")
        # A profile is of the plan that runs.
        model = self if profile is None else self._running
        device = "" if profile is None else self.device_name
        name = title or f"{self.program.sym_name.data} for {self.target_name}"
        facts = (model.describe(), model.memory, model.decisions, profile, device)
        text = page(ReportedModel(name, *facts))
        if path is not None:
            write_atomically(Path(path), text.encode(), mode=0o666)
        return text

    @property
    def device_name(self) -> str:
        """The device the model runs on."""
        device = self.executable.device
        return f"{device.name} ({device.platform})"

    def prepare(self) -> None:
        """Build the kernels and upload the weights now and not at the first run."""
        _ = self.executable

    def run_by(self, make_executable: Callable[[], Runnable]) -> None:
        """Run by another executable of the same program; call it before the first use."""
        self._make_executable = make_executable

    @overload
    def run(self, inputs: Arrays, outputs: Sequence[str] | None = None) -> list[Array]: ...
    @overload
    def run(self, inputs: Arrays, outputs: Mapping[str, _T]) -> list[_T]: ...
    def run(self, inputs: Arrays, outputs: Outputs | None = None) -> list[Any]:
        """Run one inference and wait for it; return the outputs.

        `inputs` are by name or in order: arrays of numpy, of any library with DLPack, or buffers
        and arrays of pyopencl in the model's context, which kernels read in place.

        `outputs` is a list of names, by default all, for which new arrays are returned. Or it is a
        mapping of names to such arrays and buffers of the caller, which are filled and returned.
        """
        return self.executable.run(inputs, outputs)

    def profile(self, inputs: Arrays | None = None, runs: int = 10) -> Profile:
        """Time each command of `runs` inferences on the device: kernels, copies, operations.

        Without `inputs` they are zeros. The result has the medians by kernel (`by_kernel`) and by
        ONNX node (`by_node`) with their shares of the target's roofline.
        `reports.profile.trace_text` makes a trace for Perfetto of it.
        """
        from .dialects.cl import target_of
        from .reports.profile import profile_of

        check_type("runs", runs, (int,), "a number of inferences")
        if runs < 1:
            raise CloptError(f"runs={runs}: a profile takes at least one inference.")
        if inputs is None:
            inputs = {t.name: np.zeros(t.shape, t.dtype) for t in self.inputs}
        executable = self.executable
        timings = executable.profile(inputs, runs)
        return profile_of(executable.program, target_of(self._running.module), timings)

    def enqueue(self, queue: CommandQueue, buffers: Mapping[str, Bindable]) -> None:
        """Put one inference on the caller's in-order queue, on the caller's buffers; no waiting."""
        self.executable.enqueue(queue, buffers)

    def bind_image(self, name: str, image: Image | None) -> None:
        """Let inferences read or write the caller's image for this input or output.

        The model is compiled with `images=[name]`, and the image is 2-D, of RGBA texels, with
        channels of float, half or 8-bit unorm, which kernels read as 0 to 1 and write clamped to
        it. It stays bound for `run` and `enqueue`, which then do not take or return `name`; None
        takes it away. Raises CloptError for an image that does not fit.
        """
        self.executable.bind_image(name, image)

    def save(self, folder: str | Path) -> None:
        """Write the model to `folder`, complete or not at all; `clopt.load` reads it.

        An existing folder is replaced only if every file in it is one that clopt wrote, unchanged.
        """
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        from .backends.saved_model import save_model

        plans = [(module_of(plan.program), plan.source) for plan in (self, self.fallback) if plan]
        save_model(Path(folder), plans, self.weights)

    def save_c(self, folder: str | Path, name: str = "model") -> None:
        """Write the model to `folder` as a C99 library that runs it without Python.

        Its functions are `<name>_create` and so on; the folder's README explains them. Writes the
        folder completely or not at all, and replaces an existing one only if it holds such a
        library and nothing else. Raises CloptError for a name that C does not allow.
        """
        from .backends.host_c import package_files, write_package

        check_type("folder", folder, (str, PathLike), "the path of a folder")
        other = self.fallback
        fallback = (_planned(other.module), other.source) if other else None
        module = _planned(self.module)
        files = package_files(module, self.source, self.weights, name, fallback)
        write_package(Path(folder), files)

    def save_graphs(self, folder: str | Path) -> None:
        """Write what accelerators compute of the model to `folder`, as files for other programs.

        A graph of VTA is a stream, which `vta-objdump` prints, with its weights and biases. Raises
        CloptError for a model without such graphs, and for a folder with anything else.
        """
        from .backends.graph_files import save_graphs

        check_type("folder", folder, (str, PathLike), "the path of a folder")
        save_graphs(Path(folder), self.module, self.weights)


def module_of(program: ProgramOp) -> ModuleOp:
    """Return the module that a program is a part of."""
    from xdsl.dialects.builtin import ModuleOp

    module = program.parent_op()
    assert isinstance(module, ModuleOp)
    return module


def make_model(
    plans: Sequence[SavedPlan],
    weights: Weights,
    libraries: Mapping[str, str],
    place: Place,
    use_cache: bool,
) -> CompiledModel:
    """Return the model with these plans; the later ones are for devices that refuse the first.

    `libraries` compute what accelerators do in place of the device's.
    """
    made: CompiledModel | None = None
    for plan in reversed(plans):
        make = partial(executable_of, plan, weights, libraries, place, use_cache)
        contents = ModuleContents(plan.module, weights, plan.source)
        made = CompiledModel(contents, make, made)
    assert made, "a model has a plan"
    return made


def _planned(module: ModuleOp) -> ModuleOp:
    """Return `module`, or a copy with planned memory."""
    from .dialects.cl import ArenaOp

    if any(isinstance(op, ArenaOp) for op in module.walk()):
        return module
    from .context import CloptContext
    from .passes.pipelines import run_pipeline

    module = module.clone()
    run_pipeline(CloptContext(), module, "memory")
    return module


def executable_of(
    plan: SavedPlan,
    weights: Weights,
    libraries: Mapping[str, str],
    place: Place,
    use_cache: bool,
) -> Runnable:
    """Return the program on its device; one that needs an accelerator's C library runs as C."""
    from .backends.offload import needs_library
    from .backends.programs import program_of
    from .backends.pyopencl_runtime import CExecutable, Executable

    settings: dict[str, Any] = {"source": plan.source, "use_cache": use_cache, **vars(place)}
    if needs_library(program_of(plan.module)):
        return CExecutable(_planned(plan.module), weights, stand_ins=libraries, **settings)
    return Executable(plan.module, weights, **settings)


def replay_of(
    stored: StoredProgram,
    weights: Weights,
    contents: Contents | CompiledModel,
    place: Place,
    use_cache: bool = True,
) -> Runnable:
    """Return a stored program, whose launches are known, on its device."""
    from .backends.pyopencl_runtime.replay import Replay

    assert stored.launches is not None
    arrays = {key: weights.get(key) for key in weights.keys()}
    settings: dict[str, Any] = {"use_cache": use_cache, **vars(place)}
    return Replay(stored.launches, stored.source, arrays, contents, **settings)
