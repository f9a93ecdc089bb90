"""What split kernels mean for the program: its memory, its element types, and further plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects.builtin import MemRefType, ModuleOp, f16, f32
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

import clopt
from clopt.backends.programs import program_of
from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.dialects.cl.ops import byte_count
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.shared.split_reduction import SPLIT_REDUCTION
from clopt.passes.tir.rules.space import NotApplicable
from clopt.passes.tir.schedule import ScheduleError
from clopt.passes.tir.split_kernels import TIRSplitKernelsPass
from clopt.targets import TargetChoice
from support.onnx import builders
from support.onnx.single_node import Case, node
from support.tir.kernels import matmul, parse
from support.tir.network_kernels import kernels_of
from support.tir.split import compile_split, split_kernels


def product(rows: int, steps: int, columns: int) -> Case:
    rng = np.random.default_rng(0)
    left = rng.standard_normal((rows, steps)).astype("f4")
    return node("MatMul", left, rng.standard_normal((steps, columns)).astype("f4"), constants=[1])


def kernels(module: ModuleOp) -> dict[str, tir.FuncOp]:
    return {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}


def test_partial_results_are_in_the_arena() -> None:
    compiled, _ = compile_split(product(4, 96, 8).model, "nvidia texture=off", 6)
    parts, whole = kernels(compiled.module).values()
    (scratch,) = (parts.params[i] for i in parts.output_indices)
    assert byte_count(scratch.type) == 6 * 4 * 8 * 4
    arenas = [op for op in program_of(compiled.module).walk() if isinstance(op, cl.ArenaOp)]
    assert sum(op.size for op in arenas) >= 6 * 4 * 8 * 4
    assert {parts.part_of, whole.part_of} == {whole.sym_name}


def test_the_second_kernel_alone_may_overwrite_what_it_adds() -> None:
    """The tail's other operand is read by the second kernel only, once for each result."""
    compiled, count = compile_split(builders.NETWORKS["resnet18"](), "nvidia texture=off", 4)
    assert count > 5
    pairs = {
        name: len(func.in_place_pairs)
        for name, func in kernels(compiled.module).items()
        if func.part_of is not None
    }
    assert not any(pairs[name] for name in pairs if "_parts" in name)
    assert any(pairs.values())


@pytest.mark.parametrize(("precision", "element"), [("f16", f16), ("f16-storage", f32)])
def test_parts_have_the_type_of_the_accumulator(precision: str, element: object) -> None:
    model = builders.NETWORKS["resnet18"]()
    compiled, count = compile_split(model, "adreno-740 texture=off", 4, precision)
    assert count
    types = {
        param.type.element_type
        for func in kernels(compiled.module).values()
        if "_parts" in func.sym_name.data and func.sym_name.data.startswith("conv")
        for param in (func.params[i] for i in func.output_indices)
        if isinstance(param.type, MemRefType)
    }
    assert element in types


def test_steps_make_the_same_kernels() -> None:
    kernel = next(k for k in kernels_of("resnet18", "nvidia") if "conv" in k.func.sym_name.data)
    module = ModuleOp([kernel.func.clone()])
    cl.set_target(module, kernel.target)
    assert split_kernels(module, 4)
    other = module.clone()
    for step in (TIRApplyPlanPass(), TIRSplitKernelsPass()):
        step.apply(None, module)
    for step in (TIRApplyPlanPass(steps=True), TIRApplyPlanPass(), TIRSplitKernelsPass()):
        step.apply(None, other)
    assert len(kernels(module)) == 2
    assert str(module) == str(other)


def split_product() -> tuple[ModuleOp, tir.FuncOp]:
    """A naive product whose plan splits it, for a GPU."""
    func = parse(matmul(32, 48, 8192)).clone()
    module = ModuleOp([func])
    target = TargetChoice.parse("nvidia texture=off").load()
    assert target is not None
    cl.set_target(module, target)
    return module, func


def scheduled(module: ModuleOp) -> None:
    steps = (TIRChoosePlanPass(), TIRApplyPlanPass(), TIRSplitKernelsPass())
    for step in (*steps, *steps[:2]):
        step.apply(CloptContext(), module)
        module.verify()


def test_a_plan_that_splits_has_the_plans_of_its_parts() -> None:
    module, func = split_product()
    TIRChoosePlanPass().apply(CloptContext(), module)
    assert func.plan is not None
    plan = func.plan.data
    assert plan.rule == "split-reduction"
    first, last = plan.parts
    assert (first.rule, last.rule) == ("gpu-tile", "group-reduction")
    scheduled(module)
    assert [each.plan.data for each in kernels(module).values() if each.plan] == [first, last]


def test_a_part_is_scheduled_by_the_plan_that_is_written_down() -> None:
    module, func = split_product()
    TIRChoosePlanPass().apply(CloptContext(), module)
    assert func.plan is not None
    first, last = func.plan.data.parts
    wanted = replace(first, parameters={**first.parameters, "rows": 1})
    assert wanted != first
    func.plan = tir.PlanAttr(replace(func.plan.data, parts=(wanted, last)))
    scheduled(module)
    parts = kernels(module)["matmul_parts"]
    assert parts.plan == tir.PlanAttr(wanted)


@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [
        (
            '<"gpu-tile", 1',
            '<"gpu-tile", 9',
            "of a part, its plan is of version 9 of rule 'gpu-tile'",
        ),
        ('<"gpu-tile"', '<"tile"', "of a part, its plan is of rule 'tile'"),
        ("[<", '[<"fallback", 1, {}>, <', "its plan has plans for 3 parts, but it has 2"),
    ],
)
def test_plans_of_parts_are_verified(old: str, new: str, refusal: str) -> None:
    module, func = split_product()
    TIRChoosePlanPass().apply(CloptContext(), module)
    text = str(func.plan)
    assert old in text
    plan = Parser(CloptContext(), text.replace(old, new)).parse_attribute()
    assert isinstance(plan, tir.PlanAttr)
    func.plan = plan
    with pytest.raises((VerifyException, ScheduleError), match=refusal):
        scheduled(module)


def test_parts_are_not_split_again() -> None:
    kernel = next(k for k in kernels_of("resnet18", "nvidia") if "conv" in k.func.sym_name.data)
    module = ModuleOp([kernel.func.clone()])
    cl.set_target(module, kernel.target)
    split_kernels(module, 4)
    for step in (TIRApplyPlanPass(), TIRSplitKernelsPass()):
        step.apply(None, module)
    for func in kernels(module).values():
        found = SPLIT_REDUCTION.space(NaiveKernel(func), kernel.target)
        assert isinstance(found, NotApplicable)


@pytest.mark.parametrize(
    ("target", "steps", "rule"),
    [
        ("nvidia texture=off", 8192, "split-reduction"),
        ("nvidia texture=off", 64, "gpu-tile"),
        ("adreno-740 texture=off", 8192, "gpu-tile"),
        ("pocl", 8192, "register-tile"),
    ],
)
def test_default(target: str, steps: int, rule: str) -> None:
    """Deep products with few results are split on targets that are known to gain by it."""
    compiled = clopt.compile(product(32, steps, 48).model, target)
    plans = [func.plan.data.rule for func in kernels(compiled.module).values() if func.plan]
    if rule == "split-reduction":
        assert [func.part_of is None for func in kernels(compiled.module).values()] == [False] * 2
    else:
        assert plans == [rule]
