"""One image on a program for 32: no kernel before the result computes other images."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import onnx
import pytest

import clopt
from clopt.dialects import cl
from clopt.padded_program import PaddedProgram
from support.onnx.models import by_onnxruntime, model


def weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def parts_of_rows() -> onnx.ModelProto:
    """Rows of 56 are no multiple of a work-item's 16 elements."""
    body = "a = Conv(x, w) b = Sigmoid(a) c = Conv(b, w) y = Concat<axis=1>(b, c)"
    return model("float[n,16,56,56] x", body, constants={"w": weights(16, 16, 1, 1)})


def squeeze() -> onnx.ModelProto:
    """A joined kernel of two products, whose tiles of 11 images overlap."""
    body = (
        "f = Conv<pads=[1, 1, 1, 1]>(x, v) m = ReduceMean<keepdims=1>(f, axes) s = Conv(m, w0) "
        "r = Relu(s) e = Conv(r, w1) g = Sigmoid(e) y = Mul(f, g)"
    )
    sizes = {"v": (16, 3, 3, 3), "w0": (8, 16, 1, 1), "w1": (16, 8, 1, 1)}
    constants: dict[str, Any] = {name: weights(*shape) for name, shape in sizes.items()}
    constants["axes"] = np.array([2, 3])
    return model("float[n,3,28,28] x", body, constants=constants)


def few_channels() -> onnx.ModelProto:
    """The images are the rows of a product's tiles."""
    return model("float[n,16,96,96] x", "y = Conv(x, w)", constants={"w": weights(4, 16, 1, 1)})


def padded() -> onnx.ModelProto:
    """A kernel also writes the borders of its result, in the work-items of the same image."""
    body = "a = Conv(x, w) b = Relu(a) y = Conv<pads=[1, 1, 1, 1], strides=[2, 2], group=72>(b, v)"
    constants = {"w": weights(72, 16, 1, 1), "v": weights(72, 1, 3, 3)}
    return model("float[n,16,56,56] x", body, constants=constants)


@pytest.mark.parametrize(
    ("build", "whole"), [(parts_of_rows, 0), (squeeze, 1), (few_channels, 0), (padded, 0)]
)
def test_launches_leave_out_images(build: Any, whole: int, device: str):
    """`whole` launches remain: the kernel of the squeeze is a single work-item."""
    proto = build()
    compiled = clopt.compile(proto, device=device, dims={"n": (1, 32, 32)})
    assert isinstance(compiled, clopt.DynamicModel)
    image = {"x": weights(1, *(each.dim_value for each in shape_of(proto)[1:]))}
    for got, expected in zip(compiled.run(image), by_onnxruntime(proto, image), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    served, _ = compiled.serve(image)
    assert isinstance(served, PaddedProgram)
    launches = [op for op in served.program.module.walk() if isinstance(op, cl.EnqueueKernelOp)]
    assert sum(op.sizes is None for op in launches) <= whole


def launches(proto: onnx.ModelProto, images: int) -> list[tuple[int, ...]]:
    """The global sizes of a program for 32 images on 8 cores."""
    target = "intel-cpu blocks=prefer winograd=prefer compute_units=8"
    compiled = clopt.compile(proto, target, dims={"n": (1, 32, 32)})
    assert isinstance(compiled, clopt.DynamicModel)
    found = compiled.largest().module.walk()
    sizes = [op.ranged_sizes for op in found if isinstance(op, cl.EnqueueKernelOp)]
    return [tuple(size.at(images) for size in each) for each in sizes if each is not None]


def winograd() -> onnx.ModelProto:
    """A strip of tiles is an image: 32 of them keep 8 cores busy."""
    body = "a = Conv<pads=[1, 1, 1, 1]>(x, w) y = Relu(a)"
    return model("float[n,64,28,28] x", body, constants={"w": weights(64, 64, 3, 3)})


def means() -> onnx.ModelProto:
    """The images of means are the columns of tiles."""
    body = (
        "a = Conv(x, v) b = Relu(a) c = Conv(b, w) d = Relu(c) m = ReduceMean<keepdims=1>(d, axes) "
        "y = Mul(d, m)"
    )
    constants: dict[str, Any] = {"v": weights(768, 16, 1, 1), "w": weights(768, 768, 1, 1)}
    constants["axes"] = np.array([2, 3])
    return model("float[n,16,14,14] x", body, constants=constants)


def scales() -> onnx.ModelProto:
    """An image of the first part has 4 times the work-items of the second."""
    body = (
        "a = Sigmoid(x) b = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(a) c = Sigmoid(b) "
        "d = Reshape(a, shape) e = Reshape(c, shape) y = Concat<axis=2>(d, e)"
    )
    return model("float[n,16,64,64] x", body, constants={"shape": np.array([0, 16, -1])})


@pytest.mark.parametrize("build", [winograd, means])
def test_one_image_is_for_most_cores_and_computes_no_other(build: Any):
    one, two = (list(map(prod, launches(build(), images))) for images in (1, 2))
    assert two == [2 * items for items in one]
    assert min(one) > 4, "most cores have one"


def test_parts_of_several_sizes_leave_out_the_same_images():
    """An image of the second part would be a quarter of the work-items for one of the first."""
    *_, joined = launches(scales(), 5)
    assert joined == (512, 5, 1)


def shape_of(proto: onnx.ModelProto) -> list[Any]:
    return list(proto.graph.input[0].type.tensor_type.shape.dim)
