"""Measured times of kernels in layouts decide, and every such kernel can be measured alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import PassPipeline

import clopt
from clopt.context import CloptContext
from clopt.dialects import nn, tir
from clopt.passes.nn.fuse import form_groups
from clopt.passes.nn.layout.alone import is_border, network_of
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.measured import MeasuredTimes, Variant
from clopt.passes.nn.layout.problem import LayoutProblem, readable_by
from clopt.passes.pipelines import LOWER, REGIONS, run_pipeline
from clopt.targets import load_target
from support.nn.layout_graphs import AUTO, Graph

BLOCKS = load_target("pocl").with_facts({"vector_width": 4, "blocks": "auto"})
TARGETS = {"textures": AUTO, "blocks": BLOCKS}


def residual_block() -> tuple[Graph, SSAValue]:
    """Two convolutions and a sum, of few channels."""
    graph = Graph((1, 8, 6, 6))
    first = graph.relu(graph.conv(graph.x, 8))
    return graph, graph.binary(graph.conv(first, 8, kernel=1), first)


def problem_of(graph: Graph, result: SSAValue, name: str, times: MeasuredTimes) -> LayoutProblem:
    module = graph.module(result, target=TARGETS[name])
    groups = form_groups(graph.function.body.block.ops, TEXELS)
    (function,) = nn.networks_of(module)
    return LayoutProblem(function, groups, TARGETS[name], measured=times)


def variants_of(problem: LayoutProblem) -> Iterator[tuple[Variant, float]]:
    for work in problem.works.values():
        yield from problem.variants(work)


@pytest.mark.parametrize("name", TARGETS)
def test_the_layout_that_was_measured_to_be_fastest_is_chosen(name: str):
    found = {v.key: v for v, _ in variants_of(problem_of(*residual_block(), name, {}))}
    results = {str(v.result): v.result for v in found.values()}
    assert len(results) > 1
    for text, layout in results.items():
        times = {key: 1.0 if v.result == layout else 1e4 for key, v in found.items()}
        problem = problem_of(*residual_block(), name, times)
        choice = problem.solve().choice
        chosen = [v.candidates[choice[v.number]] for v in problem.variables.values() if v.work]
        assert str(chosen[0].layout) == text


@pytest.mark.parametrize("name", TARGETS)
def test_times_of_the_model_change_nothing(name: str):
    problem = problem_of(*residual_block(), name, {})
    model = {variant.key: cost for variant, cost in variants_of(problem)}
    measured = problem_of(*residual_block(), name, model).solve()
    assert measured.choice == problem.solve().choice
    assert measured.cost == pytest.approx(problem.solve().cost)


def costs_of(problem: LayoutProblem) -> np.ndarray:
    """What the first kernel costs in each layout of its operand and of its result."""
    work = next(iter(problem.works.values()))
    source, type_ = problem.variables[work.inputs[0]], nn.tensor_type(work.result)
    readable = readable_by(work, source)
    transforms = problem.tables.transform(nn.tensor_type(source.value), source.candidates, readable)
    writes = problem.tables.write(type_, problem.variables[work.result].candidates)
    weights = [nn.tensor_type(value) for value in work.inputs if nn.constant_of(value)]
    fixed = sum(problem.tables.model.traffic(weight, None) for weight in weights)
    return problem.detours(work, source) - transforms[:, :, None] + writes + fixed


def test_where_nobody_measured_a_kernel_the_model_is_as_wrong_as_elsewhere():
    problem = problem_of(*residual_block(), "textures", {})
    (first, cost), *others = problem.variants(next(iter(problem.works.values())))
    tripled = problem_of(*residual_block(), "textures", {first.key: 3 * cost})
    assert len(others) > 2
    np.testing.assert_allclose(costs_of(tripled), 3 * costs_of(problem))


@pytest.mark.parametrize("name", TARGETS)
def test_keys_differ_by_layouts_and_not_by_names(name: str):
    keys = [v.key for v, _ in variants_of(problem_of(*residual_block(), name, {}))]
    graph, result = residual_block()
    for op in graph.function.body.block.ops:
        op.results[0].name_hint = "renamed"
    renamed = [v.key for v, _ in variants_of(problem_of(graph, result, name, {}))]
    assert len(set(keys)) == len(keys)
    assert keys == renamed


def borders_of(variant: Variant) -> int:
    """The kernels that bring plain values into the layouts of a variant, and the result back."""
    values = zip(variant.work.inputs, variant.operands, strict=True)
    inputs = {value for value, layout in values if layout is not None}
    return len(inputs) + (variant.result is not None)


def lowered(variant: Variant, problem: LayoutProblem) -> tuple[ModuleOp, CloptContext]:
    module, ctx = network_of(variant, problem.target), CloptContext()
    PassPipeline((*REGIONS, *LOWER)).apply(ctx, module)
    return module, ctx


@pytest.mark.parametrize("name", TARGETS)
def test_each_variant_alone_is_one_kernel_with_its_layouts(name: str):
    problem = problem_of(*residual_block(), name, {})
    for variant, _ in variants_of(problem):
        module, _ = lowered(variant, problem)
        kernels = [op for op in module.ops if isinstance(op, tir.FuncOp)]
        own = [kernel for kernel in kernels if not is_border(kernel)]
        # A plain convolution has a kernel for its padding, too.
        assert len(own) == 1 or not any([variant.result, *variant.operands])
        assert len(kernels) - len(own) == borders_of(variant)


# PoCL takes half a minute to compile kernels of images.
@pytest.mark.parametrize("name", ["blocks", pytest.param("textures", marks=pytest.mark.long)])
def test_each_variant_alone_computes_the_same(name: str):
    problem = problem_of(*residual_block(), name, {})
    rng = np.random.default_rng(0)
    for work in problem.works.values():
        shapes = [nn.shape_of(value) for value in work.inputs if not nn.constant_of(value)]
        inputs = [rng.standard_normal(shape, np.float32) for shape in shapes]
        expected: np.ndarray | None = None
        for variant, _ in problem.variants(work):
            module, ctx = lowered(variant, problem)
            run_pipeline(ctx, module, "schedule")
            run_pipeline(ctx, module, "memory")
            model = clopt.compile(module, problem.target, device="pocl", weights=ctx.weights)
            (found,) = model.run(inputs)
            expected = found if expected is None else expected
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
