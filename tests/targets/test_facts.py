"""The facts of targets: few, with units and sources, and enough for a device that nobody knows."""

from __future__ import annotations

import re
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

ROOT = Path(clopt.__file__).parent
TABLES: list[type[FactTable]] = [DeviceFacts, MachineFacts, CompilerFacts, PolicyFacts]
FILES = sorted((ROOT / "machine/targets").glob("*.toml"))

MALI = """
base = "generic-gpu"

[device]                   # what clGetDeviceInfo of a Mali-G78 says
compute_units = 20
max_work_group_size = 384
local_memory_bytes = 32768
fp64 = false
image_pitch_alignment_bytes = 64
image_from_buffer = true

[machine]
mads_per_nanosecond = 40   # 48 lanes at 0.85 GHz
bandwidth = 40.0           # 64 bits of LPDDR5
preferred_work_group = 64  # four warps of 16
"""


def test_there_are_few_facts() -> None:
    assert sum(len(declarations(table)) for table in TABLES) <= 60


@pytest.mark.parametrize("table", TABLES)
def test_each_number_has_a_unit(table: type[FactTable]) -> None:
    numbers = {name for name, value in defaults(table).items() if type(value) in (int, float)}
    found = declarations(table)
    assert [name for name in numbers if not found[name].unit] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_figure_has_a_source(file: Path) -> None:
    """What OpenCL reports needs none; rates, capacities and habits of compilers do."""
    tables = re.split(r"^\[(\w+)\].*$", file.read_text(), flags=re.M)[1:]
    lines = [
        line
        for table, text in zip(tables[::2], tables[1::2], strict=True)
        if table in ("machine", "compiler")
        for line in re.findall(r"^\w+ *=.*$", text, re.M)
    ]
    assert [line for line in lines if not re.search(r"# \w", line)] == []


@pytest.mark.parametrize("texture", ["off", "prefer"])
def test_another_kind_of_gpu_is_a_file(tmp_path: Path, device: str, texture: str) -> None:
    """The rules that the file's facts choose compute what onnxruntime computes."""
    file, network = tmp_path / "mali-g78.toml", ROOT / "docs/conv.onnx"
    file.write_text(MALI)
    target = f"{file} texture={texture}"
    model = clopt.compile(network, target=target, device=device, dims={"batch": 2})
    x = np.random.default_rng(0).standard_normal((2, 3, 16, 16), np.float32)
    session = onnxruntime.InferenceSession(network)
    (expected,) = session.run(None, {session.get_inputs()[0].name: x})
    (y,) = model.run([x])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    assert ("image2d_t" in model.source or "image1d_buffer_t" in model.source) == (
        texture == "prefer"
    )
    sizes = re.findall(r"reqd_work_group_size\((\d+), (\d+), (\d+)\)", model.source)
    assert all(int(a) * int(b) * int(c) <= 384 for a, b, c in sizes)
