"""What legalisations build CLML commands with: for a trial, or for a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import clml, nn
from ....dialects.clml import Layout, MLOp, MLTensorType, Shape, Usage
from ....dialects.nn import Array

T = TypeVar("T")

Transform: TypeAlias = Callable[[Array], Array]
"""From an array as nn has it to the same numbers as CLML wants them."""


def require(condition: bool, sentence: str) -> None:
    """Raise a VerifyException, the reason why an operation is left to kernels."""
    if not condition:
        raise VerifyException(sentence)


def given(value: T | None, sentence: str) -> T:
    """A value that is there; a VerifyException otherwise."""
    if value is None:
        raise VerifyException(sentence)
    return value


def sizes_of(shape: Sequence[int]) -> Shape:
    """The four sizes of a tensor of nn: those it has, then ones."""
    require(len(shape) <= 4, f"CLML tensors have four dimensions, not {len(shape)}")
    require(len(shape) > 0, "CLML tensors have at least one dimension")
    n, c, h, w = (*shape, 1, 1, 1, 1)[:4]
    return n, c, h, w


def plane(values: Sequence[int], fill: int) -> tuple[int, ...]:
    """Spatial properties of H and W; those of one dimension are H's, W gets `fill`."""
    require(len(values) in (1, 2), f"CLML has windows of two dimensions, not {len(values)}")
    return (*values, fill)[:2]


def borders(pads: Sequence[int]) -> tuple[int, int, int, int]:
    """All begins, then all ends, of one or two dimensions, as top, left, bottom, right."""
    half = len(pads) // 2
    (top, left), (bottom, right) = plane(pads[:half], 0), plane(pads[half:], 0)
    return top, left, bottom, right


class Builder(ABC):
    """Adds commands, and gives them what nn values are among CLML's tensors.

    Each method raises a VerifyException, one sentence, for what CLML does not compute.
    """

    version: int
    """The version of CLML that there is."""

    @abstractmethod
    def read(
        self, value: SSAValue, layout: Layout = Layout.OPTIMAL, sizes: Shape | None = None
    ) -> SSAValue:
        """The tensor of an nn value in a layout, copied to it once if need be.

        Only what is read from outside of a graph can have other `sizes` than its own.
        """

    @abstractmethod
    def common_layout(self, values: Sequence[SSAValue]) -> Layout:
        """The layout, optimal or NCHW, in which reading all of these takes the fewest copies."""

    @abstractmethod
    def weight(
        self,
        value: SSAValue,
        sizes: Shape,
        layout: Layout = Layout.OPTIMAL,
        transform: Transform | None = None,
    ) -> SSAValue:
        """The parameter of these sizes that holds the constant `value`, transformed."""

    @abstractmethod
    def parameter(self, array: Array, sizes: Shape, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        """The parameter that holds an array."""

    @abstractmethod
    def add(self, command: MLOp) -> SSAValue:
        """Add a command; its result."""

    def like(self, value: SSAValue, sizes: Shape, layout: Layout | None = None) -> MLTensorType:
        """The type of a computed tensor with the elements of a tensor, and its layout if none is
        given.
        """
        source = clml.ml_tensor(value)
        return MLTensorType(sizes, source.element_type, layout or source.layout)

    def shaped(self, value: SSAValue, sizes: Shape) -> SSAValue:
        """A tensor under these sizes, which takes a command unless it has them."""
        if clml.ml_tensor(value).get_shape() == sizes:
            return value
        return self.add(clml.ReshapeOp(value, self.like(value, sizes)))


def require_constant(value: SSAValue) -> None:
    """Refuse what is computed at the place of weights."""
    require(
        isinstance(value.owner, nn.ConstantOp),
        "weights, biases and statistics are constants, but one of them is computed",
    )


def tensor_type(
    value: SSAValue, layout: Layout, sizes: Shape | None = None, usage: Usage = Usage.CNN
) -> MLTensorType:
    """The tensor of an nn value."""
    type = nn.tensor_type(value)
    return MLTensorType(sizes or sizes_of(type.get_shape()), type.element_type, layout, usage)
