"""Small ONNX models written as text, imported, and compared with onnxruntime in numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import interpret
from clopt.frontends.onnx import import_onnx
from clopt.weights import Weights

Constants = Mapping[str, Any]


def model(
    inputs: str,
    body: str,
    opset: int = 18,
    constants: Constants | None = None,
    domains: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """A model from ONNX's text syntax; every result that no node reads is an output.

    Numbers and lists among the constants become float32 or int64 arrays.
    """
    imports = ", ".join(f'"{d}": {v}' for d, v in {"": opset, **(domains or {})}.items())
    text = f"<ir_version: 9, opset_import: [{imports}]> g ({inputs}) => (float unused) {{ {body} }}"
    parsed = onnx.parser.parse_model(text)
    graph = parsed.graph
    for name, value in (constants or {}).items():
        graph.initializer.append(numpy_helper.from_array(as_array(value), name))
    read = {name for node in graph.node for name in node.input}
    del graph.output[:]
    for node in graph.node:
        graph.output.extend(onnx.ValueInfoProto(name=n) for n in node.output if n and n not in read)
    return parsed


def as_array(value: Any) -> np.ndarray:
    """An array; python floats are float32, python ints int64."""
    array = np.asarray(value)
    if isinstance(value, np.ndarray | np.generic):
        return array
    return array.astype({"f": np.float32, "i": np.int64, "b": np.bool_}[array.dtype.kind])


@dataclass
class Imported:
    """An imported model and its weights."""

    module: ModuleOp
    weights: Weights = field(default_factory=Weights)

    @property
    def main(self) -> func.FuncOp:
        """The function that is no body of a loop."""
        (function,) = nn.entries_of(self.module)
        assert isinstance(function, func.FuncOp)
        return function

    def ops(self) -> list[str]:
        """The operations in order without constants and the return: `conv`, `unary relu`, ..."""
        names: list[str] = []
        for op in self.main.body.block.ops:
            if isinstance(op, nn.NNOp) and not isinstance(op, nn.ConstantOp):
                kind = op.properties.get("kind")
                name = op.name.removeprefix("nn.")
                names.append(f"{name} {kind.data}" if kind else name)
        return names

    def run(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """The outputs, computed in numpy."""
        return interpret(self.main, inputs, self.weights)

    def text(self, locations: bool = False) -> str:
        """The IR."""
        from io import StringIO

        stream = StringIO()
        Printer(stream, print_debuginfo=locations).print_op(self.module)
        return stream.getvalue()


def load(source: Any, **options: Any) -> Imported:
    """Import and verify a model."""
    weights = Weights()
    module = import_onnx(source, weights, **options)
    module.verify()
    for op in module.walk():
        for value in (*op.results, *(arg for region in op.regions for arg in region.block.args)):
            # Passes follow uses: an operation that the importer made and dropped is one.
            assert all(use.operation.parent is not None for use in value.uses), op
    return Imported(module, weights)


def random_inputs(proto: onnx.ModelProto, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded values for every input: floats in -2 .. 2, whole numbers from 0 to 3."""
    rng = np.random.default_rng(seed)
    feeds: dict[str, np.ndarray] = {}
    for value in proto.graph.input:
        tensor = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [dim.dim_value for dim in tensor.shape.dim]
        if dtype.kind == "f":
            feeds[value.name] = rng.uniform(-2, 2, shape).astype(dtype)
        else:
            feeds[value.name] = rng.integers(0, 2 if dtype.kind == "b" else 4, shape).astype(dtype)
    return feeds


def by_onnxruntime(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> Sequence[Any]:
    """The outputs of onnxruntime, without its optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    data = proto.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


def agree(
    proto: onnx.ModelProto,
    feeds: Mapping[str, np.ndarray] | None = None,
    tolerance: float = 1e-5,
) -> Imported:
    """Fail unless the imported model computes what onnxruntime does; the imported model."""
    feeds = feeds or random_inputs(proto)
    imported = load(proto)
    got = imported.run(*feeds.values())
    for value, expected in zip(got, by_onnxruntime(proto, feeds), strict=True):
        assert value.dtype == expected.dtype
        assert value.shape == expected.shape
        np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)
    return imported
