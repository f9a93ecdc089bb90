"""`clopt-reduce`: shrink a model or module as long as a command finds it interesting."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...errors import CloptError
from ..console import Options, make_parser, read_bytes, user_errors, write_user_file
from ..json_output import VERSION, json_option, print_json
from ..logs import is_quiet
from ..tables import terminal
from .mlir_module import describe_mlir, reduce_mlir
from .onnx_model import describe_onnx, reduce_onnx
from .search import PLACE, Judge

EXAMPLES = """\
clopt-reduce model.onnx -o small.onnx -- ./interesting.sh {}
clopt-reduce model.onnx -o small.onnx --while-fails -- clopt-run {} --compare onnxruntime
clopt-reduce module.mlir -o small.mlir -- sh -c 'clopt {} -p schedule 2>&1 | grep -q "a bug of"'
"""

OPTIONS: Options = [
    (("model",), {"type": Path, "help": "an .onnx or .mlir file"}),
    (("-o", "--output"), {"required": True, "type": Path, "help": "the file to write"}),
    (
        ("--while-fails",),
        {
            "action": "store_true",
            "help": "a candidate is interesting if the command fails (exit code not 0) instead of "
            "succeeding",
        },
    ),
    (
        ("--timeout",),
        {
            "type": float,
            "default": 60.0,
            "metavar": "SECONDS",
            "help": "a candidate is uninteresting if the command takes longer (default: 60)",
        },
    ),
    json_option("what is left"),
]

Format = tuple[Callable[[bytes, Judge], bytes], Callable[[bytes], str]]

FORMATS: Mapping[str, Format] = {
    ".onnx": (reduce_onnx, describe_onnx),
    ".mlir": (reduce_mlir, describe_mlir),
}


class _Keeper:
    """Writes each smaller file immediately, so that an interruption loses nothing."""

    def __init__(self, output: Path, describe: Callable[[bytes], str]) -> None:
        self._output = output
        self._describe = describe
        self._told = ""

    def __call__(self, judge: Judge) -> None:
        write_user_file(self._output, judge.best)
        told = self._describe(judge.best)
        if told != self._told and not is_quiet():
            print(f"after {judge.trials} runs of the command: {told}", file=sys.stderr)
            self._told = told


def run(options: argparse.Namespace, command: Sequence[str]) -> None:
    """Reduce a file; only a file that was found interesting is written."""
    path: Path = options.model
    if path.suffix not in FORMATS:
        raise CloptError(f"{path}: the suffix must be .onnx or .mlir; rename the file.")
    if not any(PLACE in word for word in command):
        raise CloptError(
            f"Write a command after --, with {PLACE} in place of the path of a candidate."
        )
    content = read_bytes(str(path))
    reduce, describe = FORMATS[path.suffix]
    before = describe(content)
    keep = _Keeper(options.output, describe)
    judge = Judge(command, path.suffix, options.timeout, options.while_fails, found=keep)
    if not judge(content):
        rule = "fail" if options.while_fails else "exit with code 0"
        raise CloptError(f"The command does not {rule} on {path} itself: nothing to reduce.")
    try:
        reduce(content, judge)
    except KeyboardInterrupt:
        kept = f"{options.output} has the best so far: {describe(judge.best)}"
        print(f"clopt-reduce: interrupted; {kept}.", file=sys.stderr)
        raise
    if options.json:
        facts = {"before": before, "after": describe(judge.best), "runs": judge.trials}
        return print_json({"version": VERSION, "output": str(options.output), **facts})
    terminal().print(f"{options.output}: {describe(judge.best)}")
    terminal().print(f"before: {before}; the command ran {judge.trials} times")


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt-reduce` with `args`, or with the arguments of the process."""
    words = list(sys.argv[1:] if args is None else args)
    split = words.index("--") if "--" in words else len(words)
    with user_errors("clopt-reduce"):
        parser = make_parser("clopt-reduce", __doc__, EXAMPLES, OPTIONS)
        parser.usage = "%(prog)s [options] model -o OUTPUT -- COMMAND with {}"
        run(parser.parse_args(words[:split]), words[split + 1 :])


if __name__ == "__main__":
    main()
