"""Operators that move data: reshapes, transposes, joins, slices, padding, tiling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from support.onnx.single_node import check, examples, generators, graph, ints, node, shapes, values

pytestmark = pytest.mark.in_turns

TYPES = (np.float32, np.int64, np.uint8, np.bool_, np.float16)
element_types = st.sampled_from(TYPES)


@examples(3)
@given(rng=generators, shape=shapes(1, 4), dtype=element_types, data=st.data())
def test_transpose(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], dtype: type, data: st.DataObject
) -> None:
    perm = data.draw(st.permutations(range(len(shape))))
    check(node("Transpose", values(rng, shape, dtype), perm=list(perm)), device)
    check(node("Transpose", values(rng, shape, dtype)), device)


@examples(2)
@given(rng=generators, shape=shapes(2, 4))
def test_views(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "minus"], ["y0"]),
        helper.make_node("Reshape", ["x", "zero"], ["y1"]),
        helper.make_node("Flatten", ["x"], ["y2"], axis=1),
        helper.make_node("Flatten", ["x"], ["y3"], axis=-1),
        helper.make_node("Unsqueeze", ["x", "ends"], ["y4"]),
        helper.make_node("Identity", ["x"], ["y5"]),
        helper.make_node("Shape", ["x"], ["y6"], start=1),
        helper.make_node("Size", ["x"], ["y7"]),
    ]
    arrays = {"x": values(rng, shape), "minus": ints(-1), "zero": ints(0, -1), "ends": ints(0, -1)}
    check(graph(nodes, arrays, constants=[1, 2, 3]), device)


@examples(1)
@given(rng=generators, shape=shapes(1, 3))
def test_squeeze(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    x = values(rng, (1, *shape, 1))
    check(node("Squeeze", x, ints(0, -1), constants=[1]), device)
    check(node("Squeeze", x), device)


@examples(4)
@given(rng=generators, shape=shapes(1, 4), dtype=element_types, data=st.data())
def test_concat(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], dtype: type, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extents = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    parts: list[np.ndarray] = []
    for extent in extents:
        part = list(shape)
        part[axis] = extent
        parts.append(values(rng, part, dtype))
    check(node("Concat", *parts, axis=axis), device)


@examples(3)
@given(rng=generators, shape=shapes(1, 3), data=st.data(), opset=st.sampled_from([11, 13, 18]))
def test_split(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], data: st.DataObject, opset: int
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extents = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    whole = list(shape)
    whole[axis] = sum(extents)
    x = values(rng, whole)
    if opset < 13:
        case = node("Split", x, outputs=len(extents), opset=opset, axis=axis, split=extents)
    else:
        case = node(
            "Split", x, ints(*extents), constants=[1], outputs=len(extents), opset=opset, axis=axis
        )
    check(case, device)


@examples(6)
@given(rng=generators, shape=shapes(1, 4, 7), dtype=element_types, data=st.data())
def test_slice(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], dtype: type, data: st.DataObject
) -> None:
    starts, ends, steps = [], [], []
    for extent in shape:
        step = data.draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        first = data.draw(st.integers(0, extent - 1))
        last = data.draw(st.integers(0, first) if step < 0 else st.integers(first, extent - 1))
        end = last + 1 if step > 0 else last - 1 if last > 0 else -extent - 9
        starts.append(first - extent if data.draw(st.booleans()) else first)
        ends.append(2**62 if step > 0 and end == extent else end)
        steps.append(step)
    operands = [ints(*starts), ints(*ends), ints(*range(len(shape))), ints(*steps)]
    check(node("Slice", values(rng, shape, dtype), *operands, constants=[1, 2, 3, 4]), device)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@examples(3)
@given(rng=generators, shape=shapes(1, 4), data=st.data())
def test_pad(
    device: str, mode: str, rng: np.random.Generator, shape: tuple[int, ...], data: st.DataObject
) -> None:
    limit = {"reflect": [extent - 1 for extent in shape], "wrap": list(shape)}
    limits = limit.get(mode, [3] * len(shape))
    low = [-1 if mode == "constant" else 0] * len(shape)
    pads = [data.draw(st.integers(a, b)) for a, b in zip(low * 2, limits * 2, strict=True)]
    n = len(shape)
    for i, extent in enumerate(shape):
        if extent + pads[i] + pads[n + i] < 1:
            pads[i] = pads[n + i] = 0
    value = np.array(1.5, np.float32) if mode == "constant" else None
    x = values(rng, shape)
    check(node("Pad", x, ints(*pads), value, constants=[1, 2], opset=19, mode=mode), device)


@examples(3)
@given(rng=generators, shape=shapes(1, 3), dtype=element_types, data=st.data())
def test_tile_and_expand(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], dtype: type, data: st.DataObject
) -> None:
    repeats = data.draw(st.lists(st.integers(1, 3), min_size=len(shape), max_size=len(shape)))
    x = values(rng, shape, dtype)
    check(node("Tile", x, ints(*repeats), constants=[1]), device)
    thin = [1 if data.draw(st.booleans()) else extent for extent in shape]
    y = values(rng, thin, dtype)
    check(node("Expand", y, ints(2, *shape), constants=[1]), device)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@examples(2)
@given(rng=generators, block=st.integers(1, 3), depth=st.integers(1, 2), size=st.integers(1, 4))
def test_depth_to_space(
    device: str, mode: str, rng: np.random.Generator, block: int, depth: int, size: int
) -> None:
    x = values(rng, (2, depth * block * block, size, size + 1))
    check(node("DepthToSpace", x, blocksize=block, mode=mode), device)


@examples(2)
@given(rng=generators, block=st.integers(1, 3), size=st.integers(1, 3))
def test_space_to_depth(device: str, rng: np.random.Generator, block: int, size: int) -> None:
    x = values(rng, (1, 2, size * block, (size + 1) * block))
    check(node("SpaceToDepth", x, blocksize=block), device)


@examples(2)
@given(rng=generators, shape=shapes(2, 3), k=st.integers(-2, 2), upper=st.integers(0, 1))
def test_trilu(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], k: int, upper: int
) -> None:
    diagonal = np.array(k, np.int64)
    check(node("Trilu", values(rng, shape), diagonal, constants=[1], upper=upper), device)


@examples(1)
@given(rng=generators, shape=shapes(1, 3))
def test_constants(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    value = helper.make_tensor("value", 1, [1], [2.5])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["filled"], value=value),
        helper.make_node("Add", ["x", "filled"], ["y"]),
    ]
    check(graph(nodes, {"x": values(rng, shape)}), device)
