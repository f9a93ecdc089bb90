"""Texels on every OpenCL runtime: images of every kind and type, packed buffers, rolled loops."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from clopt.backends.opencl_c import emit
from clopt.backends.pyopencl_runtime import find_device, target_for
from clopt.errors import CloptError
from clopt.machine.target import Target
from clopt.targets import load_target
from support import processes
from support.tir.hand_written import Array, parse, run
from support.tir.texel_kernels import (
    ALSO_BY_ELEMENT,
    ELEMENTS,
    EVERY_KERNEL,
    EXTENTS,
    LANES,
    PARTS,
    SCOPES,
    SHAPE,
    TEXTURES,
    TWO_ROLLED,
    convolution,
    doubled,
    guarded,
    lookup,
    shifted,
    widened,
)

RANDOM = np.random.default_rng(11)
LAUNCH = (3, 2)
ADRENO = load_target("adreno-660")


def normal(*shape: int, dtype: str = "f4") -> Array:
    return RANDOM.normal(size=shape).astype(dtype)


def numbers(element: str) -> Array:
    """Values of an element type over `SHAPE`; halves are exact."""
    if element.startswith("f"):
        return (RANDOM.integers(-2000, 2000, SHAPE) / 8).astype(f"f{int(element[1:]) // 8}")
    info = np.iinfo(f"i{int(element[1:]) // 8}")
    return RANDOM.integers(info.min, info.max, SHAPE, endpoint=True, dtype=info.dtype)


@pytest.mark.parametrize("kind", SCOPES)
@pytest.mark.parametrize("element", ELEMENTS)
def test_copies_in_every_memory(device: str, kind: str, element: str) -> None:
    x = numbers(element)
    found = run(device, doubled(kind, kind, element, "vector"), [x, x * 0], LAUNCH)[1]
    np.testing.assert_array_equal(found, x + x)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(("source", "destination"), [("image2d", "buffer"), ("buffer", "image2d")])
def test_lanes_by_every_loop(device: str, lanes: str, source: str, destination: str) -> None:
    x = numbers("f32")
    found = run(device, doubled(source, destination, "f32", lanes), [x, x * 0], LAUNCH)[1]
    np.testing.assert_array_equal(found, x + x)


@pytest.mark.parametrize("lanes", LANES)
def test_one_read_and_one_write_per_texel(lanes: str) -> None:
    """In the text, whether the loop over the texels stays or is expanded."""
    source = emit(parse(doubled("image2d", "image2d", "f32", lanes)))
    times = {"halves": 4, "columns": 4, "two_texels": 2}.get(lanes, 1)
    assert source.count("read_imagef(x, (int2)(") == source.count("write_imagef(y, ") == times


@pytest.mark.parametrize("kind", TEXTURES)
@pytest.mark.parametrize("by", [(1, 1, 1), (-3, -2, -1), (2, -1, 1), (0, 0, -1)])
@pytest.mark.parametrize("floats", [False, True])
def test_border_is_zero(device: str, kind: str, by: tuple[int, int, int], floats: bool) -> None:
    extents = (*EXTENTS[kind], 1, 1)[:3]
    x = normal(*SHAPE)
    image = x.reshape(*extents[::-1], 4)
    expected = np.zeros_like(image)
    for at in np.ndindex(*extents):
        there = tuple(i + d for i, d in zip(at, by, strict=True))[: len(EXTENTS[kind])]
        there = (*there, 0, 0)[:3]
        if all(0 <= i < n for i, n in zip(there, extents, strict=True)):
            expected[at[::-1]] = image[there[::-1]]
    target = target_for(find_device(device)).with_facts({"float_coordinates": floats})
    arrays = [x, np.zeros((24, 4), "f4")]
    found = run(device, shifted(kind, by), arrays, extents, target=target)[1]
    np.testing.assert_array_equal(found, expected.reshape(24, 4))


@pytest.mark.parametrize("kind", SCOPES)
def test_lane_known_at_run_time(device: str, kind: str) -> None:
    x = normal(*SHAPE)
    lanes = RANDOM.integers(0, 4, (2, 3, 4), dtype=np.int32)
    found = run(device, lookup(kind), [x, lanes, np.zeros((2, 3, 4), "f4")], LAUNCH)[2]
    named = np.take_along_axis(x, lanes[..., None].astype(np.int64), axis=-1)[..., 0]
    following = np.stack([x[:, :, c, (c + 1) % 4] for c in range(4)], axis=-1)
    np.testing.assert_array_equal(found, named - following)


@pytest.mark.parametrize("kind", SCOPES)
def test_halves_computed_as_floats(device: str, kind: str) -> None:
    """Images round to the nearest half, or, as NVIDIA's, towards zero (OpenCL 1.2, 8.3.2)."""
    x = normal(*SHAPE, dtype="f2")
    found = run(device, widened(kind), [x, x * 0], LAUNCH)[1]
    exact = x.astype("f4") * np.float32(1.5) + np.float32(0.1)
    nearest = exact.astype("f2")
    if kind != "buffer" and (found != nearest).any():
        away = abs(nearest.astype("f4")) > abs(exact)
        nearest = np.where(away, np.nextafter(nearest, np.float16(0)), nearest)
    np.testing.assert_array_equal(found, nearest)


def test_halves_are_read_as_what_they_are_used_as() -> None:
    source = emit(parse(widened("image2d")), ADRENO)
    assert "read_imagef(x, " in source
    assert "write_imagef(y, " in source
    assert "half" not in source
    source = emit(parse(doubled("image2d", "image2d", "f16", "vector")), ADRENO)
    assert "const half4 x0 = read_imageh(x, " in source
    assert "write_imageh(y, " in source
    source = emit(
        parse(doubled("image2d", "image2d", "f16", "vector")),
        ADRENO.with_facts({"read_imageh": False}),
    )
    assert "const half4 x0 = convert_half4(read_imagef(x, " in source
    assert "write_imagef(y, (int2)(c, row), convert_float4(x0 + x0));" in source


@pytest.mark.parametrize("facts", [{}, {"builtins": True, "float_coordinates": True}])
def test_convolution(device: str, facts: dict[str, bool]) -> None:
    image, weights = normal(1, 4, 16, 16, 4), normal(2, 4, 3, 3, 4, 4)
    bias, out = normal(2, 4), np.zeros((1, 2, 16, 16, 4), "f4")
    target = target_for(find_device(device)).with_facts(facts)
    found = run(device, convolution(), [image, weights, bias, out], (4, 16, 2), target=target)[3]
    padded = np.pad(image.astype("f8"), ((0, 0), (0, 0), (1, 1), (1, 1), (0, 0)))
    expected = np.broadcast_to(bias[None, :, None, None, :], out.shape).astype("f8")
    for kh, kw in np.ndindex(3, 3):
        window = padded[:, :, kh : kh + 16, kw : kw + 16]
        expected = expected + np.einsum("nchwi,ocij->nohwj", window, weights[:, :, kh, kw])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_rows_of_a_convolution_read_each_texel_once() -> None:
    """6 texels of the image, 12 of the weights, 48 multiply-adds of vectors, one coordinate."""
    source = emit(parse(convolution()), ADRENO)
    assert "__read_only image2d_t image,\n" in source
    assert "__write_only image2d_t result,\n    const int kh_end) {" in source
    before, body = source.split("kh < kh_end; kh++, column6 += 12) {\n")
    assert before.endswith("int column6 = c4 * 36;\n        for (int kh = 0; ")
    body = body.split("\n        }\n")[0]
    kinds = {
        r"const float4 image\d = read_imagef\(image, border, \(float2\)\(column\d?, row1\)\);": 6,
        r"const float4 weights\d+ = read_imagef\(weights, \(int2\)\(column6( .*)?, o\)\);": 12,
        r"acc_(\d) = mad\(weights\d+, \(float4\)\(image\d\.s[0-3]\), acc_\1\);": 48,
        r"const float row1 = \(float\)\(\(uint\)\(row \+ kh\) < 16u \? .* : -1\) \+ 0\.5f;": 1,
    }
    lines = [line.strip() for line in body.splitlines()]
    assert {kind: sum(bool(re.fullmatch(kind, x)) for x in lines) for kind in kinds} == kinds
    assert len(lines) == sum(kinds.values())


def test_rolled_loops_end_at_arguments(device: str) -> None:
    source = emit(parse(TWO_ROLLED))
    assert "float4 *restrict y, const int k_end, const int j_end) {" in source.replace(
        "\n    ", " "
    )
    assert "for (int k = 0; k < k_end; k++) {" in source
    assert "for (int j = 0; j < j_end; j++) {" in source
    x = normal(6, 4)
    found = run(device, TWO_ROLLED, [x, np.zeros((4, 4), "f4")], (4,))[1]
    rows = [sum(x[(i + k + j) % 6] for k in range(2) for j in range(3)) for i in range(4)]
    np.testing.assert_allclose(found, np.stack(rows), rtol=1e-5, atol=1e-6)


def test_part_of_a_texel_in_a_buffer(device: str) -> None:
    x, y = normal(6, 4, dtype="f2"), normal(6, 4, dtype="f2")
    found = run(device, PARTS, [x, y], (6,))[1]
    np.testing.assert_array_equal(found, np.concatenate([x[:, :0:-1], y[:, 3:]], axis=1))


def test_buffer_of_texels_and_elements(device: str) -> None:
    source = emit(parse(ALSO_BY_ELEMENT))
    assert "__global const float *restrict x, __global float4 *restrict y" in source
    assert "y[i] = vload4(i, x) * x[i * 4 + 2];" in source
    x = normal(6, 4)
    found = run(device, ALSO_BY_ELEMENT, [x, x * 0], (6,))[1]
    np.testing.assert_array_equal(found, x * x[:, 2:3])


@pytest.mark.parametrize("kind", ["unrolled", "vectorized"])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_borders_in_buffers_do_not_branch(device: str, kind: str, element: str) -> None:
    target = target_for(find_device(device)).with_facts({"texture": "prefer", "images": True})
    x = normal(6, 16, dtype=f"f{int(element[1:]) // 8}")
    found = run(device, guarded(kind, element), [x, x * 0], (4, 6), target=target)[1]
    expected = np.full_like(x, 0.5)
    expected[1:, 4:] = x[:-1, :-4]
    np.testing.assert_array_equal(found, expected)


def test_borders_in_buffers_are_read_once() -> None:
    source = emit(parse(guarded("unrolled", "f32")), ADRENO)
    assert "const int inside0 = (r >= 1) & (c >= 1);" in source
    assert "const float loaded0 = x[inside0 ? " in source
    source = emit(parse(guarded("vectorized", "f32")), ADRENO)
    assert "const float2 loaded0 = vload2(0, x + (inside0 ? at - 20 : 0));" in source
    assert emit(parse(guarded("unrolled", "f32"))).count(" ? (x + at)[") == 4


IMAGE = "memref<6x6x4xf32, #tir.scope<texture, [1]>>"
READ = f"%v = tir.texel_read %x[%c0, %i] lane %c0 : {IMAGE} -> f32"


@pytest.mark.parametrize(
    ("parameters", "body", "target", "message"),
    [
        (
            f"%x: {IMAGE}",
            f"{READ}\n tir.texel_write %v, %x[%c0, %i] lane %c0 : f32, {IMAGE}",
            Target(),
            "kernel f reads and writes the image x",
        ),
        (
            f"%x: {IMAGE}, %y: {IMAGE}",
            f"{READ}\n tir.texel_write %v, %y[%c0, %i] lane %c0 : f32, {IMAGE}",
            Target(),
            "writes only part of a texel of y: write whole texels",
        ),
        (
            f"%x: {IMAGE}, %y: {IMAGE}",
            f"{READ}\n tir.texel_write %v, %y[%c0, %c0] lane %i : f32, {IMAGE}",
            Target(),
            "writes only part of a texel of y",
        ),
        (
            f"%x: {IMAGE}",
            f"%v = memref.load %x[%i, %c0, %c0] : {IMAGE}",
            Target(),
            "accesses the texture x like memory: run tir-lower-textures",
        ),
        (
            ", ".join(f"%x{i}: {IMAGE}" for i in range(4)),
            "",
            Target.from_facts("small", {"max_read_images": 3}),
            "kernel f reads 4 images, more than the 3 that small allows",
        ),
        (
            f"%x: {IMAGE}, " + ", ".join(f"%y{i}: {IMAGE}" for i in range(2)),
            "\n".join(
                f"tir.for vectorized %l{i} = 0 to 4 {{\n{READ.replace('%v', f'%v{i}')}\n"
                f"tir.texel_write %v{i}, %y{i}[%c0, %i] lane %l{i} : f32, {IMAGE}\n}}"
                for i in range(2)
            ),
            Target.from_facts("small", {"max_write_images": 1}),
            "kernel f writes 2 images, more than the 1 that small allows",
        ),
        (
            "%x: memref<6x4xf32, strided<[8, 1]>>",
            "%v = tir.texel_read %x[%i] lane %c0 : memref<6x4xf32, strided<[8, 1]>> -> f32\n"
            "%y = memref.alloca() : memref<1xf32, #tir.scope<private>>\n"
            "memref.store %v, %y[%c0] : memref<1xf32, #tir.scope<private>>",
            Target(),
            "only dense buffers have texels",
        ),
    ],
)
def test_refusals(parameters: str, body: str, target: Target, message: str) -> None:
    names = re.findall(r"%(\w+): ", parameters)
    outputs = [i for i, name in enumerate(names) if re.search(rf"write \S+, %{name}\b", body)]
    written = f"array<i64: {', '.join(map(str, outputs))}>" if outputs else "array<i64>"
    text = f"""
    tir.func @f({parameters}) attributes {{outputs = {written}}} {{
      %c0 = arith.constant 0 : index
      tir.for global_x %i = 0 to 4 {{
        {body}
      }}
    }}
    """
    with pytest.raises(CloptError, match=message):
        emit(parse(text), target)


@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang that could check OpenCL C")
@pytest.mark.parametrize("target", ["adreno-740", "generic", "pocl"])
def test_clang_accepts_every_kernel(target: str) -> None:
    module = parse("\n".join(text for text in dict.fromkeys(EVERY_KERNEL)))
    arguments = "-x cl -cl-std=CL1.2 -fsyntax-only -Werror -target spir64-unknown-unknown".split()
    result = processes.run(
        ["clang", *arguments, "-Xclang", "-finclude-default-header", "-"],
        input=emit(module, load_target(target)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
