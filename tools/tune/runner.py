"""`clopt-tune runner`: write the runner for boards without Python, as C99 sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...backends.host_c.runner_files import runner_files
from ...files.folders import replace_folder
from ..console import Options, make_parser

EXAMPLES = """\
clopt-tune runner runner-c && cmake -S runner-c -B build && cmake --build build
"""

OPTIONS: Options = [(("folder",), {"type": Path, "help": "a new folder for the sources"})]


def main(args: Sequence[str]) -> None:
    """Write the sources to a new folder."""
    parser = make_parser("clopt-tune runner", __doc__, EXAMPLES, OPTIONS)
    folder: Path = parser.parse_args(args).folder

    def write(place: Path) -> None:
        for path, content in runner_files().items():
            (place / path).parent.mkdir(exist_ok=True)
            (place / path).write_bytes(content)

    replace_folder(folder, write)
