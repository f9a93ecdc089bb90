"""More loops than a launch has indices: batches of images through kernels on CPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.dialects import tir


@dataclass(frozen=True)
class Form:
    """A target, and a convolution to 64 channels on which its kernels have all four indices."""

    facts: str
    channels: int
    window: int
    size: tuple[int, int]

    def model(self, batch: int) -> onnx.ModelProto:
        rng = np.random.default_rng(0)
        shape = (64, self.channels, self.window, self.window)
        weights = numpy_helper.from_array(rng.standard_normal(shape, dtype=np.float32), "w")
        pads = [self.window // 2] * 4
        conv = helper.make_node("Conv", ["x", "w"], ["t"], pads=pads)
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, *self.input])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 64, *self.size])
        nodes = [conv, helper.make_node("Relu", ["t"], ["y"])]
        graph = helper.make_graph(nodes, "network", [x], [y], [weights])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    @property
    def input(self) -> tuple[int, int, int]:
        return (self.channels, *self.size)

    def compile(self, batch: int, **arguments: Any) -> clopt.CompiledModel:
        return clopt.compile(self.model(batch), f"pocl {self.facts}", **arguments)


FORMS = {
    "direct": Form("blocks=prefer winograd=off", 64, 3, (16, 112)),
    "tiles": Form("blocks=prefer winograd=prefer l2_cache_bytes=65536", 64, 3, (32, 224)),
}


def loops_of_items(model: clopt.CompiledModel) -> list[list[tuple[str, int]]]:
    """The kind and the size of each loop of a work-item, for each kernel."""
    return [
        [
            (loop.kind.data.value, loop.size)
            for loop in kernel.walk()
            if isinstance(loop, tir.ForOp) and loop.size > 1 and not loop.kind.data.is_bound
        ]
        for kernel in model.module.ops
        if isinstance(kernel, tir.FuncOp)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_work_item_has_the_loops_that_it_has_without_a_batch(form: str) -> None:
    one, eight = (FORMS[form].compile(batch) for batch in (1, 8))
    assert loops_of_items(one) == loops_of_items(eight)


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("form", FORMS)
def test_a_batch_gives_the_results_of_its_images(form: str, device: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((8, *FORMS[form].input), dtype=np.float32)
    single, batch = (FORMS[form].compile(n, device=device) for n in (1, 8))
    expected = np.concatenate([single.run([image[None]])[0] for image in x])
    most = np.abs(expected).max()
    np.testing.assert_allclose(batch.run([x])[0], expected, rtol=1e-6, atol=1e-6 * most)
