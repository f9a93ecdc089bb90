"""Concatenations and regions of many operands stay within the parameters of a kernel."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import SSAValue

from clopt import compile, list_devices
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.passes.nn.fuse import MOST_INPUTS, NNFusePass
from clopt.passes.nn.split_concats import NNSplitConcatsPass, pieces


def concatenation(count: int, shape: tuple[int, ...], axis: int, added: bool = False) -> ModuleOp:
    """A function of `count` inputs: them in one, each with the next one added first if `added`."""
    inputs = [TensorType(f32, shape)] * count
    size = [n * count if i == axis else n for i, n in enumerate(shape)]
    function = func.FuncOp("main", (inputs, [TensorType(f32, size)]))
    block, values = function.body.block, list[SSAValue](function.args)
    if added:
        following = [*function.args[1:], function.args[0]]
        sums = [nn.BinaryOp(a, b, "add") for a, b in zip(function.args, following, strict=True)]
        block.add_ops(sums)
        values = [op.result for op in sums]
    block.add_op(join := nn.ConcatOp(values, axis))
    block.add_op(func.ReturnOp(join.result))
    return ModuleOp([function])


def concats(module: ModuleOp) -> list[int]:
    """The number of operands of each concatenation."""
    return [len(op.inputs) for op in module.walk() if isinstance(op, nn.ConcatOp)]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(120, [120]), (121, [64, 57, 2]), (129, [44, 44, 41, 3]), (300, [60] * 5 + [5])],
)
def test_pieces_are_nearly_equal(count: int, expected: list[int]) -> None:
    module = concatenation(count, (1, 3), 1)
    NNSplitConcatsPass().apply(CloptContext(), module)
    module.verify()
    assert concats(module) == expected


def test_pieces_of_pieces() -> None:
    module = concatenation(64 * 64 + 1, (1,), 0)
    NNSplitConcatsPass().apply(CloptContext(), module)
    module.verify()
    assert concats(module) == [64] * 64 + [36, 29, 2]


def test_pieces_keep_the_order() -> None:
    values = list(TensorType(f32, [n]) for n in range(200))
    block = func.FuncOp("f", (values, [])).args
    assert [v for piece in pieces(block) for v in piece] == list(block)


def test_regions_within_the_parameters_of_a_kernel() -> None:
    """A concatenation computes its operands itself, but not more of them than fit."""
    module = concatenation(100, (1, 3), 0, added=True)
    NNFusePass().apply(CloptContext(), module)
    inputs = [len(op.inputs) for op in module.walk() if isinstance(op, nn.FusedOp)]
    assert max(inputs) <= MOST_INPUTS


def check(count: int, shape: tuple[int, ...], axis: int, added: bool, target: str) -> None:
    """Fail unless the concatenation is numpy's on every device, to the last bit."""
    rng = np.random.default_rng(0)
    given = [rng.normal(size=shape).astype(np.float32) for _ in range(count)]
    values = [a + b for a, b in zip(given, [*given[1:], given[0]])] if added else given
    module = concatenation(count, shape, axis, added)
    for device in list_devices():
        (got,) = compile(module, target, device=device).run(given)
        np.testing.assert_array_equal(got, np.concatenate(values, axis))


@pytest.mark.parametrize(
    ("count", "shape", "axis", "added"),
    [(128, (2, 1), 1, False), (129, (1,), 0, True)],
    ids=["inner axis", "outer axis"],
)
def test_many_operands(count: int, shape: tuple[int, ...], axis: int, added: bool) -> None:
    check(count, shape, axis, added, "pocl")


@pytest.mark.long
@pytest.mark.parametrize("target", ["pocl", "adreno-740 texture=prefer"])
@pytest.mark.parametrize("added", [False, True], ids=["inputs", "sums"])
@pytest.mark.parametrize(("shape", "axis"), [((2, 2), 1), ((3,), 0), ((1, 3, 1, 2), 1)])
@pytest.mark.parametrize("count", [127, 128, 129, 200, 300])
def test_all_numbers_of_operands(
    count: int, shape: tuple[int, ...], axis: int, added: bool, target: str
) -> None:
    check(count, shape, axis, added, target)
