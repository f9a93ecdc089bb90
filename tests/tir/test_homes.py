"""Values that lie in parts of others are what nn defines, and no kernel is left of the rest."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.lower_to_tir import LowerNNToTIRPass

from .program import run_program
from .test_rules import Network


def concat(net: Network, values: list[SSAValue]) -> SSAValue:
    """Of some values, of which one may be there twice; axes before it have one element."""
    x = net.pick(*values)
    rank = len(nn.shape_of(x))
    axis = net.draw(st.integers(0, rank - 1))
    fitting = [
        v
        for v in values
        if len(nn.shape_of(v)) == rank
        and all(a == b for d, (a, b) in enumerate(zip(nn.shape_of(v), nn.shape_of(x))) if d != axis)
    ]
    chosen = net.draw(st.lists(st.sampled_from(fitting), min_size=1, max_size=4))
    return net.add(nn.ConcatOp(chosen, axis))


def part(net: Network, values: list[SSAValue]) -> SSAValue:
    """A slice of one axis, or one that keeps all of it."""
    x = net.pick(*values)
    shape = list(nn.shape_of(x))
    axis = net.draw(st.integers(0, len(shape) - 1))
    starts = [0] * len(shape)
    starts[axis] = net.draw(st.integers(0, shape[axis] - 1))
    shape[axis] = net.draw(st.integers(1, shape[axis] - starts[axis]))
    return net.add(nn.SliceOp(x, starts, shape))


def halves(net: Network, values: list[SSAValue]) -> list[SSAValue]:
    """A value cut in two."""
    x = net.pick(*values)
    shape = nn.shape_of(x)
    axis = next((d for d, n in enumerate(shape) if n > 1), 0)
    cut = net.draw(st.integers(1, max(1, shape[axis] - 1)))
    ends = [(0, cut), (cut, shape[axis])]
    return [
        net.add(
            nn.SliceOp(
                x,
                [a if d == axis else 0 for d in range(len(shape))],
                [b - a if d == axis else n for d, n in enumerate(shape)],
            )
        )
        for a, b in ends
        if b > a
    ]


def reshaped(net: Network, values: list[SSAValue]) -> SSAValue:
    x = net.pick(*values)
    n = nn.count(nn.shape_of(x))
    return net.add(nn.ReshapeOp(x, net.pick([1, n, 1], [1, 1, n], [1, n // 4, 4])))


def computed(net: Network, values: list[SSAValue]) -> SSAValue:
    x = net.pick(*values)
    if net.draw(st.booleans()):
        return net.add(nn.UnaryOp(x, "relu"))
    return net.add(nn.BinaryOp(x, x, "add"))


def network(net: Network) -> ModuleOp:
    """Several results, each of which may also be a part of another."""
    values = [net.input(1, 4 * net.size(3), 4 * net.size(2)) for _ in range(net.size(2))]
    for _ in range(net.size(8)):
        if sum(nn.count(nn.shape_of(v)) for v in values) > 2000:
            break
        made = net.pick(concat, concat, part, halves, reshaped, computed, computed)(net, values)
        values += made if isinstance(made, list) else [made]
    return net.finish(*(net.pick(*values) for _ in range(net.size(3))), values[-1])


@settings(
    deadline=None,
    max_examples=80,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_values_in_parts_of_others_are_what_nn_defines(data: st.DataObject) -> None:
    net = Network(data)
    module = network(net)
    module.verify()
    alignment = data.draw(st.sampled_from([1, 16, 64]), label="alignment")
    cl.set_target(module, cl.Target(image_base_alignment_bytes=alignment))
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    for step in (NNFusePass(), LowerNNToTIRPass()):
        step.apply(ctx, module)
    module.verify()
    for found, wanted in zip(run_program(module, net.weights, net.inputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
