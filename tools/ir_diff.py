"""The changes that each pass of a pipeline makes, as a unified diff of the IR."""

from __future__ import annotations

from difflib import unified_diff

from rich.text import Text
from xdsl.dialects.builtin import ModuleOp
from xdsl.traits import SymbolOpInterface

from ..dialects.cl.target_attr import abbreviated_target
from .ir_text import elide
from .tables import terminal

_STYLES = {"@": "cyan", "+": "green", "-": "red"}


class IRDiff:
    """Prints on stderr the differences of a module since the last call.

    Each operation of the module is compared with the earlier operation of the same symbol. So new
    kernels do not shift the lines of others, and each function numbers its own values.
    """

    def __init__(self, elide_larger_than: int | None) -> None:
        self._elide_larger_than = elide_larger_than
        self._parts: dict[str, str] = {}
        self._console = terminal(stderr=True)

    def start(self, module: ModuleOp) -> None:
        """Store the module before the first pass."""
        self._parts = self._parts_of(module)

    def show(self, name: str, module: ModuleOp) -> None:
        """Print the changes that the pass `name` made."""
        earlier, self._parts = self._parts, self._parts_of(module)
        lines = [line for part in {**earlier, **self._parts} for line in self._diff(part, earlier)]
        if not lines:
            return self._print(f"// {name} changes nothing")
        self._print(f"// {name}", style="bold")
        for line in lines:
            self._print(line, style=_STYLES.get(line[:1], ""))
        self._print("")

    def _diff(self, part: str, earlier: dict[str, str]) -> list[str]:
        before, after = earlier.get(part, ""), self._parts.get(part, "")
        if before == after:
            return []
        titles = (part if before else "nothing", part if after else "nothing")
        return list(unified_diff(before.splitlines(), after.splitlines(), *titles, lineterm=""))

    def _parts_of(self, module: ModuleOp) -> dict[str, str]:
        """Return the text of each operation of the module, by symbol, and of its attributes."""
        with abbreviated_target(module):
            parts = {"the module": "\n".join(f"{k} = {v}" for k, v in module.attributes.items())}
            unnamed = 0
            for op in module.body.ops:
                symbol = op.get_trait(SymbolOpInterface)
                name = symbol.get_sym_attr_name(op) if symbol else None
                if name is None:
                    unnamed += 1
                parts[f"@{name.data}" if name else f"{op.name} {unnamed}"] = str(op)
        limit = self._elide_larger_than
        return parts if limit is None else {k: elide(text, limit) for k, text in parts.items()}

    def _print(self, line: str, style: str = "") -> None:
        self._console.print(Text(line, style=style), soft_wrap=True)
