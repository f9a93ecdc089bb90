"""Compiling and running models from Python.

model = clopt.compile("model.onnx", dims={"batch": 1}, device="intel", texture="off")
outputs = model.run({"image": image})
model.save("compiled"); model = clopt.load("compiled")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import A_DEVICE, check_place
from .backends.clml.names import CLML_LIBRARIES
from .backends.pyopencl_runtime.devices import Device, find_device, list_devices
from .backends.pyopencl_runtime.place import choose_place
from .clone import warn_of_hidden_installation
from .compiled_cache import Request
from .compiled_model import CompiledModel, make_model
from .garbage import collected_rarely
from .lazy_exports import lazy_exports
from .messages.arguments import check_type
from .tensor_info import TensorInfo

# The compiler itself is imported for a model that is not in the cache.
if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.clml.device import is_clml_runtime_enabled
    from .backends.pyopencl_runtime import CommandQueue, Context, DeviceMemory
    from .dialects.cl.target import Fact, Target
    from .frontends.onnx.importer import ModelProto
    from .quantization import Arrays
    from .weights import Weights

__all__ = [
    "CLML_LIBRARIES",
    "CompiledModel",
    "TensorInfo",
    "calibrate",
    "compile",
    "is_clml_runtime_enabled",
    "list_devices",
    "load",
]

__getattr__ = lazy_exports(
    __name__.rpartition(".")[0], {"is_clml_runtime_enabled": ".backends.clml.device"}
)


@collected_rarely()
def compile(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Path | Target | None = None,
    dims: Mapping[str, int] | None = None,
    device: str | int | Device | None = None,
    *,
    weights: Weights | None = None,
    context: Context | None = None,
    queue: CommandQueue | None = None,
    arena: Sequence[DeviceMemory] | None = None,
    use_cache: bool = True,
    clml_library: str | None = None,
    fallback: bool = False,
    precision: str = "f32",
    explain: bool = False,
    plans: str | Path | None = None,
    tuning: str | Path | None = None,
    memory_limit: int | None = None,
    images: Sequence[str] = (),
    quantize: str | None = None,
    calibration: Arrays | str | Path | None = None,
    calibration_method: str | None = None,
    quantization_report: bool = False,
    round_scales: bool = False,
    **facts: Fact,
) -> CompiledModel:
    """Compile an ONNX model (a path, its bytes, a ModelProto) or a module (a `.mlir` path, an op).

    Without the name of a target, the code is for the device that will run it: that of `queue` or
    `context`, else `device`, else the first of `list_devices()`; `calibrate` says what clopt knows
    of a CPU. With a target alone, clopt touches no device before the first run; with both, code for
    the target runs on the device. A path that ends in `.toml` is a target, too. Keywords change
    facts of the target, as in `texture="prefer"`; so does the text,
    `target="adreno-740 texture=prefer"`.

    `precision` is that of the floats inside of an f32 network, whose inputs and outputs stay f32:
    "f16-storage" stores values and weights as half and computes in float, "f16" also lets
    convolutions and matrix products multiply and add halves, where the device can.
    `CompiledModel.remarks` lists the exceptions. With `explain` a table on stderr says which layout
    each value has, and why.

    `plans` is a file of plans for kernels, as `clopt -t plans` writes it. Other kernels get the
    best of a tuning database, which `clopt-tune` writes, or else their default, and layouts cost
    what that database says. `tuning` is the path of one. Without it, clopt takes those that it
    finds: `model.tuning.jsonl` beside `model.onnx`, that in the user's cache, and what it brings
    for the target; none with "off", or with CLOPT_TUNING=off in the environment.
    `CompiledModel.remarks` tells of plans and layouts that another device measured.

    `memory_limit` is the most bytes that intermediate results may take, those of the arenas and
    any outside of them. Within it the plan is the fastest by the target's model;
    `CompiledModel.remarks` says what takes longer for it.

    `images` names the inputs and outputs that the application binds as images of RGBA texels
    (`CompiledModel.bind_image`): their kernels read and write these without a copy. A tensor
    N x C x H x W has the width W and the height N * ceil(C / 4) * H. Needs a target that keeps
    values in images.

    `quantize="int8"` rounds what products with weights read to int8, "int8-per-channel" with a
    scale for each output channel of the weights. Scales are powers of two. `calibration` holds
    samples of the inputs, arrays by name or the path of an .npz file, in batches along axis 0: the
    float network runs on them, on `device` or the first one. From their values follow ranges by
    `calibration_method`: "kl" (default) keeps most of the distribution, "max" all, "percentile"
    leaves out one element in a hundred thousand; "global-scale" takes 8 for all and needs no
    data. With `quantization_report` the data run again: `CompiledModel.quantization` has the error
    of each value beside the float network. `round_scales` gives a model that is quantised already
    scales of powers of two; `CompiledModel.remarks` tells the error of each weight.

    `arena` is a list of buffers of the context for the intermediate results, each of at least
    `executable.arena_bytes`. Models on one queue may share them.

    C code calls the operations of CLML (the fact `clml` of the target), so they need a C compiler
    once for each model. The device's library computes them, or with clml_library="reference" ours,
    which runs on every device and shows the calls that a phone would get. With `fallback` clopt
    compiles the model a second time, to kernels alone, and saves both plans: devices without CLML,
    and those whose CLML refuses, run the second. `CompiledModel.plan` and `plan_reason` tell which
    one runs, and why.

    `dims` binds symbolic dimensions by name; `weights` belong to a module that is not from ONNX.
    `use_cache` keeps built kernels and compiled models on disk for the next process. Raises
    CloptError for a mistake in the model or the arguments.
    """
    warn_of_hidden_installation()
    options: dict[str, Any] = {
        "fallback": fallback,
        "precision": precision,
        "plans": plans,
        "tuning": tuning,
        "memory_limit": memory_limit,
        "images": images,
        "round_scales": round_scales,
        "facts": facts,
    }
    uncached: dict[str, Any] = {
        "weights": weights,
        "clml_library": clml_library,
        "explain": explain,
        "quantize": quantize,
        "calibration": calibration,
        "calibration_method": calibration_method,
        "quantization_report": quantization_report,
    }
    place: dict[str, Any] = {"context": context, "queue": queue}
    if any(given is not None for given in (device, context, queue)) or target is None:
        check_place(device, context, queue, arena)
        device, *place_made = choose_place(device, context, queue)
        place = dict(zip(place, place_made, strict=True))
    setup: dict[str, Any] = {"arena": arena, "use_cache": use_cache, **place}

    def compile_now() -> CompiledModel:
        from .compilation import compile_model

        return compile_model(model, target, dims, device, **options, **uncached, **setup)

    request = None
    if use_cache and isinstance(device, Device) and not any(map(_is_given, uncached.values())):
        request = Request.of(model, device, {"target": target, "dims": dims, **options})
    if request is not None and (found := request.find(compile_now, device=device, **setup)):
        return found
    compiled = compile_now()
    if request is not None:
        request.keep(compiled, device=device, **setup)
    if device is not None:
        # Errors of the device's compiler belong to this call and not to the first inference.
        compiled.prepare()
    return compiled


def _is_given(value: object) -> bool:
    return value is not None and value is not False


@collected_rarely()
def load(
    folder: str | Path,
    device: str | int | Device | None = None,
    *,
    context: Context | None = None,
    queue: CommandQueue | None = None,
    arena: Sequence[DeviceMemory] | None = None,
    use_cache: bool = True,
    clml_library: str | None = None,
) -> CompiledModel:
    """Load a model that `CompiledModel.save` wrote; only the device's own compiler runs.

    The arguments are those of `compile`.
    """
    warn_of_hidden_installation()
    check_type("folder", folder, (str, PathLike), "the path that CompiledModel.save wrote to")
    check_place(device, context, queue, arena)
    from .backends.saved_model import load_model

    plans, weights = load_model(Path(folder))
    compiled = make_model(
        plans,
        weights,
        {} if clml_library is None else {"clml": clml_library},
        device=device,
        context=context,
        queue=queue,
        use_cache=use_cache,
        arena=arena,
    )
    compiled.prepare()
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
