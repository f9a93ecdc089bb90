"""Ten thousand inferences take no more memory than one thousand."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import pytest

import clopt
from clopt.backends.clml.library import reference_library
from clopt.backends.pyopencl_runtime import find_device
from support.c import packaged_models as models
from support.c.compilers import link, run
from support.clml.small_networks import AROUND, network

SOAK = Path(__file__).parent / "soak.c"

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="needs Linux with glibc 2.33"
)


def soak(program: Path, device: str, rebind: int, replay: int = 0) -> set[int]:
    """Checks that memory does not grow; how many handles of CLML there were.

    A byte that malloc gave and that is lost at each inference would come to 288,000. Drivers have
    memory of their own, too, which only the resident pages tell of.
    """
    weights = program.parent / "weights.bin"
    words = [find_device(device).platform, weights, "10000", str(rebind), str(replay)]
    printed = run(program, *words)
    counts, resident, allocated, handles = zip(
        *(map(int, line.split()) for line in printed.splitlines()), strict=True
    )
    assert counts == (1000, 4000, 7000, 10000)
    assert allocated[-1] - allocated[0] < 65_536, printed
    assert resident[-1] - resident[0] < 262_144, printed
    return set(handles)


@pytest.mark.in_turns
@pytest.mark.parametrize("rebind", [0, 1])
def test_memory_does_not_grow(
    rebind: int, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    clopt.compile(models.DIGITS, dims={"batch": 1}, device=device).save_c(tmp_path, "net")
    assert soak(link(tmp_path, runtime, SOAK), device, rebind) == {0}


@pytest.fixture(scope="session")
def with_clml(clml_runtime: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network in two graphs of CLML, with a kernel between them."""
    folder = tmp_path_factory.mktemp("soak")
    model = clopt.compile(network(AROUND), "generic", clml="prefer", clml_version=3)
    model.save_c(folder, "net")
    assert model.source.count("kernel void") == 1
    return link(folder, clml_runtime, SOAK)


@pytest.mark.in_turns
@pytest.mark.parametrize("replay", [0, 1])
def test_memory_does_not_grow_with_clml(
    replay: int, device: str, with_clml: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLML's handles do not grow in number, either; each new binding makes recordings anew."""
    monkeypatch.setenv("OPENCL_LAYERS", str(reference_library()))
    (handles,) = soak(with_clml, device, 1, replay)
    assert handles > 0
