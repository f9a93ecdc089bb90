"""The facts of targets: few, with units and sources, and enough for a device that nobody knows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import clopt
from clopt.machine.compiler import CompilerFacts
from clopt.machine.device import DeviceFacts
from clopt.machine.facts import FactTable, declarations, defaults
from clopt.machine.machine import MachineFacts
from clopt.machine.policy import PolicyFacts
from clopt.targets import accelerator_tables
from clopt.tools.opt import main as clopt_main

ROOT = Path(__file__).parents[2]
TABLES: list[type[FactTable]] = [DeviceFacts, MachineFacts, CompilerFacts, PolicyFacts]
FILES = sorted((ROOT / "machine/targets").glob("*.toml"))

PAGE = (ROOT / "docs/extend/add-a-device.md").read_text()
EXAMPLE = re.search(r"`mali-g52\.toml`\):\n\n```toml\n(.*?)```", PAGE, re.S)

DSP = """
base = "generic"

[device]
compute_units = 4
max_work_group_size = 128
fp64 = false
correctly_rounded_division = false

[machine]
vector_width = 16
vector_registers = 32
mads_per_nanosecond = 16
bandwidth = 8.0
launch_microseconds = 40.0
"""


@pytest.fixture(scope="module")
def mali(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the page on new devices shows."""
    assert EXAMPLE is not None
    file = tmp_path_factory.mktemp("targets") / "mali-g52.toml"
    file.write_text(EXAMPLE[1])
    return file


def test_there_are_few_facts() -> None:
    assert sum(len(declarations(table)) for table in TABLES) <= 60


@pytest.mark.parametrize("table", [*TABLES, *accelerator_tables()])
def test_each_number_has_a_unit(table: type[FactTable]) -> None:
    numbers = {name for name, value in defaults(table).items() if type(value) in (int, float)}
    found = declarations(table)
    assert [name for name in numbers if not found[name].unit] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_figure_has_a_source(file: Path) -> None:
    """What OpenCL reports needs none; rates, capacities and habits of compilers do."""
    assert _without_source(file.read_text()) == []


def test_the_example_has_sources(mali: Path) -> None:
    assert _without_source(mali.read_text()) == []


def _without_source(text: str) -> list[str]:
    """Return the lines of a target's file that lack a comment, except limits of a device."""
    tables = re.split(r"^\[(\w+)\].*$", text, flags=re.M)[1:]
    return [
        line
        for table, text in zip(tables[::2], tables[1::2], strict=True)
        if table != "device"
        for line in re.findall(r"^\w+ *=.*$", text, re.M)
        if not re.search(r"# \w", line)
    ]


def test_the_reference_shows_every_source() -> None:
    """The page of targets has a row with unit for each fact, one with source for each figure."""
    page = (ROOT / "docs/targets.md").read_text()
    for file in FILES:
        section = page.partition(f"### `{file.stem}`\n")[2].partition("\n### ")[0]
        for table, figures in tomllib.loads(file.read_text()).items():
            for name in figures if isinstance(figures, dict) else ():
                (row,) = re.findall(rf"^\| `\[{table}\]` \| `{name}` \|.*$", section, re.M)
                assert table == "device" or re.search(r"\| \w[^|]+ \|$", row)


@pytest.mark.parametrize("texture", ["off", "prefer"])
def test_another_kind_of_gpu_is_a_file(mali: Path, device: str, texture: str) -> None:
    source = _computes_the_same(f"{mali} texture={texture}", device)
    assert ("image2d_t" in source or "image1d_buffer_t" in source) == (texture == "prefer")
    sizes = re.findall(r"reqd_work_group_size\((\d+), (\d+), (\d+)\)", source)
    assert all(int(a) * int(b) * int(c) <= 384 for a, b, c in sizes)


def test_a_signal_processor_is_a_file(tmp_path: Path, device: str) -> None:
    """A DSP is like a CPU with wide vectors, small groups and slow launches."""
    file = tmp_path / "dsp.toml"
    file.write_text(DSP)
    assert "float16" in _computes_the_same(str(file), device)


def _computes_the_same(target: str, device: str) -> str:
    """Compare a convolution for `target` with onnxruntime, and return its kernels."""
    network = ROOT / "docs/conv.onnx"
    model = clopt.compile(network, target=target, device=device, dims={"batch": 2})
    x = np.random.default_rng(0).standard_normal((2, 3, 16, 16), np.float32)
    session = onnxruntime.InferenceSession(network)
    (expected,) = session.run(None, {session.get_inputs()[0].name: x})
    (y,) = model.run([x])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    return model.source


def test_estimates_follow_the_facts_of_a_file(
    mali: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The convolution's plan stays; the terms of its estimate follow the facts that they read."""
    before = _terms(capsys, str(mali))
    halved = _terms(capsys, str(mali), "mads_per_nanosecond=6", "bandwidth=6.4")
    for term, factor in {"issue": 2, "memory": 2, "latency": 1, "cache": 1}.items():
        assert halved[term] == pytest.approx(factor * before[term], rel=0.01)


def _terms(capsys: pytest.CaptureFixture[str], *target: str) -> dict[str, float]:
    """Return the terms that `--explain-plan` prints for the convolution."""
    network = str(ROOT / "docs/conv.onnx")
    arguments = ["--dim", "batch=2", "-p", "opencl", "--explain-plan", "--target", *target]
    clopt_main([network, *arguments])
    (line,) = re.findall(r"^@conv_1: .*$", capsys.readouterr().err, re.M)
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.e+-]+)[,)]", line)}
