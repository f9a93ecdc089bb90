"""The compilation of a model, from its file or module to one queue program."""

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
from .arguments import check_place
from .backends.offload import library_name
from .backends.programs import program_of, weights_read
from .backends.pyopencl_runtime import (
    CommandQueue,
    Context,
    Device,
    DeviceMemory,
    choose_place,
    live_target,
)
from .backends.pyopencl_runtime.library_runtime import LibraryRuntime
from .backends.saved_model import Plan
from .backends.targets import TargetChoice, change_facts
from .compiled_model import CompiledModel, make_model
from .context import CloptContext, explaining
from .dialects import nn
from .dialects.cl import ProgramOp, Target, set_target, target_of
from .dialects.cl.target import Fact, fact_types
from .errors import CloptError
from .messages.arguments import check_keywords, check_type, checked_dims
from .messages.sentences import reason_of
from .messages.source import Source, SourceModule
from .weights import Weights

if TYPE_CHECKING:
    from .frontends.onnx.importer import ModelProto
    from .passes.pipelines import Tuning
    from .quantization import Arrays
    from .reports.quantization import QuantizationReport


def compile_model(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Path | Target | None,
    dims: Mapping[str, int] | None,
    device: str | int | Device | None,
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
    facts: Mapping[str, Fact],
) -> CompiledModel:
    """Compile a model as `clopt.compile` says, without looking for it in the cache."""
    from .api import compile
    from .passes.nn.mixed_precision import PRECISIONS
    from .tuning.places import OFF, tuning_for

    check_type("target", target, (str, PathLike, Target), _A_TARGET)
    check_place(device, context, queue, arena)
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
    # Passes leave unused arrays behind, which they have folded or packed.
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
    return compiled


_A_TARGET = 'a name and facts, for example "adreno-740", the path of a .toml file, or a Target'


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
    from .passes.nn.embedding.contents import checked_contents

    checked_contents(module).refuse_mixed(
        "a compiled model is a network alone, so lower this module by the pipeline opencl, which "
        "leaves its functions with runs of programs"
    )
    return module


def _parse(path: Path, ctx: CloptContext) -> ModuleOp:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CloptError(f"Cannot read {path}: {reason_of(error)}.") from error
    parsed = SourceModule.parse(ctx, Source(str(path), text))
    parsed.verify()
    return parsed.module


_NO_SAMPLES = (
    "without calibration data every value is quantised for the range -8 to 8, which may cost "
    "accuracy; give samples of the inputs (--calibrate, calibration=)"
)


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
    from .passes.remarks import add_remarks
    from .quantization import Quantization, quantize

    asked = Quantization.of(form, data, method, report)
    if data is None and method is None:
        add_remarks(module, [_NO_SAMPLES])
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
