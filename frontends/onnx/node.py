"""The view of a node that its importer works with: typed inputs, attributes and errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TypeProto
from xdsl.ir import SSAValue

from ...dialects.nn.base import NNOp
from ...dialects.nn.types import Array, shape_of
from ...errors import CloptError
from ...messages.open_dimensions import OpenValuesError
from ...messages.printable import printable
from ..builder import Builder
from .tensors import dtype_of, read_tensor

Results: TypeAlias = SSAValue | Sequence[SSAValue | None]
"""The outputs in order; None, or a shorter list, for outputs that the node does not name."""

Handler: TypeAlias = "Callable[[NodeContext], Results]"
"""Importer of one operator."""

Table: TypeAlias = Mapping[str, Mapping[int, Handler]]
"""Operator name to handler by opset; the highest opset not above the model's applies."""


@dataclass(frozen=True)
class Refusal:
    """The importer of an operator that clopt never accepts."""

    reason: str

    def __call__(self, node: NodeContext) -> NoReturn:
        """Refuse the node."""
        node.refuse(self.reason)


class SubgraphImporter(Protocol):
    """Imports the bodies of a control flow operator."""

    def __call__(self, graph: GraphProto, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Import a subgraph in place with its inputs bound to values. Return its outputs."""
        ...


class NodeContext:
    """One node: its inputs as values, its attributes by type, and errors that name it.

    Importers must read every attribute present: `finish` rejects the node otherwise, so that no
    attribute is silently ignored.
    """

    def __init__(
        self,
        proto: NodeProto,
        label: str,
        inputs: Sequence[SSAValue | None],
        builder: Builder,
        opset: int,
        subgraph: SubgraphImporter,
    ):
        self.op_type = proto.op_type
        self.name = proto.name
        self.outputs = len(proto.output)
        self.opset = opset
        self.inputs = inputs
        self.builder = builder
        self.subgraph = subgraph
        self._label = label
        self._outputs = [bool(name) for name in proto.output]
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}
        self._unread = set(self._attributes)

    def refuse(self, sentence: str) -> NoReturn:
        """Raise CloptError; `sentence` states the violation and the remedy."""
        raise CloptError(f"{self._label}: {sentence}")

    def dtype(self, data_type: int) -> np.dtype[Any]:
        """Return the numpy type of an ONNX element type; raise CloptError if it is unsupported."""
        return dtype_of(data_type, f"{self._label}: its result")

    def finish(self) -> None:
        """Raise CloptError if the importer did not read all attributes."""
        if self._unread:
            names = ", ".join(f"'{printable(name)}'" for name in sorted(self._unread))
            self.refuse(f"{self.op_type} of opset {self.opset} has no attribute {names}.")

    # Inputs and outputs

    def input(self, index: int) -> SSAValue:
        """Return a required input."""
        value = self.optional(index)
        if value is None:
            self.refuse(f"input {index} is missing.")
        return value

    def optional(self, index: int) -> SSAValue | None:
        """Return an optional input, or None."""
        return self.inputs[index] if index < len(self.inputs) else None

    def replace(self, index: int, value: SSAValue) -> None:
        """Let importers that this one calls read `value` as the input at `index`."""
        self.inputs = [*self.inputs[:index], value, *self.inputs[index + 1 :]]

    def sequence(self, index: int) -> Sequence[SSAValue]:
        """Return the elements of an input that is a sequence."""
        values = self.builder.sequences.get(self.input(index))
        if values is None:
            self.refuse(f"its input {index} must be a sequence.")
        return values

    def present(self) -> list[SSAValue]:
        """Return all inputs of a variadic operator."""
        return [self.input(i) for i in range(len(self.inputs))]

    def wants(self, index: int) -> bool:
        """Return whether the node names this output."""
        return index < len(self._outputs) and self._outputs[index]

    def constant(self, index: int, what: str) -> Array:
        """Return the array of an input that must be known at import; `what` names it in errors."""
        return self.known(
            self.input(index),
            f"its {what} (input {index}) is computed at run time but must be constant; simplify "
            "the model or bind its dimensions.",
        )

    def known(self, value: SSAValue, sentence: str) -> Array:
        """Return the array that a value is known to hold at import; else refuse by `sentence`.

        Raises OpenValuesError if small inputs alone determine the value.
        """
        array = self.builder.known(value)
        if array is None:
            if inputs := self.builder.deciding_inputs(value):
                raise OpenValuesError(inputs, f"{self._label}: {sentence}")
            self.refuse(sentence)
        return array

    def optional_constant(self, index: int, what: str) -> Array | None:
        """Return the array of an optional input that must be known if present, or None."""
        return None if self.optional(index) is None else self.constant(index, what)

    def constant_ints(self, index: int, what: str) -> tuple[int, ...]:
        """Return the elements of a constant input of integers."""
        array = self.constant(index, what)
        if array.dtype.kind not in "iub":
            self.refuse(f"its {what} (input {index}) must be whole numbers, not {array.dtype}.")
        return tuple(array.reshape(-1).tolist())

    def constant_number(self, index: int, what: str) -> float | int | bool:
        """Return the only element of a constant input."""
        array = self.constant(index, what)
        if array.size != 1:
            self.refuse(f"its {what} (input {index}) must be one number, not {array.size}.")
        return array.item()

    def constant_int(self, index: int, what: str, default: int | None = None) -> int:
        """Return the only element of a constant input as an int, or `default` if it is absent."""
        if default is not None and self.optional(index) is None:
            return default
        number = self.constant_number(index, what)
        if number != number or number in (float("inf"), float("-inf")):
            self.refuse(f"its {what} (input {index}) must be a whole number, not {number}.")
        return int(number)

    def check_rank(self, index: int, least: int, most: int | None = None) -> None:
        """Check that an input has a rank from `least` to `most`, or any rank from `least` on."""
        rank = self.rank(index)
        if rank < least or (most is not None and rank > most):
            wanted = str(least) if least == most else f"{least} or more"
            wanted = f"{least} to {most}" if most is not None and most > least else wanted
            self.refuse(f"its input {index} must have the rank {wanted}, not {rank}.")

    def axis(self, axis: int, rank: int) -> int:
        """Return `axis` counted from the front; raise CloptError if it is out of range."""
        if not -rank <= axis < rank:
            self.refuse(f"axis {axis} is outside a tensor of rank {rank}.")
        return axis + rank if axis < 0 else axis

    def rank(self, index: int = 0) -> int:
        """Return the rank of an input."""
        return len(shape_of(self.input(index)))

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of an input."""
        return shape_of(self.input(index))

    # Attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an integer attribute, which is required unless it has a default."""
        attribute = self._take(name, AttributeProto.INT, default is None)
        return attribute.i if attribute else default or 0

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an integer attribute as a bool."""
        return bool(self.integer(name, int(default)))

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return a list of integers, or None if it is absent."""
        attribute = self._take(name, AttributeProto.INTS)
        return tuple(attribute.ints) if attribute else None

    def real(self, name: str, default: float | None = None) -> float:
        """Return a float attribute, which is required unless it has a default."""
        attribute = self._take(name, AttributeProto.FLOAT, default is None)
        return attribute.f if attribute else default or 0.0

    def reals(self, name: str) -> tuple[float, ...] | None:
        """Return a list of floats, or None if it is absent."""
        attribute = self._take(name, AttributeProto.FLOATS)
        return tuple(attribute.floats) if attribute else None

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string attribute, which is required unless it has a default."""
        attribute = self._take(name, AttributeProto.STRING, default is None)
        return self._decode(attribute.s) if attribute else default or ""

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return a list of strings, or None if it is absent."""
        attribute = self._take(name, AttributeProto.STRINGS)
        return tuple(self._decode(s) for s in attribute.strings) if attribute else None

    def tensor(self, name: str) -> Array | None:
        """Return a tensor attribute, or None if it is absent."""
        attribute = self._take(name, AttributeProto.TENSOR)
        return read_tensor(attribute.t, None) if attribute else None

    def type_proto(self, name: str) -> TypeProto | None:
        """Return a type, or None if it is absent."""
        attribute = self._take(name, AttributeProto.TYPE_PROTO)
        return attribute.tp if attribute else None

    def graph(self, name: str) -> GraphProto:
        """Return a required subgraph."""
        attribute = self._take(name, AttributeProto.GRAPH, True)
        return attribute.g if attribute else GraphProto()

    def has(self, name: str) -> bool:
        """Return whether an attribute is present, without marking it as read."""
        return name in self._attributes

    def choice(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """Return a string attribute; raise CloptError unless its value is in `allowed`."""
        value = self.text(name, default)
        if value not in allowed:
            self.refuse(
                f"{name} '{printable(value)}' is not supported; it can be {', '.join(allowed)}."
            )
        return value

    def _decode(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            self.refuse("a string attribute is damaged: it is not UTF-8.")

    def _take(self, name: str, type: int, required: bool = False) -> AttributeProto | None:
        attribute = self._attributes.get(name)
        self._unread.discard(name)
        if attribute is None:
            if required:
                self.refuse(f"the attribute '{name}' is missing.")
            return None
        if attribute.type != type:
            self.refuse(f"the attribute '{name}' has the wrong type.")
        return attribute

    # Shorthand

    def add(self, op: NNOp) -> SSAValue:
        """Append an operation with one result. Return the result."""
        return self.builder.add(op)
