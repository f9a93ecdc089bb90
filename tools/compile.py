"""`clopt-compile`: compile an ONNX model into a folder that `clopt-run` loads, or to C."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from .. import api
from ..backends.host_c import check_model_name, model_name
from ..dialects.cl import target_of
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
)
from .inputs import describe
from .memory_report.files import check_path, write_report
from .memory_report.summary import memory_table

OPTIONS: Options = [
    (("model",), {"help": "an .onnx file"}),
    (("-o", "--output"), {"required": True, "metavar": "DIR", "help": "the folder to write"}),
    (
        ("--emit",),
        {
            "choices": ["saved", "c"],
            "default": "saved",
            "help": "a folder for clopt-run (default), or a C99 library that needs no Python",
        },
    ),
    (
        ("--name",),
        {"help": "with --emit=c: what its functions' names begin with (default: the model's name)"},
    ),
    (("--device",), {"metavar": "NAME", "help": "compile for this device of this machine"}),
    (
        ("--memory-report",),
        {
            "metavar": "PATH",
            "type": Path,
            "help": "say what the model holds on the device and draw its plan: .svg, .png or .html",
        },
    ),
]


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("clopt-compile", description=__doc__)
    for flags, settings in OPTIONS + MODEL_OPTIONS + PRECISION_OPTIONS + EXPLAIN_OPTIONS:
        parser.add_argument(*flags, **settings)
    return parser.parse_args(gather_target(args))


def run(options: argparse.Namespace) -> None:
    """Compile, write the folder and say what is in it."""
    path, folder = Path(options.model), Path(options.output)
    if options.memory_report:
        check_path(options.memory_report)
    name = _library_name(options)
    start = time.perf_counter()
    with about(path), progress(f"compiling {path.name}"):
        model = api.compile(
            path,
            target=options.device_target,
            dims=parse_dims(options.dim),
            device=options.device,
            precision=options.precision,
            explain=options.explain,
        )
        if name is None:
            model.save(folder)
        else:
            model.save_c(folder, name)
    print_remarks(model.remarks)
    rows = table("", "name", "type", title=f"{folder} ({time.perf_counter() - start:.1f} s)")
    for kind, tensors in (("input", model.inputs), ("output", model.outputs)):
        for tensor in tensors:
            rows.add_row(kind, tensor.name, describe(tensor.shape, tensor.dtype))
    terminal().print(rows)
    if options.memory_report:
        terminal().print(memory_table(model.memory))
        title = f"{path.stem} for {target_of(model.module).name}"
        write_report(model.memory, title, options.memory_report)


def _library_name(options: argparse.Namespace) -> str | None:
    """The name of the C library to write, None for another output."""
    if options.emit == "c":
        return (
            check_model_name(options.name) if options.name else model_name(Path(options.model).stem)
        )
    if options.name:
        raise CloptError("--name is for --emit=c: other folders have no names in them.")
    return None


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-compile` with `args`, or with the arguments of the process."""
    with user_errors("clopt-compile"):
        run(_parse(args))


if __name__ == "__main__":
    main()
