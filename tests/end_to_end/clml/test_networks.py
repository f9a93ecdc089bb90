"""Small whole networks with CLML: entirely in its graphs, and in turns with kernels from images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from xdsl.dialects.func import FuncOp

import clopt
from clopt.backends.pyopencl_runtime import CExecutable
from clopt.dialects import clml
from clopt.dialects.cl import EnqueueCopyOp, EnqueueKernelOp, EnqueueOffloadOp, Target
from clopt.passes.nn.clml import accelerator
from clopt.passes.nn.clml.matching import find_matches
from clopt.passes.nn.offload.matches import Matches
from clopt.weights import Weights
from support.clml import small_classifiers
from support.onnx import builders

CLASSIFIERS: dict[str, Callable[[], onnx.ModelProto]] = {
    name: builders.NETWORKS[name]
    for name in (
        "mobilenet_v1",
        "mobilenet_v2",
        "resnet18",
        "resnet50",
        "squeezenet1_1",
        "efficientnet_lite0",
    )
} | {"inception_v3": small_classifiers.inception_v3}

TARGET = "adreno-740 clml=prefer fp16=false"
"""Our kernels without arithmetic in half, which not every runtime of the tests has."""

TOLERANCES = {"f32": 1e-4, "f16-storage": 1e-2}
STRETCH = 4
"""How many matches go to CLML before as many stay."""


def check(
    model: onnx.ModelProto,
    device: str,
    precision: str = "f32",
    target: str = TARGET,
) -> clopt.CompiledModel:
    """Compile once and compare with onnxruntime on the device. Returns the compiled model."""
    inputs = builders.inputs_for(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    expected = [np.asarray(array) for array in session.run(None, inputs)]
    compiled = clopt.compile(model, target, precision=precision)
    executable = CExecutable(
        compiled.module,
        compiled.weights,
        device,
        source=compiled.source,
        stand_ins={"clml": "reference"},
    )
    # Again, in the memory that the first inference has written.
    for _ in range(2):
        for got, want in zip(executable.run(inputs), expected, strict=True):
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            error = np.abs(got - want).max()
            assert error <= TOLERANCES[precision] * np.abs(want).max()
    assert executable.offload is None or not executable.offload.larger_tensors
    return compiled


def commands(compiled: clopt.CompiledModel) -> Counter[type]:
    """The commands on the queue, by kind."""
    kinds = (EnqueueKernelOp, EnqueueOffloadOp, EnqueueCopyOp)
    return Counter(type(op) for op in compiled.module.walk() if isinstance(op, kinds))


def graphs(compiled: clopt.CompiledModel) -> list[clml.GraphOp]:
    return [op for op in compiled.module.ops if isinstance(op, clml.GraphOp)]


def kinds_of_commands(compiled: clopt.CompiledModel) -> Counter[str]:
    """How many commands of each kind the graphs have."""
    return Counter(command.name for graph in graphs(compiled) for command in graph.commands)


@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
@pytest.mark.parametrize("name", list(CLASSIFIERS))
def test_all_in_clml(name: str, device: str) -> None:
    """One graph, two copies and no kernel."""
    compiled = check(CLASSIFIERS[name](), device)
    assert commands(compiled).keys() == {EnqueueOffloadOp}
    assert len(graphs(compiled)) == 1
    assert kinds_of_commands(compiled)["clml.copy"] == 2


@pytest.mark.in_turns
@pytest.mark.parametrize("name", ["mobilenet_v2", "inception_v3"])
def test_all_in_clml_in_half(name: str, device: str) -> None:
    """The casts of inputs and outputs are our kernels; sums are float in all graphs."""
    compiled = check(CLASSIFIERS[name](), device, "f16-storage")
    assert commands(compiled)[EnqueueKernelOp] == 2
    arithmetics = [str(graph.arithmetic_mode.value) for graph in graphs(compiled)]
    assert arithmetics.count("fp16_acc32") >= 1
    assert "fp16" not in arithmetics


def every_other(function: FuncOp, target: Target, weights: Weights) -> Matches:
    """Stretches of the legal matches in turns: in place of `find_matches`."""
    legal = find_matches(function, target, weights).legal
    return Matches([match for i, match in enumerate(legal) if i // STRETCH % 2 == 0])


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("name", "precision"),
    [("resnet18", "f32"), ("squeezenet1_1", "f32"), ("mobilenet_v2", "f16-storage")],
)
def test_kernels_from_images_between_graphs(
    name: str, precision: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerator, "find_matches", every_other)
    target = "adreno-740 texture=prefer clml=prefer fp16=false"
    compiled = check(CLASSIFIERS[name](), device, precision, target)
    assert len(graphs(compiled)) >= 2
    assert "__read_only image2d_t" in compiled.source
    kinds = EnqueueKernelOp | EnqueueOffloadOp
    order = [type(op) for op in compiled.module.walk() if isinstance(op, kinds)]
    turns = sum(a is not b for a, b in pairwise(order))
    assert turns >= 3, "kernels between graphs, and graphs between kernels"
    assert not commands(compiled)[EnqueueCopyOp]


@pytest.mark.in_turns
def test_auto(device: str) -> None:
    """At this size our kernels cost less for some networks, by the figures of the target."""
    target = "adreno-740 texture=prefer clml=auto fp16=false"
    assert graphs(check(CLASSIFIERS["mobilenet_v2"](), device, target=target))
    assert not graphs(clopt.compile(CLASSIFIERS["resnet18"](), target))


def test_calls_of_an_inference(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call for each command; none reads or writes a tensor from the host."""
    monkeypatch.setattr(accelerator, "find_matches", every_other)
    model = CLASSIFIERS["mobilenet_v2"]()
    inputs = builders.inputs_for(model)
    target = "adreno-740 texture=prefer clml=prefer fp16=false"
    compiled = clopt.compile(model, target, device=device, accelerators={"clml": "reference"})
    compiled.run(inputs)
    log = tmp_path / "log"
    monkeypatch.setenv("CLML_REFERENCE_LOG", str(log))
    monkeypatch.setenv("CLML_REFERENCE_LOG_LEVEL", "1")
    compiled.run(inputs)
    calls = Counter(line.split()[1].rstrip(":") for line in log.read_text().splitlines())
    copies = kinds_of_commands(compiled)["clml.copy"]
    assert copies > 2
    assert calls == {
        "clEnqueueCopyMLTensorDataQCOM": copies,
        "clEnqueueMLOpQCOM": commands(compiled)[EnqueueOffloadOp] - copies,
    }


@pytest.mark.in_turns
@pytest.mark.parametrize("precision", ["f32", "f16-storage"])
def test_layers_of_the_first_integration(precision: str, device: str) -> None:
    """Each becomes a command of CLML, and nothing else does; the numbers are right."""
    compiled = check(small_classifiers.mobilenet_v1_with_all_layers(), device, precision)
    assert commands(compiled)[EnqueueKernelOp] == (0 if precision == "f32" else 2)
    assert kinds_of_commands(compiled).keys() == {
        "clml.activation",
        "clml.batch_norm",
        "clml.binary",
        "clml.clip",
        "clml.concat",
        "clml.conv",
        "clml.conv_activation",
        "clml.copy",
        "clml.fully_connected",
        "clml.pad",
        "clml.pool",
        "clml.reshape",
        "clml.softmax",
    }
    pools = [op for g in graphs(compiled) for op in g.commands if isinstance(op, clml.PoolOp)]
    assert {str(pool.kind.data.value) for pool in pools} == {"average", "max"}
