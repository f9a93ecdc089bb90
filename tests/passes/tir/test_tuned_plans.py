"""The plan that a tuning database knows for a kernel: the fastest, here, beyond the noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt import CloptError
from clopt.context import CloptContext
from clopt.decisions.database import DeviceDriver, TuningDatabase, is_valid
from clopt.decisions.record import Record, facts_that_count, read_record
from clopt.decisions.revision import compiler_revision
from clopt.dialects import cl, tir
from clopt.dialects.remarks import remarks_of
from clopt.messages.explanations import Explanation, Why
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.kernel_key import kernel_key
from clopt.passes.tir.rules.plans import default_plan
from support.tuning.records import HERE, POCL, record

NETWORK = """
func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %c = nn.matmul %a, %b : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  func.return %c : tensor<32x48xf32>
}
"""
ANOTHER = DeviceDriver("Another processor (tests)", "1.0")
NEWER = replace(HERE, driver="2.0")
MANY = POCL.with_facts({"compute_units": 64})


def lowered(target: cl.Target = POCL) -> tuple[ModuleOp, tir.FuncOp]:
    ctx = CloptContext()
    module = Parser(ctx, NETWORK).parse_module()
    cl.set_target(module, target)
    for each in (NNFusePass(), NNToCLPass(), NNToTIRPass()):
        each.apply(ctx, module)
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return module, kernel


KEY = kernel_key(lowered()[1])
DEFAULT = default_plan(lowered()[1], POCL).data
assert DEFAULT.parameters["rows"] == 4


def of(rows: int, microseconds: float | None = None, /, **fields: Any) -> Record:
    """A record of the default plan of the product, but for the rows of its tiles."""
    plan = replace(DEFAULT, parameters={**DEFAULT.parameters, "rows": rows})
    return record(plan, microseconds, **({"site": KEY} | fields))


def written(path: Path, *records: Record) -> Path:
    path.write_text("".join(f"{each.line}\n" for each in records))
    return path


def chosen(
    path: Path, device: DeviceDriver = HERE, target: cl.Target = POCL, **options: Any
) -> tuple[object, tuple[str, ...]]:
    """The rows that the pass chooses with a database, 4 by default, and its remarks."""
    module, kernel = lowered(target)
    options = {"tuning": (str(path),), "device": device.name, "driver": device.driver} | options
    TIRChoosePlanPass(**options).apply(CloptContext(), module)
    assert kernel.plan
    return kernel.plan.data.parameters["rows"], remarks_of(module)


@pytest.mark.parametrize(
    ("records", "rows"),
    [
        ([of(4, 20.0), of(2, 10.0), of(3, 12.0)], 2),
        # Closer than the noise of both.
        ([of(4, 20.0, noise=0.05), of(2, 18.5, noise=0.05)], 4),
        # The fastest is not sure, the next is.
        ([of(4, 20.0), of(2, 15.0, noise=0.5), of(3, 16.0)], 3),
        # Nothing to compare with.
        ([of(2, 10.0)], 4),
        ([of(4, 20.0)], 4),
        # The default of the time stands in for that of today.
        ([of(6, 20.0, default=True), of(2, 10.0)], 2),
        ([of(6, 20.0, default=True), of(2, 30.0)], 4),
        # Faults.
        ([of(4), of(2, 10.0)], 2),
        ([of(4, 20.0), of(2)], 4),
        # Other kernels and targets.
        ([of(4, 20.0), of(3, 19.0), of(2, 10.0, site="0")], 3),
        ([of(4, 20.0), of(3, 19.0), of(2, 10.0, target="intel-cpu")], 3),
    ],
)
def test_the_fastest_beyond_the_noise_is_chosen(
    tmp_path: Path, records: list[Record], rows: int
) -> None:
    for order in (records, records[::-1]):
        assert chosen(written(tmp_path / "net.jsonl", *order)) == (rows, ())


LATE = "2026-03-01T12:00:00Z"


@pytest.mark.parametrize(
    ("records", "rows"),
    [
        ([of(4, 20.0), of(2, 10.0, when=LATE), of(2), of(3, 12.0)], 3),
        # The last counts, not the fastest, nor the one with the latest time of day.
        ([of(4, 20.0), of(2, 10.0, when=LATE), of(2, 30.0)], 4),
        ([of(4, 20.0), of(2, 30.0, when=LATE), of(2, 10.0)], 2),
        # A copy of an old record, as in a joined database, is no new one.
        ([of(4, 20.0), of(2, 10.0), of(2, 30.0), of(2, 10.0)], 4),
        # So does the last default of the time.
        ([of(6, 20.0, default=True, when=LATE), of(5, 9.0, default=True), of(2, 10.0)], 4),
    ],
)
def test_the_last_record_of_a_plan_is_the_newest(
    tmp_path: Path, records: list[Record], rows: int
) -> None:
    assert chosen(written(tmp_path / "net.jsonl", *records)) == (rows, ())


@pytest.mark.parametrize(
    ("records", "rows", "remark"),
    [
        # Another driver of this device, then another device.
        (
            [of(4, 20.0, device=NEWER), of(2, 10.0, device=NEWER)],
            2,
            "1 kernel has a plan measured on A processor (tests), driver 2.0; run clopt-tune to",
        ),
        (
            [
                *(of(4, 20.0, device=ANOTHER), of(2, 10.0, device=ANOTHER)),
                *(of(4, 20.0, device=NEWER), of(3, 10.0, device=NEWER)),
            ],
            3,
            "driver 2.0",
        ),
        (
            [
                *(of(4, 20.0), of(2, 19.0)),
                *(of(4, 20.0, device=ANOTHER), of(3, 10.0, device=ANOTHER)),
            ],
            2,
            None,
        ),
        # The default was compared here, and nothing is faster.
        (
            [
                *(of(4, 20.0), of(2, 30.0)),
                *(of(4, 20.0, device=ANOTHER), of(3, 10.0, device=ANOTHER)),
            ],
            4,
            None,
        ),
        # Here the default alone was measured, and 3 has crashed.
        (
            [
                *(of(4, 20.0), of(3), of(2, 10.0, device=ANOTHER)),
                *(of(4, 20.0, device=ANOTHER), of(3, 5.0, device=ANOTHER)),
            ],
            2,
            "Another processor",
        ),
        # Times of two devices are not compared.
        ([of(4, 20.0), of(2, 10.0, device=ANOTHER)], 4, None),
        # Other facts.
        (
            [of(4, 20.0, facts=facts_that_count(MANY)), of(2, 10.0, facts=facts_that_count(MANY))],
            2,
            "driver 1.0, for other facts of the target; run clopt-tune",
        ),
    ],
)
def test_other_devices_are_a_starting_point(
    tmp_path: Path, records: list[Record], rows: int, remark: str | None
) -> None:
    for order in (records, records[::-1]):
        found, remarks = chosen(written(tmp_path / "net.jsonl", *order))
        assert found == rows
        assert len(remarks) == (remark is not None)
        assert remark is None or remark in remarks[0]


def test_without_a_device_the_newest_one_counts(tmp_path: Path) -> None:
    records = [of(4, 20.0, when=LATE), of(2, 10.0, when=LATE), of(4, 20.0, device=ANOTHER)]
    file = written(tmp_path / "net.jsonl", *records, of(3, 10.0, device=ANOTHER))
    rows, (remark,) = chosen(file, DeviceDriver())
    assert rows == 3
    assert ANOTHER.name in remark


def test_plans_of_other_versions_do_not_count(tmp_path: Path) -> None:
    old = of(2, 10.0)
    newer = structs.replace(
        old, choice=old.choice.replace('"register-tile", 4', '"register-tile", 2')
    )
    assert chosen(written(tmp_path / "net.jsonl", of(4, 20.0), newer, of(3, 15.0))) == (3, ())


def test_what_is_no_plan_of_the_kernel_is_left_out(tmp_path: Path) -> None:
    file = written(tmp_path / "net.jsonl", of(4, 20.0), of(13, 5.0), of(3, 15.0))
    rows, (remark,) = chosen(file)
    assert rows == 3
    assert remark.startswith(f"{file}:2: this record is ignored: @matmul_0: its plan is not a p")


def test_a_database_without_the_kernels_is_remarked_if_it_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "net.jsonl", of(4, 20.0, site="0"))
    said = f"{file}: no record matches a kernel of this module for target pocl."
    assert chosen(file) == (4, (said,))
    assert chosen(file, target=replace(POCL, name="none"))[1] == (said.replace("pocl", "none"),)
    assert chosen(file, tuning=(), places=(str(file), str(tmp_path / "none"), "shipped")) == (4, ())


def test_databases_are_read_together(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", of(4, 20.0))
    two = written(tmp_path / "two.jsonl", of(2, 10.0))
    assert chosen(one, tuning=(str(one),), places=(str(two),)) == (2, ())


def test_named_databases_are_newer_and_places_come_in_their_order(tmp_path: Path) -> None:
    slow = written(tmp_path / "slow.jsonl", of(4, 20.0), of(2, 30.0))
    fast = written(tmp_path / "fast.jsonl", of(2, 10.0))
    assert chosen(slow, tuning=(str(slow), str(fast))) == (2, ())
    assert chosen(slow, tuning=(str(fast), str(slow))) == (4, ())
    assert chosen(slow, tuning=(str(fast),), places=(str(slow),)) == (2, ())
    assert chosen(slow, tuning=(str(slow),), places=(str(fast),)) == (4, ())
    assert chosen(slow, tuning=(), places=(str(fast), str(slow))) == (2, ())
    assert chosen(slow, tuning=(), places=(str(slow), str(fast))) == (4, ())


def test_a_torn_last_line_is_skipped(tmp_path: Path) -> None:
    file = written(tmp_path / "net.jsonl", of(4, 20.0), of(2, 10.0))
    whole = file.read_bytes()
    remark = f"{file}:3: skipped the truncated last line; its writer was interrupted."
    for torn in (b"{", of(3, 5.0).line.encode()[:-1], b'{"nodes": "\xc3'):
        file.write_bytes(whole + torn)
        assert chosen(file) == (2, (remark,))
    file.write_bytes(whole + of(3, 5.0).line.encode())
    assert chosen(file) == (3, ())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", ":2: not JSON: {"),
        ("[]", ':2: expected "object", got "array".'),
        ('{"a":' * 100_000, ':2: not JSON: {"a":{"a":'),
        ("{}", ':2: this version of clopt reads "format": 2; remove'),
        (of(2, 1.0).line.replace('"format":2', '"format":1'), 'reads "format": 2'),
        (of(2, 1.0).line.replace('"device"', '"devise"'), 'unknown field "devise".'),
        ('{"format": 2}', ':2: object missing required field "kind".'),
        (
            of(2, 1.0).line.replace('"plan"', '"plans"'),
            '"kind" must be one of form, layout, operands, offload, group, fusion, attention, '
            "border, place, plan, launch, not plans.",
        ),
        (of(2, 1.0).line.replace('"pocl"', "[]"), '"target" must be str, not [].'),
        (of(2, 1.0).line.replace("#tir", "tir"), "must be #tir.plan<...>, not tir.plan<"),
        (of(2, 1.0).line.replace(":1.0", ":NaN"), ':2: not JSON: {"format":2'),
        (of(2, 1.0).line.replace(":1.0", ":-1"), '"microseconds" must be float > 0.0, not -1.'),
        (of(2).line.replace("crashed", ""), 'a record needs either "microseconds" or a "fault".'),
        (of(2, 1.0).line.replace(":0.01", ":-0.5"), '"noise" must be float >= 0.0, not -0.5.'),
        (of(2, 1.0).line.replace('"off"', "null"), '"facts" must be bool | int | float | str, n'),
    ],
)
def test_mistakes_name_their_line(tmp_path: Path, line: str, sentence: str) -> None:
    file = tmp_path / "net.jsonl"
    file.write_text(f"{of(4, 20.0).line}\n{line}\n")
    with pytest.raises(CloptError) as caught:
        chosen(file)
    assert str(caught.value).startswith(f"{file}:2: ")
    assert sentence in str(caught.value)
    # Nobody asked for that one: compiling goes on.
    rows, (remark,) = chosen(file, tuning=(), places=(str(file),))
    assert rows == 4
    assert remark == f"{str(caught.value)[:-1]}; this tuning database is ignored."


@pytest.mark.parametrize("is_measured", [True, False])
def test_a_plan_is_explained_by_what_decides(is_measured: bool, tmp_path: Path) -> None:
    path = written(tmp_path / "net.jsonl", of(4, 20.0), of(2, 10.0))
    tuning = (str(path),) if is_measured else ()
    ctx, (module, _) = CloptContext(explanations=[]), lowered()
    TIRChoosePlanPass(tuning=tuning).apply(ctx, module)
    (each,) = (each for each in ctx.explanations or () if isinstance(each, Explanation))
    assert (each.kind, each.site, each.choice) == ("plan", KEY, "register-tile")
    assert each.reason.why is (Why.MEASURED if is_measured else Why.RULE)
    assert (each.microseconds == 10.0) == is_measured
    assert each.reason.remark.startswith("estimated") == is_measured
    assert each.reason.plan is not None
    rows = {p.name: p.value for p in each.reason.plan.parameters}["rows"]
    assert rows == ("2" if is_measured else "4")


def test_what_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CloptError, match=r"none: cannot read this tuning database: No such file"):
        chosen(tmp_path / "none")
    with pytest.raises(CloptError, match="cannot read this tuning database: Is a directory"):
        chosen(tmp_path)
    file = tmp_path / "net.jsonl"
    file.write_bytes(of(4, 20.0).line.encode() + b"\n\xff\n")
    with pytest.raises(CloptError, match=r"net\.jsonl:2: not UTF-8\."):
        chosen(file)


def test_records_survive_the_text() -> None:
    for each in (of(2, 1.25, nodes="\u2028 ü\n", runs=7, default=True), of(2, reason="x")):
        again = read_record(each.line, "here:1")
        assert again == each
        assert again.place == "here:1"
        assert "\n" not in each.line


def test_what_is_known_here_tells_the_tuner_what_not_to_try() -> None:
    here = {"revision": compiler_revision()}
    late = of(3, 7.0, when="2026-03-01T12:00:00Z", **here)
    others = of(4, 1.0), of(5, 1.0, device=ANOTHER, **here), of(6, 1.0, site="0", **here)
    records = (of(2), of(3, 8.0, **here), late, *others)
    assert TuningDatabase(records).tried("plan", KEY, POCL, HERE) == [of(2), late, others[0]]
    assert TuningDatabase(records).tried("plan", KEY, MANY, HERE) == []
    # Times are those of this compiler; faults may be another one's.
    assert [is_valid(each) for each in (of(2), late, others[0])] == [True, True, False]
