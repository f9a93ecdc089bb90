"""The code of docs/pytorch.md runs."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.by_default(cases=0)  # torch is installed for the thorough tier

PAGE = Path(__file__).parents[3] / "docs" / "pytorch.md"


def test_the_code_on_the_page_computes_the_same_in_both_ways(torch: ModuleType) -> None:
    torch._dynamo.reset()
    names: dict[str, Any] = {}
    first, second = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(first, names)
    scores = torch.from_numpy(names["scores"])
    exec(second, names)
    torch.testing.assert_close(scores, names["scores"])
    torch.testing.assert_close(scores, names["network"](names["image"]).detach())
