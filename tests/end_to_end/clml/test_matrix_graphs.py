"""Commands of CLML in layouts and fusions beyond ONNX's: written as graphs, run by emitted C."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

import clopt
from clopt.dialects.cl import EnqueueKernelOp, EnqueueOffloadOp
from support.clml.graph_cases import GRAPH_CASES, module_of
from support.clml.single_ops import (
    HALVES,
    Results,
    Run,
    check_close,
    expected,
    once,
    run_on,
    runtimes,
)

pytestmark = pytest.mark.in_turns

CASES = [each.case for each in GRAPH_CASES]


@pytest.fixture(scope="module")
def results() -> Run:
    """The outputs by arithmetic and device; each program runs once."""

    @cache
    def program(arithmetic: str) -> clopt.CompiledModel:
        module, weights = module_of(GRAPH_CASES, arithmetic)
        return clopt.compile(module, "adreno-740 clml_version=5", weights=weights)

    @once
    def run(arithmetic: str, device: str) -> Results:
        made = program(arithmetic)
        ops = list(made.module.walk())
        assert not any(isinstance(op, EnqueueKernelOp) for op in ops)
        assert sum(isinstance(op, EnqueueOffloadOp) for op in ops) > len(CASES)
        return run_on(device, made, CASES, arithmetic)

    return run


@pytest.fixture(scope="module")
def oracle() -> Results:
    """onnxruntime's outputs."""
    return expected(CASES)


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_command(name: str, device: str, results: Run, oracle: Results) -> None:
    check_close(results("fp32", device)[name], oracle[name], "fp32")


@pytest.mark.parametrize("name", [case.name for case in CASES])
@pytest.mark.parametrize("arithmetic", HALVES)
def test_command_in_half(
    name: str, arithmetic: str, devices: Mapping[str, str], results: Run, oracle: Results
) -> None:
    for device in runtimes(arithmetic, devices):
        check_close(results(arithmetic, device)[name], oracle[name], arithmetic)
