"""Random functions whose values are parts of each other: slices, concatenations, reshapes."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from clopt.dialects import nn
from support.drawing import pick_some
from support.nn.random_network import Network


def concat(net: Network, values: list[SSAValue]) -> SSAValue:
    """Joins some values, one of them perhaps twice."""
    x = net.pick(*values)
    rank = len(nn.shape_of(x))
    axis = net.draw(st.integers(0, rank - 1))
    fitting = [
        v
        for v in values
        if len(nn.shape_of(v)) == rank
        and all(a == b for d, (a, b) in enumerate(zip(nn.shape_of(v), nn.shape_of(x))) if d != axis)
    ]
    chosen = pick_some(net.data, fitting, 1, 4)
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


def parts_of_others(net: Network) -> ModuleOp:
    """Several results, each of which may also be a part of another."""
    values = [net.input(1, 4 * net.size(3), 4 * net.size(2)) for _ in range(net.size(2))]
    for _ in range(net.size(8)):
        if sum(nn.count(nn.shape_of(v)) for v in values) > 2000:
            break
        made = net.pick(concat, concat, part, halves, reshaped, computed, computed)(net, values)
        values += made if isinstance(made, list) else [made]
    return net.finish(*(net.pick(*values) for _ in range(net.size(3))), values[-1])
