"""Names of C: identifiers made from names of tensors and models."""

from __future__ import annotations

import re

from ...errors import CloptError

_LONGEST = 36

# Names that the package's own files and targets have.
_TAKEN = ("main", "all", "clean", "help", "install", "test")


def check_model_name(name: str) -> str:
    """`name`, which files and functions of a model will bear; CloptError if they cannot."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise CloptError(
            f'"{name}" cannot begin the names of C functions; give a name of letters, digits and '
            "underscores that starts with a letter."
        )
    if name.lower() in _TAKEN or name.lower().startswith("clopt"):
        raise CloptError(f'A model cannot have the name "{name}"; give it another one.')
    return name


def model_name(stem: str) -> str:
    """A name for the model of a file called `stem`."""
    name = identifier(stem)
    if not name[0].isalpha():
        name = f"model_{name}"
    try:
        return check_model_name(name)
    except CloptError:
        return f"model_{name}"


def identifier(name: str) -> str:
    """What is left of `name` in an identifier."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:_LONGEST] or "_"


class Names:
    """Gives each thing an identifier of its own."""

    def __init__(self, *taken: str):
        self._count: dict[str, int] = dict.fromkeys(taken, 1)

    def add(self, wanted: str) -> str:
        """`wanted`, or with a number behind it if that is taken."""
        name = wanted
        while name in self._count:
            name = f"{wanted}_{self._count[wanted]}"
            self._count[wanted] += 1
        self._count[name] = 1
        return name
