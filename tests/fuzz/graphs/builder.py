"""A random ONNX graph in the making, evaluated by onnxruntime node by node."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .values import SAMPLES, Value, perturbed

FLOAT = (np.float32,)
SIGNED = (np.int32, np.int64)
NUMBERS = (np.float32, np.int32, np.int64)
BOOL = (np.bool_,)
ANY = (np.float32, np.int32, np.int64, np.uint8, np.int8, np.bool_)

LARGEST_SIZE = 3000
"""Elements of a value; what is tested does not change with size, the time does."""
LARGEST_NUMBER = 500.0
"""Values beyond it are rejected: sums of a few hundred of them stay within half."""

EXTENTS = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 12, 17)
CHANNELS = (1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16)

# Words of OpenCL C and C, names our own files use, and text that needs an escape somewhere.
ODD_NAMES = (
    "w", "main", "kernel", "__kernel", "float4", "half", "int", "select", "get_global_id",
    "M_PI", "NULL", "clopt", "model", "out", "arena", "x/y:0", "a b", "a.b", "a-b", "1", "0x", "%0",
    "@f", '"', "'", "\\n", "??/", "*/", "//", "{", "ü", "日本", "_", "__", "A" * 90,
)  # fmt: skip


class Rejected(Exception):
    """A node that is not wanted: onnxruntime refuses it, or its numbers are not benign."""


@dataclass
class GraphBuilder:
    """One connected part of a model; operators append to it.

    `prefix` starts each plain name, and all odd names come from `odd_names`, which the parts of a
    model share: so many parts can be joined.
    """

    seed: int
    prefix: str
    opset: int
    odd_names: list[str] = field(default_factory=list[str])
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    inputs: dict[str, Value] = field(default_factory=dict[str, Value])
    values: list[Value] = field(default_factory=list[Value])
    """What nodes may read, the newest last."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.numbers = np.random.default_rng(self.seed)
        self._count = 0

    # Choices

    def chance(self, probability: float) -> bool:
        """True as often as `probability` says."""
        return self.random.random() < probability

    def one_of(self, *choices: Any) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def extent(self) -> int:
        """The length of an axis."""
        return self.random.choice(EXTENTS)

    def shape(self, rank: int) -> tuple[int, ...]:
        """A small shape: images have channels, and batches are small."""
        if rank >= 3:
            most = (0, 0, 0, 40, 12, 6, 3)[min(rank, 6)]
            spatial = (min(self.extent(), most) for _ in range(rank - 2))
            return (self.one_of(1, 1, 1, 2, 3), self.random.choice(CHANNELS), *spatial)
        return tuple(self.extent() for _ in range(rank))

    def axis(self, rank: int, after: int = 0) -> int:
        """An axis of `rank`, at times counted from the end."""
        axis = self.random.randrange(after, rank)
        return axis - rank if self.chance(0.3) else axis

    def axes(self, rank: int) -> list[int]:
        """Some axes, at least one."""
        return sorted(self.random.sample(range(rank), self.random.randint(1, rank)))

    # Values

    def array(self, shape: Sequence[int], type: Any = np.float32, scale: float = 2.0) -> np.ndarray:
        """Numbers that no operator finds hard: uniform, small, none near the end of a type."""
        kind = np.dtype(type).kind
        if kind == "f":
            numbers = self.numbers.uniform(-scale, scale, shape)
        else:
            numbers = self.numbers.integers({"u": 0, "b": 0, "i": -9}[kind], 10, shape)
        return np.asarray(numbers % 2 if kind == "b" else numbers).astype(type)

    def new_input(self, shape: Sequence[int], type: Any = np.float32) -> Value:
        """A new input of the graph."""
        value = self._value(self.name("in"), [self.array(shape, type)] * SAMPLES)
        self.inputs[value.name] = value
        self.values.append(value)
        return value

    def constant(self, array: Any, type: Any = None) -> str:
        """An initialiser that every precision keeps: shapes, axes, bounds."""
        name = self.name("c")
        self.constants[name] = np.asarray(array, type)
        return name

    def ints(self, *numbers: int) -> str:
        """An int64 vector."""
        return self.constant(numbers, np.int64)

    def weight(
        self, *shape: int, scale: float = 1.0, type: Any = np.float32, low: float | None = None
    ) -> Value:
        """An initialiser of numbers to compute with; positive ones above `low` if that is given."""
        array = self.array(shape, type, scale)
        if low is not None:
            array = np.asarray(np.abs(array) + low).astype(type)
        value = self._value(self.name("w"), [array] * SAMPLES)
        self.constants[value.name] = value.exact
        return value

    def pick(
        self,
        types: Collection[Any] = FLOAT,
        rank: Collection[int] = range(1, 6),
        where: Callable[[tuple[int, ...]], bool] = lambda shape: True,
    ) -> Value:
        """A value there is that fits, or a new input."""
        fitting = [v for v in self.values if v.type in types and v.rank in rank and where(v.shape)]
        if fitting and self.chance(0.9):
            return self.random.choice(fitting[-4:])
        for _ in range(30):
            shape = self.shape(self.random.choice(list(rank)))
            if where(shape):
                return self.new_input(shape, self.random.choice(list(types)))
        raise Rejected("no such shape")

    def broadcastable(self, x: Value) -> Value:
        """A second operand for `x`: another value, or a weight of a shape that broadcasts."""
        same = [
            v
            for v in self.values
            if v.type == x.type and _broadcast_size(v.shape, x.shape) <= LARGEST_SIZE
        ]
        if same and self.chance(0.5):
            return self.random.choice(same)
        shape = [n if self.chance(0.6) else 1 for n in x.shape]
        shape = shape[self.random.randint(0, len(shape)) :]
        return self.weight(*shape, type=x.type, scale=2.0)

    def name(self, kind: str) -> str:
        """A new name, at times an odd one."""
        if self.odd_names and self.chance(0.15):
            return self.odd_names.pop(self.random.randrange(len(self.odd_names)))
        self._count += 1
        return f"{self.prefix}{kind}{self._count}"

    # Nodes

    def op(
        self, kind: str, *inputs: Value | str | None, outputs: int = 1, **attributes: Any
    ) -> Any:
        """Append a node and answer its value, or a list of values; Rejected if it is not wanted."""
        self._check_known(kind)
        names = [self.name("v") for _ in range(outputs)]
        operands = ["" if v is None else v if isinstance(v, str) else v.name for v in inputs]
        while operands[-1] == "":  # onnxruntime wants trailing inputs left out
            operands.pop()
        node = helper.make_node(
            kind,
            operands,
            names,
            name=f"{self.prefix}{kind}_{len(self.nodes)}",
            **{key: value for key, value in attributes.items() if value is not None},
        )
        values = self.evaluate(node, [v for v in inputs if isinstance(v, Value)])
        self.nodes.append(node)
        self.values += values
        return values[0] if outputs == 1 else values

    def evaluate(self, node: onnx.NodeProto, inputs: Sequence[Value]) -> list[Value]:
        """Answer the outputs of a node; Rejected if they are not benign."""
        results = self._samples(node, inputs)
        values = [self._value(n, arrays) for n, arrays in zip(node.output, results, strict=True)]
        for value in values:
            _check_benign(value)
        return values

    def try_operator(self, operator: Callable[[GraphBuilder], None]) -> str | None:
        """Let an operator append its nodes; all or none, then the reason."""
        before = (len(self.nodes), len(self.values), dict(self.constants), dict(self.inputs))
        try:
            operator(self)
        except Rejected as reason:
            del self.nodes[before[0] :], self.values[before[1] :]
            self.constants, self.inputs = before[2], before[3]
            return str(reason)
        return None

    def _check_known(self, kind: str) -> None:
        """onnxruntime also runs operators of other opsets."""
        try:
            schema = onnx.defs.get_schema(kind, self.opset)
        except onnx.defs.SchemaError:
            raise Rejected("no such operator in the opset") from None
        if schema.deprecated:
            raise Rejected("deprecated in the opset")

    def _value(self, name: str, arrays: Sequence[np.ndarray]) -> Value:
        return Value(name, tuple(perturbed(a, i, self.numbers) for i, a in enumerate(arrays)))

    def _samples(self, node: onnx.NodeProto, inputs: Sequence[Value]) -> list[list[np.ndarray]]:
        """For each output, what onnxruntime computes from each sample of the inputs."""
        fed = {v.name: v for v in inputs}
        fixed = {n: self.constants[n] for n in node.input if n and n not in fed}
        graph = helper.make_graph(
            [node],
            "node",
            [_info(v.name, v.exact) for v in fed.values()],
            [onnx.ValueInfoProto(name=name) for name in node.output],
            [numpy_helper.from_array(array, name) for name, array in fixed.items()],
        )
        model = make_model(graph, self.opset)
        feeds = [{n: v.arrays[i] for n, v in fed.items()} for i in range(SAMPLES)]
        runs = _run(model, feeds)
        _check_undisputed(model, feeds[0], runs[0])
        return [list(arrays) for arrays in zip(*runs, strict=True)]


def make_model(graph: onnx.GraphProto, opset: int) -> onnx.ModelProto:
    """A model of ONNX's own operators."""
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _info(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
    )


def _run(model: onnx.ModelProto, feeds: Sequence[dict[str, np.ndarray]]) -> list[list[np.ndarray]]:
    """onnxruntime without graph optimisations, on one thread."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return [[np.asarray(a) for a in session.run(None, feed)] for feed in feeds]
    except Exception as error:  # it raises a class for each status code
        raise Rejected(f"onnxruntime: {str(error)[:300]}") from error


DISPUTED = ("Resize", "AveragePool", "LpPool", "MaxPool")
"""Operators that onnxruntime and ONNX's reference do not always agree about.

Regions outside of the image, windows that `ceil_mode` adds, and dilated `auto_pad` are examples.
"""


def _check_undisputed(
    model: onnx.ModelProto, feed: dict[str, np.ndarray], results: Sequence[np.ndarray]
) -> None:
    """Where ONNX's own reference answers something else, nobody knows what is right."""
    inferred = onnx.shape_inference.infer_shapes(model)
    for output, array in zip(inferred.graph.output, results, strict=True):
        dims = [d.dim_value for d in output.type.tensor_type.shape.dim if d.HasField("dim_value")]
        if len(dims) == array.ndim and tuple(dims) != array.shape:
            raise Rejected("onnx and onnxruntime disagree")
    if model.graph.node[0].op_type not in DISPUTED:
        return
    try:
        others = ReferenceEvaluator(model).run(None, feed)
    except Exception:  # of any kind: it lacks cases, and says so in many ways
        return
    for array, other in zip(results, cast("list[np.ndarray]", others), strict=True):
        if array.shape != other.shape or not np.allclose(array, other, rtol=1e-3, atol=1e-3):
            raise Rejected("onnx and onnxruntime disagree")


def _broadcast_size(*shapes: tuple[int, ...]) -> float:
    try:
        return float(np.prod(np.broadcast_shapes(*shapes)))
    except ValueError:
        return np.inf


def _check_benign(value: Value) -> None:
    if not 0 < value.exact.size <= LARGEST_SIZE:
        raise Rejected("size")
    if any(a.shape != value.shape for a in value.arrays):
        raise Rejected("shape")
    if value.exact.dtype.kind == "f" and not all(np.isfinite(a).all() for a in value.arrays):
        raise Rejected("not finite")
    if value.exact.dtype.kind in "fiu" and np.abs(value.exact.astype(float)).max() > LARGEST_NUMBER:
        raise Rejected("large numbers")
    if not value.is_determined("f32"):
        raise Rejected("ill-conditioned")
