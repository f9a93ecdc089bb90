"""Operators that onnxruntime's optimiser fuses compute what onnxruntime's kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.errors import CloptError
from support.onnx.models import agree, load
from support.onnx.single_node import (
    Case,
    check_import,
    contrib,
    examples,
    generators,
    node,
    shapes,
    values,
)

ACTIVATIONS: dict[str, tuple[float, ...]] = {
    "": (),
    "Relu": (),
    "Tanh": (),
    "Sigmoid": (),
    "LeakyRelu": (0.2,),
    "Clip": (-0.5, 0.75),
    "HardSigmoid": (0.3, 0.4),
}


@given(
    generators,
    st.sampled_from([*ACTIVATIONS]),
    st.booleans(),
    st.integers(1, 2),
    st.integers(1, 3),
)
@examples(10)
def test_fused_conv(
    rng: np.random.Generator, name: str, adds: bool, groups: int, kernel: int
) -> None:
    x, w = values(rng, (2, 4, 6, 5)), values(rng, (6, 4 // groups, kernel, kernel))
    extent = (6 + 2 - kernel) // 2 + 1, 5 + 2 - kernel + 1
    z = values(rng, (2, 6, *extent)) if adds else None
    attributes: dict[str, Any] = {"activation": name} if name else {}
    if params := ACTIVATIONS[name]:
        attributes["activation_params"] = params
    inputs = [x, w, values(rng, (6,)), *([z] if adds else [])]
    check_import(
        contrib("FusedConv", *inputs, strides=[2, 1], pads=[1] * 4, group=groups, **attributes)
    )


def test_a_convolution_of_channels_last_is_the_same() -> None:
    """onnxruntime has no kernel for processors; its own Conv is the oracle."""
    rng = np.random.default_rng(0)
    x, w, b, z = (values(rng, shape) for shape in ((2, 4, 6, 5), (3, 4, 3, 2), (3,), (2, 3, 2, 3)))
    attributes: dict[str, Any] = {"strides": [2, 1], "auto_pad": "VALID", "dilations": [1, 2]}
    plain = contrib("FusedConv", x, w, b, z, activation="Relu", **attributes)
    (expected,) = load(plain.model).run(x, w, b, z)
    last = [np.ascontiguousarray(np.moveaxis(each, 1, -1)) for each in (x, z)]
    fused = contrib("NhwcFusedConv", last[0], w, b, last[1], activation="Relu", **attributes)
    (found,) = load(fused.model).run(last[0], w, b, last[1])
    np.testing.assert_allclose(np.moveaxis(found, -1, 1), expected, rtol=1e-5)
    weights = np.ascontiguousarray(np.moveaxis(w, 1, -1))
    conv = contrib("NhwcConv", last[0], weights, b, **attributes)
    (found,) = load(conv.model).run(last[0], weights, b)
    np.testing.assert_allclose(
        np.maximum(np.moveaxis(found, -1, 1) + z, 0), expected, rtol=1e-5, atol=1e-5
    )


@given(generators, st.sampled_from([*ACTIVATIONS]), st.booleans(), st.booleans(), st.booleans())
@examples(7)
def test_fused_gemm(
    rng: np.random.Generator, name: str, trans_a: bool, trans_b: bool, adds: bool
) -> None:
    a = values(rng, (4, 3) if trans_a else (3, 4))
    b = values(rng, (5, 4) if trans_b else (4, 5))
    names = ("activation_alpha", "activation_beta")
    params = dict(zip(names, ACTIVATIONS[name], strict=False))
    if name in ("", "Clip"):
        name, params = "Relu", {}
    inputs = [a, b, *([values(rng, (5,))] if adds else [])]
    flags = {"transA": trans_a, "transB": trans_b, "alpha": 0.5, "beta": 2.0}
    check_import(contrib("FusedGemm", *inputs, activation=name, **flags, **params))


@given(
    generators,
    shapes(0, 2),
    *[st.booleans()] * 4,
    st.sampled_from([1.0, 0.25]),
)
@examples(10)
def test_fused_matmul(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    trans_a: bool,
    trans_b: bool,
    batch_a: bool,
    batch_b: bool,
    alpha: float,
) -> None:
    batch_a, batch_b = batch_a and bool(batch), batch_b and bool(batch)
    arrays = []
    for size, trans, outer in (((3, 4), trans_a, batch_a), ((4, 5), trans_b, batch_b)):
        rows, columns = reversed(size) if trans else size
        shape = (rows, *batch, columns) if outer else (*batch, rows, columns)
        arrays.append(values(rng, shape))
    flags = {"transA": trans_a, "transB": trans_b, "transBatchA": batch_a, "transBatchB": batch_b}
    check_import(contrib("FusedMatMul", *arrays, alpha=alpha, **flags))


@pytest.mark.parametrize(
    ("kind", "operands", "attributes"),
    [
        ("BiasGelu", 2, {}),
        ("FastGelu", 2, {}),
        ("FastGelu", 1, {}),
        ("Gelu", 1, {}),
        ("QuickGelu", 1, {"alpha": 0.8}),
        ("QuickGelu", 1, {}),
    ],
)
def test_activations(kind: str, operands: int, attributes: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    inputs = [values(rng, shape) for shape in ((2, 3, 8), (8,))[:operands]]
    check_import(contrib(kind, *inputs, **attributes))


def test_sums_of_diffusion_models() -> None:
    """onnxruntime has no kernel for processors; numpy is the oracle."""
    rng = np.random.default_rng(2)
    x, bias, skip = (values(rng, shape) for shape in ((2, 3, 8), (8,), (2, 3, 8)))
    (found,) = load(contrib("BiasAdd", x, bias, skip).model).run(x, bias, skip)
    np.testing.assert_allclose(found, x + bias + skip, rtol=1e-6)
    (found,) = load(contrib("BiasSplitGelu", x, bias).model).run(x, bias)
    left, right = np.split(x + bias, 2, -1)
    gelu = contrib("Gelu", right)
    (gate,) = agree(gelu.model, gelu.feeds).run(right)
    np.testing.assert_allclose(found, left * gate, rtol=1e-5)


@given(generators, st.booleans(), st.sampled_from([(2, 3, 8), (1, 3, 8), (3, 8)]))
@examples(5)
def test_skip_layer_norm(rng: np.random.Generator, adds: bool, shape: tuple[int, ...]) -> None:
    x, skip, scale, shift = (values(rng, s) for s in ((2, 3, 8), shape, (8,), (8,)))
    bias = values(rng, (8,)) if adds else None
    made = contrib("SkipLayerNormalization", x, skip, scale, shift, bias, outputs=4, epsilon=1e-5)
    _keep_outputs(made)
    check_import(made)
    made = contrib("SkipSimplifiedLayerNormalization", x, skip, scale, bias, outputs=4)
    _keep_outputs(made)
    check_import(made, 1e-4)


def _keep_outputs(case: Case) -> None:
    """Keep the outputs 0 and 3."""
    names = [*case.model.graph.node[0].output]
    case.model.graph.node[0].output[:] = [names[0], "", "", names[3]]
    kept = [value for value in case.model.graph.output if value.name in (names[0], names[3])]
    del case.model.graph.output[:]
    case.model.graph.output.extend(kept)


@given(generators, st.booleans(), st.sampled_from(["none", "rows", "one"]), st.booleans())
@examples(5)
def test_embed_layer_norm(
    rng: np.random.Generator, segmented: bool, places: str, masked: bool
) -> None:
    tokens, segments = (rng.integers(0, n, (2, 4)).astype(np.int32) for n in (9, 2))
    words, positions, kinds = (values(rng, (n, 8)) for n in (9, 6, 2))
    mask = (np.arange(4) < [[3], [4]]).astype(np.int32) if masked else None
    rows = {"none": None, "rows": (2, 4), "one": (1, 4)}[places]
    placed = None if rows is None else rng.integers(0, 6, rows).astype(np.int32)
    check_import(
        contrib(
            "EmbedLayerNormalization",
            tokens,
            segments if segmented else None,
            words,
            positions,
            kinds if segmented else None,
            values(rng, (8,)),
            values(rng, (8,)),
            mask,
            placed,
            outputs=3,
            epsilon=1e-5,
        )
    )


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("activation", [0, 1])
def test_group_norm(last: bool, activation: int) -> None:
    """onnxruntime has no kernel for processors; GroupNormalization of ONNX is the oracle."""
    rng = np.random.default_rng(3)
    x, scale, shift, bias = (values(rng, s) for s in ((2, 6, 4, 5), (6,), (6,), (6,)))
    skip = values(rng, (2, 6))
    total = x + (skip + bias)[:, :, None, None]
    plain = node("GroupNormalization", total, scale, shift, num_groups=3, opset=21, epsilon=1e-5)
    (expected,) = agree(plain.model, plain.feeds).run(total, scale, shift)
    expected = expected / (1 + np.exp(-expected)) if activation else expected
    arranged = np.ascontiguousarray(np.moveaxis(x, 1, -1)) if last else x
    flags = {"groups": 3, "activation": activation, "channels_last": int(last)}
    inputs = (arranged, scale, shift, skip, bias)
    fused = contrib("SkipGroupNorm", *inputs, outputs=2, **flags)
    found, added = load(fused.model).run(*inputs)
    axis = -1 if last else 1
    np.testing.assert_allclose(np.moveaxis(found, axis, 1), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.moveaxis(added, axis, 1), total, rtol=1e-5)
    (alone,) = load(contrib("GroupNorm", added, scale, shift, **flags).model).run(
        added, scale, shift
    )
    np.testing.assert_allclose(alone, found, rtol=1e-5)


def test_what_is_not_supported_is_refused() -> None:
    x, w = np.zeros((1, 1, 3, 3), np.float32), np.zeros((1, 1, 2, 2), np.float32)
    with pytest.raises(CloptError, match=r"node 'node' \(FusedConv\): the activation 'softmax'"):
        load(contrib("FusedConv", x, w, activation="Softmax").model)
