"""Graphs that the fuzzer found and clopt got wrong, reduced, one row for each bug."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from fuzz.graphs.configurations import CONFIGURATIONS

import clopt
from support.onnx.single_node import by_onnxruntime

pytestmark = pytest.mark.in_turns


@dataclass(frozen=True)
class Row:
    """A graph as text, and the configuration that failed; inputs called w, w1, ... are weights."""

    graph: str
    configuration: str = "pocl"
    opset: int = 18


ROWS = {
    # A window longer than the input: ceil_mode counts it, since it starts inside.
    "pool_longer_than_its_input": Row(
        """(float[2,3,1] x) => (float[2,3,1] y) {
            y = AveragePool<kernel_shape = [2], strides = [2], ceil_mode = 1>(x)
        }""",
        opset=20,
    ),
    # Of an odd number of elements to crop the larger part is at the start.
    "conv_transpose_crops_to_output_shape": Row(
        """(float[1,2,4] x, float[2,3,3] w) => (float[1,3,8] y) {
            y = ConvTranspose<strides = [2], output_shape = [8]>(x, w)
        }"""
    ),
    # The mirrored index of a channel, a minimum, was not known to lie within the only texel.
    "reflected_channels_of_a_texture": Row(
        """(float[2,3,2,2] x) => (float[2,6,2,2] y)
        <int64[8] pads = {0, 1, 0, 0, 0, 2, 0, 0}> { y = Pad<mode = "reflect">(x, pads) }""",
        "adreno-630",
    ),
    # That the channel of the group, (4 i + j) floordiv 3, ends with the guard of 4 i + j was lost.
    "groups_that_split_a_texel": Row(
        """(float[1,6,12] x, float[4,6,1] w, float[6,2,3] w1, float[6] w2) => (float[1,6,12] y) {
            z = Conv(x, w)
            y = Conv<group = 2, dilations = [3], pads = [3, 3]>(z, w1, w2)
        }""",
        "adreno-630",
    ),
    # The index of the largest channel is computed, so nothing proves that the only texel has it.
    "top_k_of_the_channels_of_a_texel": Row(
        """(float[2,4,2,2,3] x) => (float[2,1,2,2,3] y, int64[2,1,2,2,3] i) <int64[1] k = {1}> {
            y, i = TopK<axis = 1>(x, k)
        }""",
        "adreno-740 halves",
    ),
    # A stage that depends on no loop beside one that needs the innermost one: IndexError.
    "top_k_of_packed_rows": Row(
        """(float[4,12] x) => (float[2,12] y, int64[2,12] i) <int64[1] k = {2}> {
            y, i = TopK<axis = -2, largest = 0>(x, k)
        }""",
        "adreno-630",
    ),
    # The import made a resize that it did not need; its use of z outlived it: ValueError.
    "resize_by_one_of_a_norm": Row(
        """(float[1,1,2] x, float[1] w, float[2] w1) => (float[1,1,2] y)
        <float[3] scales = {1, 1, 1}> {
            squares = Mul(x, x)
            mean = ReduceMean<axes = [-1]>(squares)
            square = Mul(w, w)
            variance = Add(mean, square)
            root = Sqrt(variance)
            norm = Div(x, root)
            z = Mul(norm, w1)
            y = Resize(z, "", scales)
        }""",
        opset=15,
    ),
    # E[x * x] - E[x] * E[x], ONNX's definition, cancels where the mean is larger than the rest.
    "variance_of_two_channels": Row(
        """(float[1,2,2,2] x) => (float[1,2,2,2] y) <float shift = {100}> {
            z = Add(x, shift)
            y = MeanVarianceNormalization<axes = [1]>(z)
        }"""
    ),
    # Bytes without sign went to images of signed bytes, whose writes saturate at 127.
    "unsigned_bytes_in_textures": Row(
        """(float[4,4] x) => (uint8[4,4] q, float[4,4] y) {
            q, scale, zero = DynamicQuantizeLinear(x)
            y = DequantizeLinear(q, scale, zero)
        }""",
        "adreno-630",
    ),
    # A lane's group was known, 1 of one group, but not that its guard is false there.
    "one_group_of_fewer_channels_than_a_texel": Row(
        """(float[1,2,2,1] x, float[2] w, float[2] w1) => (float[1,1,1,1] y) {
            z = GroupNormalization<num_groups = 1>(x, w, w1)
            y = ReduceL2(z)
        }""",
        "adreno-630",
        opset=21,
    ),
    # The tail of the last block of channels has no sums, and was taken for a reader of them.
    "norm_of_ragged_blocks": Row(
        """(float[2,12,2,5] x, float[12] w, float[12] w1, float[16,12,3,5] w2)
        => (float[2,16,2,5] y) {
            z = InstanceNormalization(x, w, w1)
            y = Conv<pads = [1, 2, 1, 2]>(z, w2)
        }"""
    ),
    # Keys of one texel, packed, and plain queries: the sum was cut into texels for both.
    "heads_of_one_texel": Row(
        """(float[1,12,5] x, float[5,4] w, float[5,4] w1, float[5,4] w2)
        => (float[1,1,12,4] y, float[1,1,12,4] keys)
        <int64[4] heads = {1, 12, 1, 4}, int64[4] rows = {1, 1, 12, 4}> {
            q = MatMul(x, w)
            queries = Reshape(q, rows)
            k = MatMul(x, w1)
            k1 = Reshape(k, heads)
            keys = Transpose<perm = [0, 2, 1, 3]>(k1)
            t = Transpose<perm = [0, 1, 3, 2]>(keys)
            scores = MatMul(queries, t)
            shares = Softmax(scores)
            v = MatMul(x, w2)
            values = Reshape(v, rows)
            y = MatMul(shares, values)
        }""",
        "c",
    ),
}


def _model(row: Row) -> onnx.ModelProto:
    header = f'<ir_version: 9, opset_import: ["" : {row.opset}]>'
    return onnx.parser.parse_model(f"{header} reduced {row.graph}")


def _numbers(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Random inputs; those that are weights become initialisers."""
    random, inputs = np.random.default_rng(0), dict[str, np.ndarray]()
    for value in list(graph.input):
        type = value.type.tensor_type
        numbers = random.uniform(-2, 2, [d.dim_value for d in type.shape.dim])
        array = numbers.astype(onnx.helper.tensor_dtype_to_np_dtype(type.elem_type))
        if value.name.startswith("w"):
            graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
            graph.input.remove(value)
        else:
            inputs[value.name] = array
    return inputs


@pytest.mark.parametrize("name", ROWS)
def test_regression(name: str, device: str, tmp_path: Path) -> None:
    row = ROWS[name]
    model = _model(row)
    inputs = _numbers(model.graph)
    configuration = next(c for c in CONFIGURATIONS if c.name == row.configuration)
    got = configuration.run(configuration.compile(model), device, inputs, tmp_path)
    tolerance = 1e-5 if configuration.precision == "f32" else 1e-2
    for g, w in zip(got, by_onnxruntime(model, inputs), strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_allclose(g, w, rtol=0, atol=tolerance * max(1.0, np.abs(w).max()))


def test_names_beyond_ascii_are_saved(device: str, tmp_path: Path) -> None:
    graph = "(float[3] x) => (float[3] y) { y = Relu(x) }"
    model = _model(Row(graph))
    model.graph.input[0].name = model.graph.node[0].input[0] = "日本"
    model.graph.output[0].name = model.graph.node[0].output[0] = "ü"
    clopt.compile(model, "generic").save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device)
    assert [t.name for t in loaded.outputs] == ["ü"]
    np.testing.assert_array_equal(loaded.run({"日本": np.float32([-1, 0, 2])})[0], [0, 0, 2])
