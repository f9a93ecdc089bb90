"""A node as the importer of its operator sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto
from xdsl.ir import SSAValue

from ...dialects.nn.base import NNOp
from ...dialects.nn.types import Array, shape_of
from ...errors import CloptError
from ...messages.printable import printable
from ..builder import Builder
from .tensors import dtype_of, read_tensor

Results: TypeAlias = SSAValue | Sequence[SSAValue | None]
"""One value for each output, in order; those that the node does not name may be missing."""

Handler: TypeAlias = "Callable[[NodeContext], Results]"
"""Imports one operator."""

Table: TypeAlias = Mapping[str, Mapping[int, Handler]]
"""Operator name to the opsets at which its meaning changed; the highest <= the model's counts."""


class SubgraphImporter(Protocol):
    """The surroundings in which the body of a control flow operator is imported."""

    def __call__(self, graph: GraphProto, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Import a subgraph in place, its inputs bound to values; its outputs."""
        ...


class NodeContext:
    """One node: its inputs as values, its attributes by type, and refusing by name.

    Every attribute present must be read: `finish` refuses the node otherwise, so that nothing
    a model says is dropped silently.
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
        """Refuse the node; the sentence says what rule it breaks and what to do."""
        raise CloptError(f"{self._label}: {sentence}")

    def dtype(self, data_type: int) -> np.dtype[Any]:
        """The numpy type of an ONNX element type, refused by the node's name if unsupported."""
        return dtype_of(data_type, f"{self._label}: its result")

    def finish(self) -> None:
        """Refuse attributes that the importer did not read."""
        if self._unread:
            names = ", ".join(f"'{printable(name)}'" for name in sorted(self._unread))
            self.refuse(f"{self.op_type} of opset {self.opset} has no attribute {names}.")

    # Inputs and outputs

    def input(self, index: int) -> SSAValue:
        """A required input."""
        value = self.optional(index)
        if value is None:
            self.refuse(f"input {index} is missing.")
        return value

    def optional(self, index: int) -> SSAValue | None:
        """An input that may be absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def present(self) -> list[SSAValue]:
        """All inputs of a variadic operator."""
        return [self.input(i) for i in range(len(self.inputs))]

    def wants(self, index: int) -> bool:
        """Whether the node names this output."""
        return index < len(self._outputs) and self._outputs[index]

    def constant(self, index: int, what: str) -> Array:
        """The array of an input that must be known at import; `what` names it."""
        array = self.builder.known(self.input(index))
        if array is None:
            self.refuse(
                f"its {what} (input {index}) is computed at run time but must be constant; "
                "simplify the model or bind its dimensions."
            )
        return array

    def optional_constant(self, index: int, what: str) -> Array | None:
        """As `constant`, for an input that may be absent."""
        return None if self.optional(index) is None else self.constant(index, what)

    def constant_ints(self, index: int, what: str) -> tuple[int, ...]:
        """A constant input as integers."""
        array = self.constant(index, what)
        if array.dtype.kind not in "iub":
            self.refuse(f"its {what} (input {index}) must be whole numbers, not {array.dtype}.")
        return tuple(array.reshape(-1).tolist())

    def constant_number(self, index: int, what: str) -> float | int | bool:
        """A constant input as one number, which it must hold exactly."""
        array = self.constant(index, what)
        if array.size != 1:
            self.refuse(f"its {what} (input {index}) must be one number, not {array.size}.")
        return array.item()

    def constant_int(self, index: int, what: str, default: int | None = None) -> int:
        """A constant input as one whole number; the default stands for an absent one."""
        if default is not None and self.optional(index) is None:
            return default
        number = self.constant_number(index, what)
        if number != number or number in (float("inf"), float("-inf")):
            self.refuse(f"its {what} (input {index}) must be a whole number, not {number}.")
        return int(number)

    def check_rank(self, index: int, least: int, most: int | None = None) -> None:
        """Refuse an input of another rank; without `most` the rank is `least` or higher."""
        rank = self.rank(index)
        if rank < least or (most is not None and rank > most):
            wanted = str(least) if least == most else f"{least} or more"
            wanted = f"{least} to {most}" if most is not None and most > least else wanted
            self.refuse(f"its input {index} must have the rank {wanted}, not {rank}.")

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front; refuses one outside the rank."""
        if not -rank <= axis < rank:
            self.refuse(f"axis {axis} is outside a tensor of rank {rank}.")
        return axis + rank if axis < 0 else axis

    def rank(self, index: int = 0) -> int:
        """The rank of an input."""
        return len(shape_of(self.input(index)))

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an input."""
        return shape_of(self.input(index))

    # Attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute, required unless it has a default."""
        attribute = self._take(name, AttributeProto.INT, default is None)
        return attribute.i if attribute else default or 0

    def flag(self, name: str, default: bool = False) -> bool:
        """An integer attribute that means a truth value."""
        return bool(self.integer(name, int(default)))

    def integers(self, name: str) -> tuple[int, ...] | None:
        """A list of integers, or None when absent."""
        attribute = self._take(name, AttributeProto.INTS)
        return tuple(attribute.ints) if attribute else None

    def real(self, name: str, default: float | None = None) -> float:
        """A float attribute, required unless it has a default."""
        attribute = self._take(name, AttributeProto.FLOAT, default is None)
        return attribute.f if attribute else default or 0.0

    def reals(self, name: str) -> tuple[float, ...] | None:
        """A list of floats, or None when absent."""
        attribute = self._take(name, AttributeProto.FLOATS)
        return tuple(attribute.floats) if attribute else None

    def text(self, name: str, default: str | None = None) -> str:
        """A string attribute, required unless it has a default."""
        attribute = self._take(name, AttributeProto.STRING, default is None)
        return self._decode(attribute.s) if attribute else default or ""

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of strings, or None when absent."""
        attribute = self._take(name, AttributeProto.STRINGS)
        return tuple(self._decode(s) for s in attribute.strings) if attribute else None

    def tensor(self, name: str) -> Array | None:
        """A tensor attribute, or None when absent."""
        attribute = self._take(name, AttributeProto.TENSOR)
        return read_tensor(attribute.t, None) if attribute else None

    def graph(self, name: str) -> GraphProto:
        """A required subgraph."""
        attribute = self._take(name, AttributeProto.GRAPH, True)
        return attribute.g if attribute else GraphProto()

    def has(self, name: str) -> bool:
        """Whether an attribute is present; does not count as reading it."""
        return name in self._attributes

    def choice(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """A string attribute out of a few."""
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

    # Short forms

    def add(self, op: NNOp) -> SSAValue:
        """Append an operation of one result."""
        return self.builder.add(op)
