"""Reductions over any axes, positions of extremes, running sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from support.onnx.single_node import Case, check, examples, generators, graph, ints, shapes, values

pytestmark = pytest.mark.in_turns

KINDS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")


@st.composite
def reductions(draw: st.DrawFn, kinds: Sequence[str]) -> Case:
    """Every kind over the same axes of one operand."""
    rng, shape, keep = draw(generators), draw(shapes(1, 4)), draw(st.integers(0, 1))
    axes = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    signed = [axis - len(shape) if draw(st.booleans()) else axis for axis in sorted(axes)]
    nodes = [
        helper.make_node(f"Reduce{kind}", ["x", "axes"], [kind], name=kind, keepdims=keep)
        for kind in kinds
    ]
    x = values(rng, shape, low=0.3)
    return graph(nodes, {"x": x, "axes": ints(*signed)}, constants=[1], opset=18)


@examples(5)
@given(case=reductions(("Mean", "Max")))
def test_axes(device: str, case: Case) -> None:
    check(case, device)


@examples(2)
@given(case=reductions(KINDS))
def test_kinds(device: str, case: Case) -> None:
    check(case, device)


@examples(2)
@given(rng=generators, shape=shapes(1, 3), keep=st.integers(0, 1))
def test_reduce_all_or_nothing(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], keep: int
) -> None:
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["all"], keepdims=keep),
        helper.make_node("ReduceMax", ["x"], ["top"], keepdims=keep),
        helper.make_node("ReduceSum", ["x"], ["same"], noop_with_empty_axes=1),
    ]
    check(graph(nodes, {"x": values(rng, shape)}), device)


@examples(2)
@given(rng=generators, shape=shapes(2, 3), axis=st.integers(-2, 1))
def test_reduce_old_axes(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], axis: int
) -> None:
    nodes = [
        helper.make_node(f"Reduce{kind}", ["x"], [kind], axes=[axis], keepdims=0)
        for kind in ("Sum", "Mean", "L2")
    ]
    check(graph(nodes, {"x": values(rng, shape)}, opset=11), device)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@examples(1)
@given(rng=generators, shape=shapes(2, 3))
def test_reduce_integers(
    device: str, dtype: type, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    nodes = [
        helper.make_node(f"Reduce{kind}", ["x", "axes"], [kind], keepdims=0)
        for kind in ("Sum", "Max", "Min", "Prod")
    ]
    arrays = {"x": values(rng, shape, dtype), "axes": ints(-1)}
    check(graph(nodes, arrays, constants=[1]), device)


@examples(3)
@given(rng=generators, shape=shapes(1, 3, 6), data=st.data(), keep=st.integers(0, 1))
def test_arg_extremes(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], data: st.DataObject, keep: int
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    nodes = [
        helper.make_node(
            kind, ["x"], [f"{kind}{last}"], axis=axis, keepdims=keep, select_last_index=last
        )
        for kind in ("ArgMax", "ArgMin")
        for last in (0, 1)
    ]
    x = values(rng, shape, np.int32).astype(np.float32)
    check(graph(nodes, {"x": x}), device)


@examples(2)
@given(rng=generators, shape=shapes(1, 3, 6), data=st.data())
def test_cumsum(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], data: st.DataObject
) -> None:
    axis = np.array(data.draw(st.integers(-len(shape), len(shape) - 1)), np.int64)
    nodes = [
        helper.make_node(
            "CumSum", ["x", "axis"], [f"y{exclusive}{back}"], exclusive=exclusive, reverse=back
        )
        for exclusive in (0, 1)
        for back in (0, 1)
    ]
    check(graph(nodes, {"x": values(rng, shape), "axis": axis}, constants=[1]), device)
