"""Lowering of constants inside a kernel to numbers in its text."""

from __future__ import annotations

from ....dialects import nn
from .kernel import KernelBuilder


def lower_constant(kernel: KernelBuilder, op: nn.ConstantOp) -> None:
    """Define the same number at every index; larger constants are kernel parameters."""
    array = nn.constant_value(op.result)
    if array is None or array.size != 1:
        raise ValueError("a constant inside of a kernel must have one element")
    number = array.item()
    element_type = nn.tensor_type(op.result).element_type
    kernel.define(op.result, lambda body, index: body.constant(number, element_type))
