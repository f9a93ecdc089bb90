"""Loops on devices: the commands of an iteration repeated, with rows that differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.pyopencl_runtime import CExecutable
from support.onnx.loops import LOOP, SCAN, recurrent
from support.onnx.models import by_onnxruntime, random_inputs

pytestmark = pytest.mark.in_turns

MODELS: dict[str, onnx.ModelProto] = {
    "lstm": recurrent("LSTM", 9),
    "lstm, even": recurrent("LSTM", 8, "reverse"),
    "gru": recurrent("GRU", 6, "bidirectional"),
    "rnn, lengths": recurrent("RNN", 7, "bidirectional", [7, 3]),
    "lstm, lengths": recurrent("LSTM", 5, "bidirectional", [2, 5]),
    "loop": LOOP,
    "scan": SCAN,
}


def agree(compiled: clopt.CompiledModel, proto: onnx.ModelProto, seed: int) -> None:
    """Fail unless a compiled model computes what onnxruntime does."""
    feeds = random_inputs(proto, seed)
    wanted = by_onnxruntime(proto, feeds)
    for got, value in zip(compiled.run(feeds), wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_loops(device: str, name: str, tmp_path: Path) -> None:
    proto = MODELS[name]
    compiled = clopt.compile(proto, device=device)
    # A second inference must not depend on what the first one left.
    for seed in (0, 1):
        agree(compiled, proto, seed)
    compiled.save(tmp_path / "saved")
    agree(clopt.load(tmp_path / "saved", device=device), proto, 2)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_c_packages_compute_the_same_bits(device: str, name: str) -> None:
    compiled = clopt.compile(MODELS[name], device=device)
    packaged = CExecutable(compiled.module, compiled.weights, device)
    for seed in (0, 1):
        feeds = random_inputs(MODELS[name], seed)
        for got, value in zip(packaged.run(feeds), compiled.run(feeds), strict=True):
            np.testing.assert_array_equal(got, value)
    # A command that is repeated has one time.
    (times,) = packaged.profile(feeds, 1)
    assert len(times) == len(compiled.profile(feeds, 1).rows)


@pytest.mark.by_default(cases=1)
def test_steps_share_memory(device: str) -> None:
    """A longer sequence needs memory for its inputs and outputs only."""
    short, long = (clopt.compile(recurrent("GRU", time), device=device) for time in (9, 901))
    products, outputs = 892 * 2 * 15 * 4, 892 * 2 * 5 * 4
    grown = long.executable.device_bytes - short.executable.device_bytes
    assert grown <= products + outputs + 1024


@pytest.mark.by_default(cases=1)
def test_a_profile_has_a_row_for_each_command(device: str) -> None:
    short, long = (
        clopt.compile(recurrent("RNN", time), device=device).profile(runs=1) for time in (9, 99)
    )
    assert len(short.rows) == len(long.rows)
    works = [sum(row.work.multiply_adds or 0 for row in each.rows) for each in (short, long)]
    assert works[1] > 10 * works[0]


@pytest.mark.by_default(cases=1)
def test_rows_are_no_whole_texels(device: str) -> None:
    """Packed buffers have elements of four floats, but a row starts at any float."""
    proto = recurrent("LSTM", 8, hidden=4)
    compiled = clopt.compile(proto, target="adreno-740 texture=prefer", device=device)
    agree(compiled, proto, 0)
