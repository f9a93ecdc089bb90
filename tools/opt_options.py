"""The options of `clopt` that other tools do not share."""

from __future__ import annotations

from .console import EXPLAIN, MEMORY_LIMIT, Options
from .json_output import json_option


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


OPTIONS: Options = [
    (
        ("-o", "--output", "--output-file"),
        {"dest": "output_file", "metavar": "FILE", "help": "the file to write (default: stdout)"},
    ),
    (("-t",), {"dest": "target", "default": "mlir", "help": "output: mlir, opencl-c or choices"}),
    (
        ("-p", "--passes"),
        {"default": "", "help": "passes and pipelines, comma-separated; --list-passes"},
    ),
    (
        ("--list-passes",),
        {"action": "store_true", "help": "list the passes and pipelines, and exit"},
    ),
    (
        ("--list-rules",),
        {"action": "store_true", "help": "list the schedule rules and their parameters, and exit"},
    ),
    json_option("the result of --list-passes or --list-rules"),
    (
        ("--weights",),
        {"metavar": "FILE", "help": "safetensors file with the input's arrays"},
    ),
    (("--save-weights",), {"metavar": "FILE", "help": "write the output's arrays"}),
    (
        ("--print-ir-after-all", "--print-between-passes"),
        {"action": "store_true", "help": "print the IR after each pass (stderr)"},
    ),
    (
        ("--print-ir-after",),
        {
            "type": _names,
            "default": [],
            "metavar": "PASS,...",
            "help": "print the IR after these passes (stderr)",
        },
    ),
    (
        ("--diff-ir",),
        {"action": "store_true", "help": "print what each pass changes, as a diff (stderr)"},
    ),
    (
        ("--dump-dir",),
        {"metavar": "DIR", "help": "write the IR after each pass to a numbered file"},
    ),
    EXPLAIN,
    (
        ("--explain-plan",),
        {"action": "store_true", "help": "explain the schedule of each kernel in detail (stderr)"},
    ),
    (
        ("--choices",),
        {"metavar": "FILE", "help": "read decisions from a file that -t choices wrote"},
    ),
    (
        ("--tuning",),
        {
            "metavar": "FILE",
            "help": "read layouts, fusions and plans of kernels from a database of clopt-tune",
        },
    ),
    MEMORY_LIMIT,
    (
        ("--elide-larger-than",),
        {
            "type": int,
            "metavar": "N",
            "help": "omit constants of more than N elements; clopt cannot read the result "
            "(default: omit none; constants of more than 256 elements appear as names of arrays)",
        },
    ),
    (
        ("--verify-diagnostics", "--parsing-diagnostics"),
        {
            "action": "store_true",
            "help": "succeed when exactly the errors announced by expected-error comments occur",
        },
    ),
]
