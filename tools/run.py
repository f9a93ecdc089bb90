"""`clopt-run`: run an ONNX model or a compiled model on an OpenCL device."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from .. import api
from ..errors import CloptError
from ..messages.open_dimensions import OpenDimensionsError
from ..messages.open_sequences import OpenSequencesError
from ..messages.printable import printable
from ..tensor_info import describe
from .console import (
    full_text,
    print_remarks,
    user_errors,
    write_user_file,
)
from .inputs import (
    Array,
    ImageScaling,
    bindings_of_inputs,
    collect_inputs,
    parse_numbers,
    ports_at,
)
from .json_output import print_json, without_infinities
from .logs import progress
from .models import ModelKind, ModelSource, compile_model
from .option_values import parse_accelerators, parse_dims
from .outputs import check_output, write_outputs
from .report_file import check_report_path, write_report
from .run_options import PROFILE_RUNS, WARM_UP, parse
from .tables import table, terminal
from .timing import print_timing, timed, timing_facts

TOP = 5
"""Largest elements of a vector that the summary shows."""


def _list_devices(console: Console, is_json: bool) -> None:
    facts = ("index", "name", "kind", "platform", "driver")
    devices = [{fact: getattr(device, fact) for fact in facts} for device in api.list_devices()]
    if is_json:
        return print_json(devices)
    rows = table("", *facts[1:])
    for device in devices:
        rows.add_row(*map(str, device.values()))
    console.print(rows)


def _calibrate(console: Console, device: str | None) -> None:
    with progress("calibrating", animated=False):
        file = api.calibrate(device)
    console.print(file.read_text(encoding="utf-8"), end="", highlight=False)
    console.print(f"kept in {file}", soft_wrap=True, highlight=False)


def load_model(options: argparse.Namespace, source: ModelSource) -> api.CompiledModel:
    """Compile the model that the command line names, or load it from its folder."""
    if source.kind is ModelKind.Folder:
        told = options.device_target or options.explain or options.weights or options.strict_half
        if told or options.choices or options.tuning or options.precision != "f32":
            raise CloptError(
                f"{source.name}: --target, --precision, --strict-half, --choices, --tuning, "
                "--explain and --weights apply to models that are not compiled yet; this one is "
                "compiled."
            )
    flags = {
        "--compare": options.compare,
        "--debug-accuracy": options.debug_accuracy,
        "--nan": options.nan,
    }
    if source.kind is not ModelKind.ONNX and (given := [flag for flag in flags if flags[flag]]):
        raise CloptError(
            f"{source.name}: {given[0]} needs the ONNX model, and this is a {source.kind.value}."
        )
    if source.kind is ModelKind.Folder:
        libraries = parse_accelerators(options.accelerator)
        with progress(f"loading {Path(source.name).name}"):
            loaded = api.load(source.name, device=options.device, accelerators=libraries)
        if options.dim and not isinstance(loaded, api.RangedModel):
            raise CloptError(f"{source.name}: --dim applies to open sizes; this model has none.")
        return loaded
    return compile_model(source, options, **_more(options))


def _more(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `compile_model` for options that only this tool has."""
    return {
        "accelerators": parse_accelerators(options.accelerator),
        "find_bindings": partial(bindings_of_inputs, items=options.input),
    }


def _check(options: argparse.Namespace, source: ModelSource) -> None:
    """Compile to OpenCL C; raise the usual error if the model is not supported.

    Of a model with open dimensions, only the operators are checked.
    """
    if source.kind is ModelKind.Folder:
        raise CloptError(f"{source.name}: --check applies to models that are not compiled yet.")
    if options.device is None and options.device_target is None:
        options.device_target = "generic"
    result: dict[str, object] = {"model": source.name, "supported": False}
    try:
        model = load_model(options, source)
    except CloptError as error:
        if isinstance(reason := error.__cause__, OpenDimensionsError | OpenSequencesError):
            names = reason.names()
            if options.json:
                return print_json(result | {"supported": True, "open": names})
            return print(
                f"{source.name}: the operators are supported; {reason.for_options()} to check "
                "the shapes, too."
            )
        if options.json:
            print_json(result | {"reason": full_text(error)})
        raise
    kernels = model.source.count("kernel void ")
    if options.json:
        return print_json(result | {"supported": True, "kernels": kernels})
    print(f"{source.name} is supported: {kernels} kernel{'' if kernels == 1 else 's'}.")


def _summarise(console: Console, names: Sequence[str], outputs: Sequence[Array]) -> None:
    rows = table("output", "type", "min", "max", "mean")
    for name, output in zip(names, outputs, strict=True):
        values = output.astype(np.float64)
        figures = [f"{f(values):.6g}" for f in (np.min, np.max, np.mean)] if values.size else []
        rows.add_row(printable(name), describe(output.shape, output.dtype), *figures)
    console.print(rows)
    for name, output in zip(names, outputs, strict=True):
        if TOP < output.size == max(output.shape, default=0):
            best = table("index", "value", title=f"largest of {printable(name)}")
            flat = output.ravel()
            for index in np.argsort(-flat.astype(np.float64), kind="stable")[:TOP]:
                best.add_row(str(index), f"{flat[index]:.6g}")
            console.print(best)


def _print_outputs(names: Sequence[str], outputs: Sequence[Array]) -> None:
    with np.printoptions(threshold=2**63 - 1, linewidth=100):
        for name, output in zip(names, outputs, strict=True):
            print(f"{printable(name)}: {describe(output.shape, output.dtype)}\n{output}")


def _time(
    console: Console,
    options: argparse.Namespace,
    model: api.CompiledModel,
    inputs: dict[str, Array],
) -> dict[str, object]:
    """Time the model, print the figures and return them."""
    warm_up = WARM_UP if options.warmup is None else options.warmup
    with progress("timing", animated=False):
        timing = timed(lambda: model.run(inputs), options.time or 1, options.duration or 0, warm_up)
    print_timing(console, timing)
    return timing_facts(timing)


def _profile(
    console: Console,
    options: argparse.Namespace,
    source: ModelSource,
    model: api.CompiledModel,
    program: api.CompiledModel,
    inputs: dict[str, Array],
) -> dict[str, object]:
    """Profile the model, print or write the requested results, and return the figures.

    `program` is what the model runs for these inputs.
    """
    from ..reports.profile import trace_text
    from .profile_tables import print_profile, profile_facts

    with progress("profiling", animated=False):
        profile = model.profile(inputs, options.time or PROFILE_RUNS)
    if options.profile and not options.json:
        print_profile(console, profile)
    if options.trace:
        write_user_file(options.trace, trace_text(profile, f"{source.stem}, {program.device_name}"))
    if options.report:
        write_report(options.report, program, source, profile)
    return profile_facts(profile)


def _compare(
    console: Console,
    options: argparse.Namespace,
    source: ModelSource,
    model: api.CompiledModel,
    inputs: dict[str, Array],
    outputs: Sequence[Array],
) -> tuple[dict[str, object], str | None]:
    """Print the distance from the other engine's outputs; return it, and any wrong outputs."""
    from xdsl.dialects.builtin import ModuleOp

    from .reference import difference, run_onnxruntime, tolerance

    columns = ("output", "largest error", "relative error", "allowed")
    rows = table(*columns, title=f"against {options.compare}")
    wrong: list[str] = []
    facts: list[dict[str, object]] = []
    assert not isinstance(source.content, ModuleOp)  # `load_model` refused it
    with progress("running onnxruntime"):
        references = run_onnxruntime(source.content, {**inputs, **model.values})
    for output, ours, reference in zip(model.outputs, outputs, references, strict=True):
        allowed = options.tolerance
        if allowed is None:
            allowed = tolerance(output.dtype, model.module)
        absolute, relative = difference(ours, reference)
        rows.add_row(printable(output.name), f"{absolute:.3g}", f"{relative:.3g}", f"{allowed:g}")
        errors = {"largest_error": absolute, "relative_error": relative, "allowed": allowed}
        facts.append({"output": output.name, **errors})
        if relative > allowed:
            wrong.append(f"{output.name} by {relative:.3g}, more than {allowed:g}")
    console.print(rows)
    nans = [(port.name, np.count_nonzero(y != y)) for port, y in zip(model.outputs, outputs)]
    print_remarks(
        [
            f"{count} of the values of {name} are NaN; NaNs count as equal."
            for name, count in nans
            if count
        ]
    )
    sentence = (
        f"{source.name} differs from {options.compare}: {'; '.join(wrong)} of the largest value "
        "(--tolerance)."
    )
    compared = {"right": not wrong, "outputs": without_infinities(facts)}
    return {"comparison": {"with": options.compare, **compared}}, sentence if wrong else None


def run(options: argparse.Namespace) -> None:
    """Run the model, then save, print, time and compare as the options request."""
    console = terminal(stderr=options.json)
    if options.list_devices:
        return _list_devices(console, options.json)
    if options.calibrate:
        return _calibrate(console, options.device)
    scaling = ImageScaling(parse_numbers(options.mean), parse_numbers(options.std))
    check_report_path(options.report)
    source = ModelSource.of(options.model)
    if options.check:
        return _check(options, source)
    model = load_model(options, source)
    is_ranged = isinstance(model, api.RangedModel)
    ports = ports_at(model, parse_dims(options.dim), options.input) if is_ranged else model.inputs
    inputs = collect_inputs(ports, options.input, options.seed, scaling, model.values)
    program = model.program_for(inputs) if is_ranged else model
    if options.debug_accuracy or options.nan:
        from .debug_values import debug_accuracy, find_nan

        look = debug_accuracy if options.debug_accuracy else find_nan
        return look(console, options, source, {**inputs, **model.values}, _more(options))
    names = [output.name for output in model.outputs]
    if options.output:
        # Checked before the inference, so that a long run does not end in an error.
        check_output(Path(options.output), names)
    with progress(f"running {Path(source.name).name}"):
        outputs = model.run(inputs)
    if program.plan_reason:
        print_remarks([f"Kernels compute everything here. {program.plan_reason}"])
    views = [f", {kind} {way}" for kind, way in program.executable.image_views.items()]
    offload = program.executable.offload
    if offload is not None:
        count = offload.operations
        views.append(
            f", {count} operation{'' if count == 1 else 's'} by {program.plan} "
            f"{offload.major}.{offload.minor}"
        )
    console.print(f"ran {Path(source.name).name} on {program.device_name}{''.join(views)}")
    if options.output:
        write_outputs(Path(options.output), names, outputs)
    if options.print:
        _print_outputs(names, outputs)
    else:
        _summarise(console, names, outputs)
    figures: dict[str, object] = {}
    if options.time or options.duration:
        figures |= _time(console, options, model, inputs)
    if options.profile or options.trace or options.report:
        figures |= _profile(console, options, source, model, program, inputs)
    wrong: str | None = None
    if options.compare:
        compared, wrong = _compare(console, options, source, model, inputs, outputs)
        figures |= compared
    if options.json:
        print_json({"device": program.device_name, **figures})
    if wrong is not None:
        raise CloptError(wrong)


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-run` with `args`, or with the arguments of the process."""
    with user_errors("clopt-run"):
        run(parse(args))


if __name__ == "__main__":
    main()
