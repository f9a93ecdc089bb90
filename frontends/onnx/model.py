"""Reads ONNX model files and rejects damaged ones and files of other formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import FunctionProto, GraphProto, ModelProto, TensorProto, ValueInfoProto

from ...errors import CloptError
from ...messages.arguments import type_name
from ...tensor_info import Ranks
from ...weights import Array
from .containers import container_of, flat_inputs
from .maps import MapPort, map_ports

FunctionKey = tuple[str, str, str]
"""Domain, name and overload of a function defined by the model."""


@dataclass(frozen=True)
class Model:
    """A parsed model whose opset is supported."""

    name: str
    graph: GraphProto
    opsets: Mapping[str, int]
    functions: Mapping[FunctionKey, FunctionProto]
    folder: Path | None
    """Folder of the external data; None if the model was not read from a file."""
    arrays: dict[str, Array] | None = None
    """The constants of the graph that were read; None if the model is imported once."""
    elements: Mapping[str, Ranks] | None = None
    """The elements of the inputs that are sequences or optionals; None if they are unknown."""

    @cached_property
    def maps(self) -> Mapping[str, MapPort]:
        """The inputs and outputs that are maps."""
        return map_ports(self.graph)


def read_model(source: str | Path | bytes | ModelProto) -> Model:
    """Read a model from a file, its bytes or a parsed ModelProto."""
    source = _exported(source)
    folder: Path | None = None
    name = "the model"
    if isinstance(source, str | Path):
        name, folder = str(source), Path(source).parent
        source = _read_bytes(Path(source))
    if isinstance(source, bytes):
        source = _parse(source, name)
    if not source.HasField("graph"):
        raise CloptError(f"{name} is not an ONNX model: it holds no graph.")
    graphs = (source.graph, *source.functions)
    if not all(isinstance(text, str) for graph in graphs for text in _texts(graph)):
        raise CloptError(f"{name} is damaged: a name in it is not UTF-8.")
    functions = {(domain_of(f.domain), f.name, f.overload): f for f in source.functions}
    return Model(name, source.graph, _opsets(source, name), functions, folder)


def snapshot(source: object) -> Model:
    """Return a model to import several times.

    It stays the same if the caller changes `source`, a ModelProto.
    """
    source = _exported(source)
    if isinstance(source, ModelProto):
        copy = ModelProto()
        copy.CopyFrom(source)
        source = copy
    return replace(read_model(source), arrays={})


def inputs_of(model: Model) -> list[ValueInfoProto]:
    """Return the inputs of a model, the tensors of sequences and optionals among them.

    Its constants may be listed among them in the file.
    """
    if model.elements is None:
        return declared_inputs_of(model)
    elements = model.elements
    return [each for value in declared_inputs_of(model) for each in flat_inputs(value, elements)]


def declared_inputs_of(model: Model) -> list[ValueInfoProto]:
    """Return the inputs of a model as its file declares them, with tensors for maps."""
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    return _with_tensors(inputs, model.maps)


def declared_outputs_of(model: Model) -> list[ValueInfoProto]:
    """Return the outputs of a model as its file declares them, with tensors for maps."""
    return _with_tensors(model.graph.output, model.maps)


def _with_tensors(
    values: Iterable[ValueInfoProto], maps: Mapping[str, MapPort]
) -> list[ValueInfoProto]:
    return [maps[value.name].tensor if value.name in maps else value for value in values]


def has_containers(model: Model) -> bool:
    """Return whether inputs or outputs are sequences, optionals or maps."""
    ports = (*declared_inputs_of(model), *declared_outputs_of(model))
    return bool(model.maps) or any(container_of(value.type) is not None for value in ports)


def _exported(source: object) -> str | Path | bytes | ModelProto:
    """Return `source`, or the model inside a `torch.onnx.ONNXProgram`.

    Raises CloptError for any other type.
    """
    if isinstance(source, str | Path | bytes | ModelProto):
        return source
    proto: object = getattr(source, "model_proto", None)  # of torch.onnx.ONNXProgram
    if isinstance(proto, ModelProto):
        return proto
    remedy = "export it to ONNX first"
    if hasattr(source, "forward") and hasattr(source, "state_dict"):  # a torch.nn.Module
        remedy = "call clopt.from_torch(module, inputs)"
    raise CloptError(
        "A model is the path of a file, the bytes of an ONNX file, an onnx.ModelProto or a "
        f"ModuleOp, not {type_name(source)}; {remedy}."
    )


def _texts(graph: GraphProto | FunctionProto) -> Iterator[object]:
    """Yield every name in a graph; protobuf returns a name that is not UTF-8 as bytes."""
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)
            if attribute.HasField("g"):
                yield from _texts(attribute.g)
            if attribute.HasField("t"):
                yield from _texts_of_tensor(attribute.t)
    for value in (*graph.input, *graph.output):
        if isinstance(value, ValueInfoProto):
            yield value.name
            yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
        else:
            yield value
    if isinstance(graph, GraphProto):
        for tensor in graph.initializer:
            yield from _texts_of_tensor(tensor)


def _texts_of_tensor(tensor: TensorProto) -> Iterator[object]:
    yield tensor.name
    for entry in tensor.external_data:
        yield from (entry.key, entry.value)


def domain_of(domain: str) -> str:
    """Return the domain, with `ai.onnx` normalised to the empty string."""
    return "" if domain == "ai.onnx" else domain


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CloptError(f"Cannot read {path}: {error.strerror}.") from error


def _parse(data: bytes, name: str) -> ModelProto:
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise CloptError(
            f"{name} is not an ONNX model or is damaged: its {len(data)} bytes do not parse."
        ) from error
    return model


def _opsets(model: ModelProto, name: str) -> Mapping[str, int]:
    opsets = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    newest = onnx.defs.onnx_opset_version()
    if "" not in opsets:
        if any(domain_of(node.domain) == "" for node in model.graph.node) or not opsets:
            raise CloptError(f"{name} declares no ONNX opset (opset_import).")
        return opsets
    if opsets[""] < 1:
        raise CloptError(f"{name} is damaged: it uses ONNX opset {opsets['']}; the first is 1.")
    if opsets[""] > newest:
        raise CloptError(
            f"{name} uses ONNX opset {opsets['']}, but the installed onnx supports at most "
            f"{newest}; install a newer onnx or export with an older opset."
        )
    return opsets
