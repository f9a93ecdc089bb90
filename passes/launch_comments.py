"""The part of a kernel's comment that counts its launches."""

from __future__ import annotations

import re

_COUNT = re.compile(r", in \d+ launches$")


def with_launches(comment: str, launches: int) -> str:
    """A comment, with the number of launches if there are several."""
    return f"{comment}, in {launches} launches" if launches > 1 else comment


def without_launches(comment: str) -> str:
    """A comment without the number that `with_launches` added."""
    return _COUNT.sub("", comment)
