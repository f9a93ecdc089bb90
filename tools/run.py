"""`clopt-run`: run an ONNX model, or a compiled one, on an OpenCL device."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from rich.console import Console

from .. import api
from ..errors import CloptError
from .console import (
    EXPLAIN_OPTIONS,
    MODEL_OPTIONS,
    PRECISION_OPTIONS,
    Options,
    about,
    gather_target,
    parse_dims,
    print_remarks,
    progress,
    table,
    terminal,
    user_errors,
    writing,
)
from .inputs import Array, ImageScaling, collect_inputs, describe, parse_numbers
from .reference import difference, run_onnxruntime

WARM_UP = 3
TOP = 5

OPTIONS: Options = [
    (("model",), {"nargs": "?", "help": "an .onnx file or a folder that clopt-compile wrote"}),
    (
        ("--input",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME=FILE",
            "help": "an input from an .npy, .npz or image file; an .npz without a name holds "
            "several; random numbers for inputs that are not given",
        },
    ),
    (("--mean",), {"default": "0", "help": "images: subtracted after scaling to 0..1"}),
    (("--std",), {"default": "1", "help": "images: divided by after subtracting the mean"}),
    (("--seed",), {"type": int, "default": 0, "help": "of random inputs (default 0)"}),
    (
        ("--output",),
        {"metavar": "PATH", "help": "write the outputs: one .npz file, or a folder of .npy files"},
    ),
    (("--print",), {"action": "store_true", "help": "print the outputs, not a summary"}),
    (
        ("--compare",),
        {"choices": ["onnxruntime"], "help": "compare with another engine; exit code 1 if wrong"},
    ),
    (
        ("--tolerance",),
        {
            "type": float,
            "help": "allowed difference, relative to the largest value of an output (default "
            "1e-4, with halves 1e-2)",
        },
    ),
    (
        ("--time",),
        {"type": int, "metavar": "N", "help": f"time N runs after {WARM_UP} warm-up runs"},
    ),
    (("--device",), {"metavar": "NAME", "help": "part of a device's name; see --list-devices"}),
    (
        ("--clml-library",),
        {
            "choices": list(api.CLML_LIBRARIES),
            "help": "what computes operations that went to CLML in the place of the device",
        },
    ),
    (("--list-devices",), {"action": "store_true", "help": "list the OpenCL devices and leave"}),
]


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("clopt-run", description=__doc__)
    for flags, settings in OPTIONS + MODEL_OPTIONS + PRECISION_OPTIONS + EXPLAIN_OPTIONS:
        parser.add_argument(*flags, **settings)
    options = parser.parse_args(gather_target(args))
    if options.model is None and not options.list_devices:
        parser.error("name a model")
    if options.time is not None and options.time < 1:
        parser.error("--time takes a number of runs from 1")
    return options


def _list_devices(console: Console) -> None:
    rows = table("", "name", "kind", "platform", "driver")
    for device in api.list_devices():
        rows.add_row(str(device.index), device.name, device.kind, device.platform, device.driver)
    console.print(rows)


def load_model(options: argparse.Namespace) -> api.CompiledModel:
    """Compile the ONNX file of the command line, or load the folder."""
    path = Path(options.model)
    if not path.exists():
        raise CloptError(f"{path}: there is no such file or folder.")
    if path.is_dir():
        told = options.dim or options.device_target or options.explain
        if told or options.precision != "f32":
            raise CloptError(
                f"{path}: --dim, --target, --precision and --explain are for ONNX models; this is "
                "compiled."
            )
        if options.compare:
            raise CloptError(f"{path}: --compare needs the ONNX model, and this is a compiled one.")
        return api.load(path, device=options.device, clml_library=options.clml_library)
    with about(path), progress(f"compiling {path.name}"):
        model = api.compile(
            path,
            target=options.device_target,
            dims=parse_dims(options.dim),
            device=options.device,
            precision=options.precision,
            clml_library=options.clml_library,
            explain=options.explain,
        )
    print_remarks(model.remarks)
    return model


def _summarise(console: Console, names: Sequence[str], outputs: Sequence[Array]) -> None:
    rows = table("output", "type", "min", "max", "mean")
    for name, output in zip(names, outputs, strict=True):
        values = output.astype(np.float64)
        figures = [f"{f(values):.6g}" for f in (np.min, np.max, np.mean)] if values.size else []
        rows.add_row(name, describe(output.shape, output.dtype), *figures)
    console.print(rows)
    for name, output in zip(names, outputs, strict=True):
        if TOP < output.size == max(output.shape, default=0):
            best = table("index", "value", title=f"largest of {name}")
            flat = output.ravel()
            for index in np.argsort(-flat.astype(np.float64), kind="stable")[:TOP]:
                best.add_row(str(index), f"{flat[index]:.6g}")
            console.print(best)


def _print_outputs(names: Sequence[str], outputs: Sequence[Array]) -> None:
    with np.printoptions(threshold=2**63 - 1, linewidth=100):
        for name, output in zip(names, outputs, strict=True):
            print(f"{name}: {describe(output.shape, output.dtype)}\n{output}")


def _save(path: Path, names: Sequence[str], outputs: Sequence[Array]) -> None:
    """Write one .npz file, or a folder with an .npy file for each output."""
    files: dict[str, bytes] = {}
    for name, output in zip(names, outputs, strict=True):
        content = BytesIO()
        np.save(content, output)
        files[name.replace("/", "_") + ".npy"] = content.getvalue()
    with writing(path):
        if path.suffix == ".npz":
            archive = BytesIO()
            with ZipFile(archive, "w") as members:
                for name, content in files.items():
                    members.writestr(name, content)
            path.write_bytes(archive.getvalue())
            return
        path.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (path / name).write_bytes(content)


def _time(console: Console, model: api.CompiledModel, inputs: dict[str, Array], runs: int) -> None:
    for _ in range(WARM_UP):
        model.run(inputs)
    seconds: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        model.run(inputs)
        seconds.append(time.perf_counter() - start)
    rows = table("runs", "median", "min")
    figures = (statistics.median(seconds), min(seconds))
    rows.add_row(str(runs), *(f"{1000 * figure:.3f} ms" for figure in figures))
    console.print(rows)


def _compare(
    console: Console,
    options: argparse.Namespace,
    names: Sequence[str],
    inputs: dict[str, Array],
    outputs: Sequence[Array],
) -> None:
    path = Path(options.model)
    rows = table("output", "largest error", "relative error", title=f"against {options.compare}")
    wrong: list[str] = []
    tolerance = options.tolerance
    if tolerance is None:
        tolerance = 1e-4 if options.precision == "f32" else 1e-2
    references = run_onnxruntime(path, inputs)
    for name, ours, reference in zip(names, outputs, references, strict=True):
        absolute, relative = difference(ours, reference)
        rows.add_row(name, f"{absolute:.3g}", f"{relative:.3g}")
        if relative > tolerance:
            wrong.append(name)
    console.print(rows)
    if wrong:
        raise CloptError(
            f"{path}: {', '.join(wrong)} differs from {options.compare} by more than the "
            f"tolerance {tolerance:g}."
        )


def run(options: argparse.Namespace) -> None:
    """Everything that the command line asks for, in the order: run, save, print, time, compare."""
    console = terminal()
    if options.list_devices:
        return _list_devices(console)
    scaling = ImageScaling(parse_numbers(options.mean), parse_numbers(options.std))
    model = load_model(options)
    inputs = collect_inputs(model.inputs, options.input, options.seed, scaling)
    names = [output.name for output in model.outputs]
    outputs = model.run(inputs)
    views = [f", {kind} {way}" for kind, way in model.executable.image_views.items()]
    offload = model.executable.offload
    if offload is not None:
        count = offload.operations
        views.append(
            f", {count} operation{'' if count == 1 else 's'} by CLML "
            f"{offload.major}.{offload.minor}"
        )
    console.print(f"ran {Path(options.model).name} on {model.device_name}{''.join(views)}")
    if options.output:
        _save(Path(options.output), names, outputs)
    if options.print:
        _print_outputs(names, outputs)
    else:
        _summarise(console, names, outputs)
    if options.time:
        _time(console, model, inputs, options.time)
    if options.compare:
        _compare(console, options, names, inputs, outputs)


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-run` with `args`, or with the arguments of the process."""
    with user_errors("clopt-run"):
        run(_parse(args))


if __name__ == "__main__":
    main()
