"""Programs with fewer work-items, interpreted: what is needed of the results stays the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineExpr

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.passes.cl.ranges.units import Units
from clopt.passes.pipelines import PIPELINES
from support import effort
from support.nn import random_networks as networks
from support.nn.random_layers import graph
from support.nn.random_network import Network
from support.nn.random_parts import parts_of_others
from support.tir.program import run_program

FAMILIES = (
    graph,
    parts_of_others,
    networks.convolution,
    networks.pixels_and_product,
    networks.transposed_convolution,
    networks.matmul,
    networks.attention,
    networks.pool,
    networks.reduction,
    networks.arg_reduction,
    networks.normalization,
    networks.movement,
    networks.several_results,
)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=effort.examples(6))
@given(data=st.data())
def test_what_is_needed_stays_the_same(
    family: Callable[[Network], ModuleOp], data: st.DataObject
) -> None:
    """Results are cut into parts at random; other parts are in no relation to the inputs."""
    net = Network(data)
    module = family(net)
    targets = st.one_of(networks.TARGETS, networks.IMAGES)
    cl.set_target(module, data.draw(targets, label="target"))
    shapes = [type_.get_shape() for type_ in net.function.function_type.outputs]
    counts = {int(np.prod(shape)) for shape in shapes} - {0, 1}
    assume(counts)
    count = min(counts)
    largest = data.draw(st.sampled_from([n for n in range(2, count + 1) if count % n == 0]))
    ctx = CloptContext(weights=net.weights)
    for step in PIPELINES["opencl"]:
        if step.name == "cl-range-launches":
            (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
            names = [port.name for port in program.ports]
            module.attributes[cl.RANGE] = cl.RangeAttr.of("parts", 1, largest, names)
        step.apply(ctx, module)
    whole = run_program(module, net.weights, net.inputs)
    for size in {1, data.draw(st.integers(1, largest)), largest}:
        some = run_program(module, net.weights, net.inputs, size)
        for full, part in zip(whole, some, strict=True):
            end = full.size if full.size % largest else full.size // largest * size
            np.testing.assert_array_equal(part.reshape(-1)[:end], full.reshape(-1)[:end])


def test_quotients_are_compared_by_what_they_divide() -> None:
    """The terms may be in another order, and division by one constant is monotonic."""
    units, i, j = Units(4, (8, 3)), AffineExpr.dimension(0), AffineExpr.dimension(1)
    assert units.is_within((i * 2 + j) // 5, (j + i * 2) // 5)
    assert units.is_within((i * 2) // 5, (j + i * 2) // 5)
    assert not units.is_within((i * 2 + j) // 5, (i * 2) // 5)
    assert not units.is_within((i * 2) // 4, (j + i * 2) // 5)


def test_a_remainder_is_at_most_its_dividend() -> None:
    """A group may read a unit of its number modulo the groups, and write that of its number."""
    units, i, j = Units(32, (16, 256)), AffineExpr.dimension(0), AffineExpr.dimension(1)
    assert units.is_within((i % 8) * 4 + j // 64, i * 4 + j // 64)
    assert not units.is_within(i * 4 + j // 64, (i % 8) * 4 + j // 64)
    assert not units.is_within((i + -9) % 8, i + -9)
