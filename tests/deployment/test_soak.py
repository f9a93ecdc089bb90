"""Ten thousand inferences take no more memory than one thousand."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import packaged_models as models
import pytest
from c_compilers import link, run

import clopt
from clopt.backends.pyopencl_runtime import find_device

SOAK = Path(__file__).parent / "soak.c"


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="needs Linux with glibc 2.33"
)
@pytest.mark.parametrize("rebind", [0, 1])
def test_memory_does_not_grow(
    rebind: int, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    """A byte that malloc gave and that is lost at each inference would come to 288,000.

    Drivers have memory of their own, too, which only the resident pages tell of.
    """
    clopt.compile(models.DIGITS, dims={"batch": 1}, device=device).save_c(tmp_path, "net")
    words = [find_device(device).platform, tmp_path / "weights.bin", "10000", str(rebind)]
    printed = run(link(tmp_path, runtime, SOAK), *words)
    counts, resident, allocated = zip(
        *(map(int, line.split()) for line in printed.splitlines()), strict=True
    )
    assert counts == (1000, 4000, 7000, 10000)
    assert allocated[-1] - allocated[0] < 65_536, printed
    assert resident[-1] - resident[0] < 262_144, printed
