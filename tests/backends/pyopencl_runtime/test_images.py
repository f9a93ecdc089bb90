"""Programs over images of every kind and format on every OpenCL device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from clopt import CloptError
from clopt.backends.opencl_c import emit
from clopt.backends.pyopencl_runtime import Executable, find_device, images, target_for
from clopt.backends.saved_model import declare_kernels
from clopt.dialects.cl import Target
from clopt.weights import Weights
from support.cl.image_programs import DTYPES, KINDS, aliases, blur, blurred, copies, lowered, memory

SHAPE = (2, 5, 7, 4)


def target(device: str) -> Target:
    """The target of these tests: the device with images in use."""
    return target_for(find_device(device)).with_facts({"texture": "prefer"})


def executable(device: str, text: str, folder: Path, weights: Weights | None = None) -> Executable:
    module = lowered(text, target(device))
    return Executable(module, weights or Weights(), device, cache_folder=folder)


def any_values(shape: tuple[int, ...], element: str) -> np.ndarray:
    """Every bit pattern that is a finite number."""
    rng = np.random.default_rng(1)
    dtype = np.dtype(DTYPES[element])
    values = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    return np.where(np.isfinite(values), values, dtype.type(1))


@pytest.mark.parametrize("lanes", ["vectorized", "unrolled"])
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_texels_are_copied_bit_by_bit(
    device: str, tmp_path: Path, kind: str, element: str, lanes: str
):
    """256 x 1024 elements. A float between a smallest normal number and zero may become zero."""
    shape = (64, 4, 256, 4)
    x = any_values(shape, element)
    (y,) = executable(device, copies(shape, element, kind, lanes), tmp_path).run([x])
    if x.dtype.kind == "f":
        subnormal = np.abs(x) < np.finfo(x.dtype).tiny
        np.testing.assert_array_equal(y[subnormal], np.where(y == 0, 0, x)[subnormal])
        x, y = x[~subnormal], y[~subnormal]
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_with_a_border(device: str, tmp_path: Path, kind: str):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SHAPE).astype(np.float32)
    w = rng.standard_normal((2, 3, 3, 4)).astype(np.float32)
    weights = Weights()
    text = blur(SHAPE, weights.add(w, "w"), kind)
    program = executable(device, text, tmp_path, weights)
    assert [launch.kernel.num_args for launch in program.launches] == [2, 4, 2]
    for scale in (1, 2):
        (y,) = program.run([x * np.float32(scale)])
        np.testing.assert_allclose(y, scale * blurred(x, w), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("read", ["", "image1d_buffer"])
@pytest.mark.parametrize("write", ["", "image1d_buffer"])
def test_one_buffer_seen_as_image_and_as_buffer(device: str, tmp_path: Path, write: str, read: str):
    first, second = (16, 16, 8, 4), (8, 16, 16, 4)
    x = any_values(first, "f32")
    x[np.abs(x) < np.finfo(np.float32).tiny] = 0
    (y,) = executable(device, aliases(first, second, write, read), tmp_path).run([x])
    np.testing.assert_array_equal(y, x.reshape(second))


def test_an_inference_makes_no_memory(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    weights = Weights()
    w = np.ones((2, 3, 3, 4), np.float32)
    program = executable(device, blur(SHAPE, weights.add(w, "w"), "image2d"), tmp_path, weights)
    x = np.ones(SHAPE, np.float32)
    (expected,) = program.run([x])  # makes the buffers of the caller's arrays

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("memory was made, or an argument set")

    monkeypatch.setattr(cl.Image, "__init__", refuse)
    monkeypatch.setattr(cl.Buffer, "__init__", refuse)
    monkeypatch.setattr(cl.Kernel, "set_arg", refuse)
    (y,) = program.run([x])
    np.testing.assert_array_equal(y, expected)


def test_image_copies_do_not_wait(device: str, tmp_path: Path):
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    module = lowered(copies(SHAPE, "f32", "image2d"), target(device))
    program = Executable(module, Weights(), context=context, cache_folder=tmp_path)
    size = 4 * int(np.prod(SHAPE))
    buffers = {name: cl.Buffer(context, cl.mem_flags.READ_WRITE, size) for name in "xy"}
    gate = cl.UserEvent(context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    program.enqueue(queue, buffers)  # would never return if anything in it waited
    done = cl.enqueue_marker(queue)
    queue.flush()
    assert done.command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    queue.finish()


def test_kernels_that_are_only_declared(device: str, tmp_path: Path):
    """As in a saved model: the bounds of rolled loops are in the declaration."""
    weights = Weights()
    rng = np.random.default_rng(0)
    w, x = (rng.standard_normal(s).astype(np.float32) for s in ((2, 3, 3, 4), SHAPE))
    module = lowered(blur(SHAPE, weights.add(w, "w"), "image2d"), target(device))
    declared = declare_kernels(module)
    assert "bounds [3]" in str(declared)
    declared.verify()
    source = emit(module, target(device))
    program = Executable(declared, weights, device, source=source, cache_folder=tmp_path)
    np.testing.assert_allclose(program.run([x])[0], blurred(x, w), rtol=1e-5, atol=1e-5)


def test_an_image_too_large_for_the_device(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    text = copies(SHAPE, "f32", "image2d")
    real = target_for(find_device(device))
    exact = real.with_facts({"max_image_width": 35, "max_image_height": 2})
    monkeypatch.setattr(images, "target_for", lambda _: exact)
    executable(device, text, tmp_path)
    monkeypatch.setattr(images, "target_for", lambda _: exact.with_facts({"max_image_height": 1}))
    with pytest.raises(CloptError) as error:
        executable(device, text, tmp_path)
    sentence = str(error.value)
    assert "is an image2d of 35 x 2 texels, but [" in sentence
    assert "has at most 35 x 1; give the value another layout" in sentence
    monkeypatch.setattr(images, "target_for", lambda _: real.with_facts({"images": False}))
    with pytest.raises(CloptError, match="does not support images; compile with texture=off"):
        executable(device, text, tmp_path)


def test_a_format_that_the_device_lacks(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cl, "get_supported_image_formats", lambda *_: [])
    with pytest.raises(
        CloptError, match="does not support image2d with texels of four f32; compile with"
    ):
        executable(device, copies(SHAPE, "f32", "image2d"), tmp_path)


def test_too_many_images_for_a_kernel(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    weights = Weights()
    w = np.ones((2, 3, 3, 4), np.float32)
    text = blur(SHAPE, weights.add(w, "w"), "image2d")
    few = target_for(find_device(device)).with_facts({"max_read_images": 1})
    monkeypatch.setattr(images, "target_for", lambda _: few)
    with pytest.raises(
        CloptError, match=r"@blur reads 2 images, but .* allows at most 1 per kernel"
    ):
        executable(device, text, tmp_path, weights)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_images(device: str, tmp_path: Path, kind: str):
    plain, image = memory((2, 0, 7, 4), "f32"), memory((2, 0, 7, 4), "f32", kind)
    text = f"""
cl.program @main(%x: {plain} {{cl.name = "x"}}, %y: {plain} {{cl.name = "y"}}) inputs 1 {{
  %t = cl.alloc : {image}
  cl.enqueue_copy %x, %t : {plain} to {image}
  cl.enqueue_copy %t, %y : {image} to {plain}
  cl.return
}}"""
    (y,) = executable(device, text, tmp_path).run([np.zeros((2, 0, 7, 4), np.float32)])
    assert y.shape == (2, 0, 7, 4)
