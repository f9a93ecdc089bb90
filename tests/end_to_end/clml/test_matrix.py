"""Every operation that CLML has, of ONNX through the emitted C, against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

import clopt
from clopt.dialects import clml, nn
from clopt.dialects.cl import EnqueueKernelOp
from clopt.dialects.clml import Arithmetic
from clopt.frontends.onnx import import_onnx
from clopt.weights import Weights
from support.clml.cases import CASES
from support.clml.single_ops import (
    HALVES,
    Results,
    Run,
    check_close,
    expected,
    model_of,
    numpy_type,
    once,
    run_on,
    runtimes,
)

TARGET = "adreno-740 clml=prefer clml_version=5"


def partitioned(dtype: type[np.floating]) -> tuple[ModuleOp, Weights]:
    """All cases, as graphs of CLML."""
    weights = Weights()
    module = import_onnx(model_of(CASES, dtype), weights)
    return clopt.partition_for("clml", module, TARGET, weights), weights


def compiled(arithmetic: str) -> clopt.CompiledModel:
    """All cases in one program. Sums of halves are floats by default; fp16 changes the graphs."""
    if arithmetic != "fp16":
        return clopt.compile(model_of(CASES, numpy_type(arithmetic)), TARGET)
    module, weights = partitioned(np.float16)
    for op in module.walk():
        if isinstance(op, clml.GraphOp):
            op.arithmetic = clml.ArithmeticAttr(Arithmetic.FP16)
        elif isinstance(op, clml.ArithmeticOp):
            op.arithmetic = None
    return clopt.compile(module, TARGET, weights=weights)


@pytest.fixture(scope="module")
def programs() -> Callable[[str], clopt.CompiledModel]:
    """The program by arithmetic: commands of CLML and no kernel."""

    @cache
    def program(arithmetic: str) -> clopt.CompiledModel:
        model = compiled(arithmetic)
        graphs = [op for op in model.module.walk() if isinstance(op, clml.GraphOp)]
        assert len(graphs) == len(CASES)
        assert {graph.arithmetic_mode for graph in graphs} == {Arithmetic(arithmetic)}
        assert not any(isinstance(op, EnqueueKernelOp) for op in model.module.walk())
        return model

    return program


@pytest.fixture(scope="module")
def results(programs: Callable[[str], clopt.CompiledModel]) -> Run:
    """The outputs by arithmetic and device; each program runs once."""

    @once
    def run(arithmetic: str, device: str) -> Results:
        return run_on(device, programs(arithmetic), CASES, arithmetic)

    return run


@pytest.fixture(scope="module")
def oracle() -> Results:
    """onnxruntime's outputs."""
    return expected(CASES)


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_operation(name: str, device: str, results: Run, oracle: Results) -> None:
    check_close(results("fp32", device)[name], oracle[name], "fp32")


@pytest.mark.parametrize("name", [case.name for case in CASES])
@pytest.mark.parametrize("arithmetic", HALVES)
@pytest.mark.by_default(cases=1)  # the first of each arithmetic runs all operations
def test_operation_in_half(
    name: str, arithmetic: str, devices: Mapping[str, str], results: Run, oracle: Results
) -> None:
    for device in runtimes(arithmetic, devices):
        check_close(results(arithmetic, device)[name], oracle[name], arithmetic)


@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=["f32", "f16"])
def test_commands(dtype: type[np.floating]) -> None:
    """Each case is one graph of the commands that it is meant to test."""
    module, _ = partitioned(dtype)
    graphs = {op.sym_name.data: op for op in module.walk() if isinstance(op, clml.GraphOp)}
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    outputs = function.body.block.last_op.operands  # type: ignore[union-attr]
    commands = {}
    for case, value in zip(CASES, outputs, strict=True):
        while isinstance(value.owner, nn.ReshapeOp):
            value = value.owner.x
        assert isinstance(value.owner, clml.CallOp), case.name
        names = [op.name.removeprefix("clml.") for op in graphs[value.owner.graph_name].commands]
        commands[case.name] = " ".join(name for name in names if name != "copy")
    assert commands == {case.name: case.commands for case in CASES}
