"""Compiling and running models from Python.

model = clopt.compile("model.onnx", dims={"batch": 1}, device="intel", texture="off")
outputs = model.run({"image": image})
model.save("compiled"); model = clopt.load("compiled")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .backends.pyopencl_runtime.devices import Device, find_device, list_devices
from .clone import warn_of_hidden_installation
from .compiled_cache import Request
from .compiled_model import CompiledModel, make_model
from .messages.arguments import check_type
from .options import (
    A_DEVICE,
    CompileOptions,
    DeviceChoice,
    Origin,
    Place,
    Quantization,
    checked_accelerators,
)
from .tensor_info import TensorInfo

# The compiler itself is imported for a model that is not in the cache.
if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .frontends.onnx.importer import ModelProto
    from .machine.facts import Fact
    from .machine.target import Target
    from .weights import Weights

__all__ = [
    "CompiledModel",
    "Place",
    "Quantization",
    "TensorInfo",
    "calibrate",
    "compile",
    "list_devices",
    "load",
]


def compile(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Path | Target | None = None,
    dims: Mapping[str, int] | None = None,
    device: DeviceChoice | Place | None = None,
    *,
    precision: str = "f32",
    images: Sequence[str] = (),
    quantize: str | Quantization | None = None,
    memory_limit: int | None = None,
    plans: str | Path | None = None,
    tuning: str | Path | None = None,
    fallback: bool = False,
    accelerators: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    explain: bool | str = False,
    use_cache: bool = True,
    **facts: Fact,
) -> CompiledModel:
    """Compile an ONNX model (a path, its bytes, a ModelProto) or a module (a `.mlir` path, an op).

    Without the name of a target, the code is for `device`, or the first of `list_devices()`. A
    `Place` says more about it: a context, a queue and an arena of the caller. With a target alone,
    clopt touches no device before the first run; with both, code for the target runs on the device.
    A path that ends in `.toml` is a target, too. Keywords change facts of the target, as in
    `texture="prefer"`; so does the text, `target="adreno-740 texture=prefer"`.

    `dims` binds symbolic dimensions by name; `weights` belong to a module that is not from ONNX.
    `use_cache` keeps built kernels and compiled models on disk for the next process. With `explain`
    a table on stderr says which layout each value has, and why; with `explain="report"`
    `CompiledModel.report` shows that, and the plan of each kernel.

    `precision` is that of the floats inside of an f32 network, whose inputs and outputs stay f32:
    "f16-storage" stores values and weights as half and computes in float, "f16" also lets
    convolutions and matrix products multiply and add halves, where the device can.
    `quantize="int8"` rounds what products with weights read to int8; a `Quantization` says more.
    `CompiledModel.remarks` lists the exceptions.

    `images` names the inputs and outputs that the application binds as images of RGBA texels
    (`CompiledModel.bind_image`): their kernels read and write these without a copy. A tensor
    N x C x H x W has the width W and the height N * ceil(C / 4) * H. Needs a target that keeps
    values in images.

    `memory_limit` is the most bytes that intermediate results may take, those of the arenas and
    any outside of them. Within it the plan is the fastest by the target's model; the remarks say
    what takes longer for it.

    `plans` is a file of plans for kernels, as `clopt -t plans` writes it. Other kernels get the
    best of a tuning database, which `clopt-tune` writes, or else their default, and layouts cost
    what that database says. `tuning` is the path of one. Without it, clopt takes those that it
    finds: `model.tuning.jsonl` beside `model.onnx`, that in the user's cache, and what it brings
    for the target; none with "off", or with CLOPT_TUNING=off in the environment. The remarks tell
    of plans and layouts that another device measured.

    An accelerator computes a part of the network where the target's fact of its name says so
    (docs/extend/add-an-accelerator.md); some need a library of the device. `accelerators` maps
    their names to libraries that serve instead, such as our "reference", which runs on every device
    and shows the calls that a phone would get. A C library needs a C compiler once for each model.
    With `fallback` clopt compiles the model a second time, to kernels alone, and saves both plans:
    devices without the accelerator, and those whose library refuses, run the second.
    `CompiledModel.plan` and `plan_reason` tell which one runs, and why.

    Raises CloptError for a mistake in the model or the arguments.
    """
    warn_of_hidden_installation()
    options = CompileOptions(
        target=target,
        dims=dims,
        precision=precision,
        images=images,
        quantization=Quantization.of(quantize),
        memory_limit=memory_limit,
        plans=plans,
        tuning=tuning,
        fallback=fallback,
        accelerators=checked_accelerators(accelerators),
        weights=weights,
        explain=explain,
        facts=facts,
    )
    place = asked = Place.of(device)
    if place.is_given or target is None:
        place = place.chosen()
    chosen = place.device if isinstance(place.device, Device) else None
    origin = Origin.of(asked, chosen, options.accelerators, use_cache)
    request = Request.of(model, options, place) if use_cache else None
    if request is not None and (found := request.find()):
        found.origin = origin
        return found
    from .compilation import compile_model

    with _compiler_ahead(place) as get_ready:
        compiled = compile_model(model, options, place, use_cache, get_ready)
        compiled.origin = origin
        if request is not None:
            request.keep(compiled)
        if place.is_given:
            # Errors of the device's compiler belong to this call and not to the first inference.
            compiled.prepare()
    return compiled


def _compiler_ahead(place: Place) -> AbstractContextManager[Callable[[int], None]]:
    """Return `compiler_ahead` of the device on which kernels are built before `compile` returns."""
    from .backends.pyopencl_runtime.ahead import compiler_ahead

    if place.is_given and isinstance(place.device, Device):
        return compiler_ahead(place.device)
    return nullcontext(lambda _: None)


def load(
    folder: str | Path,
    device: DeviceChoice | Place | None = None,
    *,
    use_cache: bool = True,
    accelerators: Mapping[str, str] | None = None,
) -> CompiledModel:
    """Load a model that `CompiledModel.save` wrote; only the device's own compiler runs.

    The arguments are those of `compile`.
    """
    warn_of_hidden_installation()
    check_type("folder", folder, (str, PathLike), "the path that CompiledModel.save wrote to")
    place, libraries = Place.of(device), checked_accelerators(accelerators)
    from .backends.saved_model import load_model

    plans, weights = load_model(Path(folder))
    compiled = make_model(plans, weights, libraries, place, use_cache)
    compiled.prepare()
    chosen = compiled.executable.device if place.is_given else None
    compiled.origin = Origin.of(place, chosen, libraries, use_cache)
    return compiled


def calibrate(device: str | int | Device | None = None) -> Path:
    """Measure a CPU, by default the first of `list_devices()`, and return the file of its facts.

    `compile` does so when it compiles for a live CPU for the first time; the facts are kept in the
    user's cache, for this processor and driver. The file is a target, `target=path`, on any
    machine. With CLOPT_CALIBRATION=off in the environment, `compile` takes the facts of the
    device's runtime as clopt ships them, which is also what happens where the cache cannot be
    written. Raises CloptError for a device that is no CPU, and where the file cannot be kept.
    """
    check_type("device", device, (str, int, Device), A_DEVICE)
    from .backends.pyopencl_runtime.calibration import calibrate as calibrate_device

    return calibrate_device(find_device(device))
