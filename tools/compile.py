"""`clopt-compile`: compile an ONNX model into a folder that `clopt-run` loads, or to C."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..backends import graph_files, saved_model
from ..backends.host_c import check_model_name, model_name, package_text
from ..compiled_model import CompiledModel
from ..dialects.cl import target_of
from ..dynamic_model import DynamicModel
from ..errors import CloptError
from ..files.folders import add_written
from ..messages.printable import printable
from ..options import Quantization
from ..reports.memory.summary import summary
from ..tensor_info import TensorInfo
from .console import (
    Options,
    about,
    gather_target,
    make_parser,
    print_remarks,
    user_errors,
    write_user_file,
    writing,
)
from .json_output import VERSION, json_option, print_json
from .logs import progress
from .memory_report import files as memory_files
from .memory_report.table import memory_table
from .models import COMPILE_OPTIONS, ModelKind, ModelSource, compile_model
from .quantization_table import quantization_table
from .report_file import check_report_path, write_report
from .tables import table, terminal

EXAMPLES = """\
clopt-compile model.onnx --dim batch=1 -o folder
clopt-compile model.onnx --dim batch=1..32 -o folder
clopt-compile model.onnx --dim batch=2..32 --emit=c -o folder
clopt-compile model.onnx --target adreno-740 texture=prefer --explain -o folder
clopt-compile model.onnx --target adreno-740 --emit=c --name net -o folder
clopt-compile model.onnx --quantize int8 --calibrate data.npz -o folder
clopt-compile model.onnx --memory-report memory.html -o folder
clopt-compile model.onnx --target adreno-740 --report report.html -o folder
"""

_MANIFESTS = {
    "saved": saved_model.DESCRIPTION,
    "c": package_text.DESCRIPTION,
    "graphs": graph_files.DESCRIPTION,
}

OPTIONS: Options = [
    (("model",), {"help": "an .onnx or .mlir file, or - for stdin"}),
    (("-o", "--output"), {"required": True, "metavar": "DIR", "help": "the folder to write"}),
    (
        ("--emit",),
        {
            "choices": ["saved", "c", "graphs"],
            "default": "saved",
            "help": "a folder for clopt-run (default), a C99 library that needs no Python, or only "
            "the graphs of accelerators",
        },
    ),
    (
        ("--name",),
        {"help": "with --emit=c: the prefix of the functions (default: the model's name)"},
    ),
    (
        ("--fallback",),
        {
            "action": "store_true",
            "help": "if a vendor's library computes a part: add a plan that uses only kernels, "
            "for devices that lack the library or whose library refuses the model",
        },
    ),
    (("--device",), {"metavar": "NAME", "help": "compile for this device of this machine"}),
    (
        ("--quantize",),
        {
            "choices": ["int8", "int8-per-channel"],
            "help": "round the operands of products with weights to int8; int8-per-channel has "
            "one scale per output channel of the weights",
        },
    ),
    (
        ("--calibrate",),
        {
            "metavar": "FILE",
            "help": "with --quantize: an .npz file with samples, from which ranges are computed: "
            "arrays named like the inputs, in batches along axis 0",
        },
    ),
    (
        ("--calibration",),
        {
            "choices": ["global-scale", "max", "percentile", "kl"],
            "help": "the method that computes these ranges (default: kl, or global-scale without "
            "samples)",
        },
    ),
    (
        ("--quantize-report",),
        {
            "metavar": "FILE",
            "help": "with --calibrate: write the error of each quantised value as JSON, and print "
            "a table",
        },
    ),
    (
        ("--round-scales",),
        {
            "action": "store_true",
            "help": "use powers of two as scales, also in a model that is already quantised, and "
            "print the error of each of its weights",
        },
    ),
    (
        ("--memory-report",),
        {
            "metavar": "PATH",
            "type": Path,
            "help": "list the model's device memory and draw the memory plan: .svg, .png or .html",
        },
    ),
    json_option("inputs, outputs and the results of --memory-report and --quantize-report"),
]


def _parse(args: Sequence[str] | None) -> argparse.Namespace:
    parser = make_parser(
        "clopt-compile",
        __doc__,
        EXAMPLES,
        OPTIONS,
        COMPILE_OPTIONS,
    )
    return parser.parse_args(gather_target(args))


def run(options: argparse.Namespace) -> None:
    """Compile, write the folder and print the model's inputs and outputs."""
    source, folder = ModelSource.of(options.model), Path(options.output)
    if options.memory_report:
        # Checked before compiling, which may take long.
        memory_files.check_path(options.memory_report)
    check_report_path(options.report)
    if source.kind is ModelKind.Folder:
        raise CloptError(f"{source.name}: this is a folder; expected an .onnx or .mlir file.")
    name = _library_name(options, source)
    start = time.perf_counter()
    model = compile_model(
        source,
        options,
        fallback=options.fallback,
        quantize=_quantization(options),
    )
    if isinstance(model, DynamicModel):
        _refuse_reports(options, source)
    with about(source.name), progress(f"writing {folder}"):
        if options.emit == "graphs":
            model.save_graphs(folder)
        elif name is None:
            model.save(folder)
        else:
            model.save_c(folder, name)
    if isinstance(model, DynamicModel):  # it was compiled to be written
        print_remarks(model.remarks)
    seconds = time.perf_counter() - start
    rows = table("", "name", "type", title=f"{folder} ({seconds:.1f} s)")
    for kind, tensors in (("input", model.inputs), ("output", model.outputs)):
        for tensor in tensors:
            rows.add_row(kind, printable(tensor.name), tensor.form)
    console = terminal(stderr=options.json)
    console.print(rows)
    if model.quantization is not None:
        console.print(quantization_table(model.quantization))
        write_user_file(options.quantize_report, model.quantization.to_json())
        _note_report(options, Path(options.quantize_report))
    if options.memory_report:
        console.print(memory_table(model.memory))
        title = f"{source.stem} for {target_of(model.largest().module).name}"
        memory_files.write_report(model.memory, title, options.memory_report)
        _note_report(options, options.memory_report)
    if options.report:
        write_report(options.report, model, source)
        _note_report(options, options.report)
    if options.json:
        print_json(_facts(options, source, model, seconds))


def _refuse_reports(options: argparse.Namespace, source: ModelSource) -> None:
    """Raise CloptError if an option asks for a report about one program."""
    for name in ("report", "quantize_report"):
        if getattr(options, name):
            raise CloptError(
                f"{source.name}: --{name.replace('_', '-')} is about one program; write one size "
                "for each --dim."
            )


def _facts(
    options: argparse.Namespace, source: ModelSource, model: CompiledModel, seconds: float
) -> dict[str, Any]:
    """Return the result for `--json`."""
    facts: dict[str, Any] = {
        "version": VERSION,
        "model": source.name,
        "folder": options.output,
        "seconds": seconds,
        "inputs": [_tensor(each) for each in model.inputs],
        "outputs": [_tensor(each) for each in model.outputs],
        "remarks": list(model.remarks),
    }
    if model.quantization is not None:
        facts["quantization"] = json.loads(model.quantization.to_json())
    if options.memory_report:
        lines = summary(model.memory)
        facts["memory"] = [{"what": line.what, "bytes": line.bytes} for line in lines]
    return facts


def _tensor(tensor: TensorInfo) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "type": tensor.dtype.name,
        "image": tensor.image and list(tensor.image),
    }


def _quantization(options: argparse.Namespace) -> Quantization | None:
    """Return the quantisation that the options request."""
    has_report = options.quantize_report is not None
    asked = Quantization(
        options.quantize, options.calibrate, options.calibration, has_report, options.round_scales
    )
    return None if asked == Quantization() else asked


def _note_report(options: argparse.Namespace, report: Path) -> None:
    """Add a report in a model's folder to its manifest, so that compiling again replaces both."""
    with writing(report):
        add_written(Path(options.output), _MANIFESTS[options.emit], report)


def _library_name(options: argparse.Namespace, source: ModelSource) -> str | None:
    """Return the name of the C library to write, or None for other kinds of output."""
    if options.emit == "c":
        return check_model_name(options.name) if options.name else model_name(source.stem)
    if options.name:
        raise CloptError("--name applies only to --emit=c: it names the functions of a C library.")
    return None


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-compile` with `args`, or with the arguments of the process."""
    with user_errors("clopt-compile"):
        run(_parse(args))


if __name__ == "__main__":
    main()
