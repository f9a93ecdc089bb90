"""Networks whose kernels take turns in one launch compute the same, wherever they run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.backends.programs import program_of
from clopt.backends.pyopencl_runtime import CExecutable, Executable
from clopt.dialects import cl, tir
from support.onnx import builders

TURNS = "pocl launch_microseconds=1000 turn_microseconds=1"
APART = "pocl launch_microseconds=1000"


def chain(layers: int = 20) -> onnx.ModelProto:
    """Convolutions of which each needs all of the one before; their memory is used in turn."""
    rng = np.random.default_rng(5)
    weights = [rng.standard_normal((24, 24, 3, 3), np.float32) / 15 for _ in range(layers)]
    names = ["x", *(f"t{i}" for i in range(1, layers)), "y"]
    nodes = [
        helper.make_node("Conv", [names[i], f"w{i}"], [names[i + 1]], pads=[1, 1, 1, 1])
        for i in range(layers)
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 24, 20, 20)) for n in "xy"]
    held = [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


NETWORKS = {
    "chain": chain,
    **{name: builders.NETWORKS[name] for name in ("squeezenet1_1", "yolo")},
}


def launches(model: clopt.CompiledModel) -> list[cl.EnqueueKernelOp]:
    return [op for op in model.module.walk() if isinstance(op, cl.EnqueueKernelOp)]


@pytest.mark.by_default(cases=1)
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_results_are_the_same_bit_for_bit(name: str, device: str) -> None:
    model = NETWORKS[name]()
    feeds = builders.inputs_for(model)
    apart, joint = (clopt.compile(model, target) for target in (APART, TURNS))
    assert len(launches(joint)) < len(launches(apart)) / 4
    assert [op.size for op in program_of(joint.module).walk() if isinstance(op, cl.ArenaOp)] == [
        op.size for op in program_of(apart.module).walk() if isinstance(op, cl.ArenaOp)
    ]
    expected, found = (
        Executable(m.module, m.weights, device, source=m.source) for m in (apart, joint)
    )
    for _ in range(5):  # counters start anew
        for a, b in zip(found.run(feeds), expected.run(feeds), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_kernel_has_a_limited_number_of_turns() -> None:
    model = clopt.compile(chain(40), TURNS)
    turns = [len(tir.turns_of(op)) for op in model.module.ops if isinstance(op, tir.FuncOp)]
    assert sum(turns) >= 40
    assert max(turns) == 16


def test_under_a_memory_limit_launches_stay_apart() -> None:
    """The limit's choices rest on the time of each launch, and counters would exceed it."""
    least = clopt.compile(chain(), APART).memory.arena_bytes
    apart, joint = (clopt.compile(chain(), target, memory_limit=least) for target in (APART, TURNS))
    assert joint.source == apart.source
    assert joint.memory.arena_bytes + joint.memory.separate_bytes <= least


def test_a_saved_model_has_the_same_launches(tmp_path: Path, device: str) -> None:
    model = chain(4)
    feeds = builders.inputs_for(model)
    compiled = clopt.compile(model, TURNS)
    compiled.save(tmp_path / "chain")
    loaded = clopt.load(tmp_path / "chain", device=device)
    assert loaded.source == compiled.source
    (expected,) = Executable(compiled.module, compiled.weights, device).run(feeds)
    (found,) = loaded.run(feeds)
    np.testing.assert_array_equal(found, expected)


def test_c_runs_the_same_launches(device: str, tmp_path: Path) -> None:
    model = chain(4)
    feeds = builders.inputs_for(model)
    compiled = clopt.compile(model, TURNS)
    python, in_c = (
        kind(compiled.module, compiled.weights, device, source=compiled.source, **options)
        for kind, options in ((Executable, {}), (CExecutable, {"library_folder": tmp_path}))
    )
    for _ in range(2):
        np.testing.assert_array_equal(in_c.run(feeds)[0], python.run(feeds)[0])
