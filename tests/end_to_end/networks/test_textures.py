"""Small whole networks compiled for an Adreno give onnxruntime's answers from images, anywhere."""

from __future__ import annotations

import pytest

from support.onnx import builders, on_devices


def _check(name: str, devices: dict[str, str], precision: str) -> None:
    model = builders.NETWORKS[name]()
    compiled = on_devices.check(model, builders.inputs_for(model), devices, precision)
    assert "__read_only image2d_t" in compiled.source


@pytest.mark.parametrize("name", builders.by_effort())
def test_float(name: str, devices: dict[str, str]) -> None:
    _check(name, devices, "f32")


@pytest.mark.parametrize("name", ["mobilenet_v2", "vit_tiny", "unet"])
def test_half_storage(name: str, devices: dict[str, str]) -> None:
    _check(name, devices, "f16-storage")
