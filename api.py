"""Compiling and running models from Python.

model = clopt.compile("model.onnx", dims={"batch": 1}, device="intel", texture="off")
outputs = model.run({"image": image})
model.save("compiled"); model = clopt.load("compiled")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from .accelerators import accelerators
from .backends.clml.device import CLML_LIBRARIES, is_clml_runtime_enabled
from .backends.offload import library_name
from .backends.programs import program_of, weights_read
from .backends.pyopencl_runtime import (
    CommandQueue,
    Context,
    Device,
    DeviceMemory,
    choose_place,
    find_device,
    list_devices,
    live_target,
)
from .backends.pyopencl_runtime import calibrate as calibrate_device
from .backends.pyopencl_runtime.library_runtime import LibraryRuntime
from .backends.saved_model import Plan, load_model
from .backends.targets import TargetChoice, change_facts
from .compiled_model import CompiledModel, make_model
from .context import CloptContext, collected_rarely, explaining
from .dialects import nn
from .dialects.cl import ProgramOp, Target, set_target, target_of
from .dialects.cl.target import Fact, fact_types
from .errors import CloptError
from .messages.arguments import check_keywords, check_type, checked_dims
from .messages.sentences import reason_of
from .messages.source import Source, SourceModule
from .tensor_info import TensorInfo
from .weights import Weights

if TYPE_CHECKING:
    from .frontends.onnx.importer import ModelProto
    from .passes.pipelines import Tuning
    from .quantization import Arrays
    from .reports.quantization import QuantizationReport

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
    `use_cache` keeps the built kernels on disk for the next process. Raises CloptError for a
    mistake in the model or the arguments.
    """
    from .passes.nn.mixed_precision import PRECISIONS
    from .tuning.places import OFF, tuning_for

    _check_types(target, device, context, queue, arena)
    check_type("weights", weights, (Weights,), "a clopt.weights.Weights")
    check_type("plans", plans, (str, PathLike), "the path of a file of plans")
    check_type("tuning", tuning, (str, PathLike), 'the path of a tuning database, or "off"')
    check_type("memory_limit", memory_limit, (int,), "a number of bytes")
    check_keywords(facts, fact_types(), signature(compile).parameters)
    check_type("images", images, (list, tuple), "a list of names of inputs and outputs")
    dims = checked_dims(dims)
    if precision not in PRECISIONS:
        raise CloptError(f'precision is one of {", ".join(PRECISIONS)}, not "{precision}".')
    stand_ins = {} if clml_library is None else {"clml": clml_library}
    chosen, device, context, queue = _choose_target(target, stand_ins, device, context, queue)
    ctx = CloptContext(weights=weights or Weights())
    module = _read_module(model, dims, ctx)

    def prepare(observed: ModuleOp) -> CompiledModel:
        here = partial(compile, device=device, context=context, queue=queue)
        return here(observed, weights=ctx.weights, use_cache=use_cache, tuning=OFF)

    calibrating = (calibration, calibration_method, quantization_report)
    report = _quantize(module, ctx, prepare, quantize, *calibrating)
    if round_scales:
        _round_scales(module, ctx)
    set_target(module, change_facts(chosen, facts))
    _mark_images(module, ctx, images)
    kernels = module.clone() if fallback else None
    kept = None if plans is None else str(plans)
    tuned = tuning_for(model, tuning, device if isinstance(device, Device) else None)
    _lower(module, ctx, precision, explain, kept, tuned, memory_limit)
    alternatives = [Plan(module)]
    if kernels is not None and (library := library_name(program_of(module))):
        set_target(kernels, change_facts(target_of(kernels), {library: "off"}))
        _lower(kernels, ctx, precision, False, kept, tuned, memory_limit)
        alternatives.append(Plan(kernels))
    # Passes leave arrays behind that nothing reads: those they folded or arranged in other ways.
    keys = {key for each in alternatives for key in weights_read(each.module)}
    compiled = make_model(
        alternatives,
        ctx.weights.subset(key for key in ctx.weights.keys() if key in keys),
        stand_ins,
        device=device,
        context=context,
        queue=queue,
        use_cache=use_cache,
        arena=arena,
    )
    compiled.quantization = report
    if device is not None:
        # Errors of the device's compiler belong to this call and not to the first inference.
        compiled.prepare()
    return compiled


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
    check_type("folder", folder, (str, PathLike), "the path that CompiledModel.save wrote to")
    _check_types(None, device, context, queue, arena)
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
    check_type("device", device, (str, int, Device), _A_DEVICE)
    return calibrate_device(find_device(device))


_A_DEVICE = "a part of its name, its number in clopt.list_devices(), or an entry of it"


def _check_types(
    target: object, device: object, context: object, queue: object, arena: object
) -> None:
    """Refuse arguments of `compile` and `load` that are of another type than annotated."""
    check_type(
        "target",
        target,
        (str, PathLike, Target),
        'a name and facts, for example "adreno-740", the path of a .toml file, or a Target',
    )
    check_type("device", device, (str, int, Device), _A_DEVICE)
    check_type("context", context, (Context,), "a pyopencl.Context")
    check_type("queue", queue, (CommandQueue,), "a pyopencl.CommandQueue")
    check_type("arena", arena, (Sequence,), "a list of buffers of pyopencl")


def _choose_target(
    target: str | Path | Target | None,
    stand_ins: Mapping[str, str],
    device: str | int | Device | None,
    context: Context | None,
    queue: CommandQueue | None,
) -> tuple[Target, str | int | Device | None, Context | None, CommandQueue | None]:
    """The target with the device, context and queue; the latter are None for a target alone."""
    choice = TargetChoice(None, {})
    if isinstance(target, str | PathLike):
        choice = TargetChoice.parse(str(target))
    described = target if isinstance(target, Target) else choice.load()
    if described is None or any(given is not None for given in (device, context, queue)):
        device, context, queue = choose_place(device, context, queue)
        described = described or choice.change(live_target(device))
    for name, library in stand_ins.items():
        runtime: LibraryRuntime = accelerators()[name].load("runtime")()
        described = described.with_facts(runtime.stand_in_facts(library, described))
    return described, device, context, queue


def _read_module(
    model: str | Path | bytes | ModelProto | ModuleOp,
    dims: Mapping[str, int] | None,
    ctx: CloptContext,
) -> ModuleOp:
    """A new module for the model, its weights in `ctx`."""
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
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CloptError(f"Cannot read {path}: {reason_of(error)}.") from error
    parsed = SourceModule.parse(ctx, Source(str(path), text))
    parsed.verify()
    return parsed.module


def _quantize(
    module: ModuleOp,
    ctx: CloptContext,
    prepare: Callable[[ModuleOp], CompiledModel],
    form: str | None,
    data: Arrays | str | Path | None,
    method: str | None,
    report: bool,
) -> QuantizationReport | None:
    """Quantise `module`, if a form is given; `prepare` compiles what runs on the data."""
    if form is None:
        if data is None and method is None and not report:
            return None
        raise CloptError('calibration is for quantised networks; pass quantize="int8", too.')
    from .quantization import Quantization, quantize

    asked = Quantization.of(form, data, method, report)
    return quantize(module, ctx, asked, lambda observed: prepare(observed).run)


def _round_scales(module: ModuleOp, ctx: CloptContext) -> None:
    """Give a quantised module scales of powers of two."""
    from .passes.nn.round_scales import NNRoundScalesPass
    from .passes.pipelines import run_pipeline

    run_pipeline(ctx, module, "simplify")
    NNRoundScalesPass().apply(ctx, module)


def _mark_images(module: ModuleOp, ctx: CloptContext, names: Sequence[str]) -> None:
    """Mark the inputs and outputs that are images, before anything depends on their layout."""
    from .passes.nn.mark_images import NNMarkImagesPass

    for network in nn.networks_of(module):
        nn.name_parameters(network)
    NNMarkImagesPass(tuple(names)).apply(ctx, module)


def _lower(
    module: ModuleOp,
    ctx: CloptContext,
    precision: str,
    explain: bool,
    plans: str | None,
    tuning: Tuning,
    memory_limit: int | None,
) -> None:
    """Lower `module` to one queue program, unless it is one."""
    if any(isinstance(op, ProgramOp) for op in module.body.block.ops):
        if memory_limit is not None:
            raise CloptError("memory_limit is for networks; the memory of a program is planned.")
        try:
            module.verify()  # for this target: the module may come from another
        except VerifyException as error:
            raise CloptError(f"{str(error).splitlines()[0]}.") from error
        return
    networks = nn.networks_of(module)
    if not networks:
        raise CloptError("the module holds no network, which is a func.func of nn operations.")
    from .passes.pipelines import run_pipeline

    with explaining(ctx):
        run_pipeline(
            ctx,
            module,
            "opencl",
            precision=precision,
            explain=explain,
            plans=plans,
            tuning=tuning,
            memory_limit=memory_limit,
        )
