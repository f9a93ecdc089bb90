"""The memory of models with open dimensions: at the largest sizes, and on the device now."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clopt
from support.onnx.models import model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

WEIGHT = np.linspace(-1, 1, 6 * 6 * 3 * 3, dtype=np.float32).reshape(6, 6, 3, 3)

IMAGES = model(
    "float[n,6,8,8] x",
    "a = Conv<pads=[1,1,1,1]>(x, w) b = Conv<pads=[1,1,1,1]>(a, w) c = Softmax<axis=1>(b)"
    " y = Conv<pads=[1,1,1,1]>(c, w)",
    constants={"w": WEIGHT},
)


def images(count: int) -> dict[str, np.ndarray]:
    return {"x": np.zeros((count, 6, 8, 8), np.float32)}


@pytest.mark.parametrize("dims", [{"n": (1, 8)}, {"n": (1, 8, 8)}], ids=["rounded", "one"])
def test_memory_is_that_of_the_largest_sizes(dims: dict[str, tuple[int, ...]], tmp_path: Path):
    compiled = clopt.compile(IMAGES, "pocl", dims=dims)
    static = clopt.compile(IMAGES, "pocl", dims={"n": 8})
    assert static.memory.arena_bytes > 0
    for each in (compiled, saved(compiled, tmp_path)):
        assert each.memory.arena_bytes == static.memory.arena_bytes
        assert each.memory.total == static.memory.total


def saved(compiled: clopt.CompiledModel, folder: Path) -> clopt.CompiledModel:
    compiled.save(folder / "model")
    return clopt.load(folder / "model")


def test_memory_of_unlimited_sizes_is_refused():
    with pytest.raises(clopt.CloptError, match="one program for each size"):
        _ = clopt.compile(IMAGES, "pocl").memory


def test_memory_now_counts_what_programs_share_once(device: str):
    """The program for 8 images has the arena that the one for 4 uses, and the same weight."""
    compiled = clopt.compile(IMAGES, device=device)
    assert compiled.memory_now.total == 0
    compiled.run(images(8))
    large = compiled.memory_now
    assert large.total == clopt.compile(IMAGES, device=device, dims={"n": 8}).memory.total
    compiled.run(images(4))
    both = compiled.memory_now
    assert len(both.programs) == 2
    assert (both.arenas, both.constants) == (large.arenas, large.constants)
    ports = sum(each.inputs + each.outputs for each in both.programs)
    assert both.total == both.arenas + both.constants + ports


def test_memory_now_counts_the_arena_of_a_smaller_program_that_came_first(device: str):
    compiled = clopt.compile(IMAGES, device=device)
    compiled.run(images(4))
    small = compiled.memory_now.arenas
    compiled.run(images(8))
    large = clopt.compile(IMAGES, device=device, dims={"n": 8}).memory.arena_bytes
    assert compiled.memory_now.arenas == small + large
