"""Steps of optimisers, and random numbers, are those of ONNX's reference evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper
from onnx.reference import ReferenceEvaluator

from support.onnx.models import load, model
from support.onnx.single_node import examples

STATES = {"Adagrad": 1, "Adam": 2, "Momentum": 1}
DOMAIN = "ai.onnx.preview.training"


def optimiser(kind: str, shapes: Sequence[Sequence[int]], **attributes: Any) -> onnx.ModelProto:
    """A model of one optimiser that updates a tensor of each shape."""
    groups = ["x", "g", *"vh"[: STATES[kind]]]
    names = [f"{group}{i}" for group in groups for i in range(len(shapes))]
    results = [f"{name}_new" for name in names if not name.startswith("g")]
    node = helper.make_node(kind, ["r", "t", *names], results, domain=DOMAIN, **attributes)
    inputs = [
        helper.make_tensor_value_info("r", onnx.TensorProto.FLOAT, []),
        helper.make_tensor_value_info("t", onnx.TensorProto.INT64, []),
        *(
            helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shapes[int(name[1:])])
            for name in names
        ),
    ]
    graph = helper.make_graph(
        [node], "step", inputs, [onnx.ValueInfoProto(name=name) for name in results]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(DOMAIN, 1)], ir_version=9)


def coefficients(kind: str, data: st.DataObject) -> dict[str, Any]:
    """Attributes of an optimiser; float32 holds each."""
    share = st.sampled_from([0.0, 0.5, 0.875, 0.9990234375])
    small = st.sampled_from([0.0, 0.0625])
    drawn = {"norm_coefficient": small}
    if kind == "Adagrad":
        drawn |= {"decay_factor": small, "epsilon": st.just(0.0625)}
    else:
        drawn |= {"alpha": share, "beta": share}
    if kind == "Adam":
        drawn |= {"epsilon": st.just(0.0625), "norm_coefficient_post": small}
    if kind == "Momentum":
        drawn |= {"mode": st.sampled_from(["standard", "nesterov"])}
    return {name: data.draw(strategy) for name, strategy in drawn.items()}


@pytest.mark.parametrize("kind", STATES)
@examples(6)
@given(seed=st.integers(0, 99), count=st.integers(1, 3), updates=st.integers(0, 9), data=st.data())
def test_step_of_an_optimiser(
    kind: str, seed: int, count: int, updates: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    shapes = [(2, 3), (4,), ()][:count]
    proto = optimiser(kind, shapes, **coefficients(kind, data))
    feeds: dict[str, np.ndarray] = {"r": np.array(0.25, np.float32), "t": np.array(updates)}
    for value in proto.graph.input[2:]:
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        # Sums of squares (h, and the only state of Adagrad) are not negative.
        low = 0 if value.name[0] in "vh" else -1
        feeds[value.name] = rng.uniform(low, 1, sizes).astype(np.float32)
    expected = ReferenceEvaluator(proto).run(None, feeds)
    for got, wanted in zip(load(proto).run(*feeds.values()), expected, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


def test_first_updates_of_adam_are_corrected_without_cancellation():
    """1 - 0.999 ** 1 in float32 is off by 5e-5 of its value."""
    proto = optimiser("Adam", [(1,)], alpha=0.999, beta=0.9999)
    ones = [np.ones(1, np.float32)] * 2 + [np.zeros(1, np.float32)] * 2
    x, _, _ = load(proto).run(np.array(1, np.float32), np.array(1), *ones)
    # The bias correction cancels the first weights: the step has the length of the rate.
    np.testing.assert_allclose(x, 0, atol=1e-5)


RANDOM = {
    "uniform": ("float[1] x", "y = RandomUniform<shape=[3,4], low=-2.0, high=0.5, seed=7.0>()"),
    "scalar": ("float[1] x", "y = RandomUniform<shape=[1], dtype=11, seed=1.0>()"),
    "half": ("float16[3,5] x", "y = RandomUniformLike<seed=3.0>(x)"),
    "normal": ("float[1] x", "y = RandomNormal<shape=[20], mean=1.0, scale=0.5, seed=5.0>()"),
    "normal like": ("float[2,3] x", "y = RandomNormalLike<dtype=11, seed=0.0>(x)"),
    "bernoulli": ("double[40] x", "y = Bernoulli<seed=9.0>(x)"),
    "bernoulli as integers": ("float[40] x", "y = Bernoulli<seed=9.0, dtype=6>(x)"),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_of_a_seed(name: str):
    proto = model(*RANDOM[name], 22)
    (value,) = proto.graph.input
    dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    x = np.random.default_rng(1).uniform(0, 1, shape).astype(dtype)
    (expected,) = ReferenceEvaluator(proto).run(None, {"x": x})
    (got,) = load(proto).run(x)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("ratio", [0.0, 0.25, 0.9])
@pytest.mark.parametrize("known", [True, False])
def test_dropout_in_training(ratio: float, known: bool):
    constants = {"t": True, "r": ratio} if known else {"t": True}
    inputs = "float[6,7] x" if known else "float[6,7] x, float r"
    proto = model(inputs, "y, m = Dropout<seed=3>(x, r, t)", 13, constants)
    x = np.random.default_rng(0).uniform(1, 2, (6, 7)).astype(np.float32)
    given = [x] if known else [x, np.array(ratio, np.float32)]
    y, mask = load(proto).run(*given)
    drawn = np.random.RandomState(3).uniform(0, 1, x.shape)
    np.testing.assert_array_equal(mask, drawn >= ratio)
    np.testing.assert_allclose(y, np.where(mask, x / np.float32(1 - ratio), 0), rtol=1e-6)


def test_dropout_of_everything():
    proto = model("float[5] x", "y = Dropout(x, r, t)", 13, {"t": True, "r": 1.0})
    np.testing.assert_array_equal(load(proto).run(np.ones(5, np.float32))[0], np.zeros(5))


def test_nodes_without_a_seed_draw_different_numbers():
    proto = model("float[50] x", "a = RandomUniformLike(x) b = RandomUniformLike(x)", 22)
    x = np.zeros(50, np.float32)
    first, second = load(proto).run(x), load(proto).run(x)
    assert not (first[0] == first[1]).any()
    np.testing.assert_array_equal(first, second)


def test_multinomial_draws_classes_by_their_probabilities():
    proto = model("float[2,4] x", "y = Multinomial<sample_size=4000, seed=1.0>(x)", 22)
    p = np.array([[0.5, 0, 0.25, 0.25], [0, 1, 0, 0]])
    with np.errstate(divide="ignore"):
        logits = np.log(p).astype(np.float32) + np.float32(3)
    (y,) = load(proto).run(logits)
    assert y.dtype == np.int32
    shares = [np.bincount(row, minlength=4) / 4000 for row in y]
    # Four standard deviations of a share of 4000 draws.
    np.testing.assert_allclose(shares, p, atol=4 * np.sqrt(0.25 / 4000))
    assert shares[0][1] == 0
    assert shares[1][1] == 1
