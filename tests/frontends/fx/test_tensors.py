"""Tensors of torch as arrays that `run` takes and fills."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from clopt import CloptError
from support.cl.exchange import LARGE, SMALL, aligned, counted_copies, program

pytestmark = pytest.mark.by_default(cases=0)  # torch is installed for the thorough tier


def test_tensors_share_their_memory(
    torch: ModuleType, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = counted_copies(monkeypatch)
    executable = program(LARGE, device)
    shared = [torch.from_dlpack(aligned(LARGE)) for _ in range(2)]
    x, z = shared
    x += 3
    (returned,) = executable.run([x], {"z": z})
    assert returned is z
    assert torch.equal(z, 4 * x)
    assert copies == []
    (y,) = executable.run([x], ["y"])
    assert torch.equal(torch.from_dlpack(y), 2 * x)


def test_a_tensor_that_requires_a_gradient_is_refused(torch: ModuleType, device: str) -> None:
    executable = program(SMALL, device)
    y = torch.zeros(SMALL, requires_grad=True)
    with pytest.raises(CloptError, match=r'"y" is a torch\.Tensor, which cannot become an array: '):
        executable.run([np.zeros(SMALL, np.float32)], {"y": y})
