"""`clopt -t choices`: the decisions of a compilation as a file, to store, edit and read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ..decisions.choice_file import choices_text
from ..decisions.choices import choices_of


@dataclass(frozen=True)
class ChoicesTarget(Target):
    """Prints a file of choices: those that the passes made, and demands that none has met."""

    name = "choices"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(choices_text(choices_of(module) or ()))
