"""Ten thousand inferences take no more memory than one thousand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import models
import pytest
from c_compilers import link, run

import clopt
from clopt.backends.pyopencl_runtime import find_device

SOAK = Path(__file__).parent / "soak.c"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm, which Linux has")
@pytest.mark.parametrize("rebind", [0, 1])
def test_memory_does_not_grow(
    rebind: int, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    """A leak of 64 bytes an inference would be 576,000 bytes."""
    clopt.compile(models.DIGITS, dims={"batch": 1}, device=device).save_c(tmp_path, "net")
    words = [find_device(device).platform, tmp_path / "weights.bin", "10000", str(rebind)]
    printed = run(link(tmp_path, runtime, SOAK), *words)
    counts, resident = zip(*(map(int, line.split()) for line in printed.splitlines()), strict=True)
    assert counts == (1000, 4000, 7000, 10000)
    assert resident[-1] - resident[0] < 300_000, printed
