"""Eight defects that the sources of another offload to CLML show, and ours does not have.

Each model goes through the emitted C on the reference and is compared with onnxruntime.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import clopt
from clopt.dialects import clml
from clopt.dialects.cl import EnqueueKernelOp
from support.clml.single_ops import Case, by_onnxruntime, check_close, expected, feeds_of, model_of
from support.clml.small_networks import REFERENCE

pytestmark = pytest.mark.in_turns


def compute(cases: Sequence[Case], device: str) -> tuple[clopt.CompiledModel, list[str]]:
    """Check the model of some cases on the device. Returns its commands of CLML but copies."""
    model = clopt.compile(model_of(cases), device=device, clml="prefer", accelerators=REFERENCE)
    want = expected(cases)
    outputs = model.run(feeds_of(cases))
    for case, got in zip(cases, outputs, strict=True):
        check_close(got, want[case.name], "fp32")
    graphs = [op for op in model.module.walk() if isinstance(op, clml.GraphOp)]
    commands = [command.name.removeprefix("clml.") for g in graphs for command in g.commands]
    return model, [name for name in commands if name != "copy"]


def kernels(model: clopt.CompiledModel) -> int:
    return sum(isinstance(op, EnqueueKernelOp) for op in model.module.walk())


def test_1_any_clip_behind_a_convolution(device: str) -> None:
    """There any bounds match and are dropped; here bounds other than those of relu and relu6 become
    a separate command."""
    weights = {"w": (4, 6, 3, 3), "low": np.array(-0.5), "high": np.array(0.25)}
    nodes = "c = Conv(x, w) y = Clip(c, low, high)"
    case = Case("clip", nodes, {"x": (1, 6, 7, 7)}, "", weights)
    model, commands = compute([case], device)
    (want,) = expected([case]).values()
    assert (want.min(), want.max()) == (-0.5, 0.25)
    assert (commands, kernels(model)) == (["conv", "clip"], 0)


def test_2_clip_alone(device: str) -> None:
    """There it matches and then becomes no operation."""
    weights = {"low": np.array(-0.5), "high": np.array(0.25)}
    case = Case("alone", "y = Clip(x, low, high)", {"x": (1, 6, 7, 7)}, "", weights)
    model, commands = compute([case], device)
    assert (commands, kernels(model)) == (["clip"], 0)


def test_3_groups(device: str) -> None:
    """There all groups match and fail at run time; here CLML computes depthwise ones, our kernels
    the others."""
    x = {"x": (1, 6, 9, 9)}
    depthwise = Case("depthwise", "y = Conv<group = 6>(x, w)", x, "", {"w": (6, 1, 3, 3)})
    groups = Case("groups", "y = Conv<group = 2>(x, w)", x, "", {"w": (8, 3, 3, 3)})
    double = Case("double", "y = Conv<group = 6>(x, w)", x, "", {"w": (12, 1, 3, 3)})
    model, commands = compute([depthwise, groups, double], device)
    assert commands == ["conv"]
    assert kernels(model) >= 1  # small kernels may share a launch


def test_4_products_of_both_orders(device: str) -> None:
    """There the sizes are always those of a transposed second matrix; here of the actual one. All
    sizes differ."""
    cases = [
        Case("plain", "y = MatMul(a, b)", {"a": (1, 5, 7), "b": (1, 7, 3)}, ""),
        Case("turned", "y = Gemm<transB = 1>(a, b)", {"a": (5, 7), "b": (3, 7)}, ""),
    ]
    model, commands = compute(cases, device)
    assert (commands, kernels(model)) == (["gemm", "gemm"], 0)


def test_5_a_dense_layer_with_bias_first(device: str) -> None:
    """There the tensor that means "none" may not exist yet, so here nothing else in the model needs
    it: with a bias, without, and for more rows than one."""
    weights = {"w": (16, 9), "b": (9,)}
    bias = Case("bias", "y = Gemm(x, w, b)", {"x": (1, 16)}, "", weights)
    assert compute([bias], device)[1] == ["fully_connected"]
    alone = Case("alone", "y = MatMul(x, w)", {"x": (1, 16)}, "", {"w": (16, 9)})
    assert compute([alone], device)[1] == ["fully_connected"]
    rows = Case("rows", "y = Gemm(x, w, b)", {"x": (4, 16)}, "", weights)
    assert compute([rows], device)[1] == ["gemm"]


def test_6_several_outputs_of_a_graph(device: str) -> None:
    """There all are read from the first."""
    x, w = {"x": (1, 6, 8, 8)}, {"w": (6, 6, 3, 3)}
    nodes = "c = Conv(x, w) r = Sigmoid(c) y = MaxPool<kernel_shape = [2, 2]>(r)"
    shared = model_of([Case("g", nodes, x, "", w)])
    for name in ("g_c", "g_r"):
        shared.graph.output.append(
            next(info for info in shared.graph.value_info if info.name == name)
        )
    feeds = feeds_of([Case("g", "", x, "")])
    model = clopt.compile(shared, device=device, clml="prefer", accelerators=REFERENCE)
    (graph,) = (op for op in model.module.walk() if isinstance(op, clml.GraphOp))
    assert (len(graph.outputs), kernels(model)) == (3, 0)
    want = by_onnxruntime(shared, feeds)
    for got, right in zip(model.run(feeds), want, strict=True):
        check_close(got, right, "fp32")


def test_7_windows_of_a_plane_that_is_not_square(device: str) -> None:
    """There a global pool's window is W by H."""
    x = {"x": (1, 6, 5, 12)}
    cases = [
        Case("average", "y = GlobalAveragePool(x)", x, ""),
        Case("max", "y = GlobalMaxPool(x)", x, ""),
        Case("window", "y = MaxPool<kernel_shape = [2, 7]>(x)", x, ""),
    ]
    model, commands = compute(cases, device)
    assert (commands, kernels(model)) == (["pool"] * 3, 0)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_8_every_version(version: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There calls through version 5's table have no case."""
    monkeypatch.setenv("CLML_REFERENCE_VERSION", str(version))
    weights = {"w": (4, 6, 3, 3), "v": (4, 5)}
    nodes = "c = Conv(x, w) r = Relu(c) p = GlobalAveragePool(r) f = Flatten(p) y = MatMul(f, v)"
    case = Case("net", nodes, {"x": (1, 6, 7, 7)}, "", weights)
    model, commands = compute([case], device)
    assert "fully_connected" in commands
    assert model.executable.offload is not None
    assert model.executable.offload.major == version
