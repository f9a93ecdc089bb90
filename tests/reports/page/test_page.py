"""The report of a model: it has all that the description has, as text, and needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.description import LaunchInfo
from clopt.messages.explanations import Explanation
from clopt.reports.page.flow import steps_of
from support.reported_models import NAMES, Page, residual

EVIL = '"><img src=x onerror=alert(1)><script>alert(1)</script>\u202e'
EVIL_NAMES = tuple(f"{EVIL} {name}" for name in NAMES)
TARGETS = ["pocl", "adreno-740 texture=prefer", "adreno-740 clml=prefer", "nvidia"]


def report(target: str, names: tuple[str, ...] = NAMES) -> tuple[clopt.CompiledModel, str]:
    model = clopt.compile(residual(names), target, explain="report")
    return model, model.report(title="a <net>")


@pytest.mark.parametrize("target", TARGETS)
def test_it_has_the_commands_kernels_and_sources_of_the_description(target: str) -> None:
    model, text = report(target)
    page, description = Page(text), model.describe()
    steps = page.all("li", "step")
    ports = len(description.inputs) + len(description.outputs)
    assert len(steps) == len(description.commands) + ports
    cards = [i for i in page.values("id") if re.fullmatch(r"k\d+", i)]
    assert cards == [f"k{i}" for i in range(len(description.kernels))]
    for number, kernel in enumerate(description.kernels):
        (card,) = page.all("details", key=f"k{number}")
        assert kernel.name in card
        assert f"__kernel void {kernel.function}(" in card
        assert " x ".join(map(str, kernel.global_size)) in card
    if description.kernels:
        head, *rows = page.table("kernel-rows")
        launches = [c.kernel for c in description.commands if isinstance(c, LaunchInfo)]
        found = {row[0]: row[head.index("launches")] for row in rows}
        assert found == {k.name: str(launches.count(i)) for i, k in enumerate(description.kernels)}
    assert any(f"{model.memory.total:,} bytes" in row for row in page.all("tr"))
    assert len(page.table("tensors")) - 1 == len(model.memory.rows)


def test_each_node_is_in_the_row_of_its_command_and_in_the_table_of_nodes() -> None:
    model, text = report("adreno-740 texture=prefer")
    page = Page(text)
    steps = page.all("li", "step")
    assert [sum(name in step for name in NAMES) for step in steps[2:-1]] == [2, 3]
    assert "conv + relu" in steps[2]
    assert "1x8x8x8" in steps[2]
    assert "1 by 4, image2d [3]" in steps[2]
    head, *rows = page.table("nodes")
    nodes = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert list(nodes) == list(NAMES)
    assert nodes["relu0"]["result"] == "1x8x8x8 f32"
    assert nodes["relu0"]["layout"] == "1 by 4, image2d [3]"
    assert nodes["conv0"]["remark"] == "stays in registers of its kernel"
    assert nodes["norm"]["computed by"] == ""
    assert nodes["norm"]["remark"].startswith("no command: computed at compile time")
    kernel = model.describe().kernels[1].name
    assert nodes["relu0"]["computed by"].strip() == f"1: {kernel}"


def test_offloaded_nodes_name_their_graph() -> None:
    model, text = report("adreno-740 clml=prefer")
    page = Page(text)
    head, *rows = page.table("nodes")
    nodes = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert nodes["conv0"]["computed by"] == "clml_0"
    assert nodes["conv0"]["remark"] == "clml.conv_activation"
    assert "clml.graph @clml_0" in page.all("details", key="g0")[0]
    assert page.all("li", "dot") == [f"CLML {len(model.describe().commands)}"]


def test_each_choice_has_a_row_with_its_reason() -> None:
    model, text = report("nvidia")
    assert model.decisions is not None
    page = Page(text)
    rows = {kind: page.table(f"d-{kind}") for kind in ("form", "layout", "plan")}
    assert sum(len(table) - 1 for table in rows.values()) == sum(
        isinstance(each, Explanation) and each.kind in rows for each in model.decisions.explanations
    )
    head, *plans = rows["plan"]
    kernels = [row[head.index("nodes")].partition(":")[0] for row in plans]
    assert kernels == [f"@{kernel.name}" for kernel in model.describe().kernels]
    assert {row[head.index("why")] for row in plans} == {"rule"}
    assert all(float(row[head.index("us")]) > 0 for row in plans)


@pytest.mark.parametrize("target", TARGETS)
def test_links_lead_somewhere_and_nothing_is_loaded(target: str) -> None:
    _, text = report(target)
    page = Page(text)
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    links = {link.removeprefix("#") for link in page.values("href")}
    assert links
    assert links <= set(ids)
    assert set(page.values("data-for", "data-filter", "data-box")) <= set(ids)
    assert not page.values("src", "srcset")
    assert not re.search(r"@import|url\(|fetch\(|https?://(?!www\.w3\.org/2000/svg)", text)


@pytest.mark.parametrize("target", TARGETS)
def test_names_of_the_model_are_text(target: str) -> None:
    _, text = report(target, EVIL_NAMES)
    page = Page(text)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert "\u202e" not in text
    assert any("<script>alert(1)</script>" in step for step in page.all("li", "step"))


def test_equal_models_make_equal_pages(tmp_path: Path) -> None:
    model, text = report("adreno-740 texture=prefer")
    assert report("adreno-740 texture=prefer")[1] == text
    model.report(tmp_path / "report.html", title="a <net>")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert Page(text).all("h1") == ["a <net>"]


def test_a_loaded_model_has_a_report_without_reasons(tmp_path: Path, device: str) -> None:
    model = clopt.compile(residual(), "pocl", device=device, explain="report")
    model.save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device=device)
    page = Page(loaded.report(profile=loaded.profile(runs=1)))
    assert any("were not kept" in text for text in page.all("p"))
    assert len(page.all("li", "step")) == len(loaded.describe().commands) + 2
    assert "main for pocl" in page.all("h1")


def test_times_are_those_of_the_profile(device: str) -> None:
    model = clopt.compile(residual(), device=device, explain="report")
    profile = model.profile({"x": np.ones((1, 3, 8, 8), np.float32)}, runs=3)
    page = Page(model.report(profile=profile))
    head, *rows = page.table("times")
    assert [row[0] for row in rows] == [group.name for group in profile.by_kernel]
    assert [row[head.index("commands")] for row in rows] == [
        str(group.commands) for group in profile.by_kernel
    ]
    shares = [float(row[head.index("share")].rstrip("%")) for row in rows]
    assert sum(shares) == pytest.approx(100, abs=0.2)
    assert model.device_name in page.all("header")[0]
    boxes = [key for key in page.values("id") if re.fullmatch(r"s\d+", key)]
    assert len(boxes) == len(profile.rows)
    without = Page(model.report())
    assert not [key for key in without.values("id") if re.fullmatch(r"s\d+|time", key)]


@pytest.mark.parametrize("target", ["pocl", "adreno-740 texture=prefer", "nvidia"])
def test_steps_read_the_bytes_that_others_wrote(target: str) -> None:
    """The last writer of each byte, in a simulation of the memories."""
    model, _ = report(target)
    description = model.describe()
    steps = steps_of(description, model.decisions)
    memories = [np.full(memory.bytes, -1) for memory in description.memories]
    for number, port in enumerate(description.inputs):
        memories[port.memory][:] = number
    first = len(description.inputs)
    for number, command in enumerate(description.commands, first):
        assert isinstance(command, LaunchInfo)
        parameters = description.kernels[command.kernel].parameters
        arrays = [p for p in parameters if p.kind != "scalar"]
        read: set[int] = set()
        written: list[np.ndarray] = []
        for parameter, argument in zip(arrays, command.arguments, strict=True):
            value = description.values[argument]
            part = memories[value.memory][value.offset : value.offset + value.bytes]
            if parameter.access == "write":
                written.append(part)
            elif description.memories[value.memory].kind != "constant":
                read |= set(part.tolist())
        assert set(steps[number].reads) == read
        for part in written:
            part[:] = number
    outputs = steps[first + len(description.commands) :]
    for step, port in zip(outputs, description.outputs, strict=True):
        assert step.kind == "output"
        assert set(step.reads) == set(memories[port.memory].tolist())
