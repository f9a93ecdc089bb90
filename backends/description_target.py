"""`clopt -t description`: the description of a compiled program, as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from .describe import describe
from .offload import source_of


@dataclass(frozen=True)
class DescriptionTarget(Target):
    """A target that prints the description of a program, with the source of its kernels.

    Raises CloptError for a module that is not lowered to a program.
    """

    name = "description"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(f"{describe(module, source_of(module))}\n")
