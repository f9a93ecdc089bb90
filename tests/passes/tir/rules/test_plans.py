"""A rule's choice stands at the kernel; whatever stands there is carried out, or refused."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.messages.explanations import plans_of
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.kernel_key import kernel_key
from clopt.passes.tir.rules import RULES
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import default_plan, first_fit, plan_of, space_of
from clopt.passes.tir.rules.space import Params
from clopt.passes.tir.schedule import ScheduleError
from clopt.targets import load_target
from support.tir import kernels

MATMUL = """
func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %c = nn.matmul %a, %b : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  func.return %c : tensor<32x48xf32>
}
"""
GIVEN = """#tir.plan<"register-tile", 4, {local_size = [1, 1, 1], col = 1, width = 4, vectors = 3,
  row = 0, rows = 2, chunk = 4, parts = 1, panel = "packed", order = [1, 0],
  constants = "plain", ahead = 0}>"""


ATTENTION = """
!x = tensor<2x9x8xf32>
func.func @main(%q: !x, %k: !x, %v: !x) -> !x {
  %y = nn.fused %q, %k, %v : (!x, !x, !x) -> !x {
  ^bb0(%a: !x, %b: !x, %c: !x):
    %s = nn.attention_scores %a, %b : (!x, !x) -> tensor<2x9x9xf32>
    %z = nn.attention %s, %c : (tensor<2x9x9xf32>, !x) -> !x
    nn.yield %z : !x
  }
  func.return %y : !x
}
"""
SMALL_PRODUCT = """#tir.plan<"gpu-matmul", 2, {group = [8, 8], rows = 2, cols = 4, vectors = 1,
  spread = "item", depth = 8, panels = "plain", load = 1, prefetch = 0}>"""


def lowered(target: str = "pocl", text: str = MATMUL) -> tuple[ModuleOp, CloptContext, tir.FuncOp]:
    ctx = CloptContext()
    module = Parser(ctx, text).parse_module()
    cl.set_target(module, load_target(target))
    for each in (NNFusePass(), NNToCLPass(), NNToTIRPass()):
        each.apply(ctx, module)
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return module, ctx, kernel


def sizes(kernel: tir.FuncOp, kind: tir.LoopKind) -> set[int]:
    return {op.size for op in kernel.walk() if isinstance(op, tir.ForOp) and op.kind.data is kind}


def plan(text: str) -> tir.PlanAttr:
    attribute = Parser(CloptContext(), text).parse_attribute()
    assert isinstance(attribute, tir.PlanAttr)
    return attribute


def test_choice_is_recorded() -> None:
    module, ctx, kernel = lowered()
    TIRChoosePlanPass().apply(ctx, module)
    assert kernel.plan is not None
    chosen = kernel.plan
    assert not sizes(kernel, tir.LoopKind.Unrolled)
    TIRApplyPlanPass().apply(ctx, module)
    assert kernel.plan == chosen
    assert chosen.data.rule == "register-tile"
    assert chosen.data.parameters["rows"] in sizes(kernel, tir.LoopKind.Unrolled)
    assert plan(str(chosen)) == chosen


def test_given_plan_is_taken() -> None:
    module, ctx, kernel = lowered()
    kernel.plan = plan(GIVEN)
    for step in (TIRChoosePlanPass(), TIRApplyPlanPass()):
        step.apply(ctx, module)
    assert kernel.plan == plan(GIVEN)
    assert sizes(kernel, tir.LoopKind.Unrolled) == {2, 3}
    assert sizes(kernel, tir.LoopKind.Vectorized) == {4}
    assert kernel.layouts is None


def test_steps_of_a_plan_make_the_same_kernel() -> None:
    module, ctx, _ = lowered()
    TIRChoosePlanPass().apply(ctx, module)
    other = module.clone()
    TIRApplyPlanPass().apply(ctx, module)
    TIRApplyPlanPass(steps=True).apply(ctx, other)
    assert '"split_overlap' in str(other)
    TIRApplyPlanPass().apply(ctx, other)
    assert str(other) == str(module)


@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [
        ("vectors = 3", "vectors = 13", "its vectors is 1 to 12, not 13"),
        ("rows = 2", "rows = 11", "its rows is 1 to 10, not 11"),
        ("chunk = 4", "chunk = 3", "its chunk is 1, 2, 4, 8 or 16, not 3"),
        ("order = [1, 0]", "order = [1, 1]", r"its order is an order of \[0, 1\], not \[1, 1\]"),
        ('"packed"', '"copied"', "its panel is plain or packed, not copied"),
        ('"plain"', '"flat"', "its constants is packed or plain, not flat"),
        ("chunk = 4, ", "", "its plan lacks 'chunk'"),
        ("chunk = 4", "chunk = 4, stride = 1", "it has no parameter 'stride'"),
        ("rows = 2", 'rows = "many"', "its rows is a number, not 'many'"),
        ('"register-tile", 4', '"register-tile", 2', "its plan is of version 2 of rule"),
        ('"register-tile"', '"tile"', "its plan is of rule 'tile', but the rules are texels"),
    ],
)
def test_refusals(old: str, new: str, refusal: str) -> None:
    module, ctx, kernel = lowered()
    before = str(kernel)
    assert old in GIVEN
    kernel.plan = plan(GIVEN.replace(old, new))
    with pytest.raises(ScheduleError, match=refusal):
        TIRApplyPlanPass().apply(ctx, module)
    kernel.plan = None
    assert str(kernel) == before


def test_a_rule_for_other_devices_is_refused() -> None:
    module, ctx, kernel = lowered()
    kernel.plan = plan(SMALL_PRODUCT)
    with pytest.raises(ScheduleError, match="'gpu-matmul', which does not apply: it needs a GPU"):
        TIRApplyPlanPass().apply(ctx, module)


@pytest.mark.parametrize("facts", [{"l2_cache_bytes": 65536}, {"vector_registers": 8}])
def test_a_default_plan_is_legal_on_sibling_devices(facts: dict[str, int]) -> None:
    """What a model believes of caches and registers makes no plan illegal."""
    func, target = kernels.parse(kernels.matmul(512, 512, 2048)), load_target("pocl")
    chosen = default_plan(func, target)
    assert chosen.data.rule == "register-tile"
    assert chosen.data.parameters["panel"] == "packed"
    assert default_plan(func, target.with_facts(facts)) != chosen
    space_of(NaiveKernel(func), chosen.data, target.with_facts(facts))


def test_a_rule_that_objects_still_takes_a_plan() -> None:
    module, ctx, kernel = lowered("nvidia")
    ctx.explanations = []
    TIRChoosePlanPass().apply(ctx, module)
    assert kernel.plan is not None
    assert kernel.plan.data.rule != "gpu-matmul"
    (explanation,) = plans_of(ctx.explanations)
    assert "  gpu-matmul applies, but objects: it is not a large product" in str(explanation)
    kernel.plan = plan(SMALL_PRODUCT)
    TIRApplyPlanPass().apply(ctx, module)
    assert sizes(kernel, tir.LoopKind.LocalY) == {8}


def test_rules_have_different_names() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_points_of_a_space_are_points_of_it() -> None:
    _, _, kernel = lowered()
    fit = first_fit(kernel, load_target("pocl"))
    points = [point for point, _ in zip(fit.space.points(), range(500), strict=False)]
    assert len({str(plan_of(fit.rule, point)) for point in points}) == 500
    assert all(fit.space.fault(point) is None for point in points)
    assert fit.space.fault(Params({})) is not None


def test_attention_is_what_its_lowering_states() -> None:
    """The roles of stages choose the rule; they are no part of what a kernel computes."""
    _, _, kernel = lowered(text=ATTENTION)
    target, key = load_target("pocl"), kernel_key(kernel)
    assert default_plan(kernel, target).data.rule == "attention"
    assert kernel.roles is not None
    kernel.roles = DictionaryAttr(dict(list(kernel.roles.data.items())[1:]))
    assert default_plan(kernel, target).data.rule != "attention"
    assert kernel_key(kernel) == key
