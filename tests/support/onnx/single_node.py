"""One-node ONNX models on random data: built, run by clopt and by a reference, and compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
from hypothesis import settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

import clopt
from support import effort
from support.onnx.models import agree

Reference = Callable[[onnx.ModelProto, dict[str, np.ndarray]], Sequence[Any]]

ELEMENT_TYPES = {
    np.dtype(np_type): onnx_type
    for onnx_type in (
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.BOOL,
        onnx.TensorProto.INT8,
        onnx.TensorProto.INT16,
        onnx.TensorProto.INT32,
        onnx.TensorProto.INT64,
        onnx.TensorProto.UINT8,
        onnx.TensorProto.UINT16,
        onnx.TensorProto.UINT32,
        onnx.TensorProto.UINT64,
    )
    for np_type in (helper.tensor_dtype_to_np_dtype(onnx_type),)
}

DOMAINS = {"com.microsoft": 1, "ai.onnx.ml": 3}
"""The opsets of other domains."""

NEWER = {"LabelEncoder": 4, "TreeEnsemble": 5}
"""The opsets of operators that are newer than those of their domain; opset 5 has fewer others."""


def examples(count: int) -> settings:
    """Return the settings of a property; few examples, since each builds kernels."""
    return settings(max_examples=effort.builds(count))


@dataclass(frozen=True)
class Case:
    """A model and its inputs."""

    model: onnx.ModelProto
    feeds: dict[str, np.ndarray]

    def __repr__(self) -> str:
        shapes = {name: f"{a.dtype}{list(a.shape)}" for name, a in self.feeds.items()}
        return f"{onnx.printer.to_text(self.model.graph)} with {shapes}"


def node(
    kind: str,
    *inputs: np.ndarray | None,
    constants: Collection[int] = (),
    outputs: int = 1,
    opset: int = 18,
    **attributes: Any,
) -> Case:
    """A model of one node; the inputs at the positions in `constants` become initialisers."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    made = helper.make_node(kind, names, results, name="node", **attributes)
    arrays = {name: array for name, array in zip(names, inputs, strict=True) if name}
    places = [place for place, name in enumerate(arrays) if int(name[1:]) in constants]
    return graph([made], arrays, places, opset)


def contrib(kind: str, *inputs: np.ndarray | None, **attributes: Any) -> Case:
    """A model of one operator of com.microsoft."""
    return node(kind, *inputs, domain="com.microsoft", **attributes)


def learned(kind: str, *inputs: np.ndarray | None, **attributes: Any) -> Case:
    """A model of one operator of ai.onnx.ml."""
    return node(kind, *inputs, domain="ai.onnx.ml", **attributes)


def graph(
    nodes: Sequence[onnx.NodeProto],
    arrays: Mapping[str, np.ndarray | None],
    constants: Collection[int] = (),
    opset: int = 18,
) -> Case:
    """A model of several nodes; every tensor that no node reads is an output."""
    feeds: dict[str, np.ndarray] = {}
    weights: list[onnx.TensorProto] = []
    for position, (name, array) in enumerate(arrays.items()):
        if array is None:
            continue
        if position in constants:
            weights.append(numpy_helper.from_array(array, name))
        else:
            feeds[name] = array
    read = {name for n in nodes for name in n.input}
    inputs = [
        helper.make_tensor_value_info(name, ELEMENT_TYPES[array.dtype], array.shape)
        for name, array in feeds.items()
    ]
    results = [
        onnx.ValueInfoProto(name=name) for n in nodes for name in n.output if name not in read
    ]
    made = helper.make_graph(nodes, "case", inputs, results, weights)
    opsets = {"": opset, **{n.domain: _opset(n) for n in nodes if n.domain}}
    imports = [helper.make_opsetid(*entry) for entry in opsets.items()]
    model = helper.make_model(made, opset_imports=imports, ir_version=9)
    return Case(onnx.shape_inference.infer_shapes(model, data_prop=True), feeds)


def _opset(n: onnx.NodeProto) -> int:
    return NEWER.get(n.op_type, DOMAINS[n.domain])


def joined(
    nodes: Sequence[onnx.NodeProto], arrays: Mapping[str, np.ndarray | None], opset: int = 18
) -> Case:
    """A model that joins the results of several nodes, of one type and shape, along the first axis.

    One kernel computes all of it, so that drivers have less to compile.
    """
    read = {name for n in nodes for name in n.input}
    parts = [name for n in nodes for name in n.output if name not in read]
    concat = helper.make_node("Concat", parts, ["joined"], name="join", axis=0)
    return graph([*nodes, concat], arrays, opset=opset)


def by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> Sequence[Any]:
    """Outputs of onnxruntime, without its graph optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def by_onnx(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> Sequence[Any]:
    """Outputs of ONNX's reference evaluator, for types onnxruntime has no kernels for."""
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        outputs = ReferenceEvaluator(model).run(None, feeds)
    return list(outputs) if isinstance(outputs, list | tuple) else [outputs]


def check(
    case: Case,
    device: str,
    tolerance: float = 1e-4,
    reference: Reference = by_onnxruntime,
) -> None:
    """Fail unless clopt's outputs have the reference's types, shapes and values.

    Floating-point errors count relative to the largest finite value of the output.
    """
    expected = reference(case.model, case.feeds)
    got = clopt.compile(case.model, device=device).run(case.feeds)
    assert len(got) == len(expected)
    for index, (g, e) in enumerate(zip(got, expected, strict=True)):
        e = np.asarray(e)
        assert g.dtype == e.dtype, f"output {index} of {case}"
        assert g.shape == e.shape, f"output {index} of {case}"
        if e.dtype.kind != "f":
            assert np.array_equal(g, e), f"output {index}: {g} for {e} of {case}"
            continue
        finite = np.isfinite(e)
        special = np.array_equal(g[~finite], e[~finite], equal_nan=True)
        assert special, f"output {index}: {g} for {e} of {case}"
        assert np.isfinite(g[finite]).all(), f"output {index}: {g} for {e} of {case}"
        scale = np.abs(e[finite]).max(initial=0.0) or 1.0
        error = np.abs(g[finite].astype(np.float64) - e[finite]).max(initial=0.0) / scale
        assert error <= tolerance, f"output {index}: error {error:.1e} of {case}: {g} for {e}"


def check_import(case: Case, tolerance: float = 2e-5) -> None:
    """Fail unless the imported operations, computed in numpy, give onnxruntime's outputs."""
    agree(case.model, case.feeds, tolerance)


def values(
    rng: np.random.Generator,
    shape: Sequence[int],
    dtype: Any = np.float32,
    low: float = -3,
    high: float = 3,
) -> np.ndarray:
    """Uniform values of any element type; booleans are coin tosses."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind == "f":
        return rng.uniform(low, high, shape).astype(dtype)
    low = max(low, 0) if kind == "u" else low
    return rng.integers(int(low), int(high) + 1, shape).astype(dtype)


def ints(*numbers: int) -> np.ndarray:
    """An int64 vector."""
    return np.array(numbers, np.int64)


generators = st.integers(0, 2**16).map(np.random.default_rng)


def shapes(low: int = 1, high: int = 4, extent: int = 5) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of `low` to `high` dimensions of 1 to `extent`."""
    return st.lists(st.integers(1, extent), min_size=low, max_size=high).map(tuple)
