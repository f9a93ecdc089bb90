"""Compiling and running models from Python.

model = clopt.compile("model.onnx", dims={"batch": 1}, device="intel", texture="off")
outputs = model.run({"image": image})
model.save("compiled"); model = clopt.load("compiled")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from .backends.pyopencl_runtime.devices import Device, find_device, list_devices
from .clone import warn_of_hidden_installation
from .compiled_model import CompiledModel, make_model
from .dynamic_model import DynamicModel, compile_any
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
from .ranged_model import RangedModel
from .sequence_model import SequenceModel
from .size_range import Sizes, split_dims
from .static_compilation import StaticCompilation
from .tensor_info import TensorInfo

# Only models that are not in the cache need the compiler itself.
if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .frontends.onnx.importer import ModelProto
    from .machine.facts import Fact
    from .machine.target import Target
    from .weights import Weights

__all__ = [
    "CompiledModel",
    "DynamicModel",
    "Place",
    "Quantization",
    "RangedModel",
    "SequenceModel",
    "TensorInfo",
    "calibrate",
    "compile",
    "list_devices",
    "load",
]


def compile(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Path | Target | None = None,
    dims: Mapping[str, Sizes] | None = None,
    device: DeviceChoice | Place | None = None,
    *,
    precision: str = "f32",
    strict_half: bool = False,
    images: Sequence[str] = (),
    in_place: Mapping[str, str] | None = None,
    quantize: str | Quantization | None = None,
    memory_limit: int | None = None,
    choices: str | Path | None = None,
    tuning: str | Path | None = None,
    fallback: bool = False,
    accelerators: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    explain: bool | str = False,
    use_cache: bool = True,
    **facts: Fact,
) -> CompiledModel:
    """Compile an ONNX model (a path, its bytes, a ModelProto) or a module (a `.mlir` path, an op).

    Without `target`, the code is for `device`, by default the first of `list_devices()`. A `Place`
    names a context, a queue and an arena of the caller as well. With only a target, clopt uses no
    device before the first run. With both, code for the target runs on the device. A target can be
    the path of a `.toml` file. Keywords replace facts of the target, as in `texture="prefer"`; text
    can do the same: `target="adreno-740 texture=prefer"`.

    `dims` binds symbolic dimensions by name. If some stay open, or values of small inputs decide
    shapes, the result is a `DynamicModel`, which compiles programs for the sizes and values that it
    meets. A tuple states the least and the largest size of an open dimension, and perhaps the usual
    one: `dims={"batch": (1, 64)}`, `dims={"batch": (1, 64, 20)}`.
    If inputs or outputs are sequences, optionals or maps, the result is a `SequenceModel`, which
    compiles programs for the lengths that it meets; `dims={"seq": 3}` also states the length of a
    sequence.
    `weights` belong to a module that is not from ONNX.

    `use_cache` keeps built kernels and compiled models on disk for the next process. `explain=True`
    prints tables of all choices on stderr, with their reasons and alternatives. With
    `explain="report"`, `CompiledModel.report` shows them.

    `precision` sets the precision inside an f32 network, whose inputs and outputs stay f32.
    "f16-storage" stores values and weights as half and computes in float. "f16" also lets
    convolutions and matrix products multiply and add halves, if the device can. `quantize="int8"`
    rounds the operands of products with weights to int8; a `Quantization` has further options.
    `CompiledModel.remarks` lists the exceptions.

    Kernels for an f16 network compute with floats and round what they store. With `strict_half`
    they round the result of every operation to f16, like ONNX's reference evaluator. The results of
    one device are then those of any other, but for sums in another order and functions such as
    `exp`. Each operation becomes a kernel, which is slow.

    `images` names the inputs and outputs that the application binds as images of RGBA texels
    (`CompiledModel.bind_image`). Kernels access these images without a copy. A tensor N x C x H x W
    has the width W and the height N * ceil(C / 4) * H. The target must keep values in images.

    `in_place` maps outputs to the inputs that they overwrite, such as the key-value caches of a
    decoder: `in_place={"new_keys": "keys"}`. Callers may bind one array of the device to both. An
    output that appends to its input grows in memory that has room for the largest size of that
    dimension in `dims` (docs/python.md, "Caches").

    `memory_limit` limits the bytes of intermediate results, inside and outside of arenas. clopt
    chooses the fastest plan within the limit, by the target's model. The remarks list what takes
    longer because of it.

    `choices` is a file of decisions, as `clopt -t choices` writes it: forms, layouts, fusions and
    plans. Everything else is decided by a tuning database, which `clopt-tune` writes, or else by
    the target's models. `tuning` is the path of a database. Without it, clopt reads
    `model.tuning.jsonl` beside `model.onnx`, the database in the user's cache, and its own for the
    target. "off", or CLOPT_TUNING=off in the environment, disables all of these. The remarks list
    plans and layouts that were measured on another device.

    An accelerator computes a part of the network if the target's fact named after it asks for that
    (docs/extend/add-an-accelerator.md). Some accelerators need a library on the device.
    `accelerators` maps their names to replacements, such as clopt's "reference", which runs on
    every device and shows the calls that a phone would get. An accelerator with a C library needs a
    C compiler once per model. With `fallback`, clopt compiles the model a second time, to kernels
    alone, and saves both plans. Devices without the accelerator, or whose library refuses the
    model, run the second plan. `CompiledModel.plan` and `plan_reason` report which plan runs, and
    why.

    Raises CloptError for a mistake in the model or the arguments.
    """
    warn_of_hidden_installation()
    fixed, ranges = split_dims(dims)
    options = CompileOptions(
        target=target,
        dims=fixed,
        precision=precision,
        strict_half=strict_half,
        images=images,
        in_place=in_place or {},
        largest={name: each.most for name, each in ranges.items() if in_place and each.most},
        quantization=Quantization.of(quantize),
        memory_limit=memory_limit,
        choices=choices,
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
    return compile_any(StaticCompilation(model, options, place, origin, use_cache), ranges)


def load(
    folder: str | Path,
    device: DeviceChoice | Place | None = None,
    *,
    use_cache: bool = True,
    accelerators: Mapping[str, str] | None = None,
) -> CompiledModel:
    """Load a model that `CompiledModel.save` wrote, which runs only the device's own compiler.

    A model that was saved for ranges of sizes is a `RangedModel`.
    `device`, `accelerators` and `use_cache` mean the same as for `compile`.
    """
    warn_of_hidden_installation()
    check_type("folder", folder, (str, PathLike), "the path that CompiledModel.save wrote to")
    place, libraries = Place.of(device), checked_accelerators(accelerators)
    from .backends.saved_model import load_model
    from .backends.saved_sizes import load_sizes

    if (saved := load_sizes(Path(folder))) is not None:
        compiled = RangedModel.of_saved(saved, libraries, place, use_cache)
        program = compiled.program_at(0)
    else:
        plans, weights = load_model(Path(folder))
        compiled = program = make_model(plans, weights, libraries, place, use_cache)
    program.prepare()
    chosen = program.executable.device if place.is_given else None
    compiled.origin = Origin.of(place, chosen, libraries, use_cache)
    return compiled


def calibrate(device: str | int | Device | None = None) -> Path:
    """Measure a CPU, by default the first of `list_devices()`, and return the file of its facts.

    `compile` does the same when it first compiles for a CPU of this machine. The facts are kept in
    the user's cache, by processor and driver. The file is a target for any machine: `target=path`.
    With CLOPT_CALIBRATION=off in the environment, or if the cache cannot be written, `compile` uses
    the facts that clopt ships for the device's runtime. Raises CloptError if the device is not a
    CPU or the file cannot be written.
    """
    check_type("device", device, (str, int, Device), A_DEVICE)
    from .backends.pyopencl_runtime.calibration import calibrate as calibrate_device

    return calibrate_device(find_device(device))
