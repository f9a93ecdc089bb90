"""The error for models whose inputs or outputs are sequences or optionals."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote
from typing import Any, NamedTuple

from .open_dimensions import OpenModelError
from .printable import printable

_USUAL = {"optional": 1}
"""The length to write for a container, which only the user knows; 2 for sequences."""


class OpenSequence(NamedTuple):
    """An input that is a sequence or an optional."""

    name: str
    container: str
    is_ranked: bool
    """Whether the model declares the rank of the elements."""


class OpenSequencesError(OpenModelError):
    """The lengths of sequences, or the presence of optionals, decide what a model computes."""

    def __init__(self, inputs: Iterable[Iterable[Any]]) -> None:
        """Each of `inputs` has the fields of an `OpenSequence`; outputs alone may be sequences."""
        self.inputs = [OpenSequence(*each) for each in inputs]
        bindings = ", ".join(f'"{printable(name)}": {size}' for name, size in self._sizes())
        super().__init__(self._with_remedy(f"bind with dims={{{bindings}}}") + ".")

    def for_options(self) -> str:
        """Return the sentence for a command line."""
        words = [f"--dim {quote(f'{name}={size}')}" for name, size in self._sizes()]
        return self._with_remedy(f"bind with {' '.join(words)}")

    def programs(self) -> str:
        """Return the part of a Python user's sentence on what has a program each, and a remedy."""
        return f"length of its sequences: {str(self).rstrip('.')}"

    def as_json(self) -> dict[str, Any]:
        """Return the arguments of the error, which `open_model_error` reads."""
        return {"sequences": [list(each) for each in self.inputs]}

    def names(self) -> list[str]:
        """Return the sequences and optionals."""
        return [each.name for each in self.inputs]

    def _sizes(self) -> list[tuple[str, int]]:
        return [(each.name, _USUAL.get(each.container, 2)) for each in self.inputs]

    def _with_remedy(self, binding: str) -> str:
        """Return what is missing, and the remedy: `binding`, or a change of the model."""
        if not self.inputs:
            return (
                "inputs or outputs are sequences, optionals or maps, which a program takes and "
                "returns as tensors"
            )
        listed = [f"'{printable(each.name)}' ({each.container})" for each in self.inputs]
        one = len(listed) == 1
        start = f"the length{'' if one else 's'} of {' and '.join(listed)} {'is' if one else 'are'}"
        unranked = [f"'{printable(each.name)}'" for each in self.inputs if not each.is_ranked]
        if unranked:
            return (
                f"{start} not fixed, and the elements of {' and '.join(unranked)} have no rank; "
                "export the model with shapes, or run it in Python"
            )
        return f"{start} not fixed; {binding}"
