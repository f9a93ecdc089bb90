"""Builds quantised networks: int8 with scales of powers of two, between operations on floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType, i8
from xdsl.ir import Block, Operation, Region, SSAValue

from clopt.context import CloptContext
from clopt.dialects import nn

Array = np.ndarray


class Quantized:
    """A network while it is built."""

    def __init__(self) -> None:
        self.context = CloptContext()
        self.block = Block()
        self.results: list[SSAValue] = []

    def input(self, *shape: int) -> SSAValue:
        return self.block.insert_arg(TensorType(i8, shape), len(self.block.args))

    def add(self, *ops: Operation) -> SSAValue:
        self.block.add_ops(ops)
        return ops[-1].results[0]

    def constant(self, array: Array) -> SSAValue:
        return self.add(nn.ConstantOp.from_array(np.asarray(array), self.context.weights))

    def back(self, x: SSAValue, exponent: int) -> SSAValue:
        """int8 as floats."""
        scale, zero = self.constant(np.float32(2.0**exponent)), self.constant(np.int8(0))
        return self.add(nn.DequantizeOp(x, scale, zero))

    def round(self, x: SSAValue, exponent: int) -> SSAValue:
        """Floats as int8."""
        return self.quantize(x, 2.0**exponent)

    def quantize(self, x: SSAValue, scale: float, rounding: str = "half_up") -> SSAValue:
        constants = self.constant(np.float32(scale)), self.constant(np.int8(0))
        return self.add(nn.QuantizeOp(x, *constants, rounding))

    def conv(
        self,
        x: SSAValue,
        w: Array,
        b: Array | None = None,
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        groups: int = 1,
    ) -> SSAValue:
        bias = None if b is None else self.constant(b)
        weight = self.constant(w)
        options: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": (1, 1)}
        return self.add(nn.ConvOp(x, weight, bias, groups=groups, **options))

    def transposed(
        self, x: SSAValue, w: Array, *, strides: Sequence[int], output_padding: Sequence[int]
    ) -> SSAValue:
        return self.add(
            nn.ConvTransposeOp(
                x,
                self.constant(w),
                None,
                strides=strides,
                dilations=(1, 1),
                pads=(0, 0, 0, 0),
                output_padding=output_padding,
            )
        )

    def matmul(self, x: SSAValue, w: Array) -> SSAValue:
        return self.add(nn.MatmulOp(x, self.constant(w)))

    def plus(self, a: SSAValue, b: SSAValue | Array) -> SSAValue:
        other = b if isinstance(b, SSAValue) else self.constant(b)
        return self.add(nn.BinaryOp(a, other, "add"))

    def relu(self, x: SSAValue) -> SSAValue:
        return self.add(nn.UnaryOp(x, "relu"))

    def clip(self, x: SSAValue, low: float, high: float) -> SSAValue:
        return self.add(nn.ClipOp(x, low, high))

    def result(self, value: SSAValue) -> None:
        self.results.append(value)

    def function(self, name: str = "main") -> func.FuncOp:
        """The function, verified."""
        self.add_return()
        inputs = [arg.type for arg in self.block.args]
        outputs = [value.type for value in self.results]
        function = func.FuncOp(name, (inputs, outputs), Region(self.block))
        function.verify()
        return function

    def add_return(self) -> None:
        self.block.add_op(func.ReturnOp(*self.results))
