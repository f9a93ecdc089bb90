"""Graphs for the tests of the choice of layouts."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.dialects.nn import LayoutAttr
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.layout.explain import layout_text
from clopt.targets import load_target

AUTO = load_target("adreno-740")
PREFER = AUTO.with_facts({"texture": "prefer"})
ROWS = LayoutAttr([(1, 4)], tir.ScopeAttr(tir.Scope.Texture, [3]))
"""NCHW4c in an image whose columns are w."""
PACKED = LayoutAttr([(1, 4)])


class Graph:
    """A function under construction."""

    def __init__(self, *shapes: tuple[int, ...], type_: Attribute = f32):
        self.function = func.FuncOp("main", ([TensorType(type_, s) for s in shapes], []))
        self.random = np.random.default_rng(1)

    @property
    def x(self) -> SSAValue:
        return self.function.args[0]

    def add(self, op: Operation) -> SSAValue:
        self.function.body.block.add_op(op)
        return op.results[0]

    def constant(self, *shape: int) -> SSAValue:
        array = self.random.standard_normal(shape).astype(np.float32)
        return self.add(nn.ConstantOp.from_array(array))

    def conv(self, x: SSAValue, outputs: int, kernel: int = 3, groups: int = 1) -> SSAValue:
        inputs = nn.shape_of(x)[1] // groups
        w, b = self.constant(outputs, inputs, kernel, kernel), self.constant(outputs)
        pads = [kernel // 2] * 4
        return self.add(nn.ConvOp(x, w, b, pads=pads, groups=groups))

    def relu(self, x: SSAValue) -> SSAValue:
        return self.add(nn.UnaryOp(x, "relu"))

    def pool(self, x: SSAValue, kind: str = "max", pads: tuple[int, ...] = ()) -> SSAValue:
        return self.add(nn.PoolOp(x, kind, [2, 2], strides=[2, 2], pads=pads or None))

    def mean(self, x: SSAValue) -> SSAValue:
        return self.add(nn.ReduceOp(x, "mean", [2, 3], keepdims=True))

    def binary(self, a: SSAValue, b: SSAValue, kind: str = "add") -> SSAValue:
        return self.add(nn.BinaryOp(a, b, kind))

    def concat(self, *values: SSAValue) -> SSAValue:
        return self.add(nn.ConcatOp(values, 1))

    def module(self, *results: SSAValue, target: cl.Target = AUTO) -> ModuleOp:
        self.function.body.block.add_op(func.ReturnOp(*results))
        self.function.update_function_type()
        module = ModuleOp([self.function])
        cl.set_target(module, target)
        return module

    def chosen(self, *results: SSAValue, target: cl.Target = AUTO) -> ModuleOp:
        """The module with its layouts."""
        module = self.module(*results, target=target)
        NNChoosePass().apply(CloptContext(), module)
        module.verify()
        return module


def regions(module: ModuleOp) -> list[nn.FusedOp]:
    return [op for op in module.walk() if isinstance(op, nn.FusedOp)]


def layouts(module: ModuleOp) -> list[str]:
    """The layouts of the results of all regions."""
    return [layout_text(nn.layout_of(v)) for op in regions(module) for v in op.outputs]


def tensor(*shape: int, element: Attribute = f32) -> nn.Tensor:
    return TensorType(element, shape)
