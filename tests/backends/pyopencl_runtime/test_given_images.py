"""Inputs and outputs that the caller binds as images: a camera's RGBA8, floats, halves."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pytest

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime import Executable
from clopt.dialects.nn import Array
from support.onnx import camera
from support.onnx.on_devices import expected_outputs

FLOAT, HALF = cl.channel_type.FLOAT, cl.channel_type.HALF_FLOAT
READ, WRITE = cl.mem_flags.READ_ONLY, cl.mem_flags.WRITE_ONLY
RGBA = cl.channel_order.RGBA


@cache
def compiled(channels: int = 3, *images: str) -> clopt.CompiledModel:
    """The network for an Adreno, without a device: compiled once for all of these."""
    return clopt.compile(camera.network(channels), camera.TARGET, images=images or ["camera"])


def program(device: str, channels: int = 3, *images: str) -> Executable:
    model = compiled(channels, *images)
    return Executable(model.module, model.weights, device, source=model.source)


def image(
    model: Executable,
    texels: Array,
    channel: int = FLOAT,
    flags: int = READ,
    order: int = RGBA,
) -> cl.Image:
    """An image of the model's context with these texels, as many rows as there are."""
    *_, width, _ = texels.shape
    shape = (width, texels.size // (4 * width))
    copied: Any = flags | cl.mem_flags.COPY_HOST_PTR
    form = cl.ImageFormat(order, channel)
    create = cast("Any", cl).create_image
    return create(model.context, copied, form, shape, hostbuf=texels)


def check(channels: int, array: Array, outputs: list[Array]) -> None:
    expected = expected_outputs(camera.network(channels), {"camera": array})
    assert len(outputs) == len(expected)
    for got, want in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("channels", [1, 3, 6])
def test_float_image(channels: int, device: str) -> None:
    """What lies in the channels that the tensor lacks changes nothing, not even NaN."""
    model = program(device, channels)
    array = np.random.default_rng(1).random((2, channels, 5, 7), np.float32)
    model.bind_image("camera", image(model, camera.texels(array, np.nan)))
    check(channels, array, model.run({}))
    assert model.run([])[0].shape == (2, 5, 5, 7)


def test_camera(device: str) -> None:
    """RGBA8 is read as 0 to 1, without a kernel that packs it."""
    model = program(device)
    assert "pack" not in model.source
    # The three channels of a texel are one step: no loop over them, and alpha is not read.
    assert set(re.findall(r"camera\d+\.(s\d)", model.source)) == {"s0", "s1", "s2"}
    assert "int c " not in model.source
    bytes_ = np.random.default_rng(2).integers(0, 256, (2, 3, 5, 7), np.uint8)
    model.bind_image("camera", image(model, camera.texels(bytes_, 77), cl.channel_type.UNORM_INT8))
    check(3, bytes_.astype(np.float32) / 255, model.run({}))


def test_run_with_arrays(device: str) -> None:
    """Without an image `run` packs the arrays into one; None takes a bound one away."""
    model = program(device, 6, "camera", "mask", "picture")
    array = np.random.default_rng(3).random((2, 6, 5, 7), np.float32)
    check(6, array, model.run({"camera": array}))
    model.bind_image("camera", image(model, camera.texels(0 * array, 0)))
    assert not model.run({})[0].any()
    model.bind_image("camera", None)
    check(6, array, model.run([array]))


def test_output_images(device: str) -> None:
    """Missing channels are written as zero, and unorm clamps; `enqueue` takes images, too."""
    model = program(device, 3, "camera", "mask", "picture")
    array = np.linspace(-1, 1, 210, dtype=np.float32).reshape(2, 3, 5, 7)
    mask = image(model, np.ones((2, 2, 5, 7, 4), np.float32), flags=WRITE)
    picture = image(model, np.ones((2, 1, 5, 7, 4), np.uint8), cl.channel_type.UNORM_INT8, WRITE)
    given = image(model, camera.texels(array, 9))
    model.bind_image("mask", mask)
    model.enqueue(model.queue, {"camera": given, "picture": picture})
    masks, pictures = np.empty((2, 2, 5, 7, 4), np.float32), np.empty((2, 1, 5, 7, 4), np.uint8)
    for target, source in ((masks, mask), (pictures, picture)):
        region = source.width, source.height
        cl.enqueue_copy(model.queue, target, source, origin=(0, 0), region=region)
    wanted, grown = expected_outputs(camera.network(), {"camera": array})
    np.testing.assert_allclose(masks, camera.texels(wanted, 0), rtol=1e-4, atol=1e-5)
    clamped = camera.texels(np.clip(grown, 0, 1) * 255, 0)
    assert np.abs(pictures.astype(np.float32) - clamped).max() <= 1
    assert len(model.run({"camera": array})) == 1


def test_halves(device: str) -> None:
    """A half image serves a tensor of floats, where the device has such images."""
    model = program(device)
    array = np.random.default_rng(4).random((2, 3, 5, 7)).astype(np.float16)
    model.bind_image("camera", image(model, camera.texels(array, 3), HALF))
    check(3, array.astype(np.float32), model.run({}))


REFUSALS = {
    "no image": "was compiled as an image, but ndarray was given; bind a pyopencl.Image",
    "size": 'The image for "camera" is 7x5, but must be a 2-D image of 7x10 texels.',
    "order": "has the channel order BGRA, but kernels need RGBA",
    "channels": "has channels of SIGNED_INT8, but the kernels need CL_FLOAT or CL_HALF_FLOAT or",
    "flags": 'Kernels cannot read the write-only image for "camera".',
    "context": 'The image for "camera" belongs to another context than the program.',
}


def test_refused_images(device: str) -> None:
    model = program(device)
    apart = cl.Context([model.device.handle])
    other = Executable(compiled(3).module, compiled(3).weights, context=apart)
    texels = np.zeros((2, 1, 5, 7, 4), np.float32)
    bytes_ = texels.astype(np.int8)
    given: dict[str, Any] = {
        "no image": texels,
        "size": image(model, texels[:1]),
        "order": image(model, bytes_, cl.channel_type.UNORM_INT8, order=cl.channel_order.BGRA),
        "channels": image(model, bytes_, cl.channel_type.SIGNED_INT8),
        "flags": image(model, texels, flags=WRITE),
        "context": image(other, texels),
    }
    for name, expected in REFUSALS.items():
        with pytest.raises(CloptError) as error:
            model.bind_image("camera", given[name])
        assert expected in str(error.value), name


def test_refused_mixtures(device: str) -> None:
    model = program(device)
    texels = np.zeros((2, 1, 5, 7, 4), np.float32)
    array = np.zeros((2, 3, 5, 7), np.float32)
    with pytest.raises(CloptError, match='"mask" needs a buffer; to bind an image, compile with'):
        model.bind_image("mask", image(model, texels))
    with pytest.raises(CloptError, match='no input or output called "x"'):
        model.bind_image("x", None)
    model.bind_image("camera", image(model, texels))
    with pytest.raises(CloptError, match='"camera" is bound to an image; omit it, or first call'):
        model.run({"camera": array})
    with pytest.raises(CloptError, match='"camera" is bound to an image'):
        model.enqueue(model.queue, {"camera": image(model, texels)})


def test_saved(device: str, tmp_path: Any) -> None:
    """A saved model remembers its images."""
    compiled().save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device)
    assert [tensor.image for tensor in loaded.inputs] == [(7, 10)]
    model = loaded.executable
    assert isinstance(model, Executable)
    array = np.random.default_rng(5).random((2, 3, 5, 7), np.float32)
    loaded.bind_image("camera", image(model, camera.texels(array, np.inf)))
    check(3, array, loaded.run({}))
