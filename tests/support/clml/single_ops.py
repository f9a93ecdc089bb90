"""Single operations for CLML: as ONNX, merged into one model, and as graphs of the clml dialect.

All numbers are halves, so that one run of onnxruntime in float is what f32 and f16 must come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import TypeAlias

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import clopt
from support import effort

Values: TypeAlias = tuple[int, ...] | np.ndarray
"""A shape, of random numbers; or the numbers."""

OPSET = 18
TOLERANCES = {"fp32": 1e-5, "fp16": 1e-3, "fp16_acc32": 1e-3}
"""How far results may be off by arithmetic, relative to the largest. A half has 2^-11 = 5e-4."""

HALVES = ("fp16", "fp16_acc32")
"""Arithmetics of halves."""


def runtimes(arithmetic: str, devices: Mapping[str, str]) -> Sequence[str]:
    """One of the devices for each arithmetic of halves, in turn; all of them in the long form."""
    found = list(devices.values())
    return found if effort.is_long() else [found[HALVES.index(arithmetic) % len(found)]]


@dataclass(frozen=True, eq=False)
class Case:
    """Nodes that make `y` of `inputs` and `weights`, and the commands by which CLML computes it."""

    name: str
    nodes: str
    """As ONNX's text."""
    inputs: Mapping[str, tuple[int, ...]]
    commands: str
    """Those of the graph without `clml.` and copies: `conv_activation pool`."""
    weights: Mapping[str, Values] = field(default_factory=dict)
    fixed: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Constants whose type is not that of the model: sizes, factors."""
    span: tuple[float, float] = (-1, 1)
    """The range of the inputs."""


def halves(array: np.ndarray) -> np.ndarray:
    """The nearest numbers that are halves, as floats."""
    return array.astype(np.float16).astype(np.float32)


def feeds_of(cases: Iterable[Case]) -> dict[str, np.ndarray]:
    """Random inputs."""
    return {
        f"{case.name}_{name}": halves(_random(case.name + name).uniform(*case.span, shape))
        for case in cases
        for name, shape in case.inputs.items()
    }


def weights_of(case: Case) -> dict[str, np.ndarray]:
    """The weights, which make results of about the size of the inputs."""
    return {name: _weight(case.name + name, values) for name, values in case.weights.items()}


def _weight(name: str, values: Values) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return halves(values)
    fan = prod(values[1:]) if len(values) > 1 else 1
    return halves(_random(name).uniform(-1, 1, values) * (3 / fan) ** 0.5)


def _random(name: str) -> np.random.Generator:
    return np.random.default_rng(list(name.encode()))


def statistics(channels: int) -> dict[str, np.ndarray]:
    """The operands of a batch normalisation behind its input."""
    rng = np.random.default_rng(channels)
    return {
        "scale": rng.uniform(0.5, 2, channels),
        "bias": rng.uniform(-1, 1, channels),
        "mean": rng.uniform(-1, 1, channels),
        "variance": rng.uniform(0.2, 2, channels),
    }


def model_of(cases: Sequence[Case], dtype: type[np.floating] = np.float32) -> onnx.ModelProto:
    """One model of all cases, with inputs and outputs `<case>_<name>`."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes: list[onnx.NodeProto] = []
    inputs: list[onnx.ValueInfoProto] = []
    weights: list[onnx.TensorProto] = []
    for case in cases:
        prefix = f"{case.name}_"
        text = f"g (float[1] x) => (float[1] y) {{ {case.nodes} }}"
        for number, node in enumerate(onnx.parser.parse_graph(text).node):
            for names in (node.input, node.output):
                names[:] = [prefix + name if name else "" for name in names]
            node.name = f"{prefix}{number}"
            nodes.append(node)
        for name, shape in case.inputs.items():
            inputs.append(helper.make_tensor_value_info(prefix + name, element, shape))
        for name, array in weights_of(case).items():
            weights.append(numpy_helper.from_array(array.astype(dtype), prefix + name))
        for name, array in case.fixed.items():
            weights.append(numpy_helper.from_array(array, prefix + name))
    outputs = [helper.make_empty_tensor_value_info(f"{case.name}_y") for case in cases]
    graph = helper.make_graph(nodes, "matrix", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def expected(cases: Sequence[Case]) -> dict[str, np.ndarray]:
    """The results of each case by onnxruntime, in float."""
    results = by_onnxruntime(model_of(cases), feeds_of(cases))
    return dict(zip([case.name for case in cases], results, strict=True))


def by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of onnxruntime, without its graph optimisations: these forget values where they merge
    paddings into pools."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def numpy_type(arithmetic: str) -> type[np.floating]:
    """The elements of a graph with this arithmetic."""
    return np.float32 if arithmetic == "fp32" else np.float16


Results: TypeAlias = dict[str, np.ndarray]
Run: TypeAlias = Callable[[str, str], Results]


def once(run: Run) -> Run:
    """The same function, called once for each arithmetic and device, even if it fails."""

    @cache
    def attempt(arithmetic: str, device: str) -> Results | Exception:
        try:
            return run(arithmetic, device)
        except Exception as error:
            return error

    def known(arithmetic: str, device: str) -> Results:
        found = attempt(arithmetic, device)
        if isinstance(found, Exception):
            raise found
        return found

    return known


def run_on(
    device: str, made: clopt.CompiledModel, cases: Sequence[Case], arithmetic: str
) -> Results:
    """The outputs of a program that has one for each case, by the reference library."""
    dtype = numpy_type(arithmetic)
    model = clopt.compile(
        made.module, device=device, weights=made.weights, accelerators={"clml": "reference"}
    )
    outputs = model.run([x.astype(dtype) for x in feeds_of(cases).values()])
    assert all(output.dtype == dtype for output in outputs)
    return dict(zip([case.name for case in cases], outputs, strict=True))


def check_close(got: np.ndarray, want: np.ndarray, arithmetic: str) -> None:
    """Fail unless results are as near as `TOLERANCES` says."""
    assert got.shape == want.shape
    assert np.isfinite(want).all()
    assert np.abs(want).max() > 0
    error = np.abs(got.astype(np.float64) - want).max() / np.abs(want).max()
    assert error <= TOLERANCES[arithmetic], f"the error is {error:.1e}"
