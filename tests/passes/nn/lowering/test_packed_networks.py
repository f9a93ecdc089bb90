"""Networks whose kernels pass on packed tensors in any layouts, compared with the plain ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from clopt.context import CloptContext
from clopt.dialects import nn, tir
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from support.tir.harness import examples
from support.tir.program import run_program


class Net:
    """Appends operations to a function."""

    def __init__(self, *shape: int):
        self.block = Block(arg_types=[nn.array_type(np.zeros(shape, "f4"))])
        self.x: SSAValue = self.block.args[0]

    def __call__(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def weights(self, *shape: int) -> SSAValue:
        generator = np.random.default_rng(sum(shape))
        return self(nn.ConstantOp.from_array(generator.normal(size=shape).astype("f4") / 2))

    def conv(self, x: SSAValue, channels: int, kernel: int = 1, **attributes: object) -> SSAValue:
        groups = attributes.get("groups", 1)
        w = self.weights(channels, nn.shape_of(x)[1] // groups, kernel, kernel)
        pads = [kernel // 2, kernel // 2, (kernel - 1) // 2, (kernel - 1) // 2]
        return self(nn.ConvOp(x, w, self.weights(channels), pads=pads, **attributes))

    def module(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(func.ReturnOp(*results))
        types = ([a.type for a in self.block.args], [v.type for v in results])
        return ModuleOp([func.FuncOp("main", types, Region(self.block))])


def residual() -> ModuleOp:
    """A stem of three channels, a residual block, a classifier."""
    net = Net(1, 3, 6, 6)
    stem = net(nn.UnaryOp(net.conv(net.x, 6, 3, strides=(2, 2)), "relu"))
    branch = net.conv(net(nn.UnaryOp(net.conv(stem, 5, 3), "relu")), 6, 3)
    total = net(nn.UnaryOp(net(nn.BinaryOp(branch, stem, "add")), "relu"))
    mean = net(nn.ReduceOp(total, "mean", [2, 3]))
    logits = net(nn.MatmulOp(mean, net.weights(6, 7)))
    return net.module(net(nn.SoftmaxOp(logits, 1)))


def branches() -> ModuleOp:
    """A pool feeds three convolutions; they meet at channels that are no multiples of four."""
    net = Net(1, 7, 5, 5)
    x = net(nn.PoolOp(net.x, "max", (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)))
    pooled = net(nn.PoolOp(x, "average", (2, 2), pads=(0, 0, 1, 1)))
    pieces = [net.conv(x, 5), net.conv(x, 3, 3), net.conv(pooled, 4, 2)]
    joined = net(nn.ConcatOp(pieces, 1))
    return net.module(net.conv(joined, 2), net(nn.ArgReduceOp(joined, "max", 1)))


def gates() -> ModuleOp:
    """A mean is broadcast into a branch, in both orders; depthwise; grouped."""
    net = Net(4, 1, 4, 4)
    x = net.conv(net.x, 6, 3)
    gate = net(nn.UnaryOp(net.conv(net(nn.ReduceOp(x, "mean", [2, 3], True)), 6), "sigmoid"))
    x = net(nn.BinaryOp(gate, x, "mul"))
    x = net(nn.BinaryOp(net.conv(x, 6, 3, groups=6), gate, "add"))
    return net.module(net(nn.ReduceOp(net.conv(x, 10, groups=2), "max", [1])))


def shuffle() -> ModuleOp:
    """Halves of the channels are exchanged, taken apart and moved to space."""
    net = Net(1, 6, 2, 3)
    x = net(nn.ConcatOp([net(nn.UnaryOp(net.conv(net.x, 6), "relu")), net.x], 1))
    grouped = net(nn.ReshapeOp(x, (1, 2, 6, 2, 3)))
    turned = net(nn.TransposeOp(grouped, (0, 2, 1, 3, 4)))
    x = net(nn.ReshapeOp(turned, (1, 12, 2, 3)))
    odd = net(nn.SliceOp(x, (0, 1, 0, 0), (1, 5, 2, 3), (1, 2, 1, 1)))
    space = net(nn.DepthToSpaceOp(x, 2))
    large = net(nn.ResizeOp(odd, (1, 5, 4, 6)))
    return net.module(net(nn.ConcatOp([large, space], 1)))


def attention() -> ModuleOp:
    """Heads of three features each, a mask of infinities, a norm."""
    net = Net(1, 5, 6)
    q, k, v = (
        net(
            nn.TransposeOp(
                net(nn.ReshapeOp(net(nn.MatmulOp(net.x, net.weights(6, n))), (1, 5, 2, n // 2))),
                (0, 2, 1, 3),
            )
        )
        for n in (6, 6, 10)
    )
    mask = net(nn.ConstantOp.from_array(np.triu(np.full((5, 5), -np.inf, "f4"), 1)))
    scores = net(nn.BinaryOp(net(nn.MatmulOp(q, k, transpose_b=True)), mask, "add"))
    mixed = net(nn.MatmulOp(net(nn.SoftmaxOp(scores, 3)), v))
    rows = net(nn.ReshapeOp(net(nn.TransposeOp(mixed, (0, 2, 1, 3))), (1, 5, 10)))
    return net.module(net(nn.LayerNormOp(rows, net.weights(10), net.weights(10), 2, 1e-5)))


NETWORKS: dict[str, Callable[[], ModuleOp]] = {
    f.__name__: f for f in (residual, branches, gates, shuffle, attention)
}


@st.composite
def layout(draw: st.DrawFn, value: SSAValue) -> nn.LayoutAttr | None:
    """A plain buffer, a packed one or a texture, mostly of channels."""
    shape = nn.shape_of(value)
    if len(shape) < 2 or not draw(st.integers(0, 3)):
        return None
    first = draw(st.sampled_from((1, 1, 1, 0, len(shape) - 1)))
    second = draw(st.sampled_from((None, None, 0, 1)))
    blocks = [(axis, 4) for axis in (second, first) if axis is not None]
    if second == first:
        blocks = blocks[1:]
    rank = len(shape) + len(blocks) - 1
    cuts = draw(st.lists(st.integers(1, rank - 1), max_size=2, unique=True)) if rank > 1 else []
    texture = tir.ScopeAttr(tir.Scope.Texture, sorted(cuts))
    image = tir.is_texel_type(nn.tensor_type(value).element_type) and draw(st.booleans())
    return nn.LayoutAttr(blocks, texture if image else None)


def assign(data: st.DataObject, module: ModuleOp) -> None:
    """Give every operand and every result of a kernel a layout, with relayouts between them."""
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    written: dict[SSAValue, SSAValue] = {}
    for fused in [op for op in function.body.block.ops if isinstance(op, nn.FusedOp)]:
        inputs: list[SSAValue] = []
        for value in fused.inputs:
            if value in written and data.draw(st.booleans()):
                inputs.append(written[value])
                continue
            relayout = nn.RelayoutOp(value, data.draw(layout(value)))
            Rewriter.insert_op(relayout, InsertPoint.before(fused))
            inputs.append(relayout.result)
        layouts = [data.draw(layout(value)) for value in fused.outputs]
        packed = nn.FusedOp(inputs, fused.detach_region(0), layouts)
        plain = [nn.RelayoutOp(value, None) for value in packed.outputs]
        Rewriter.insert_op([packed, *plain], InsertPoint.before(fused))
        for old, new, value in zip(fused.outputs, plain, packed.outputs, strict=True):
            old.replace_all_uses_with(new.result)
            written[new.result] = value
        Rewriter.erase_op(fused)


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("name", NETWORKS)
@given(data=st.data())
@examples(6)
def test_network(name: str, data: st.DataObject) -> None:
    module = NETWORKS[name]()
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    shape = nn.shape_of(function.body.block.args[0])
    x = np.random.default_rng(0).normal(size=shape).astype("f4")
    expected = interpret(function, [x])
    context = CloptContext()
    NNFusePass().apply(context, module)
    assign(data, module)
    module.verify()
    NNToCLPass().apply(context, module)
    NNToTIRPass().apply(context, module)
    module.verify()
    for found, wanted in zip(run_program(module, context.weights, [x]), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
