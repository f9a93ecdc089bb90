"""`vta-objdump`: print a stream's instructions, with the tokens in the queues after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..dialects.vta import Config, Queue, VTAStreamError
from ..dialects.vta.assembly import instruction_text, uops_text
from ..dialects.vta.isa import signals_of, waits_of
from ..dialects.vta.stream_file import StreamFile, read_stream
from ..errors import CloptError
from ..messages.printable import printable
from .console import Options, make_parser, read_bytes, user_errors
from .json_output import VERSION, json_option, print_json

EXAMPLES = """\
vta-objdump model.vta
vta-objdump model.vta --config 1x16_i8w8a32_15_15_18_17
"""

OPTIONS: Options = [
    (("stream",), {"help": "a file with a stream of VTA"}),
    (("--config",), {"metavar": "NAME", "help": "refuse a stream for another core than this one"}),
    json_option("the dump"),
]

_COLUMN = 96
"""The column of the queue counters, if the instruction before them is short enough."""


def instructions(file: StreamFile) -> Iterator[tuple[str, Mapping[Queue, int]]]:
    """Yield each instruction as text, with the tokens in the queues after it."""
    counts = dict.fromkeys(Queue, 0)
    for number, instruction in enumerate(file.instructions):
        for queue in waits_of(instruction):
            counts[queue] -= 1
        for queue in signals_of(instruction):
            counts[queue] += 1
        symbol = file.symbol_of(number)
        name = None if symbol is None else f"%{printable(symbol.name)}"
        yield instruction_text(instruction, name), dict(counts)


def listing(file: StreamFile) -> Iterator[str]:
    """Yield the lines of a dump: symbols, instructions with the tokens after each, micro-ops."""
    yield f"// configuration {file.config.name}"
    for symbol in file.symbols:
        yield f"// %{printable(symbol.name)} : {symbol.kind}, {symbol.elements} elements"
    for number, (text, counts) in enumerate(instructions(file)):
        tokens = " ".join(f"{queue} {count}" for queue, count in counts.items())
        yield f"{f'{number:6}  {text}':<{_COLUMN}}  // {tokens}"
    if file.uops:
        yield "// micro-ops: dst, src, wgt"
        yield uops_text(file.uops)


def facts(file: StreamFile) -> dict[str, Any]:
    """Return the contents of a dump for JSON."""
    return {
        "version": VERSION,
        "config": file.config.name,
        "symbols": [
            {"name": symbol.name, "kind": str(symbol.kind), "elements": symbol.elements}
            for symbol in file.symbols
        ],
        "instructions": [
            {"text": text, "tokens": {str(queue): count for queue, count in counts.items()}}
            for text, counts in instructions(file)
        ],
        "uops": [list(uop) for uop in file.uops],
    }


def main(args: Sequence[str] | None = None) -> None:
    """Run `vta-objdump` with `args`, or with the arguments of the process."""
    with user_errors("vta-objdump"):
        options = make_parser("vta-objdump", __doc__, EXAMPLES, OPTIONS).parse_args(args)
        config = None if options.config is None else Config.parse(options.config)
        data = read_bytes(options.stream)
        try:
            file = read_stream(data, config)
        except VTAStreamError as error:
            raise CloptError(f"{options.stream}: {error}") from error
        if options.json:
            return print_json(facts(file))
        for line in listing(file):
            print(line)


if __name__ == "__main__":
    main()
