"""Reshapes sink behind elementwise operations, and operands follow them by numpy's broadcasting."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import SSAValue

from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.sink_reshapes import NNSinkReshapesPass, regroup
from support.drawing import pick

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two shapes with equally many elements."""
    old = draw(SHAPES)
    rest, new = prod(old), list[int]()
    while rest > 1 and draw(st.booleans()):
        new.append(draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0])))
        rest //= new[-1]
    return old, draw(st.permutations([*new, rest, *[1] * draw(st.integers(0, 2))]))


@given(reshapes(), st.data())
def test_regrouped_operands_broadcast_to_the_same_values(
    shapes: tuple[list[int], list[int]], data: st.DataObject
):
    old, new = shapes
    start = data.draw(st.integers(0, len(old)))
    operand = [data.draw(st.sampled_from([1, n])) for n in old[start:]]
    regrouped = regroup(operand, old, new)
    assume(regrouped is not None)
    assert regrouped is not None
    array = np.arange(prod(operand)).reshape(operand)
    expected = np.broadcast_to(array, old).reshape(new)
    np.testing.assert_array_equal(np.broadcast_to(array.reshape(regrouped), new), expected)


@given(reshapes())
def test_whole_operands_and_scalars_follow_any_reshape(shapes: tuple[list[int], list[int]]):
    old, new = shapes
    assert regroup(old, old, new) == new
    assert regroup([], old, new) == [1] * len(new)


@pytest.mark.parametrize(
    ("operand", "old", "new", "expected"),
    [
        # A channel vector, when the positions are merged and taken apart.
        ([8, 1], [2, 8, 20], [2, 8, 4, 5], [1, 8, 1, 1]),
        ([8, 1, 1], [2, 8, 4, 5], [2, 8, 20], [1, 8, 1]),
        # One part of what is merged is broadcast: no reshape gives that.
        ([8, 1], [8, 20], [160], None),
        ([5], [4, 5], [20], None),
        # Dimensions of one element stand anywhere.
        ([4, 1], [4, 6], [1, 4, 1, 6], [1, 4, 1, 1]),
        ([], [1, 1], [], []),
        # Without elements there is nothing to align.
        ([1], [0, 3], [3, 0], None),
    ],
)
def test_regroup(operand: list[int], old: list[int], new: list[int], expected: list[int] | None):
    assert regroup(operand, old, new) == expected


class Program:
    """A function of reshapes and elementwise operations."""

    def __init__(self, data: st.DataObject):
        self.data = data
        shape = data.draw(SHAPES)
        self.function = func.FuncOp("main", ([TensorType(f32, shape)], []))
        self.values: list[SSAValue] = [self.function.args[0]]

    def step(self) -> None:
        x = pick(self.data, self.values)
        shape = nn.shape_of(x)
        match self.data.draw(st.sampled_from(["unary", "reshape", "reshape", "pair", "vector"])):
            case "unary":
                op = nn.UnaryOp(x, "relu")
            case "reshape":
                n = prod(shape)
                first = self.data.draw(st.sampled_from([k for k in range(1, n + 1) if n % k == 0]))
                op = nn.ReshapeOp(x, self.data.draw(st.sampled_from([[n], [first, n // first]])))
            case "pair":
                same = [v for v in self.values if nn.shape_of(v) == shape]
                op = nn.BinaryOp(pick(self.data, same), x, "sub")
            case _:
                sizes = [self.data.draw(st.sampled_from([1, n])) for n in shape]
                constant = nn.ConstantOp.from_array(np.ones(sizes, np.float32))
                self.function.body.block.add_op(constant)
                op = nn.BinaryOp(constant.result, x, "add")
        self.function.body.block.add_op(op)
        self.values.append(op.results[0])


@pytest.mark.by_default(cases=1)
@given(st.data())
def test_random_programs_keep_their_meaning(data: st.DataObject):
    program = Program(data)
    for _ in range(data.draw(st.integers(1, 8))):
        program.step()
    function = program.function
    function.body.block.add_op(func.ReturnOp(program.values[-1]))
    function.update_function_type()
    module = ModuleOp([function])
    array = np.arange(prod(nn.shape_of(function.args[0])), dtype=np.float32) - 3
    inputs = [array.reshape(nn.shape_of(function.args[0]))]
    before = interpret(function, inputs)
    NNSinkReshapesPass().apply(CloptContext(), module)
    module.verify()
    np.testing.assert_array_equal(interpret(function, inputs)[0], before[0])
