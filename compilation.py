"""The compilation of a model, from its file or module to one queue program."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.utils.exceptions import VerifyException

from .accelerators import accelerators
from .backends.offload import optional_accelerators
from .backends.programs import program_of, weights_read
from .backends.pyopencl_runtime import Device
from .backends.pyopencl_runtime.calibration import start_live_target
from .backends.pyopencl_runtime.library_runtime import LibraryRuntime
from .backends.saved_model import SavedPlan
from .compiled_model import CompiledModel, make_model
from .context import CloptContext, explaining, weights_of
from .decisions.choice_file import read_choices
from .decisions.choices import demand, remark_unmatched
from .dialects import nn, tir
from .dialects.cl import RANGE, ProgramOp, RangeAttr, Target, set_target, target_of
from .errors import CloptError
from .formats import format_of
from .in_place import share_memory
from .messages.arguments import check_keywords, check_type
from .messages.explanations import tables
from .messages.sentences import reason_of
from .messages.source import Source, SourceModule
from .messages.stages import stage
from .options import REPORT, CompileOptions, Place, Quantization
from .quantized_compilation import quantized
from .restriction import masks_of
from .targets import TargetChoice, change_facts, fact_types, needs_shifts, with_facts
from .universe import frontend
from .weights import Array, Weights

if TYPE_CHECKING:
    from xdsl.passes import ModulePass, PassPipelineCallbackType

    from .decisions.database import Tuning
    from .frontends.onnx.importer import Model, ModelProto
    from .reports.decisions import Decisions

_log = logging.getLogger(__name__)


def compile_model(
    model: str | Path | bytes | ModelProto | ModuleOp,
    options: CompileOptions,
    place: Place,
    use_cache: bool,
    get_ready: Callable[[int], None] = lambda _: None,
    parsed: Model | None = None,
) -> CompiledModel:
    """Compile a model as documented at `clopt.compile`, without reading the cache.

    `get_ready` is called as soon as the number of kernels is known. `parsed` is the content of an
    ONNX model that was read before.
    """
    from .tuning.places import tuning_for

    _check(options)
    target, place = _choose_target(options, place)
    ctx = CloptContext(weights=options.weights or Weights())
    with stage(_log, "reading the model"):
        parsed = _with_elements(model, options, parsed)
        module = read_module(model, options.dims, ctx, options.values, parsed, options.strict_half)
    share_memory(module, options, model if parsed is None else parsed)
    if options.changes:
        from .passes.nn.restriction import apply_changes

        apply_changes(module, options.changes)
    described = change_facts(target(), options.facts)
    asked = options.quantization
    report = quantized(module, ctx, asked, needs_shifts(described), place, use_cache)
    set_target(module, described)
    if options.ranged is not None:
        _mark_range(module, options, options.ranged, model if parsed is None else parsed)
    _mark_images(module, ctx, options.images)
    if options.choices is not None:
        demand(module, read_choices(Path(options.choices)))
    kernels = module.clone() if options.fallback else None
    device = place.device if isinstance(place.device, Device) else None
    tuned = tuning_for(model, options.tuning, device)
    decisions = _lower(module, ctx, options, tuned, get_ready)
    if options.choices is not None:
        remark_unmatched(module, str(options.choices))
    alternatives = [SavedPlan(module)]
    if kernels is not None and (names := optional_accelerators(program_of(module))):
        set_target(kernels, change_facts(target_of(kernels), dict.fromkeys(names, "off")))
        _lower(kernels, ctx, replace(options, explain=False), tuned)
        alternatives.append(SavedPlan(kernels))
    # Passes fold or pack arrays but do not remove the originals.
    keys = {key for each in alternatives for key in weights_read(each.module)}
    weights = ctx.weights.subset(key for key in ctx.weights.keys() if key in keys)
    compiled = make_model(alternatives, weights, options.accelerators, place, use_cache)
    compiled.quantization = report
    compiled.decisions = decisions
    return compiled


def _with_elements(
    model: str | Path | bytes | ModelProto | ModuleOp, options: CompileOptions, parsed: Model | None
) -> Model | None:
    """Return the content of an ONNX model with the elements in `options`; None for other models.

    Raises OpenSequencesError if inputs or outputs are sequences and `options` lacks the elements.
    """
    is_file = isinstance(model, str | Path)
    if isinstance(model, ModuleOp) or (is_file and format_of(model) != "onnx"):
        return parsed
    from .frontends.onnx.importer import refuse_unknown_elements
    from .frontends.onnx.model import read_model

    content = replace(parsed or read_model(model), elements=options.elements)
    refuse_unknown_elements(content)
    return content


_A_TARGET = 'a name and facts, for example "adreno-740", the path of a .toml file, or a Target'

_FIELDS = {
    each.name: f"{argument}=clopt.{kind.__name__}({each.name}=...)"
    for argument, kind in (("device", Place), ("quantize", Quantization))
    for each in fields(kind)
}


def _check(options: CompileOptions) -> None:
    """Refuse options of a wrong type, and keywords without a meaning."""
    from .api import compile

    check_type("target", options.target, (str, PathLike, Target), _A_TARGET)
    check_type("weights", options.weights, (Weights,), "a clopt.weights.Weights")
    check_type("choices", options.choices, (str, PathLike), "the path of a file of choices")
    check_type("tuning", options.tuning, (str, PathLike), 'the path of a tuning database, or "off"')
    check_type("memory_limit", options.memory_limit, (int,), "a number of bytes")
    check_type("images", options.images, (list, tuple), "a list of names of inputs and outputs")
    check_type("in_place", options.in_place, (Mapping,), "a mapping of outputs to inputs")
    check_keywords(options.facts, fact_types(), signature(compile).parameters, _FIELDS)
    if options.explain not in (False, True, REPORT):
        raise CloptError(f'explain must be True, False or "{REPORT}", not {options.explain!r}.')
    check_precision(options.precision)
    check_type("strict_half", options.strict_half, (bool,), "True or False")
    if options.strict_half and options.precision != "f32":
        raise CloptError(
            "strict_half is for f16 networks, and precision for f32 networks; leave one of them "
            "out."
        )


def check_precision(precision: str) -> None:
    """Raise CloptError for an unknown precision."""
    from .passes.nn.mixed_precision import PRECISIONS

    if precision not in PRECISIONS:
        names = ", ".join(PRECISIONS)
        raise CloptError(f'precision must be one of {names}, not "{precision}".')


def _choose_target(options: CompileOptions, place: Place) -> tuple[Callable[[], Target], Place]:
    """Return the target, and the place with its device; a named target leaves the place as it is.

    If a device must be measured, this starts here and ends when the target is needed.
    """
    target = options.target
    choice = TargetChoice(None, {})
    if isinstance(target, str | PathLike):
        choice = TargetChoice.parse(str(target))
    named = target if isinstance(target, Target) else choice.load()
    if named is not None:
        return lambda: _with_stand_ins(named, options), place
    place = place.chosen()
    assert isinstance(place.device, Device)
    live = start_live_target(place.device)
    return lambda: _with_stand_ins(choice.change(live()), options), place


def _with_stand_ins(described: Target, options: CompileOptions) -> Target:
    """Return the target with the facts of the libraries that replace the device's own."""
    for name, library in options.accelerators.items():
        runtime: LibraryRuntime = accelerators()[name].load("runtime")()
        described = with_facts(described, runtime.stand_in_facts(library, described))
    return described


def read_module(
    model: str | Path | bytes | ModelProto | ModuleOp,
    dims: Mapping[str, int] | None,
    ctx: CloptContext,
    values: Mapping[str, Array] | None = None,
    parsed: Model | None = None,
    strict_half: bool = False,
) -> ModuleOp:
    """Return a new module of the model; its weights are stored in `ctx`.

    `values` are inputs that become constants, `parsed` is the content of the model, and
    `strict_half` imports operators on halves by their steps; only ONNX models have them.
    """
    format_ = format_of(model) if isinstance(model, str | Path) else "onnx"
    if isinstance(model, ModuleOp):
        module = _imported(SourceModule(model.clone(), Source("the module")), ctx)
    elif isinstance(model, str | Path) and format_ == "mlir":
        module = _imported(_parse(Path(model), ctx), ctx)
    elif values or parsed is not None or (strict_half and format_ == "onnx"):
        content = model if parsed is None else parsed
        return frontend(format_)(content, ctx.weights, dims, values, strict_half=strict_half)
    else:
        return frontend(format_)(model, ctx.weights, dims)
    if dims:
        raise CloptError(
            "dims binds symbolic dimensions of ONNX models; modules have fixed dimensions."
        )
    weights_of(ctx, module)  # adopts the module's own weights, if any
    nn.set_module_weights(module, None)
    from .passes.nn.embedding.contents import checked_contents
    from .passes.nn.inline_calls import NNInlineCallsPass

    NNInlineCallsPass().apply(ctx, module)
    checked_contents(module).refuse_mixed(
        "a compiled model is a network alone, so lower this module by the pipeline opencl, which "
        "leaves its functions with runs of programs"
    )
    return module


def _imported(read: SourceModule, ctx: CloptContext) -> ModuleOp:
    """Return a module of networks: the module itself, or its linalg functions converted to nn."""
    if nn.networks_of(read.module) or not _holds_tensors(read.module):
        return read.module
    return frontend("linalg")(read, ctx.weights)


def _holds_tensors(module: ModuleOp) -> bool:
    """Return whether functions have tensor arguments or results, like other compilers' networks."""
    return any(
        isinstance(type, TensorType)
        for op in module.ops
        if isinstance(op, func.FuncOp)
        for type in (*op.function_type.inputs, *op.function_type.outputs)
    )


def _parse(path: Path, ctx: CloptContext) -> SourceModule:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CloptError(f"Cannot read {path}: {reason_of(error)}.") from error
    parsed = SourceModule.parse(ctx, Source(str(path), text))
    parsed.verify()
    return parsed


def _mark_range(
    module: ModuleOp, options: CompileOptions, ranged: tuple[str, int], source: object
) -> None:
    """Note the symbol whose smaller values the program also serves."""
    from .frontends.onnx.declared import ranged_ports
    from .frontends.onnx.model import Model, snapshot

    (symbol, least), dims = ranged, options.dims or {}
    if symbol not in dims or isinstance(source, ModuleOp):
        raise CloptError(f'ranged names "{symbol}", which is not a dimension in dims.')
    model = source if isinstance(source, Model) else snapshot(source)
    ports = ranged_ports(model, dims, symbol)
    guards = masks_of(options.changes, _input_sizes(module), dims[symbol])
    module.attributes[RANGE] = RangeAttr.of(symbol, least, dims[symbol], ports, guards)


def _input_sizes(module: ModuleOp) -> dict[str, int]:
    """Return the numbers of elements of the inputs of a module's network by name."""
    (network,) = nn.entries_of(module)
    values = zip(nn.parameter_names(network), network.body.block.args, strict=False)
    return {name: nn.count(nn.shape_of(value)) for name, value in values}


def _mark_images(module: ModuleOp, ctx: CloptContext, names: Sequence[str]) -> None:
    """Mark the inputs and outputs that are images, before any pass depends on their layout."""
    from .passes.nn.mark_images import NNMarkImagesPass

    for network in nn.entries_of(module):
        nn.name_parameters(network)
    NNMarkImagesPass(tuple(names)).apply(ctx, module)


def _between_passes(
    get_ready: Callable[[int], None], collector: PassPipelineCallbackType | None
) -> PassPipelineCallbackType:
    """Return a pass callback that calls `collector`, and `get_ready` with the number of kernels."""
    from .passes.nn.to_tir import NNToTIRPass

    def call(previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
        if isinstance(previous, NNToTIRPass):
            get_ready(sum(isinstance(op, tir.FuncOp) for op in module.ops))
        if collector is not None:
            collector(previous, module, following)

    return call


def _lower(
    module: ModuleOp,
    ctx: CloptContext,
    options: CompileOptions,
    tuning: Tuning,
    get_ready: Callable[[int], None] = lambda _: None,
) -> Decisions | None:
    """Lower `module` to one queue program, unless it already is one.

    Return the choices of the passes if a report needs them.
    """
    if any(isinstance(op, ProgramOp) for op in module.body.block.ops):
        if options.memory_limit is not None:
            raise CloptError(
                "memory_limit applies to networks; this program already has a memory plan."
            )
        try:
            module.verify()  # for this target, because the module may be from another
        except VerifyException as error:
            raise CloptError(f"{str(error).splitlines()[0]}.") from error
        return None
    networks = nn.networks_of(module)
    if not networks:
        raise CloptError("the module has no network; it must hold a func.func of nn operations.")
    from .passes.pipelines import run_pipeline

    collector = None
    if options.explain == REPORT:
        from .reports.decisions import Collector

        collector, ctx.explanations = Collector(module), []
    shown = explaining(ctx, tables) if options.explain is True else nullcontext()
    with shown, stage(_log, "lowering the network"):
        run_pipeline(
            ctx,
            module,
            "opencl",
            _between_passes(get_ready, collector),
            precision=options.precision,
            strict_half=options.strict_half,
            tuning=tuning,
            memory_limit=options.memory_limit,
        )
    explained, ctx.explanations = ctx.explanations, None
    return None if collector is None else collector.decisions(module, explained or ())
