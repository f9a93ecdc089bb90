"""A model compiled for one device runs on another, or names what the other lacks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pytest

import clopt
from clopt import CloptError
from clopt.backends.kernel_source import ROUNDING_OPTION, Feature, features_of
from clopt.backends.pyopencl_runtime import Device, find_device
from clopt.backends.pyopencl_runtime.requirements import check_requirements
from clopt.dialects.cl import target_of
from support.cl.programs import parse

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
        assert target_of(model.module).policy.texture == "off"
        assert target_of(model.module).device.compute_units == find_device(device).compute_units


def test_facts_change_a_given_target() -> None:
    module = parse(SQUARE.format("f32"))
    target = clopt.compile(module, "pocl texture=off", vector_width=4).module
    assert (target_of(target).policy.texture, target_of(target).machine.vector_width) == ("off", 4)


def test_an_argument_that_is_no_fact_is_refused() -> None:
    with pytest.raises(CloptError, match="did you mean texture"):
        clopt.compile(parse(SQUARE.format("f32")), "pocl", textures="off")


def bare_device() -> Device:
    handle = cast("Any", SimpleNamespace(extensions="", image_support=False, single_fp_config=0))
    return Device(0, handle, "Bare platform", "Bare device", "1.0", "gpu")


@pytest.mark.parametrize(
    ("source", "feature"),
    [
        ("__kernel void f(read_only image2d_t x) {}", "images"),
        ("__kernel void f(write_only image2d_array_t x) {}", "images"),
        ("__kernel void f(read_only image1d_buffer_t x) {}", "images"),
        ("half4 x = read_imageh(y, z);", "arithmetic in half precision"),
        ("__kernel void f(__global half4 *restrict x) {}", "arithmetic in half precision"),
        ("__kernel void f(__global const half8*x) {}", "arithmetic in half precision"),
        ("const half x = y[0];", "arithmetic in half precision"),
        ("y[0] = (float)(half)x;", "arithmetic in half precision"),
        ("y = convert_half4_rte(x);", "arithmetic in half precision"),
        ("#pragma OPENCL EXTENSION cl_khr_fp16 : enable", "arithmetic in half precision"),
        ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable", "arithmetic in double precision"),
        ("__kernel void f(__global const double2 *x) {}", "arithmetic in double precision"),
        ("s0 = sum + dot_4x8packed_us_int(a, b);", "products of four bytes"),
        ('asm volatile("dp4a.u32.s32 %0, %1, %2, %0;");', "NVIDIA's instruction dp4a"),
        (
            f"    // Build with {ROUNDING_OPTION} where the device takes it.",
            "correctly rounded division",
        ),
    ],
)
def test_what_a_device_lacks_is_named(source: str, feature: str) -> None:
    with pytest.raises(
        CloptError, match=f"to use {feature}.*, which .*Bare device.* does not have"
    ):
        check_requirements(bare_device(), source)


@pytest.mark.parametrize(
    "source",
    [
        "vstore_half(vload_half(0, x), 0, y);",
        "vstore_half4(vload_half4(0, x), 0, y);",
        "__global const half *restrict x",
        "float image = 0;",
        "// half x, a double, image2d_t y\nint half_of_x;",
        "/* half x;\n double y; */ int double_x, image2d_tile;",
    ],
)
def test_what_every_device_has_is_no_requirement(source: str) -> None:
    check_requirements(bare_device(), source)


CHAIN = """
func.func @main(%half: tensor<1x6x5x7x{0}> {{nn.name = "half"}})
    -> (tensor<1x5x6x7x{0}> {{nn.name = "double"}}) {{
  %image2d_t = nn.unary {1} %half : (tensor<1x6x5x7x{0}>) -> tensor<1x6x5x7x{0}>
  %double = nn.transpose %image2d_t {{perm = array<i64: 0, 2, 1, 3>}}
    : (tensor<1x6x5x7x{0}>) -> tensor<1x5x6x7x{0}>
  func.return %double : tensor<1x5x6x7x{0}>
}}
"""
"""Its names are words of which a device could be thought to need something."""
MOVED = """
func.func @main(%half: tensor<1x6x5x7x{0}> {{nn.name = "half"}})
    -> (tensor<1x5x6x7x{0}> {{nn.name = "double"}}) {{
  %double = nn.transpose %half {{perm = array<i64: 0, 2, 1, 3>}}
    : (tensor<1x6x5x7x{0}>) -> tensor<1x5x6x7x{0}>
  func.return %double : tensor<1x5x6x7x{0}>
}}
"""


@pytest.mark.parametrize("texture", ["texture=off", "texture=prefer"])
@pytest.mark.parametrize(
    "halves",
    [
        "fp16=true",
        "fp16=true read_imageh=false",
        "fp16=false read_imageh=false",
    ],
)
@pytest.mark.parametrize(
    ("network", "element"), [(CHAIN, "f16"), (MOVED, "f16"), (CHAIN, "f32"), (MOVED, "f32")]
)
def test_a_device_is_asked_for_what_its_compiler_would_miss(
    network: str, element: str, halves: str, texture: str, devices: dict[str, str]
) -> None:
    """A compiler without cl_khr_fp16 is the oracle: it refuses the text if, and only if, the
    program is said to need halves. One with it takes the text, and the result is right."""
    module = parse(network.format(element, "abs"))
    target = f"adreno-740 {texture} {halves}"
    source = clopt.compile(module, target=target).source
    needed = features_of(source)
    assert Feature.FP64 not in needed
    assert (Feature.IMAGES in needed) == ("image2d" in source)
    assert (Feature.FP16 in needed) == source.startswith("#pragma OPENCL EXTENSION cl_khr_fp16")
    dtype = np.dtype(np.float16 if element == "f16" else np.float32)
    x = np.random.default_rng(1).standard_normal((1, 6, 5, 7)).astype(dtype)
    expected = (np.abs(x) if network == CHAIN else x).transpose(0, 2, 1, 3)
    for index in devices.values():
        device = find_device(index)
        if "cl_khr_fp16" not in device.handle.extensions:
            assert builds(device, source) == (Feature.FP16 not in needed)
            if Feature.FP16 in needed:
                with pytest.raises(CloptError, match="half precision, which"):
                    clopt.compile(module, target=target, device=device)
                continue
        (y,) = clopt.compile(module, target=target, device=device).run([x])
        np.testing.assert_array_equal(y, expected)


def builds(device: Device, source: str) -> bool:
    """Whether the device's compiler takes the text, without the pragma that it does not know."""
    text = source.replace("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", "")
    try:
        cl.Program(cl.Context([device.handle]), text).build(["-cl-std=CL1.2"])
    except cl.RuntimeError:
        return False
    return True
