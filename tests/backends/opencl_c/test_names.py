"""Tensors may be called what they like: the kernels compile, and variables keep their meaning."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import clopt
from clopt.backends.opencl_c.names import NameScopes, is_identifier

NAMES = """
    __kernel __global kernel global generic half float4 uchar16 int as_int as_x convert_float vload4
    vstore_half get_global_id get_local_size get_image_width image2d_t sampler_t event_t select
    clamp mad fma exp native_exp read_imagef barrier M_PI NAN INFINITY main NULL true void y0
    gamma typeof asm _ __ ___ 1 0x a.b a/b:0 a-b % " ' \\n ??/ */ // { } é 日本
""".split()


def _sums(names: list[str]) -> onnx.ModelProto:
    """Sums of twelve inputs each, which one kernel takes as parameters; results have odd names."""
    groups = [names[i : i + 12] for i in range(0, len(names), 12)]
    nodes = [helper.make_node("Sum", group, [f"{group[0]} "]) for group in groups]
    outputs = [f"{group[0]} " for group in groups]
    graph = helper.make_graph(
        nodes,
        "names",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in names],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_tensors_of_any_name(device: str) -> None:
    arrays = np.random.default_rng(0).integers(-9, 10, (len(NAMES), 5)).astype(np.float32)
    model = clopt.compile(_sums(NAMES), device=device)
    results = model.run(dict(zip(NAMES, arrays, strict=True)))
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, arrays[12 * i : 12 * i + 12].sum(axis=0))


@pytest.mark.parametrize("hint", NAMES)
def test_new_name(hint: str) -> None:
    names = NameScopes()
    first, second = names.new(hint), names.new(hint)
    assert is_identifier(first)
    assert is_identifier(second)
    assert first != second
