"""A compiled model in Python: its plans, its memory, and the device that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .errors import UnavailableError
from .executables import executable_of, planned
from .messages.arguments import check_type
from .model_contents import Contents, ModuleContents, module_of
from .output_sizes import OutputSizes

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.pyopencl_runtime import Bindable, CommandQueue, Image, Runnable
    from .backends.pyopencl_runtime.arrays import Array, Arrays, Given, Outputs
    from .backends.pyopencl_runtime.boxes import Shapes
    from .backends.saved_model import SavedPlan
    from .description import Description
    from .dialects.cl import ProgramOp
    from .options import Origin, Place
    from .reports.decisions import Decisions
    from .reports.memory import MemoryInUse, MemoryReport
    from .reports.profile import Profile
    from .reports.quantization import QuantizationReport
    from .size_table import SizeTable
    from .weights import Weights


_T = TypeVar("_T", bound="Given")


class CompiledModel:
    """A model that is ready to run; `module` and `weights` are the compiled program.

    Threads may share it: its inferences run one at a time.
    """

    def __init__(
        self,
        contents: Contents,
        make_executable: Callable[[], Runnable],
        fallback: CompiledModel | None = None,
    ) -> None:
        """`fallback` is the same network as kernels, for devices that cannot run `contents`."""
        self._contents = contents
        self._sizes = OutputSizes(contents.outputs)
        self.inputs, self.outputs = contents.inputs, self._sizes.public
        self.fallback = fallback
        self.values: Mapping[str, Array] = {}
        """The inputs of the network that are constants of this program, with their values."""
        self.quantization: QuantizationReport | None = None
        """The errors of the int8 values, if `compile` was asked for a report."""
        self.origin: Origin | None = None
        """The device argument of `compile` or `load`, if one of them made this model."""
        self.decisions: Decisions | None = None
        """The choices of the passes, if compiled with `explain="report"`."""
        self._make_executable = make_executable
        self._refusal: str | None = None
        self._smaller: dict[int, CompiledModel] = {}

    @property
    def contents(self) -> Contents:
        """The program as data."""
        return self._contents

    @property
    def module(self) -> ModuleOp:
        """The compiled program."""
        return self.contents.module

    @property
    def weights(self) -> Weights:
        """The arrays that the program refers to."""
        return self.contents.weights

    @property
    def program(self) -> ProgramOp:
        """The queue program; its module may hold only declarations of the kernels."""
        return self.contents.program

    @property
    def target_name(self) -> str:
        """The name of the target."""
        return self.contents.target_name

    @property
    def accelerators(self) -> tuple[str, ...]:
        """The accelerators that compute a part of the network, by their display names."""
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
        """Return the state for a pickle: programs, weights, and the name of the device.

        Raises CloptError if the model uses a context, queue or arena of the caller.
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
        """Return the same as `__copy__`, because weights never change."""
        return self.__copy__()

    @cached_property
    def executable(self) -> Runnable:
        """The program on its device, for callers that have their own queue and buffers."""
        try:
            return self._make_executable()
        except UnavailableError as error:
            if self.fallback is None:
                raise
            self._refusal = str(error)
            return self.fallback.executable

    @property
    def plan(self) -> str:
        """The plan in use: "kernels", or the accelerators that compute a part."""
        return " and ".join(self._running.contents.accelerators) or "kernels"

    @property
    def _running(self) -> CompiledModel:
        return self.fallback if self.plan_reason is not None and self.fallback else self

    @property
    def plan_reason(self) -> str | None:
        """Why the fallback runs, as a sentence; None if it does not."""
        _ = self.executable
        return self._refusal

    @property
    def source(self) -> str:
        """The OpenCL C of all kernels."""
        return self.contents.source

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the points in which the program differs from the request."""
        return self.contents.remarks

    def describe(self) -> Description:
        """Return all data that a runtime needs to launch the program, as typed values and JSON.

        docs/description.md explains the format. The fallback has its own description.
        """
        return self.contents.description

    @cached_property
    def memory(self) -> MemoryReport:
        """The model's memory on its device, computed from the program without the device.

        With ranges of sizes, it is the memory of the program for the largest ones.
        """
        from .dialects.cl import target_of
        from .reports.memory import memory_report

        program = self.largest().program
        return memory_report(program, target_of(module_of(program)))

    def largest(self) -> CompiledModel:
        """Return the program for the largest sizes of a model with ranges, or else the model."""
        return self

    @property
    def memory_now(self) -> MemoryInUse:
        """The memory that the device holds for the model now; none before it is prepared."""
        from .reports.memory import memory_in_use

        return memory_in_use([each for each in self._compiled() if "executable" in vars(each)])

    def _compiled(self) -> Sequence[CompiledModel]:
        """Return the programs that were compiled so far."""
        return [self]

    def report(
        self,
        path: str | Path | None = None,
        *,
        profile: Profile | None = None,
        title: str | None = None,
    ) -> str:
        """Return an HTML page about the model; also write it to `path` if given.

        The page shows the commands as a graph, the memory plan, and each kernel with its source.
        With `profile`, the result of `profile()`, it also shows where the time goes. Compile with
        `explain="report"` to add layouts, plans and reasons. The page is one file that needs no
        network and no other files.
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
        """Build the kernels and upload the weights now instead of at the first run."""
        _ = self.executable

    def restricted(self, value: int) -> CompiledModel:
        """Return a model that computes the results for a smaller value of the ranged dimension.

        The model must be compiled with `CompileOptions.ranged`. Inputs and outputs have the shapes
        of this model, of which only the parts for the first `value` units count. The other parts of
        inputs hold any values that this model takes, such as indices within their range, and those
        of outputs are left with any. The models share kernels and memory, and take turns.
        """
        whole = self.executable
        if value not in self._smaller:
            restricted = CompiledModel(self.contents, lambda: whole.restricted(value))
            restricted.values, restricted.origin = self.values, self.origin
            restricted.prepare()
            self._smaller.setdefault(value, restricted)
        return self._smaller[value]

    def run_by(self, make_executable: Callable[[], Runnable]) -> None:
        """Use another executable of the same program; call this before the first run."""
        self._make_executable = make_executable

    @overload
    def run(self, inputs: Arrays, outputs: Sequence[str] | None = None) -> list[Array]: ...
    @overload
    def run(self, inputs: Arrays, outputs: Mapping[str, _T]) -> list[_T]: ...
    def run(self, inputs: Arrays, outputs: Outputs | None = None) -> list[Any]:
        """Run one inference, wait for it, and return the outputs.

        `inputs` are given by name or in order. Each is a numpy array, an array of any library with
        DLPack, or a pyopencl buffer or array. Kernels read pyopencl objects of the model's context
        in place.

        `outputs` selects outputs by name, by default all; they are returned as new arrays. It can
        also map names to such arrays and buffers of the caller, which are filled and returned.
        """
        return self._sizes.run(self.executable, inputs, outputs)

    def profile(self, inputs: Arrays | None = None, runs: int = 10) -> Profile:
        """Time each command of `runs` inferences on the device: kernels, copies, operations.

        Without `inputs`, all inputs are zeros. The result has the medians by kernel (`by_kernel`)
        and by ONNX node (`by_node`), with their shares of the target's roofline.
        `reports.profile.trace_text` converts it to a trace for Perfetto.
        """
        if inputs is None:
            inputs = {t.name: np.zeros(t.shape, t.dtype) for t in self.inputs}
        return profile_of_runs(self.executable, inputs, runs)

    def enqueue(self, queue: CommandQueue, buffers: Mapping[str, Bindable]) -> None:
        """Enqueue one inference on the caller's in-order queue and buffers, without waiting."""
        self.executable.enqueue(queue, buffers)

    def bind_image(self, name: str, image: Image | None) -> None:
        """Bind an image of the caller to an input or an output; None unbinds it.

        The model must be compiled with `images=[name]`. The image is 2-D with RGBA texels and
        channels of float, half or 8-bit unorm; kernels read unorm as 0 to 1 and clamp to this range
        when they write. The image stays bound for `run` and `enqueue`, which then neither take nor
        return `name`. Raises CloptError if the image does not fit.
        """
        self.executable.bind_image(name, image)

    def save(self, folder: str | Path) -> None:
        """Write the model to `folder`, completely or not at all; `clopt.load` reads it.

        An existing folder is replaced only if clopt wrote all of its files and none has changed.
        """
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        from .backends.saved_model import save_model

        plans = [(module_of(plan.program), plan.source) for plan in (self, self.fallback) if plan]
        save_model(Path(folder), plans, self.weights)

    def save_c(self, folder: str | Path, name: str = "model") -> None:
        """Write the model to `folder` as a C99 library that runs it without Python.

        Its functions are `<name>_create` and so on; the folder's README explains them. The folder
        is written completely or not at all. An existing folder is replaced only if it holds such a
        library and nothing else. Raises CloptError if `name` is not a C identifier.
        """
        check_type("folder", folder, (str, PathLike), "the path of a folder")
        write_c(self, Path(folder), name)

    def save_graphs(self, folder: str | Path) -> None:
        """Write the graphs of accelerators to `folder`, as files for other programs.

        A graph of VTA is an instruction stream, which `vta-objdump` prints, with its weights and
        biases. Raises CloptError if the model has no such graphs, or the folder holds anything
        else.
        """
        from .backends.graph_files import save_graphs

        check_type("folder", folder, (str, PathLike), "the path of a folder")
        save_graphs(Path(folder), self.module, self.weights)


def profile_of_runs(
    executable: Runnable, inputs: Arrays, runs: int, shapes: Shapes | None = None
) -> Profile:
    """Time `runs` inferences of a program; `Runnable.run` explains the shapes."""
    from .dialects.cl import target_of
    from .reports.profile import profile_of

    timings = executable.profile(inputs, runs, shapes)
    program = executable.program
    return profile_of(program, target_of(module_of(program)), timings)


def make_model(
    plans: Sequence[SavedPlan],
    weights: Weights,
    libraries: Mapping[str, str],
    place: Place,
    use_cache: bool,
) -> CompiledModel:
    """Return a model with these plans; later plans are for devices that refuse the first one.

    `libraries` maps accelerators to replacements for the device's own library.
    """
    made: CompiledModel | None = None
    for plan in reversed(plans):
        make = partial(executable_of, plan, weights, libraries, place, use_cache)
        contents = ModuleContents(plan.module, weights, plan.source)
        made = CompiledModel(contents, make, made)
    assert made, "a model has a plan"
    return made


def write_c(model: CompiledModel, path: Path, name: str, table: SizeTable | None = None) -> None:
    """Write a program as a C package, perhaps for the sizes of a table whose program 0 it is."""
    from .backends.host_c import package_files, write_package

    plans = [(planned(each.module), each.source) for each in (model, model.fallback) if each]
    fallback = None if len(plans) == 1 else plans[1]
    write_package(path, package_files(*plans[0], model.weights, name, fallback, table))
