"""Each operator becomes the expected nn operations, which compute onnxruntime's values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from support.onnx.models import agree, model

IMAGE = "float[2,4,7,6] x"
MATRIX = "float[3,5] x"


class Row(NamedTuple):
    """A one-node model: inputs, node, opset, operations expected, constants."""

    inputs: str
    node: str
    opset: int
    ops: list[str]
    constants: dict[str, Any] | None = None


CONV_WEIGHTS = {"w": np.linspace(-1, 1, 6 * 2 * 3 * 3, dtype=np.float32).reshape(6, 2, 3, 3)}
TRANSPOSED = {"w": np.linspace(-1, 1, 4 * 3 * 3 * 3, dtype=np.float32).reshape(4, 3, 3, 3)}
CHANNELS = {
    "s": np.array([1, 2, 3, 4], np.float32),
    "b": np.array([0, 1, 2, 3], np.float32),
    "m": np.array([0.5, 0, 1, 2], np.float32),
    "v": np.array([1, 2, 0.5, 3], np.float32),
}

WINDOWS = {
    "conv": Row(IMAGE, "y = Conv<group=2, pads=[1,0,2,1]>(x, w)", 11, ["conv"], CONV_WEIGHTS),
    "conv same": Row(
        IMAGE,
        'y = Conv<group=2, strides=[2,2], auto_pad="SAME_LOWER">(x, w)',
        11,
        ["conv"],
        CONV_WEIGHTS,
    ),
    "conv transpose": Row(
        IMAGE,
        "y = ConvTranspose<strides=[2,3], pads=[1,0,0,1]>(x, w)",
        11,
        ["conv_transpose"],
        TRANSPOSED,
    ),
    "conv transpose same": Row(
        IMAGE,
        'y = ConvTranspose<strides=[2,2], auto_pad="SAME_UPPER">(x, w)',
        11,
        ["conv_transpose"],
        TRANSPOSED,
    ),
    "max pool": Row(
        IMAGE,
        "y, i = MaxPool<kernel_shape=[3,2], strides=[2,2], ceil_mode=1>(x)",
        12,
        ["pool max", "max_pool_indices"],
    ),
    "average pool": Row(
        IMAGE,
        "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1>(x)",
        11,
        ["pool average"],
    ),
    "lp pool": Row(IMAGE, "y = LpPool<kernel_shape=[2,2], p=3>(x)", 18, ["pool lp"]),
    "global average": Row(IMAGE, "y = GlobalAveragePool(x)", 7, ["reduce mean"]),
    "global max": Row(IMAGE, "y = GlobalMaxPool(x)", 7, ["reduce max"]),
    "global lp": Row(IMAGE, "y = GlobalLpPool(x)", 7, ["reduce l2"]),
    "resize nearest": Row(
        IMAGE,
        'y = Resize<coordinate_transformation_mode="asymmetric", nearest_mode="floor">(x, , s)',
        13,
        ["resize"],
        {"s": [1.0, 1.0, 2.0, 1.5]},
    ),
    "resize sizes": Row(
        IMAGE, 'y = Resize<mode="linear">(x, , , s)', 13, ["resize"], {"s": [2, 4, 9, 4]}
    ),
    "resize cubic": Row(
        IMAGE,
        'y = Resize<mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1>(x, , s)',
        13,
        ["resize"],
        {"s": [1.0, 1.0, 1.7, 0.6]},
    ),
    "upsample": Row(
        IMAGE, 'y = Upsample<mode="nearest">(x, s)', 9, ["resize"], {"s": [1.0, 1.0, 2.0, 2.0]}
    ),
    "depth to space": Row(
        IMAGE, 'y = DepthToSpace<blocksize=2, mode="CRD">(x)', 13, ["depth_to_space"]
    ),
    "space to depth": Row(
        "float[1,2,4,6] x", "y = SpaceToDepth<blocksize=2>(x)", 13, ["space_to_depth"]
    ),
}

NORMALIZATIONS = {
    "batch": Row(IMAGE, "y = BatchNormalization(x, s, b, m, v)", 15, ["batch_norm"], CHANNELS),
    "batch training": Row(
        IMAGE,
        "y, n, w = BatchNormalization<training_mode=1, momentum=0.7>(x, s, b, m, v)",
        15,
        [
            "reduce mean",
            "binary sub",
            "binary mul",
            "reduce mean",
            "reshape",
            "binary mul",
            "binary add",
            "binary mul",
            "binary add",
            "batch_norm",
        ],
        CHANNELS,
    ),
    "instance": Row(IMAGE, "y = InstanceNormalization(x, s, b)", 7, ["group_norm"], CHANNELS),
    "group 18": Row(
        IMAGE,
        "y = GroupNormalization<num_groups=2>(x, s, b)",
        18,
        ["group_norm"],
        {"s": [1.0, 2.0], "b": [0.5, 1.5]},
    ),
    "group 21": Row(
        IMAGE, "y = GroupNormalization<num_groups=2>(x, s, b)", 21, ["group_norm"], CHANNELS
    ),
    "layer": Row(
        MATRIX, "y = LayerNormalization(x, s)", 17, ["layer_norm"], {"s": [1.0, 2.0, 3.0, 4.0, 5.0]}
    ),
    "layer statistics": Row(
        MATRIX,
        "y, m, d = LayerNormalization<axis=0>(x, s)",
        17,
        [
            "layer_norm",
            "reduce mean",
            "binary sub",
            "binary mul",
            "reduce mean",
            "binary add",
            "unary rsqrt",
        ],
        {"s": [[1.0, 2.0, 3.0, 4.0, 5.0]] * 3},
    ),
    "mean variance": Row(
        IMAGE,
        "y = MeanVarianceNormalization(x)",
        13,
        [
            "reduce mean",
            "binary sub",
            "binary mul",
            "reduce mean",
            "unary sqrt",
            "binary add",
            "binary div",
        ],
    ),
    "rms": Row(
        MATRIX, "y = RMSNormalization(x, s)", 23, ["rms_norm"], {"s": [1.0, 2.0, 3.0, 4.0, 5.0]}
    ),
    "lp": Row(
        MATRIX,
        "y = LpNormalization<p=1, axis=0>(x)",
        7,
        ["reduce l1", "compare eq", "where", "binary div"],
    ),
    "lrn": Row(
        IMAGE,
        "y = LRN<size=3, alpha=0.1, bias=2.0>(x)",
        13,
        [
            "binary mul",
            "reshape",
            "pad",
            "pool average",
            "binary mul",
            "binary add",
            "reshape",
            "binary pow",
            "binary div",
        ],
    ),
    "softmax 13": Row(IMAGE, "y = Softmax(x)", 13, ["softmax"]),
    "softmax 11": Row(IMAGE, "y = Softmax<axis=2>(x)", 11, ["reshape", "softmax", "reshape"]),
    "log softmax": Row(MATRIX, "y = LogSoftmax<axis=0>(x)", 13, ["softmax"]),
    "hardmax": Row(MATRIX, "y = Hardmax(x)", 13, ["arg_reduce max", "compare eq", "cast"]),
}

REDUCTIONS = {
    "mean 11": Row(IMAGE, "y = ReduceMean<axes=[-1,1]>(x)", 11, ["reduce mean"]),
    "sum 13": Row(IMAGE, "y = ReduceSum<keepdims=0>(x, a)", 13, ["reduce sum"], {"a": [0, 2]}),
    "all": Row(IMAGE, "y = ReduceMax(x)", 18, ["reduce max"]),
    "no axes": Row(
        IMAGE, "y = ReduceSumSquare<noop_with_empty_axes=1>(x)", 18, ["reduce sum_square"]
    ),
    "log sum exp": Row(MATRIX, "y = ReduceLogSumExp<axes=[0]>(x)", 11, ["reduce log_sum_exp"]),
    "arg max": Row(MATRIX, "y = ArgMax<axis=-1, keepdims=0>(x)", 13, ["arg_reduce max"]),
    "top k": Row(MATRIX, "y, i = TopK<axis=0, largest=0>(x, k)", 11, ["top_k"], {"k": [2]}),
    "cumsum": Row(MATRIX, "y = CumSum<reverse=1, exclusive=1>(x, a)", 14, ["cumsum"], {"a": 1}),
}

MOVEMENTS = {
    "reshape": Row(IMAGE, "y = Reshape(x, s)", 13, ["reshape"], {"s": [0, -1, 3]}),
    "flatten": Row(IMAGE, "y = Flatten<axis=-2>(x)", 13, ["reshape"]),
    "squeeze 11": Row("float[1,3,1] x", "y = Squeeze<axes=[-1]>(x)", 11, ["reshape"]),
    "squeeze 13": Row("float[1,3,1] x", "y = Squeeze(x)", 13, ["reshape"]),
    "unsqueeze": Row(MATRIX, "y = Unsqueeze(x, a)", 13, ["reshape"], {"a": [-1, 1]}),
    "transpose": Row(MATRIX, "y = Transpose(x)", 13, ["transpose"]),
    "identity": Row(MATRIX, "y = Transpose<perm=[0,1]>(x)", 13, []),
    "concat": Row("float[2,3] x, float[1,3] z", "y = Concat<axis=0>(x, z)", 13, ["concat"]),
    "split 11": Row(IMAGE, "a, b = Split<axis=1, split=[1,3]>(x)", 11, ["slice", "slice"]),
    "split 18": Row(MATRIX, "a, b, c = Split<axis=1, num_outputs=3>(x)", 18, ["slice"] * 3),
    "slice": Row(
        IMAGE,
        "y = Slice(x, b, e, a, s)",
        13,
        ["slice"],
        {"b": [-1, 1], "e": [-100, 100], "a": [3, 1], "s": [-2, 2]},
    ),
    "expand": Row("float[3,1] x", "y = Expand(x, s)", 13, ["expand"], {"s": [2, 1, 4]}),
    "tile": Row(MATRIX, "y = Tile(x, r)", 13, ["tile"], {"r": [2, 3]}),
    "pad reflect": Row(
        IMAGE, 'y = Pad<mode="reflect">(x, p)', 13, ["pad"], {"p": [0, 0, 1, 2, 0, 1, 2, 0]}
    ),
    "pad axes": Row(MATRIX, "y = Pad(x, p, v, a)", 18, ["pad"], {"p": [1, 2], "v": 0.5, "a": [-1]}),
    "pad crop": Row(MATRIX, "y = Pad(x, p)", 13, ["pad"], {"p": [1, -1, 0, 2]}),
    "trilu": Row(MATRIX, "y = Trilu<upper=0>(x, k)", 14, ["where"], {"k": 1}),
    "dropout": Row(MATRIX, "y = Dropout(x)", 13, []),
}

INDEXING = {
    "gather": Row(MATRIX, "y = Gather<axis=1>(x, i)", 13, ["gather"], {"i": [[0, -1], [2, 2]]}),
    "gather elements": Row(
        MATRIX, "y = GatherElements(x, i)", 13, ["gather_elements"], {"i": [[0, -1, 2, 1, 0]]}
    ),
    "gather nd": Row(
        IMAGE, "y = GatherND<batch_dims=1>(x, i)", 13, ["gather_nd"], {"i": [[[1, 2]], [[3, -1]]]}
    ),
    "scatter elements": Row(
        MATRIX,
        'y = ScatterElements<axis=1, reduction="add">(x, i, u)',
        18,
        ["scatter_elements"],
        {"i": [[1], [1], [4]], "u": [[1.0], [2.0], [3.0]]},
    ),
    "scatter nd": Row(
        MATRIX,
        "y = ScatterND(x, i, u)",
        13,
        ["scatter_nd"],
        {"i": [[2], [0]], "u": [[1.0] * 5, [2.0] * 5]},
    ),
    "one hot": Row(
        "int64[4] x",
        "y = OneHot<axis=0>(x, d, v)",
        11,
        ["binary add", "compare lt", "where", "reshape", "compare eq", "where"],
        {"d": 3, "v": [-1.0, 2.0]},
    ),
    "reverse sequence": Row(
        MATRIX,
        "y = ReverseSequence<time_axis=1, batch_axis=0>(x, n)",
        10,
        ["gather_elements"],
        {"n": [5, 2, 1]},
    ),
    "compress": Row(
        MATRIX, "y = Compress<axis=1>(x, c)", 11, ["gather"], {"c": [True, False, True, True]}
    ),
    "grid sample": Row(
        "float[1,2,4,5] x, float[1,3,2,2] g",
        'y = GridSample<mode="bilinear", padding_mode="reflection", align_corners=1>(x, g)',
        16,
        [],
    ),
}

LINEAR = {
    "matmul": Row("float[2,1,3,4] x, float[5,4,2] z", "y = MatMul(x, z)", 13, ["matmul"]),
    "vectors": Row(
        "float[4] x, float[4] z",
        "y = MatMul(x, z)",
        13,
        ["reshape", "reshape", "matmul", "reshape"],
    ),
    "gemm": Row(
        "float[4,3] x, float[5,4] z, float[5] c",
        "y = Gemm<transA=1, transB=1, alpha=0.5, beta=2.0>(x, z, c)",
        13,
        ["matmul", "binary mul", "binary mul", "binary add"],
    ),
    "einsum attention": Row(
        "float[2,3,4,5] x, float[2,6,4,5] z",
        'y = Einsum<equation="bqhd,bkhd->bhqk">(x, z)',
        12,
        ["transpose", "transpose", "matmul"],
    ),
    "einsum diagonal": Row(
        "float[3,3] x", 'y = Einsum<equation="ii->i">(x)', 12, ["reshape", "slice"]
    ),
    "einsum ellipsis": Row(
        "float[2,3,4] x, float[4,5] z",
        'y = Einsum<equation="...i,ij">(x, z)',
        12,
        ["reshape", "matmul", "reshape"],
    ),
    "einsum three": Row(
        "float[2,3] x, float[3,4] y, float[4,5] z",
        'r = Einsum<equation="ij,jk,kl->il">(x, y, z)',
        12,
        ["matmul", "matmul"],
    ),
    "einsum outer": Row(
        "float[2] x, float[3] z",
        'y = Einsum<equation="i,j->ji">(x, z)',
        12,
        ["reshape", "reshape", "binary mul", "transpose"],
    ),
}

QUANTIZATION = {
    "quantize": Row(
        MATRIX,
        "y = QuantizeLinear(x, s, z)",
        13,
        ["quantize"],
        {"s": 0.02, "z": np.uint8(128)},
    ),
    "dequantize axis": Row(
        "int8[3,4] x",
        "y = DequantizeLinear<axis=0>(x, s)",
        13,
        ["dequantize"],
        {"s": [0.1, 0.2, 0.3]},
    ),
    "dynamic": Row(MATRIX, "y, s, z = DynamicQuantizeLinear(x)", 11, []),
    "matmul integer": Row(
        "uint8[3,4] x, int8[4,2] z",
        "y = MatMulInteger(x, z, p)",
        10,
        ["cast", "binary sub", "cast", "matmul"],
        {"p": np.uint8(7)},
    ),
    "qlinear matmul": Row(
        "uint8[3,4] x, uint8[4,2] z",
        "y = QLinearMatMul(x, s, p, z, s, p, t, p)",
        10,
        [],
        {"s": 0.5, "t": 0.25, "p": np.uint8(2)},
    ),
    "conv integer": Row(
        "uint8[1,2,5,5] x, uint8[3,2,3,3] w",
        "y = ConvInteger<pads=[1,1,1,1]>(x, w, p)",
        10,
        [],
        {"p": np.uint8(3)},
    ),
    "qlinear conv": Row(
        "uint8[1,2,5,5] x",
        "y = QLinearConv<strides=[2,2]>(x, s, p, w, t, q, s, p)",
        10,
        [],
        {
            "s": 0.5,
            "p": np.uint8(3),
            "t": [0.1, 0.2, 0.3],
            "q": np.zeros(3, np.int8),
            "w": np.arange(54, dtype=np.int8).reshape(3, 2, 3, 3) - np.int8(20),
        },
    ),
}

ROWS = {
    f"{family}: {name}": row
    for family, rows in (
        ("windows", WINDOWS),
        ("normalizations", NORMALIZATIONS),
        ("reductions", REDUCTIONS),
        ("movements", MOVEMENTS),
        ("indexing", INDEXING),
        ("linear", LINEAR),
        ("quantization", QUANTIZATION),
    )
    for name, row in rows.items()
}


@pytest.mark.parametrize("name", ROWS)
def test_operator(name: str):
    row = ROWS[name]
    imported = agree(model(row.inputs, row.node, row.opset, row.constants))
    if row.ops:
        assert sorted(imported.ops()) == sorted(row.ops)
