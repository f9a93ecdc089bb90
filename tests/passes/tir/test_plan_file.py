"""Plans in a file: written, read back, given to the kernels that they are for, or refused."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt import CloptError
from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.dialects.remarks import remarks_of
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir import choose_plan
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.plan_file import HEADER, PlanFile, entry_of, kernel_key, plan_text
from clopt.passes.tir.rules import RULES
from clopt.reports.plans import PlansTarget
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
    TIRChoosePlanPass().apply(CloptContext(), module)
    text = StringIO()
    PlansTarget().emit(CloptContext(), module, text)
    return text.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The plan of a product, with other rows than the default."""
    path = tmp_path / "net.plans"
    text = written(lowered()[0])
    assert "rows = 4," in text
    path.write_text(text.replace("rows = 4,", "rows = 2,"))
    return path


def chosen(file: Path, module: ModuleOp, kernel: tir.FuncOp) -> tir.Plan:
    TIRChoosePlanPass(database=str(file)).apply(CloptContext(), module)
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


def test_names_do_not_matter_and_content_does(file: Path) -> None:
    assert rows(file, name="other") == 2
    assert PlanFile.read(file).find(lowered(columns=40)[1], POCL) is None


def test_a_kernel_has_one_key_whatever_was_decided() -> None:
    module, kernel = lowered()
    key = kernel_key(kernel)
    before = str(kernel)
    TIRChoosePlanPass().apply(CloptContext(), module)
    assert kernel_key(kernel) == key
    kernel.plan = None
    assert str(kernel) == before
    assert kernel_key(lowered(columns=40)[1]) != key


def test_the_target_matters_by_its_name_and_the_facts_of_the_entry(file: Path) -> None:
    assert rows(file, target=replace(POCL, name="other")) == 4
    many = POCL.with_facts({"compute_units": 64})
    assert rows(file, target=many) == 4
    assert rows(file, target=POCL.with_facts({"fp16": True})) == 2
    assert rows(edited(file, ",compute_units=2", ""), target=many) == 2


def test_the_last_entry_counts(file: Path) -> None:
    *_, entry = file.read_text().splitlines()
    file.write_text(f"{file.read_text()}\n# faster\n{entry.replace('rows = 2', 'rows = 3')}\n")
    assert rows(file) == 3


def test_a_file_without_a_plan_for_the_module_is_remarked(file: Path) -> None:
    module, kernel = lowered(columns=40)
    chosen(file, module, kernel)
    (remark,) = remarks_of(module)
    assert remark == f"{file} has no plan for a kernel of this module on the target pocl."


def test_entries_survive_the_text(file: Path) -> None:
    _, kernel = lowered()
    found = PlanFile.read(file).find(kernel, POCL)
    assert found is not None
    timed = replace(found, microseconds=12.5)
    file.write_text(plan_text([timed]))
    again = PlanFile.read(file).find(kernel, POCL)
    assert again is not None
    assert again.microseconds == 12.5
    assert replace(again, place=timed.place) == timed
    assert file.read_text() == plan_text([again])


def test_the_same_file_gives_the_same_bytes(file: Path) -> None:
    texts: set[str] = set()
    for _ in range(2):
        module, kernel = lowered()
        chosen(file, module, kernel)
        TIRApplyPlanPass().apply(CloptContext(), module)
        texts.add(str(module))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            HEADER,
            "clopt-plans 0",
            'net.plans:1: the first line of a plan file must be "clopt-plans 1"',
        ),
        ("rows = 2", "rows = 13", "net.plans:3: @matmul_0: its plan is not a point of rule"),
        ('"register-tile"', '"tile"', "net.plans:3: unknown rule 'tile'; the rules"),
        ('"register-tile", 3', '"rows", 1', "@matmul_0: its plan does not fit rule 'rows': it has"),
        ('"register-tile", 3', '"register-tile", 9', "is of version 9 of rule 'register-tile'"),
        ("}>", "}> {}", "net.plans:3: not a plan: #tir.plan<"),
        ("}>", '"', "net.plans:3: not a plan: #tir.plan<"),
        ("#tir.plan", "#tir.scope", "net.plans:3: not a plan: #tir.scope<"),
        (" - ", " -5 ", "net.plans:3: expected microseconds or -, got -5"),
        (" - ", " soon ", "net.plans:3: expected microseconds or -, got soon"),
        ("compute_units=2", "units=2", 'net.plans:3: "units" is not a fact of a target'),
        ("compute_units=2", "compute_units=x", "net.plans:3: compute_units must be a whole number"),
    ],
)
def test_mistakes_name_their_line(file: Path, old: str, new: str, sentence: str) -> None:
    with pytest.raises(CloptError) as caught:
        rows(edited(file, old, new))
    assert sentence in str(caught.value)


def test_a_short_line_and_a_missing_file(file: Path, tmp_path: Path) -> None:
    file.write_text(f"{HEADER}\n\nabc pocl\n")
    with pytest.raises(
        CloptError, match=r"net\.plans:3: an entry needs a kernel, a target, a time"
    ):
        rows(file)
    with pytest.raises(CloptError, match=r"Cannot read .*none\.plans: No such"):
        rows(tmp_path / "none.plans")


def test_plans_of_an_older_version_are_left_out(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tuple(replace(rule, version=rule.version + 1) for rule in RULES)
    monkeypatch.setattr(choose_plan, "rules", lambda: newer)
    module, kernel = lowered()
    assert chosen(file, module, kernel).parameters["rows"] == 4
    (remark,) = remarks_of(module)
    assert remark.startswith(f"{file}:3: the plan of @matmul_0 is ignored: it is for version 3")


def test_only_plans_that_are_not_carried_out_can_be_written() -> None:
    module, _ = lowered()
    with pytest.raises(CloptError, match="run the passes up to tir-choose-plan"):
        PlansTarget().emit(CloptContext(), module, StringIO())
    TIRChoosePlanPass().apply(CloptContext(), module)
    TIRApplyPlanPass().apply(CloptContext(), module)
    with pytest.raises(CloptError, match="has no pending plans"):
        PlansTarget().emit(CloptContext(), module, StringIO())


@pytest.mark.parametrize("name", ["two words", "a,b", "#x", ""])
def test_a_target_without_a_plain_name_has_no_file(name: str) -> None:
    module, kernel = lowered(target=replace(POCL, name=name))
    TIRChoosePlanPass().apply(CloptContext(), module)
    with pytest.raises(CloptError, match="cannot hold the target name"):
        entry_of(kernel, replace(POCL, name=name))
