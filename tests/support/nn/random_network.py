"""A function of nn operations that hypothesis draws value by value, and steps between values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Operation, SSAValue

from clopt.dialects import nn
from clopt.weights import Weights
from support.drawing import pick, pick_some


class Network:
    """A function under construction, of values drawn by hypothesis."""

    def __init__(self, data: st.DataObject):
        self.data = data
        self.random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
        self.weights = Weights()
        self.function = func.FuncOp("main", ([], []))
        self.inputs: list[np.ndarray] = []

    def draw(self, strategy: st.SearchStrategy, label: str | None = None):
        return self.data.draw(strategy, label=label)

    def pick(self, *values):
        return pick(self.data, values)

    def size(self, most: int) -> int:
        return self.draw(st.integers(1, most))

    def array(self, shape: Sequence[int]) -> np.ndarray:
        """Small integers, whose sums and products are exact in any order."""
        return self.random.integers(-4, 5, shape).astype(np.float32)

    def input(self, *shape: int) -> SSAValue:
        block = self.function.body.block
        self.inputs.append(self.array(shape))
        return block.insert_arg(TensorType(f32, shape), len(block.args))

    def constant(self, *shape: int) -> SSAValue:
        return self.add(nn.ConstantOp.from_array(self.array(shape), self.weights))

    def operand(self, *shape: int) -> SSAValue:
        """Weights, or activations."""
        return self.input(*shape) if self.draw(st.booleans()) else self.constant(*shape)

    def add(self, op: Operation) -> SSAValue:
        self.function.body.block.add_op(op)
        return op.results[0]

    def maybe(self, x: SSAValue, *steps: Callable[[Network, SSAValue], SSAValue]) -> SSAValue:
        """Up to three of the steps, one after the other."""
        for step in pick_some(self.data, steps, 0, 3):
            x = step(self, x)
        return x

    def finish(self, *results: SSAValue) -> ModuleOp:
        self.function.body.block.add_op(func.ReturnOp(*results))
        self.function.update_function_type()
        # Names mark a network that becomes an identity, as they do after an import.
        names = [DictionaryAttr({"nn.name": StringAttr(f"y{i}")}) for i in range(len(results))]
        self.function.res_attrs = ArrayAttr(names)
        return ModuleOp([self.function])


def relu(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.UnaryOp(x, "relu"))


def clip(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.ClipOp(x, -20.0, 60.0))


def per_channel(net: Network, x: SSAValue) -> SSAValue:
    shape = nn.shape_of(x)
    position = net.draw(st.integers(0, len(shape) - 1))
    array = net.operand(*(n if i == position else 1 for i, n in enumerate(shape)))
    return net.add(nn.BinaryOp(x, array, net.pick("add", "sub")))


def residual(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.BinaryOp(net.operand(*nn.shape_of(x)), x, net.pick("add", "max")))


def pad(net: Network, x: SSAValue) -> SSAValue:
    amounts = st.lists(st.integers(0, 2), min_size=len(x.type.shape), max_size=len(x.type.shape))
    low, high = net.draw(amounts), net.draw(amounts)
    return net.add(nn.PadOp(x, low, high, value=net.pick(0.0, 3.0)))


def transpose(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.TransposeOp(x, net.draw(st.permutations(range(len(nn.shape_of(x)))))))


def reshape(net: Network, x: SSAValue) -> SSAValue:
    shape = nn.shape_of(x)
    half = [*shape[:-1], shape[-1] // 2, 2] if shape[-1] % 2 == 0 else [1, *shape]
    merged = [*shape[:-2], shape[-2] * shape[-1]] if len(shape) > 1 else [*shape, 1]
    return net.add(nn.ReshapeOp(x, net.pick(half, merged)))


def backwards(net: Network, x: SSAValue) -> SSAValue:
    shape = nn.shape_of(x)
    return net.add(nn.SliceOp(x, [n - 1 for n in shape], shape, [-1] * len(shape)))


BEFORE = (relu, per_channel, pad, backwards)
AFTER = (relu, clip, per_channel, residual)
MOVES = (*AFTER, pad, transpose, reshape)
