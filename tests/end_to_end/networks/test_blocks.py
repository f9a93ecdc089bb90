"""Networks and hard cases in blocks of channels, as on CPUs, give onnxruntime's answers."""

from __future__ import annotations

import numpy as np
import pytest

from support.onnx import builders, hard_cases, on_devices

LANES = {"f32": "pocl blocks=prefer vector_width=4", "f16-storage": "pocl blocks=prefer"}
"""Blocks of four fill up with the few channels of small networks."""

WIDE = "pocl vector_width=16 vector_registers=32"
"""What calibration finds on many processors with AVX-512."""


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", builders.by_effort())
def test_networks(name: str, device: str) -> None:
    model = builders.NETWORKS[name]()
    on_devices.check(model, builders.inputs_for(model), {device: device}, "f32", LANES["f32"])


@pytest.mark.in_turns
@pytest.mark.parametrize("name", ["mobilenet_v2", "vit_tiny"])
def test_networks_in_wide_vectors(name: str, device: str) -> None:
    """As drivers optimise them for users."""
    model = builders.NETWORKS[name]()
    on_devices.check(model, builders.inputs_for(model), {device: device}, "f32", WIDE)


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", ["resnet18", "yolo"])
def test_more_networks_in_wide_vectors(name: str, device: str) -> None:
    model = builders.NETWORKS[name]()
    on_devices.check(model, builders.inputs_for(model), {device: device}, "f32", WIDE)


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", ["mobilenet_v2", "unet"])
def test_networks_in_half_storage(name: str, device: str) -> None:
    model = builders.NETWORKS[name]()
    inputs = builders.inputs_for(model)
    on_devices.check(model, inputs, {device: device}, "f16-storage", LANES["f16-storage"])


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", list(hard_cases.CASES))
def test_hard_cases(name: str, device: str) -> None:
    model = hard_cases.CASES[name](False)
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    on_devices.check(model, {"x": x}, {device: device}, "f32", LANES["f32"])
