"""`clopt-run --profile` and `--trace`, and `CompiledModel.profile`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import clopt
from clopt.reports.profile import KERNEL
from clopt.tools import compile, run
from support.clml.small_networks import BETWEEN, REFERENCE, network

DIGITS = str(Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx")
WORDS = [DIGITS, "--dim", "batch=1"]
NODES = {"node_relu", "node_max_pool2d", "node_relu_1", "node_max_pool2d_1", "node_relu_2"}


@pytest.mark.parametrize("facts", ["texture=off", "texture=prefer"])
def test_every_node_has_a_time_and_a_share(facts: str, device: str) -> None:
    model = clopt.compile(DIGITS, f"adreno-740 {facts}", {"batch": 1}, device=device)
    profile = model.profile(runs=2)
    assert profile.runs == 2
    assert NODES < {row.node for row in profile.rows}
    assert all(row.nanoseconds > 0 and row.kind == KERNEL for row in profile.rows)
    assert sum(g.nanoseconds for g in profile.by_node) == pytest.approx(profile.total.nanoseconds)
    assert profile.nanoseconds >= max(row.nanoseconds for row in profile.rows)


def test_multiply_adds_are_those_of_the_network(device: str) -> None:
    profile = clopt.compile(DIGITS, "pocl", {"batch": 1}, device=device).profile(runs=1)
    products = 8 * 8 * 16 * 9 + 4 * 4 * 32 * 16 * 9 + 128 * 64 + 64 * 10
    counted = profile.total.work.multiply_adds
    assert counted is not None
    # Pools, biases and tiles that overlap are the rest.
    assert products <= counted <= 1.2 * products


def test_parts_for_clml_are_rows(device: str) -> None:
    model = clopt.compile(network(BETWEEN), device=device, clml="prefer", accelerators=REFERENCE)
    profile = model.profile(runs=2)
    assert profile.rows[0].kind == KERNEL
    (conv,) = (row for row in profile.rows if row.name.startswith("clml.conv"))
    assert conv.kind == "CLML"
    assert conv.work.multiply_adds == 5 * 8 * 8 * 27
    assert conv.nanoseconds > 0


def test_runs_are_counted_from_one() -> None:
    model = clopt.compile(DIGITS, "pocl", {"batch": 1})
    with pytest.raises(clopt.CloptError, match="runs=0: a profile takes at least one inference"):
        model.profile(runs=0)


def test_tables_and_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str) -> None:
    trace = tmp_path / "trace.json"
    words = ["--device", device, "--profile", "--trace", str(trace), "--time", "3"]
    # Launches that cost nothing keep kernels apart.
    run.main([*WORDS, *words, "--target", "launch_microseconds=0"])
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    found = [{*re.findall(r"\w+", line)} for line in lines]
    assert sum({"node_max_pool2d", "pool_max_1"} <= words for words in found) == 2
    assert sum(line.lstrip().startswith("in all") and "100.0%" in line for line in lines) == 2
    assert "3 runs, medians; " in printed
    events = json.loads(trace.read_text())["traceEvents"]
    assert [e["name"] for e in events if e.get("cat") == "inference"] == [
        f"inference {run}" for run in range(3)
    ]
    assert {e["name"] for e in events if e.get("cat") == "node"} > NODES


def test_json(capsys: pytest.CaptureFixture[str], device: str) -> None:
    """Alone on stdout, whatever else is printed."""
    run.main([*WORDS, "--device", device, "--profile", "--json", "--time", "2"])
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["runs"], "throughput" in printed.err) == (2, True)
    total = sum(kernel["nanoseconds"] for kernel in found["kernels"])
    assert total == pytest.approx(sum(node["nanoseconds"] for node in found["nodes"]))
    assert {node["name"] for node in found["nodes"]} > {"node_max_pool2d"}
    assert all(kernel["bytes"] > 0 and kernel["nodes"] for kernel in found["kernels"])
    assert {kernel["bound"] for kernel in found["kernels"]} <= {"arithmetic", "memory"}


def test_a_folder_has_times_but_no_roofline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    folder = str(tmp_path / "digits")
    compile.main([*WORDS, "--target", "pocl", "-o", folder])
    capsys.readouterr()
    run.main([folder, "--device", device, "--profile"])
    total = next(line for line in capsys.readouterr().out.splitlines() if "in all" in line)
    assert total.split()[-2:] == ["-", "-"]
    assert "100.0%" in total


def test_a_trace_needs_no_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.json"
    run.main([*WORDS, "--trace", str(trace)])
    assert "roofline" not in capsys.readouterr().out
    assert trace.exists()
