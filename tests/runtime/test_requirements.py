"""A model compiled for one device runs on another, or says what that one lacks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from programs import parse

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime import Device, find_device
from clopt.backends.pyopencl_runtime.requirements import check_requirements
from clopt.dialects.cl import target_of

SQUARE = """
func.func @main(%x: tensor<4x6x{0}> {{nn.name = "x"}}) -> (tensor<4x4x{0}> {{nn.name = "y"}}) {{
  %t = nn.transpose %x {{perm = array<i64: 1, 0>}} : (tensor<4x6x{0}>) -> tensor<6x4x{0}>
  %y = nn.matmul %x, %t : (tensor<4x6x{0}>, tensor<6x4x{0}>) -> tensor<4x4x{0}>
  func.return %y : tensor<4x4x{0}>
}}
"""
X = np.random.default_rng(0).random((4, 6), dtype=np.float32)


def test_code_for_an_absent_device_runs_here(device: str) -> None:
    model = clopt.compile(parse(SQUARE.format("f32")), target="adreno-740", device=device)
    assert target_of(model.module).name == "adreno-740"
    assert model.device_name.startswith(find_device(device).name)
    np.testing.assert_allclose(model.run([X])[0], X @ X.T, rtol=1e-5)


def test_halves_need_a_device_that_computes_in_them(device: str) -> None:
    module, x = parse(SQUARE.format("f16")), X.astype(np.float16)
    expected = x.astype(np.float32) @ x.T.astype(np.float32)
    if "cl_khr_fp16" not in find_device(device).handle.extensions:
        with pytest.raises(CloptError, match=r"half precision, which \[.*with the fact fp16=false"):
            clopt.compile(module, target="adreno-740", device=device)
    else:
        model = clopt.compile(module, target="adreno-740", device=device)
        np.testing.assert_allclose(model.run([x])[0], expected, rtol=1e-2)
    model = clopt.compile(module, target="adreno-740 fp16=false", device=device)
    np.testing.assert_allclose(model.run([x])[0], expected, rtol=2e-3)


def test_facts_change_the_devices_own_target(device: str) -> None:
    for changed in ({"texture": "off"}, {"target": "texture=off"}):
        model = clopt.compile(parse(SQUARE.format("f32")), device=device, **changed)
        assert target_of(model.module).texture == "off"
        assert target_of(model.module).compute_units == find_device(device).compute_units


def test_facts_change_a_given_target() -> None:
    module = parse(SQUARE.format("f32"))
    target = clopt.compile(module, "pocl texture=off", vector_width=4).module
    assert (target_of(target).texture, target_of(target).vector_width) == ("off", 4)


def test_an_argument_that_is_no_fact_is_refused() -> None:
    with pytest.raises(CloptError, match='"textures" is no fact of a target; facts: '):
        clopt.compile(parse(SQUARE.format("f32")), "pocl", textures="off")


def bare_device() -> Device:
    handle = cast("Any", SimpleNamespace(extensions="", image_support=False))
    return Device(0, handle, "Bare platform", "Bare device", "1.0", "gpu")


@pytest.mark.parametrize(
    ("source", "feature"),
    [
        ("__kernel void f(read_only image2d_t x) {}", "images"),
        ("__kernel void f(write_only image2d_array_t x) {}", "images"),
        ("__kernel void f(read_only image1d_buffer_t x) {}", "images"),
        ("half4 x = read_imageh(y, z);", "arithmetic in half precision"),
        ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable", "arithmetic in double precision"),
    ],
)
def test_what_a_device_lacks_is_named(source: str, feature: str) -> None:
    with pytest.raises(CloptError, match=f"to use {feature}, which .*Bare device.* does not have"):
        check_requirements(bare_device(), source)


@pytest.mark.parametrize(
    "source",
    ["vstore_half(vload_half(0, x), 0, y);", "__global const half *restrict x", "float image = 0;"],
)
def test_what_every_device_has_is_no_requirement(source: str) -> None:
    check_requirements(bare_device(), source)
