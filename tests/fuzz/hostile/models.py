"""Random damage to ONNX models: to their bytes, and to the fields of their protobuf."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from fuzz.graphs.generate import join, random_graphs
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from .values import HUGE, ODD_NAMES, odd_float, odd_int

Damage = Callable[[random.Random, ModelProto], None]


def hostile_model(seed: int) -> bytes:
    """The file that `seed` draws."""
    rng = random.Random(seed)
    model = _control_flow() if rng.random() < 0.1 else join(random_graphs([rng.randrange(10**6)]))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(DAMAGES)(rng, model)
    data = model.SerializeToString()
    return _damaged_bytes(rng, data) if rng.random() < 0.15 else data


def _control_flow() -> ModelProto:
    """A branch, a loop, a scan and a function."""
    return onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 18, "own": 1]>
        g (float[2,3] x) => (float[2,3] y, float[4,2,3] z, float[2,3] s)
        <int64 n = {4}, bool yes = {1}> {
            a = own.twice(x)
            b = If (yes) <
                then_branch = t () => (float[2,3] u) { u = Relu(a) },
                else_branch = e () => (float[2,3] v) { v = Neg(a) }
            >
            y, z = Loop (n, yes, b) <
                body = l (int64 i, bool c, float[2,3] p) => (bool d, float[2,3] q, float[2,3] r) {
                    d = Identity(c)
                    q = Add(p, p)
                    r = Identity(p)
                }
            >
            h = Constant<value_floats = [0.0, 0.0, 0.0]>()
            f, s = Scan <num_scan_inputs = 1,
                body = k (float[3] h0, float[3] x0) => (float[3] h1, float[3] y0) {
                    h1 = Add(h0, x0)
                    y0 = Identity(h1)
                }
            > (h, x)
        }
        <domain: "own", opset_import: ["": 18]>
        twice (p) => (q) { q = Add(p, p) }
    """)


def _graphs(model: ModelProto) -> Iterator[GraphProto]:
    """The graph and those inside of it."""
    waiting = [model.graph]
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]


def _some_graph(rng: random.Random, model: ModelProto) -> GraphProto:
    return rng.choice(list(_graphs(model)))


def _some_node(rng: random.Random, model: ModelProto) -> NodeProto:
    nodes = [node for graph in _graphs(model) for node in graph.node]
    nodes += [node for function in model.functions for node in function.node]
    return rng.choice(nodes or [NodeProto()])


def _names(model: ModelProto) -> list[str]:
    return [name for graph in _graphs(model) for node in graph.node for name in node.output]


def _attribute_value(rng: random.Random, model: ModelProto) -> None:
    """A number of an attribute."""
    attributes = list(_some_node(rng, model).attribute)
    if not attributes:
        return
    attribute = rng.choice(attributes)
    match attribute.type:
        case AttributeProto.INT:
            attribute.i = odd_int(rng)
        case AttributeProto.FLOAT:
            attribute.f = odd_float(rng)
        case AttributeProto.INTS:
            values = list(attribute.ints)
            if values and rng.random() < 0.7:
                values[rng.randrange(len(values))] = odd_int(rng)
            elif rng.random() < 0.5:
                values = values[:-1]
            else:
                values += [odd_int(rng)] * rng.choice((1, 1, 70))
            attribute.ints[:] = values
        case AttributeProto.FLOATS:
            attribute.floats[:] = [odd_float(rng) for _ in attribute.floats]
        case AttributeProto.STRING:
            attribute.s = rng.choice((b"", b"\xff\xfe", b"\0", b"x" * 5000, b"SAME_UPPER"))
        case AttributeProto.TENSOR:
            _damage_tensor(rng, attribute.t)
        case _:
            attribute.type = AttributeProto.INT


_ATTRIBUTE_TYPES = (
    AttributeProto.FLOAT,
    AttributeProto.INT,
    AttributeProto.STRING,
    AttributeProto.TENSOR,
    AttributeProto.GRAPH,
    AttributeProto.INTS,
    AttributeProto.FLOATS,
    AttributeProto.SPARSE_TENSOR,
    AttributeProto.TYPE_PROTO,
    AttributeProto.UNDEFINED,
)


def _attribute(rng: random.Random, model: ModelProto) -> None:
    """An attribute lost, twice, of another name or type, or of another node."""
    node = _some_node(rng, model)
    kind = rng.randrange(5)
    if kind == 0 and node.attribute:
        del node.attribute[rng.randrange(len(node.attribute))]
    elif kind == 1 and node.attribute:
        node.attribute.append(rng.choice(node.attribute))
    elif kind == 2 and node.attribute:
        rng.choice(node.attribute).name = rng.choice(ODD_NAMES)
    elif kind == 3 and node.attribute:
        rng.choice(node.attribute).type = rng.choice(_ATTRIBUTE_TYPES)
    else:
        node.attribute.extend(list(_some_node(rng, model).attribute))


def _dimension(rng: random.Random, model: ModelProto) -> None:
    """A dimension, the rank or the element type of an input."""
    inputs = list(_some_graph(rng, model).input) or list(model.graph.input)
    if not inputs:
        return
    tensor = rng.choice(inputs).type.tensor_type
    dims = tensor.shape.dim
    if dims and rng.random() < 0.6:
        dim = rng.choice(dims)
        if rng.random() < 0.1:
            dim.dim_param = rng.choice(ODD_NAMES)
        else:
            dim.dim_value = odd_int(rng)
    elif dims and rng.random() < 0.3:
        del dims[-1]
    elif rng.random() < 0.5:
        for _ in range(rng.choice((1, 1, 40, 100))):
            dims.add().dim_value = rng.choice((1, 1, 2))
    else:
        tensor.elem_type = rng.randrange(30)


def _initializer(rng: random.Random, model: ModelProto) -> None:
    initializers = [t for graph in _graphs(model) for t in graph.initializer]
    if initializers:
        _damage_tensor(rng, rng.choice(initializers))


def _damage_tensor(rng: random.Random, tensor: TensorProto) -> None:
    """Its dimensions, its element type, its values or where they are."""
    kind = rng.randrange(6)
    if kind == 0:
        if tensor.dims and rng.random() < 0.7:
            tensor.dims[rng.randrange(len(tensor.dims))] = odd_int(rng)
        else:
            tensor.dims.append(odd_int(rng))
    elif kind == 1:
        tensor.data_type = rng.randrange(30)
    elif kind == 2:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif kind in (3, 4):
        _replace_values(rng, tensor)
    else:
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        places = ("", "../x", "/etc/passwd", "/dev/zero", "\0", ".", "a\0b", "missing", "x" * 5000)
        for key, values in (
            ("location", places),
            ("offset", ("-1", "abc", "", str(2**70), "1e3", "4")),
            ("length", ("-1", "abc", "", str(2**70), "0", "4")),
        ):
            if rng.random() < 0.7:
                tensor.external_data.add(key=key, value=rng.choice(values))


_PLAIN: dict[int, np.dtype[Any]] = {
    TensorProto.FLOAT: np.dtype(np.float32),
    TensorProto.INT64: np.dtype(np.int64),
    TensorProto.INT32: np.dtype(np.int32),
}


def _replace_values(rng: random.Random, tensor: TensorProto) -> None:
    """Some values of a small tensor; shapes, indices, scales."""
    dtype = _PLAIN.get(tensor.data_type)
    if dtype is None or not tensor.raw_data or len(tensor.raw_data) % dtype.itemsize:
        return
    flat = np.frombuffer(tensor.raw_data, dtype).copy()
    for _ in range(rng.choice((1, 1, flat.size))):
        value = odd_int(rng) if dtype.kind == "i" else odd_float(rng)
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = np.array([value]).astype(dtype)[0]
    tensor.raw_data = flat.tobytes()


def _wiring(rng: random.Random, model: ModelProto) -> None:
    """What a node reads and writes: nothing, too much, itself, what nothing defines."""
    node = _some_node(rng, model)
    kind = rng.randrange(6)
    if kind == 0 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(("", "nowhere", *_names(model)))
    elif kind == 1 and node.input:
        del node.input[-1]
    elif kind == 2:
        node.input.extend(_names(model)[: rng.choice((1, 2, 300))])
    elif kind == 3 and node.output:
        node.output[rng.randrange(len(node.output))] = rng.choice(("", *_names(model)))
    elif kind == 4:
        node.output.extend(["", "more"][: rng.randint(1, 2)])
    else:
        del node.output[-1:]


def _operator(rng: random.Random, model: ModelProto) -> None:
    """Another operator with these inputs, in another domain."""
    node = _some_node(rng, model)
    if rng.random() < 0.8:
        node.op_type = rng.choice(_ALL_OPERATORS)
    else:
        node.domain = rng.choice(("ai.onnx", "com.microsoft", "own", "ai.onnx.ml", "\0"))


_ALL_OPERATORS = sorted(
    {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
)


def _opset(rng: random.Random, model: ModelProto) -> None:
    kind = rng.randrange(4)
    if kind == 0:
        del model.opset_import[:]
    elif kind == 1 or not model.opset_import:
        model.opset_import.append(helper.make_opsetid("", rng.choice((1, 7, 999))))
    else:
        model.opset_import[0].version = rng.choice((0, -1, 1, 6, 8, 11, 999, 2**63 - 1, -(2**63)))


def _outside(rng: random.Random, model: ModelProto) -> None:
    """The graph's inputs and outputs, and what is around it."""
    graph = model.graph
    kind = rng.randrange(8)
    if kind == 0:
        graph.output.add().name = rng.choice(("nowhere", "", *_names(model)))
    elif kind == 1:
        del graph.output[:]
    elif kind == 2 and graph.input:
        graph.input.append(rng.choice(graph.input))
    elif kind == 3 and graph.input:
        rng.choice(graph.input).type.Clear()
    elif kind == 4 and graph.input:
        rng.choice(graph.input).type.sequence_type.elem_type.tensor_type.elem_type = 1
    elif kind == 5:
        model.ClearField("graph")
    elif kind == 6:
        model.ir_version = rng.choice((0, -1, HUGE))
    elif graph.node:
        graph.node.extend(rng.choices(graph.node, k=rng.choice((1, 5))))


def _rename(rng: random.Random, model: ModelProto) -> None:
    """Some names everywhere; what is computed stays the same."""
    names = {name for graph in _graphs(model) for node in graph.node for name in node.output}
    names |= {value.name for value in model.graph.input}
    chosen = rng.sample(sorted(names), min(len(names), rng.randint(1, 3)))
    table = dict(zip(chosen, rng.sample(ODD_NAMES, len(chosen)), strict=True))
    for graph in _graphs(model):
        for value in (*graph.input, *graph.output, *graph.initializer):
            value.name = table.get(value.name, value.name)
        for node in graph.node:
            node.input[:] = [table.get(name, name) for name in node.input]
            node.output[:] = [table.get(name, name) for name in node.output]
            if rng.random() < 0.3:
                node.name = rng.choice(ODD_NAMES)


DAMAGES: tuple[Damage, ...] = (
    _attribute_value,
    _attribute_value,
    _attribute,
    _dimension,
    _initializer,
    _initializer,
    _wiring,
    _operator,
    _opset,
    _outside,
    _rename,
)


def _damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    """Bits flipped, bytes cut, doubled, lost or replaced."""
    changed = bytearray(data)
    at = rng.randrange(len(changed) + 1)
    end = min(at + rng.choice((1, 4, 100)), len(changed))
    match rng.randrange(5):
        case 0:
            for _ in range(rng.choice((1, 3, 30))):
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        case 1:
            del changed[at:]
        case 2:
            changed[at:at] = changed[at:end]
        case 3:
            del changed[at:end]
        case _:
            changed[at:end] = struct.pack("<Q", rng.getrandbits(64))
    return bytes(changed)
