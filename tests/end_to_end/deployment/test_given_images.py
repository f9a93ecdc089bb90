"""A C application gives images to its model: a camera's RGBA8 in, floats out, and mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import clopt
from clopt.backends.pyopencl_runtime import find_device
from support.c.compilers import compilers, link_objects, objects, run
from support.onnx import camera
from support.onnx.on_devices import expected_outputs

MAIN = Path(__file__).parent / "given_images.c"

ANSWERS = [
    ("buffer", "ARGUMENT", "camera is an image; call clopt_bind_image, or compile the model"),
    ("picture", "ARGUMENT", "picture is a buffer; to bind an image, compile the model with"),
    ("no image", "BUFFER", "The object given for camera is not a 2-D image."),
    ("null", "ARGUMENT", "The image for camera is a null pointer."),
    ("size", "BUFFER", "The image for camera has 7 x 9 texels, but needs 7 x 10."),
    ("order", "BUFFER", "The image for camera is in CL_BGRA, but kernels need CL_RGBA; copy it."),
    ("channels", "BUFFER", "image for camera are not CL_FLOAT, CL_HALF_FLOAT or CL_UNORM_INT8."),
    ("flags", "BUFFER", "Kernels cannot read the image for the input camera."),
    ("context", "BUFFER", "The image for camera belongs to another context than the model."),
]


def test_given_images(device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    model = clopt.compile(camera.network(), camera.TARGET, device=device, images=["camera", "mask"])
    folder = tmp_path / "net"
    model.save_c(folder, "net")
    sources = [folder / "net.c", folder / "net_kernels.c", MAIN]
    made = objects(compilers()[0], sources, tmp_path, folder)
    program = link_objects([*runtime, *made], tmp_path / "given_images")
    pixels = np.random.default_rng(0).integers(0, 256, (2, 3, 5, 7), np.uint8)
    texels, mask = tmp_path / "texels.bin", tmp_path / "mask.bin"
    texels.write_bytes(camera.texels(pixels, 99).tobytes())
    printed = run(program, find_device(device).platform, folder / "weights.bin", texels, mask)
    answers = [line.split(" | ") for line in printed.splitlines()]
    for (name, status, message), (wanted, code, text) in zip(answers, ANSWERS, strict=True):
        assert (name, status) == (wanted, f"CLOPT_{code}"), message
        assert text in message
    wanted, _ = expected_outputs(camera.network(), {"camera": pixels.astype(np.float32) / 255})
    found = np.fromfile(mask, np.float32).reshape(2, 2, 5, 7, 4)
    np.testing.assert_allclose(found, camera.texels(wanted, 0), rtol=1e-4, atol=1e-5)
