"""The user's choice of a target: a name or a file, and facts that differ from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...dialects.cl.target import Fact, Target, fact_of
from ...dialects.cl.target_files import SUFFIX, load_target, target_names
from ...errors import CloptError
from ...messages.printable import printable
from ...messages.sentences import as_sentence

__all__ = ["TargetChoice", "change_facts", "load_target", "target_names"]

_PATH = re.compile(rf".*?{re.escape(SUFFIX)}(?=[\s,]|$)", re.S)


@dataclass(frozen=True)
class TargetChoice:
    """A user's choice of a target: a name or a file (or neither), and facts that differ."""

    name: str | None
    facts: Mapping[str, Fact]

    @classmethod
    def parse(cls, text: str) -> TargetChoice:
        """Read `NAME`, `NAME FACT=VALUE ...` or `FACT=VALUE ...`; spaces or commas separate.

        A name that ends in `.toml` is the path of a file. Raises CloptError for a second name.
        """
        words = _words(text.strip(" ,\t\n"))
        names = [word for word in words if "=" not in word or word.endswith(SUFFIX)]
        if names != words[: len(names)] or len(names) > 1:
            raise CloptError(
                f'"{printable(text)}" is no target: write one name, facts such as texture=prefer, '
                "or a name and then facts."
            )
        pairs = (word.partition("=") for word in words[len(names) :])
        facts = {key: fact_of(key, value) for key, _, value in pairs}
        return cls(names[0] if names else None, facts)

    def load(self) -> Target | None:
        """Return the named target with these facts, or None without a name."""
        return None if self.name is None else self.change(load_target(self.name))

    def change(self, target: Target) -> Target:
        """Return `target` with these facts; raise CloptError for unknown facts and wrong values."""
        return change_facts(target, self.facts)


def change_facts(target: Target, facts: Mapping[str, Fact]) -> Target:
    """Return `target` with other `facts`; raise CloptError for unknown facts and wrong values.

    It is also an error to ask for textures on a target without images.
    """
    try:
        changed = target.with_facts(facts)
    except ValueError as error:
        raise CloptError(as_sentence(str(error))) from error
    if facts.get("texture") == "prefer" and not changed.images:
        raise CloptError(
            f"texture=prefer needs a device with images, and {target.name} has none; name another "
            "target, for example adreno-740."
        )
    return changed


def _words(text: str) -> list[str]:
    """Return the words of a choice, without separators; only a path may contain separators."""
    path = _PATH.match(text)
    if path is None:
        return re.split(r"[\s,]+", text)
    return [path[0], *re.findall(r"[^\s,]+", text[path.end() :])]
