"""Images in planned memory, by each way that a device has, and on a device that has none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from clopt import CloptError
from clopt.backends.pyopencl_runtime import (
    Executable,
    ImageViews,
    find_device,
    image_test,
    image_views,
)
from clopt.backends.pyopencl_runtime.images import Images
from clopt.backends.pyopencl_runtime.memory import BufferMemory
from clopt.targets import load_target
from clopt.weights import Weights
from support.cl.image_programs import DTYPES, aliases, blur, blurred, copies, lowered, memory

SHAPE = (2, 5, 7, 4)  # as a 2-D image 35 x 2 texels: rows of 560 bytes
PITCH = 640
WEIGHT = np.random.default_rng(1).standard_normal((2, 3, 3, 4)).astype(np.float32)
X = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)

WAYS = {
    ("Intel(R) OpenCL", "image2d"): tuple(ImageViews),
    ("Intel(R) OpenCL", "image1d_buffer"): tuple(ImageViews),
    ("Portable Computing Language", "image2d"): (ImageViews.Host, ImageViews.Object),
    ("Portable Computing Language", "image1d_buffer"): (ImageViews.Host, ImageViews.Object),
}
"""What runtimes for CPUs have, the best first."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernels that many of the programs have are built once."""
    return tmp_path_factory.mktemp("kernels")


def ways(device: str, kind: str) -> tuple[ImageViews, ...]:
    """The ways that the device has; an unknown device has those that every device has."""
    return WAYS.get((find_device(device).platform, kind), (ImageViews.Object,))


def planned(text: str, **offsets: str) -> str:
    """`text` with `cl.alloc`s replaced by views of an arena, given as `t="[128] pitch 640"`."""
    for name, place in offsets.items():
        operation = "image_view"
        if place.endswith("buffer"):
            operation, place = "buffer_view", place.removesuffix("buffer")
        text = text.replace(f"%{name} = cl.alloc", f"%{name} = cl.{operation} %arena{place}")
    return text.replace("inputs 1 {", "inputs 1 {\n  %arena = cl.arena : memref<8192xi8>")


def executable(
    text: str, device: str, folder: Path, weights: Weights | None = None, **options: object
) -> Executable:
    """The program for an Adreno, which has images over buffers, on another device."""
    target = load_target("adreno-740").with_facts({"texture": "prefer", "float_coordinates": False})
    module = lowered(text, target)
    if "context" not in options:
        options["device"] = device
    return Executable(module, weights or Weights(), cache_folder=folder, **options)  # type: ignore[arg-type]


def reusing(weights: Weights, kind: str) -> str:
    """A filter over images whose bytes become those of a buffer, and in the next inference again
    those of an image."""
    plain = memory(SHAPE, "f32")
    text = blur(SHAPE, weights.add(WEIGHT, "w"), kind)
    text = text.replace("cl.enqueue_kernel @unpack(%u, %y)", "cl.enqueue_kernel @unpack(%u, %v)")
    text = text.replace("%u = cl.alloc", f"%v = cl.alloc : {plain}\n  %u = cl.alloc")
    text = text.replace("cl.return", f"cl.enqueue_copy %v, %y : {plain}\n  cl.return")
    pitch = f" pitch {PITCH}" if kind == "image2d" else ""
    return planned(text, t=f"[128]{pitch}", u=f"[2048]{pitch}", v="[128]buffer")


@pytest.mark.parametrize("kind", ["image2d", "image1d_buffer"])
def test_all_ways_give_the_same_bits(device: str, cache: Path, kind: str) -> None:
    weights = Weights()
    text = reusing(weights, kind)
    key = weights.add(WEIGHT, "w")
    alone = executable(blur(SHAPE, key, kind), device, cache, weights)
    expected = [alone.run([x])[0] for x in (X, 2 * X)]
    np.testing.assert_allclose(expected[0], blurred(X, WEIGHT), rtol=1e-5, atol=1e-5)
    program = executable(text, device, cache, weights)
    assert program.image_views == {kind: ways(device, kind)[0].value}
    for way in ways(device, kind):
        program = executable(text, device, cache, weights, image_views=way)
        assert program.image_views == {kind: way.value}
        for x, y in zip((X, 2 * X), expected, strict=True):
            np.testing.assert_array_equal(program.run([x])[0], y)


@pytest.mark.parametrize("kind", ["image2d", "image1d_buffer"])
def test_a_way_that_the_device_does_not_have(device: str, cache: Path, kind: str) -> None:
    text = reusing(weights := Weights(), kind)
    for way in set(ImageViews) - set(ways(device, kind)):
        with pytest.raises(
            CloptError, match=rf"cannot create this program's {kind} images {way.value}"
        ):
            executable(text, device, cache, weights, image_views=way)


@pytest.mark.parametrize("element", ["f16", "f32", "i8"])
def test_texels_of_all_sizes_are_copied(device: str, cache: Path, element: str) -> None:
    """By commands between buffers and images, and by a kernel."""
    pitch = {"f16": 320, "f32": 576, "i8": 192}[element]
    places = {n: f"[{o}] pitch {pitch}" for n, o in (("t", 128), ("u", 2048), ("v", 4096))}
    text = planned(copies(SHAPE, element, "image2d"), **places)
    x = np.random.default_rng(2).integers(-99, 99, SHAPE).astype(DTYPES[element])
    for way in ways(device, "image2d"):
        program = executable(text, device, cache, image_views=way)
        np.testing.assert_array_equal(program.run([x])[0], x)


@pytest.mark.parametrize(("write", "read"), [("", "image1d_buffer"), ("image1d_buffer", "")])
def test_bytes_seen_as_image_and_as_buffer(device: str, cache: Path, write: str, read: str) -> None:
    second = (7, 5, 2, 4)
    place = "[256]" if write else "[256]buffer"
    text = planned(aliases(SHAPE, second, write, read), t=place)
    for way in ways(device, "image1d_buffer"):
        program = executable(text, device, cache, image_views=way)
        for x in (X, -X):
            np.testing.assert_array_equal(program.run([x])[0], x.reshape(second))


def test_in_the_callers_arena(device: str, cache: Path) -> None:
    """No image shares host memory that is not ours."""
    context = cl.Context([find_device(device).handle])
    arena = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 8192)]
    for kind in ("image2d", "image1d_buffer"):
        text = reusing(weights := Weights(), kind)
        program = executable(text, device, cache, weights, context=context, arena=arena)
        expected = next(way for way in ways(device, kind) if way is not ImageViews.Host)
        assert program.image_views == {kind: expected.value}
        y = program.run([X])[0]
        np.testing.assert_allclose(y, blurred(X, WEIGHT), rtol=1e-5, atol=1e-5)


def test_memory_is_counted_by_the_way(device: str, cache: Path) -> None:
    """Images with memory of their own do not move the views behind them in the arena."""
    image = X.nbytes
    text = reusing(weights := Weights(), "image2d")
    for way in ways(device, "image2d"):
        program = executable(text, device, cache, weights, image_views=way)
        if way is ImageViews.Object:
            assert program.arena_bytes == (128 + image,)  # of the buffer
            assert program.device_bytes == 128 + image + 2 * image + WEIGHT.nbytes
        else:
            assert program.arena_bytes == (2048 + 2 * PITCH,)
            assert program.device_bytes == 2048 + 2 * PITCH + WEIGHT.nbytes


def test_images_of_a_shape_that_are_not_live_at_once_share_an_object(
    device: str, cache: Path
) -> None:
    """Of three images in a row, the third is the first one's object."""
    program = executable(copies(SHAPE, "f32", "image2d_array"), device, cache)
    assert program.device_bytes == 2 * X.nbytes
    np.testing.assert_array_equal(program.run([X])[0], X)


def test_a_pitch_that_the_device_does_not_take(
    device: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_views, "pitch_alignment", lambda *_: 1024)
    text = reusing(weights := Weights(), "image2d")
    program = executable(text, device, cache, weights)
    expected = next(way for way in ways(device, "image2d") if way is not ImageViews.Buffer)
    assert program.image_views == {"image2d": expected.value}


def test_an_offset_that_the_device_does_not_take(
    device: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Images, "base_alignment", 512)
    text = reusing(weights := Weights(), "image1d_buffer")
    program = executable(text, device, cache, weights)
    expected = next(way for way in ways(device, "image2d") if way is not ImageViews.Buffer)
    assert program.image_views == {"image1d_buffer": expected.value}


def test_a_device_that_does_not_keep_its_word(
    device: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its images over buffers have memory of their own, which the trial finds out."""
    monkeypatch.setattr(image_views, "_VERDICTS", {})
    tried: list[bool] = []
    real = image_test.shares_memory

    def trial(*args: object) -> bool:
        with monkeypatch.context() as lie:
            lie.setattr(
                BufferMemory,
                "image",
                lambda memory, type_, *_: memory._images.make(type_, cl.mem_flags.READ_WRITE),
            )
            tried.append(real(*args))  # type: ignore[arg-type]
        return tried[-1]

    monkeypatch.setattr(image_views, "shares_memory", trial)
    text = reusing(weights := Weights(), "image2d")
    for _ in range(2):
        program = executable(text, device, cache, weights)
        assert program.image_views == {"image2d": ImageViews.Object.value}
    # Once in a process for each way that the device is said to have.
    assert tried == [False] * (len(ways(device, "image2d")) - 1)
