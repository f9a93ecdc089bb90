"""The view of an ATen call that the importer of its operator works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ...dialects.nn.base import NNOp
from ...dialects.nn.types import array_type, numpy_dtype, shape_of, tensor_type
from ...errors import CloptError
from ..builder import Builder

ELEMENTS: Mapping[str, type[np.generic]] = {
    "torch.float32": np.float32,
    "torch.int64": np.int64,
    "torch.int32": np.int32,
    "torch.int16": np.int16,
    "torch.int8": np.int8,
    "torch.uint8": np.uint8,
    "torch.bool": np.bool_,
}
"""Supported element types, by the names that torch prints."""


class FxError(CloptError):
    """Raised when a call, or a tensor type that it uses, is unsupported; names the reason only."""


class Form(NamedTuple):
    """The element type and shape of a torch tensor."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, tensor: Any) -> Form:
        """Return the form of a real or fake tensor; raise FxError if nn has no type for it."""
        if str(tensor.layout) != "torch.strided" or tensor.device.type != "cpu":
            raise FxError(f"uses a tensor that is {tensor.layout} on {tensor.device}")
        if (element := ELEMENTS.get(str(tensor.dtype))) is None:
            raise FxError(f"uses elements of {tensor.dtype}, which are not supported")
        if not all(isinstance(size, int) for size in tensor.shape):
            raise FxError(f"uses a tensor of the dynamic shape {list(tensor.shape)}")
        return cls(np.dtype(element), tuple(tensor.shape))

    @property
    def type(self) -> TensorType:
        """Return the nn tensor type."""
        return array_type(np.broadcast_to(np.zeros((), self.dtype), self.shape))

    @property
    def element(self) -> Attribute:
        """Return the nn element type."""
        return self.type.element_type


Results: TypeAlias = "SSAValue | Sequence[SSAValue | None] | None"
"""One value per result, or None if no call may read it; None for a call without results."""

Handler: TypeAlias = "Callable[[FxCall], Results]"
"""Importer of one operator."""

Table: TypeAlias = Mapping[str, Handler]
"""Operator names, such as `aten.add.Tensor`, to importers."""


class FxCall:
    """One call: its arguments by their schema names, tensors among them as nn values."""

    def __init__(
        self,
        target: str,
        arguments: Mapping[str, Any],
        results: Sequence[Form | None],
        builder: Builder,
    ):
        self.target = target
        self.builder = builder
        self._arguments = arguments
        self._results = results

    def refuse(self, reason: str) -> NoReturn:
        """Raise FxError; `reason` completes a sentence that starts with the name of the call."""
        raise FxError(reason)

    def __getitem__(self, name: str) -> Any:
        """Return an argument as torch passes it; None if the operator has no such argument."""
        return self._arguments.get(name)

    def tensor(self, name: str = "self") -> SSAValue:
        """Return a required tensor argument."""
        value = as_value(self[name])
        if value is None:
            self.refuse(f"has no tensor for its argument '{name}'")
        return value

    def optional(self, name: str) -> SSAValue | None:
        """Return an optional tensor argument, or None."""
        return None if self[name] is None else self.tensor(name)

    def tensors(self, name: str = "tensors") -> Sequence[SSAValue]:
        """Return an argument that is a list of tensors."""
        return cast("Sequence[SSAValue]", self[name])

    def ints(self, name: str, count: int | None = None) -> tuple[int, ...]:
        """Return a list of integers; with `count`, repeat a single one that many times."""
        given = self[name]
        if given is None:
            given = ()
        values: tuple[Any, ...] = (given,) if isinstance(given, int) else tuple(given)
        if not all(isinstance(n, int) for n in values):
            self.refuse(f"computes its argument '{name}' at run time")
        return values * count if count is not None and len(values) == 1 else values

    def number(self, name: str, default: float = 0.0) -> float:
        """Return a number, or `default` if it is absent."""
        given = self[name]
        if given is None:
            return default
        if (value := as_value(given)) is not None:
            known = self.builder.known(value)
            if known is None or known.size != 1:
                self.refuse(f"computes its argument '{name}' at run time")
            return known.item()
        if not isinstance(given, (int, float)):
            self.refuse(f"has the argument {name}={given}, which is not a number")
        return given

    def axis(self, name: str = "dim", of: SSAValue | None = None) -> int:
        """Return an axis of the first tensor, or of `of`, counted from the front."""
        rank = len(shape_of(self.tensor() if of is None else of))
        return int(self[name] or 0) % max(rank, 1)

    def axes(self, name: str = "dim") -> tuple[int, ...]:
        """Return axes of the first tensor; all of them if the call names none."""
        rank = len(shape_of(self.tensor()))
        named = tuple(axis % max(rank, 1) for axis in self.ints(name))
        return named or tuple(range(rank))

    def form(self, index: int = 0) -> Form:
        """Return the form of the result at `index`."""
        form = self._results[index] if index < len(self._results) else None
        if form is None:
            self.refuse("has a result that is not a tensor of a supported type")
        return form

    def operand(self, name: str, element: Attribute) -> SSAValue:
        """Return a tensor or a number as a tensor of an element type."""
        if (value := as_value(self[name])) is not None:
            return self.builder.cast(value, element)
        return self.builder.constant(np.array(self.number(name), numpy_dtype(element)))

    def add(self, op: NNOp) -> SSAValue:
        """Append an operation with one result. Return the result."""
        return self.builder.add(op)


def as_value(argument: Any) -> SSAValue | None:
    """Return an argument if it is an nn value, else None."""
    return cast("SSAValue", argument) if isinstance(argument, SSAValue) else None


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of a tensor."""
    return tensor_type(value).element_type
