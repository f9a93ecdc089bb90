"""Small whole networks compiled for an Adreno give onnxruntime's answers from images, anywhere."""

from __future__ import annotations

import pytest

from clopt.backends.pyopencl_runtime.devices import find_device, target_for
from support.onnx import builders, on_devices

pytestmark = pytest.mark.usefixtures("quick_builds")  # other tests have the drivers optimise


def _check(name: str, device: str, precision: str) -> None:
    model = builders.NETWORKS[name]()
    compiled = on_devices.check(model, builders.inputs_for(model), {device: device}, precision)
    assert "__read_only image2d_t" in compiled.source


@pytest.mark.in_turns
@pytest.mark.parametrize("name", builders.by_effort())
@pytest.mark.by_default(cases=1)
def test_float(name: str, device: str) -> None:
    _check(name, device, "f32")


@pytest.mark.in_turns
@pytest.mark.parametrize("name", ["mobilenet_v2", "vit_tiny", "unet"])
def test_half_storage(name: str, device: str) -> None:
    _check(name, device, "f16-storage")


def test_half(devices: dict[str, str]) -> None:
    """Sums in half, and sums of these; only some runtimes have arithmetic on halves."""
    able = {n: d for n, d in devices.items() if target_for(find_device(d)).device.fp16}
    if not able:
        pytest.skip("no runtime has half")
    model = builders.NETWORKS["unet"]()
    target = "adreno-740 texture=prefer"
    compiled = on_devices.check(model, builders.inputs_for(model), able, "f16", target)
    assert "half4 conv_total" in compiled.source
