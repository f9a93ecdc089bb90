"""Each kernel of the CLML reference on each runtime, by one of the cases that others run on one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.clml.reference.operations import MISSING, Driver

from . import test_operations_convolution as convolution
from . import test_operations_elements as elements
from . import test_operations_linear as linear
from . import test_operations_shapes as shapes

SIZES = (1, 6, 4, 5)

CASES: dict[str, Callable[[Driver, str], None]] = {
    "convolution": lambda d, m: convolution.test_convolution(d, "asymmetric", m),
    "depthwise": lambda d, m: convolution.test_convolution(d, "depthwise_strided", m),
    "transposed": lambda d, m: convolution.test_convolution(d, "transposed_odd", m),
    "convolution_batch_norm": lambda d, m: convolution.test_batch_norm(d, True, 0.125, m),
    "activation": lambda d, m: elements.test_activation(d, "SIGMOID", "NHWC", MISSING, m),
    "clip": lambda d, m: elements.test_clip(d, "OPTIMAL", m),
    "binary": lambda d, m: elements.test_binary(d, "SUB", m),
    "in_place": lambda d, m: elements.test_bias_is_added_in_place(d, m),
    "batch_norm": lambda d, m: elements.test_batch_norm(d, 0.5, m),
    "softmax": lambda d, m: elements.test_softmax(d, (1, 5, 3, 4), "NCHW", "SPATIAL", m),
    "max": lambda d, m: shapes.test_pooling(d, "MAX", SIZES, (3, 2), (1, 2), (1, 0, 2, 1), m),
    "average": lambda d, m: shapes.test_pooling(
        d, "AVERAGE_EXCLUDE_PADDING", SIZES, (3, 2), (1, 2), (1, 0, 2, 1), m
    ),
    "zeros": lambda d, m: shapes.test_pad(d, "CONSTANT", (1, 0, 2, 3), m),
    "mirror": lambda d, m: shapes.test_pad(d, "REFLECT", (3, 1, 2, 4), m),
    "reshape": lambda d, m: shapes.test_reshape(d, SIZES, (1, 5, 3, 8), "OPTIMAL", m),
    "concat": lambda d, m: shapes.test_concat(d, (3, 6), m),
    "depth_to_space": lambda d, m: shapes.test_depth_to_space(d, (1, 12, 5, 3), 2, m),
    "resize": lambda d, m: shapes.test_resize_bilinear(d, (1, 5, 7, 3), (9, 11), False, m),
    "fully_connected": lambda d, m: linear.test_fully_connected(d, True, "TRANSPOSE", m),
    "gemm": lambda d, m: linear.test_gemm(d, "NONE", "TRANSPOSE", m),
}


@pytest.mark.parametrize("name", CASES)
def test_kernel(each_driver: Driver, name: str) -> None:
    CASES[name](each_driver, "FP32")


@pytest.mark.parametrize("name", ["convolution", "average"])
def test_halves(each_driver: Driver, name: str) -> None:
    CASES[name](each_driver, "FP16_ACC32")


def test_waits(each_driver: Driver) -> None:
    convolution.test_wait_list_and_event(each_driver)
