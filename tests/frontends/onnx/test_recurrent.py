"""Recurrent operators, unrolled."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest
from onnx import helper

from support.onnx.models import agree, load, model

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
TIME, BATCH, FEATURES, HIDDEN = 4, 2, 3, 5


def recurrent(kind: str, direction: str, lengths: list[int] | None = None, **attributes: object):
    """A model of one recurrent node with every possible input."""
    rng = np.random.default_rng(0)
    directions, gates = (2 if direction == "bidirectional" else 1), GATES[kind]
    states = [(directions, BATCH, HIDDEN)] * (2 if kind == "LSTM" else 1)

    def random(*shape: int) -> np.ndarray:
        return rng.uniform(-0.5, 0.5, shape).astype(np.float32)

    constants: dict[str, np.ndarray] = {
        "w": random(directions, gates * HIDDEN, FEATURES),
        "r": random(directions, gates * HIDDEN, HIDDEN),
        "b": random(directions, 2 * gates * HIDDEN),
        **{f"s{i}": random(*shape) for i, shape in enumerate(states)},
    }
    inputs = ["x", "w", "r", "b", "", *(f"s{i}" for i in range(len(states)))]
    if lengths is not None:
        constants["n"], inputs[4] = np.array(lengths, np.int32), "n"
    if kind == "LSTM":
        constants["p"] = random(directions, 3 * HIDDEN)
        inputs.append("p")
    outputs = ["y", "h", "c"][: 1 + len(states)]
    node = helper.make_node(
        kind, inputs, outputs, hidden_size=HIDDEN, direction=direction, **attributes
    )
    proto = model(f"float[{TIME},{BATCH},{FEATURES}] x", "y = Identity(x)", 14, constants)
    del proto.graph.node[:], proto.graph.output[:]
    proto.graph.node.append(node)
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    return proto


@pytest.mark.parametrize(
    ("kind", "direction"), list(product(GATES, ["forward", "reverse", "bidirectional"]))
)
def test_every_direction(kind: str, direction: str):
    imported = agree(recurrent(kind, direction))
    directions = 2 if direction == "bidirectional" else 1
    products = TIME * {"RNN": 1, "GRU": 2, "LSTM": 1}[kind]
    # One for the inputs of all steps; that of the initial state is known at import.
    assert imported.ops().count("matmul") == directions * (1 + products - 1)


@pytest.mark.parametrize("kind", GATES)
def test_sequences_of_several_lengths(kind: str):
    agree(recurrent(kind, "bidirectional", [4, 2]))


@pytest.mark.parametrize("kind", GATES)
def test_full_sequences_need_no_masks(kind: str):
    assert "where" not in agree(recurrent(kind, "forward", [TIME] * BATCH)).ops()


def test_gru_resets_after_the_product():
    agree(recurrent("GRU", "forward", linear_before_reset=1))


def test_activations_with_parameters():
    names = ["HardSigmoid", "LeakyRelu", "Affine"]
    proto = recurrent(
        "LSTM",
        "forward",
        activations=names,
        activation_alpha=[0.3, 0.2, 0.9],
        activation_beta=[0.4, 0.1],
        clip=0.8,
    )
    agree(proto)


def test_coupled_gates():
    agree(recurrent("LSTM", "forward", input_forget=1))


def test_batch_first_is_the_transposed():
    proto = recurrent("GRU", "reverse")
    batch_first = recurrent("GRU", "reverse", layout=1)
    batch_first.graph.input[0].CopyFrom(
        model(f"float[{BATCH},{TIME},{FEATURES}] x", "y = Identity(x)").graph.input[0]
    )
    for tensor in batch_first.graph.initializer:
        if tensor.name == "s0":
            tensor.dims[:] = [BATCH, 1, HIDDEN]
    x = np.random.default_rng(1).standard_normal((TIME, BATCH, FEATURES), np.float32)
    y, h = load(proto).run(x)
    other_y, other_h = load(batch_first).run(x.transpose(1, 0, 2))
    np.testing.assert_allclose(other_y, y.transpose(2, 0, 1, 3), rtol=1e-6)
    np.testing.assert_allclose(other_h, h.transpose(1, 0, 2), rtol=1e-6)
