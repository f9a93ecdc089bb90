"""The launch count in a kernel's comment."""

from __future__ import annotations

import re

_COUNT = re.compile(r", in \d+ launches$")


def with_launches(comment: str, launches: int) -> str:
    """Return `comment` with ", in N launches" appended if there are several launches."""
    return f"{comment}, in {launches} launches" if launches > 1 else comment


def without_launches(comment: str) -> str:
    """Return `comment` without the count that `with_launches` appended."""
    return _COUNT.sub("", comment)
