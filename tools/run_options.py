"""The command line of `clopt-run`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .console import Options, gather_target, make_parser
from .json_output import json_option
from .models import COMPILE_OPTIONS
from .option_values import parse_seconds

PURPOSE = "`clopt-run`: run an ONNX model, or a compiled one, on an OpenCL device."
EXAMPLES = """\
clopt-run model.onnx --dim batch=1                 random inputs, a summary of the outputs
clopt-run model.onnx --input image=cat.png -o out.npz
clopt-run model.onnx --device pocl --precision f16 --compare onnxruntime
clopt-run model.onnx --target texture=prefer --time 20
clopt-run model.onnx --profile --trace trace.json  time per kernel and node
clopt-run model.onnx --report report.html          one page about the model, with a profile
clopt-run folder                                   a model that clopt-compile wrote
clopt-run --calibrate --device pocl                measure this CPU again
"""
WARM_UP = 3
"""Runs before those that are timed: they upload weights and fill caches."""

PROFILE_RUNS = 10

OPTIONS: Options = [
    (
        ("model",),
        {
            "nargs": "?",
            "help": "an .onnx or .mlir file, - for stdin, or a folder that clopt-compile wrote",
        },
    ),
    (
        ("--input",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME=FILE",
            "help": "an input from an .npy, .npz or image file; an .npz file without NAME may "
            "hold several inputs; inputs without a file get random numbers",
        },
    ),
    (("--mean",), {"default": "0", "help": "images: subtract this after scaling to 0..1"}),
    (("--std",), {"default": "1", "help": "images: divide by this after subtracting the mean"}),
    (("--seed",), {"type": int, "default": 0, "help": "the seed of random inputs (default 0)"}),
    (
        ("-o", "--output"),
        {
            "metavar": "PATH",
            "help": "write the outputs: an .npz file, an .npy file for a single output, or a "
            "folder of .npy files",
        },
    ),
    (("--print",), {"action": "store_true", "help": "print the outputs instead of a summary"}),
    (
        ("--compare",),
        {"choices": ["onnxruntime"], "help": "compare with this engine; exit code 1 if wrong"},
    ),
    (
        ("--tolerance",),
        {
            "type": float,
            "metavar": "REL",
            "help": "allowed difference, relative to the largest value of an output (default: "
            "0 for whole numbers; else 1e-2, 1e-4 or 1e-10 for a model that computes with f16, "
            "f32 or f64)",
        },
    ),
    (
        ("--debug-accuracy",),
        {
            "action": "store_true",
            "help": "also compare the values between nodes, and name the first node that differs "
            "from onnxruntime; exit code 1 if one does",
        },
    ),
    (
        ("--nan",),
        {
            "action": "store_true",
            "help": "name the first node that computes a NaN or an infinity from finite values; "
            "exit code 1 if there is one",
        },
    ),
    (
        ("--time",),
        {"type": int, "metavar": "N", "help": "time N runs after --warmup"},
    ),
    (
        ("--duration",),
        {
            "metavar": "TIME",
            "help": "time runs for this long, as in 10s or 2m, but at least --time runs",
        },
    ),
    (
        ("--warmup",),
        {
            "type": int,
            "metavar": "N",
            "help": f"runs before the timed ones (default {WARM_UP})",
        },
    ),
    (
        ("--profile",),
        {
            "action": "store_true",
            "help": "time each command on the device, and print the kernels and ONNX nodes with "
            f"their share of the roofline: medians of {PROFILE_RUNS} runs, or of --time runs",
        },
    ),
    (
        ("--trace",),
        {
            "metavar": "FILE",
            "help": "write these runs as a trace for Perfetto (ui.perfetto.dev); implies profiling",
        },
    ),
    (("--device",), {"metavar": "NAME", "help": "a part of the device's name; see --list-devices"}),
    (
        ("--accelerator",),
        {
            "action": "append",
            "default": [],
            "metavar": "NAME=LIBRARY",
            "help": "the library to use for an accelerator instead of the device's (repeatable)",
        },
    ),
    (
        ("--check",),
        {
            "action": "store_true",
            "help": "only check whether clopt can compile the model, and list the nodes that it "
            "cannot; needs no device (exit code 0 or 1)",
        },
    ),
    json_option(
        "the result of --time, --profile, --compare, --list-devices, --check, --debug-accuracy or "
        "--nan"
    ),
    (("--list-devices",), {"action": "store_true", "help": "list the OpenCL devices and exit"}),
    (
        ("--calibrate",),
        {
            "action": "store_true",
            "help": "measure the CPU again (--device, or the first), print the path of its facts "
            "and exit; otherwise a CPU is measured once, when it is first used",
        },
    ),
]


def parse(args: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; exit with code 2 if it is wrong."""
    parser = make_parser(
        "clopt-run",
        PURPOSE,
        EXAMPLES,
        OPTIONS,
        COMPILE_OPTIONS,
    )
    options = parser.parse_args(gather_target(args))
    if options.model is None and not (options.list_devices or options.calibrate):
        parser.error("name a model")
    measured = ("time", "duration", "profile", "compare")
    results = (*measured, "list_devices", "check", "debug_accuracy", "nan")
    if options.json and not any(vars(options)[name] for name in results):
        flags = [f"--{name.replace('_', '-')}" for name in results]
        parser.error(f"--json goes with {', '.join(flags[:-1])} or {flags[-1]}")
    if options.report and (options.check or options.debug_accuracy or options.nan):
        parser.error("--report needs a run, and excludes --check, --debug-accuracy or --nan")
    if options.json and options.print:
        parser.error("--json and --print both write to stdout; choose one")
    if options.time is not None and options.time < 1:
        parser.error("--time must be at least 1")
    # Checked now instead of after a long compilation.
    options.duration = parse_seconds("--duration", options.duration)
    is_timed = options.time is not None or options.duration is not None
    if options.warmup is not None and (not is_timed or options.warmup < 0):
        parser.error("--warmup must be at least 0, and needs --time or --duration")
    if options.tolerance is not None and not options.tolerance >= 0:
        parser.error("--tolerance must be at least 0")
    return options
