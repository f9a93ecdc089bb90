"""Plans that a file of choices demands: given to the kernels that they are for, or refused."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt import CloptError
from clopt.context import CloptContext
from clopt.decisions.choice_file import choices_text, read_choices
from clopt.decisions.choices import demand, remark_unmatched
from clopt.dialects import cl, tir
from clopt.dialects.remarks import remarks_of
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir import plan_demands
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.kernel_key import kernel_key
from clopt.passes.tir.rules import RULES
from clopt.reports.choices import ChoicesTarget
from clopt.targets import load_target

NETWORK = """
func.func @main(%{0}: tensor<32x64xf32>, %b: tensor<64x{1}xf32>) -> tensor<32x{1}xf32> {{
  %c = nn.matmul %{0}, %b : (tensor<32x64xf32>, tensor<64x{1}xf32>) -> tensor<32x{1}xf32>
  func.return %c : tensor<32x{1}xf32>
}}
"""
POCL = load_target("pocl")


def lowered(
    name: str = "a", columns: int = 48, target: cl.Target = POCL
) -> tuple[ModuleOp, tir.FuncOp]:
    ctx = CloptContext()
    module = Parser(ctx, NETWORK.format(name, columns)).parse_module()
    cl.set_target(module, target)
    for each in (NNFusePass(), NNToCLPass(), NNToTIRPass()):
        each.apply(ctx, module)
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return module, kernel


def written(module: ModuleOp) -> str:
    """The text of the file for the plans that clopt chooses for a module."""
    demand(module, [])
    TIRChoosePlanPass().apply(CloptContext(), module)
    text = StringIO()
    ChoicesTarget().emit(CloptContext(), module, text)
    return text.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The plan of a product, with other rows than the default."""
    path = tmp_path / "net.choices"
    text = written(lowered()[0])
    assert "rows = 4," in text
    path.write_text(text.replace("rows = 4,", "rows = 2,"))
    return path


def chosen(file: Path, module: ModuleOp, kernel: tir.FuncOp) -> tir.Plan:
    demand(module, read_choices(file))
    TIRChoosePlanPass().apply(CloptContext(), module)
    assert kernel.plan is not None
    return kernel.plan.data


def rows(file: Path, name: str = "a", columns: int = 48, target: cl.Target = POCL) -> object:
    return chosen(file, *lowered(name, columns, target)).parameters["rows"]


def edited(file: Path, old: str, new: str) -> Path:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return file


def test_a_kernel_gets_its_plan(file: Path) -> None:
    module, kernel = lowered()
    assert chosen(file, module, kernel).parameters["rows"] == 2
    assert not remarks_of(module)
    TIRApplyPlanPass().apply(CloptContext(), module)
    module.verify()


def test_names_and_targets_do_not_matter(file: Path) -> None:
    assert rows(file, name="other") == 2
    assert rows(file, target=POCL.with_facts({"compute_units": 64})) == 2


def test_a_kernel_has_one_key_whatever_was_decided() -> None:
    module, kernel = lowered()
    key = kernel_key(kernel)
    before = str(kernel)
    TIRChoosePlanPass().apply(CloptContext(), module)
    assert kernel_key(kernel) == key
    kernel.plan = None
    assert str(kernel) == before
    assert kernel_key(lowered(columns=40)[1]) != key


def test_a_plan_at_the_kernel_stays(file: Path) -> None:
    module, kernel = lowered()
    TIRChoosePlanPass().apply(CloptContext(), module)
    assert chosen(file, module, kernel).parameters["rows"] == 4


def test_a_demand_without_a_kernel_is_remarked(file: Path) -> None:
    module, kernel = lowered(columns=40)
    chosen(file, module, kernel)
    remark_unmatched(module, str(file))
    (remark,) = remarks_of(module)
    key = kernel_key(lowered()[1])
    assert remark.startswith(f"{file}: nothing is decided here for plan {key}; the model,")


def test_what_was_chosen_can_be_demanded(file: Path) -> None:
    module, kernel = lowered()
    chosen(file, module, kernel)
    text = StringIO()
    ChoicesTarget().emit(CloptContext(), module, text)
    assert text.getvalue() == file.read_text()


def test_the_same_file_gives_the_same_bytes(file: Path) -> None:
    texts: set[str] = set()
    for _ in range(2):
        module, kernel = lowered()
        chosen(file, module, kernel)
        TIRApplyPlanPass().apply(CloptContext(), module)
        texts.add(str(module))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("rows = 2", "rows = 13", "@matmul_0: its plan is not a point of rule 'register-tile'"),
        ('"register-tile"', '"tile"', "@matmul_0: its plan is of rule 'tile', but the rules are"),
        ('"register-tile", 4', '"rows", 1', "its plan does not fit rule 'rows': it has"),
        ('"register-tile", 4', '"register-tile", 9', "is of version 9 of rule 'register-tile'"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(file: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(CloptError, match=r"does not fit @matmul_0: nn\.matmul: ") as caught:
        rows(edited(file, old, new))
    assert str(caught.value).startswith(f"the choice plan {kernel_key(lowered()[1])} #tir.plan<")
    assert reason in str(caught.value)


def test_words_are_no_plan(file: Path) -> None:
    key = kernel_key(lowered()[1])
    file.write_text(f"clopt-choices 1\nplan {key} fast\n")
    with pytest.raises(CloptError, match=r"fast does not fit .*: it is a #tir\.plan"):
        rows(file)


def test_plans_of_an_older_version_are_left_out(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tuple(replace(rule, version=rule.version + 1) for rule in RULES)
    monkeypatch.setattr(plan_demands, "rules", lambda: newer)
    module, kernel = lowered()
    assert chosen(file, module, kernel).parameters["rows"] == 4
    (remark,) = remarks_of(module)
    assert remark.startswith("the demanded plan of @matmul_0 is ignored: it is for version 4")


def test_passes_note_nothing_unless_asked() -> None:
    module, _ = lowered()
    TIRChoosePlanPass().apply(CloptContext(), module)
    text = StringIO()
    ChoicesTarget().emit(CloptContext(), module, text)
    assert text.getvalue() == choices_text([]) == "clopt-choices 1\n"
