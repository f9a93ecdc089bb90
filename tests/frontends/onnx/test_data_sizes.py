"""Results whose size only the device knows: their bound, their count, and operators after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from clopt.dialects import nn
from clopt.errors import CloptError
from support.onnx.models import Imported, by_onnxruntime, load, model
from support.onnx.single_node import examples, shapes


def named_results(imported: Imported, *inputs: np.ndarray) -> dict[str, np.ndarray]:
    """The outputs of the program by name, the sizes among them."""
    names = nn.parameter_names(imported.main)[len(imported.main.body.block.args) :]
    return dict(zip(names, imported.run(*inputs), strict=True))


def run(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs, computed in numpy and cut to the sizes that the program computes."""
    found = named_results(load(proto), *feeds.values())
    results: list[np.ndarray] = []
    for value in proto.graph.output:
        array = found[value.name]
        for axis in range(array.ndim):
            if (count := found.get(f"{value.name}.size({axis})")) is not None:
                assert count.shape == ()
                array = array[(slice(None),) * axis + (slice(int(count)),)]
        results.append(array)
    return results


def agree(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> None:
    """Fail unless the results are exactly those of onnxruntime."""
    for got, expected in zip(run(proto, feeds), by_onnxruntime(proto, feeds), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


def sparse(seed: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Small numbers, many of them zero; shares of zeros differ."""
    rng = np.random.default_rng(seed)
    kept = rng.uniform(size=shape) < rng.choice([0, 0.3, 1])
    return np.where(kept, rng.integers(-2, 3, shape), 0).astype(dtype)


DTYPES = {"float": np.float32, "int32": np.int32, "int64": np.int64, "uint8": np.uint8}


@examples(30)
@given(seed=st.integers(0, 999), shape=shapes(1, 4), name=st.sampled_from([*DTYPES, "bool"]))
def test_non_zero(seed: int, shape: tuple[int, ...], name: str) -> None:
    dtype = DTYPES.get(name, np.bool_)
    dims = ",".join(map(str, shape))
    agree(model(f"{name}[{dims}] x", "y = NonZero(x)"), {"x": sparse(seed, shape, dtype)})


def test_non_zero_of_special_values():
    x = np.array([0.0, -0.0, np.nan, np.inf, 1e-45], np.float32)
    agree(model("float[5] x", "y = NonZero(x)"), {"x": x})


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("seed", range(3))
def test_compress_by_a_large_condition(axis: int | None, seed: int):
    rng = np.random.default_rng(seed)
    attributes = "" if axis is None else f"<axis={axis}>"
    count = {None: 90, 0: 70, -1: 80}[axis]
    proto = model(f"float[70,80] x, bool[{count}] c", f"y = Compress{attributes}(x, c)")
    c = rng.uniform(size=count) < (0, 0.5, 1)[seed]
    agree(proto, {"x": rng.uniform(size=(70, 80)).astype(np.float32), "c": c})


UNIQUE_OUTPUTS = "y, first, inverse, count = Unique"


@examples(30)
@given(
    seed=st.integers(0, 999),
    shape=shapes(1, 3, 6),
    data=st.data(),
    in_order=st.integers(0, 1),
    name=st.sampled_from(["float", "double", "int64", "int8"]),
)
def test_unique(
    seed: int, shape: tuple[int, ...], data: st.DataObject, in_order: int, name: str
) -> None:
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    attributes = f"sorted={in_order}" + ("" if axis is None else f", axis={axis}")
    dims = ",".join(map(str, shape))
    proto = model(f"{name}[{dims}] x", f"{UNIQUE_OUTPUTS}<{attributes}>(x)")
    dtype = {"float": np.float32, "double": np.float64, "int64": np.int64, "int8": np.int8}[name]
    agree(proto, {"x": np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)})


def test_unique_takes_all_nans_for_one():
    x = np.array([np.nan, 1, np.inf, np.nan, 1, -np.inf], np.float32)
    proto = model("float[6] x", f"{UNIQUE_OUTPUTS}(x)")
    for got, expected in zip(
        run(proto, {"x": x}), ReferenceEvaluator(proto).run(None, {"x": x}), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


def test_unique_of_truth_values():
    x = np.array([True, False, True])
    y, first, inverse, count = run(model("bool[3] x", f"{UNIQUE_OUTPUTS}(x)"), {"x": x})
    assert [each.tolist() for each in (y, first, inverse, count)] == [
        [False, True],
        [1, 0],
        [1, 0, 1],
        [1, 2],
    ]


def boxes_of(rng: np.random.Generator, shape: tuple[int, ...], centred: bool) -> np.ndarray:
    """Boxes on a coarse grid, so that they overlap, touch, repeat and have no area."""
    corners = rng.integers(0, 5, (*shape, 4)).astype(np.float32)
    return corners if not centred else np.abs(corners)


@examples(60)
@given(
    seed=st.integers(0, 9999),
    batch=st.integers(1, 2),
    classes=st.integers(1, 3),
    count=st.integers(1, 9),
    most=st.integers(0, 10),
    centred=st.booleans(),
    overlap=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    least=st.sampled_from([None, 0.2, 0.9]),
)
def test_non_max_suppression(
    seed: int,
    batch: int,
    classes: int,
    count: int,
    most: int,
    centred: bool,
    overlap: float,
    least: float | None,
) -> None:
    rng = np.random.default_rng(seed)
    boxes = boxes_of(rng, (batch, count), centred)
    # Coarse scores have ties, of which the lower index comes first.
    scores = rng.integers(0, 6, (batch, classes, count)).astype(np.float32) / 5
    constants = {"m": most, "i": overlap} | ({} if least is None else {"s": least})
    node = f"NonMaxSuppression<center_point_box={int(centred)}>"
    proto = model(
        f"float[{batch},{count},4] b, float[{batch},{classes},{count}] c",
        f"y = {node}(b, c, m, i{'' if least is None else ', s'})",
        constants=constants,
    )
    agree(proto, {"b": boxes, "c": scores})


def test_non_max_suppression_of_masked_boxes():
    """A score of -inf counts where no threshold is given."""
    boxes = np.array([[[0, 0, 1, 1], [2, 2, 3, 3], [0, 0, 1, 1]]], np.float32)
    scores = np.array([[[-np.inf, 1, -np.inf]]], np.float32)
    proto = model(
        "float[1,3,4] b, float[1,1,3] c", "y = NonMaxSuppression(b, c, m)", constants={"m": 3}
    )
    (y,) = run(proto, {"b": boxes, "c": scores})
    assert y.tolist() == [[0, 0, 1], [0, 0, 0]]


AFTER = {
    "boxes of a detector": """
        i = NonMaxSuppression(b, c, m, t, s)
        k = Slice(i, two, three, one)
        f = Squeeze(k, one)
        picked = Squeeze(b, zero)
        kept = Gather(picked, f)
        y = Mul(kept, scale)
        z = Cast<to=1>(f)
    """,
    "elements under a mask": """
        c2 = Squeeze(c, zero)
        g = Greater(c2, s)
        p = NonZero(g)
        q = Transpose<perm=[1,0]>(p)
        v = GatherND(c2, q)
        w = Add(v, v)
        y = Unsqueeze(w, one)
    """,
}
OPERANDS: dict[str, Any] = {
    "m": [4],
    "t": [0.3],
    "s": [0.4],
    "zero": [0],
    "one": [1],
    "two": [2],
    "three": [3],
    "scale": [2.0, 3.0, 2.0, 3.0],
}


@pytest.mark.parametrize("name", AFTER)
def test_operators_after(name: str):
    rng = np.random.default_rng(0)
    read = {key: value for key, value in OPERANDS.items() if f" {key}" in AFTER[name]}
    proto = model("float[1,20,4] b, float[1,2,20] c", AFTER[name], constants=read)
    scores = rng.uniform(size=(1, 2, 20)).astype(np.float32)
    agree(proto, {"b": boxes_of(rng, (1, 20), False), "c": scores})


REFUSED = {
    "operator that sums over the size": "p = NonZero(x) y = ReduceSum(p)",
    "shape": "p = NonZero(x) y = Shape(p)",
    "elements of another number": "p = NonZero(x) y = Add(p, k)",
    "two sizes": "p = NonZero(x) z = Neg(x) q = NonZero(z) y = Add(p, q)",
    "part of the size": "p = NonZero(x) q = Transpose(p) y = Slice(q, zero, two, zero)",
    "join": "p = NonZero(x) q = Identity(p) y = Concat<axis=1>(q, q)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_operators_that_need_the_size(name: str):
    text = REFUSED[name]
    constants = {"k": np.ones((1, 5), np.int64), "zero": [0], "two": [2]}
    read = {key: value for key, value in constants.items() if f", {key}" in text}
    with pytest.raises(CloptError, match="the size of an input depends on run-time values"):
        load(model("float[5] x", text, constants=read))


def test_small_types_keep_their_size():
    """Their operators compute in f32: the casts around them keep the mark."""
    proto = model("bfloat16[6] x", "u = Unique(x) y = Abs(u) z = Add(u, u)", 28)
    main = load(proto).main
    assert nn.parameter_names(main)[1:] == ["y", "z", "y.size(0)", "z.size(0)"]
    with pytest.raises(CloptError, match="the size of an input depends on run-time values"):
        load(model("bfloat16[6] x", "u = Unique(x) y = ReduceSum(u)", 28))


def test_name_of_a_size():
    proto = model("float[5] x", "y = NonZero(x)")
    node = onnx.helper.make_node("Relu", ["x"], ["y.size(1)"])
    proto.graph.node.append(node)
    proto.graph.output.append(onnx.ValueInfoProto(name="y.size(1)"))
    with pytest.raises(CloptError, match=r"the output 'y.size\(1\)' has the name of a size"):
        load(proto)


def test_known_elements_have_a_known_size():
    (y, z) = load(
        model("float[1] x", "y = NonZero(c) z, f = Unique(c)", constants={"c": [3, 0, 3]})
    ).run(np.zeros(1, np.float32))[:2]
    np.testing.assert_array_equal(y, [[0, 2]])
    np.testing.assert_array_equal(z, [0, 3])
