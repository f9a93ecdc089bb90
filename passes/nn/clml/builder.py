"""The interface through which legalisations build CLML commands, for a trial or for a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import clml, nn
from ....dialects.clml import Layout, MLOp, MLTensorType, Shape, Usage
from ....dialects.inferred import require
from ....dialects.nn import Array

T = TypeVar("T")

Transform: TypeAlias = Callable[[Array], Array]
"""Rearranges the elements of an nn array for CLML."""


def expect(value: T | None, sentence: str) -> T:
    """Return `value`, or raise VerifyException with `sentence` if it is None."""
    if value is None:
        raise VerifyException(sentence)
    return value


def sizes_of(shape: Sequence[int]) -> Shape:
    """Return the four sizes of a CLML tensor for an nn shape, padded with ones at the end."""
    require(len(shape) <= 4, f"CLML tensors have at most four dimensions, not {len(shape)}")
    require(len(shape) > 0, "CLML tensors have at least one dimension, not 0")
    n, c, h, w = (*shape, 1, 1, 1, 1)[:4]
    return n, c, h, w


def plane(values: Sequence[int], fill: int) -> tuple[int, ...]:
    """Return a spatial property for H and W; if it has one value, that is H and W gets `fill`."""
    require(len(values) in (1, 2), f"CLML has windows of two dimensions, not {len(values)}")
    return (*values, fill)[:2]


def borders(pads: Sequence[int]) -> tuple[int, int, int, int]:
    """Return pads of 1 or 2 axes, given as begins then ends, as (top, left, bottom, right)."""
    half = len(pads) // 2
    (top, left), (bottom, right) = plane(pads[:half], 0), plane(pads[half:], 0)
    return top, left, bottom, right


class CommandBuilder(ABC):
    """Adds commands and maps nn values to CLML tensors.

    Each method raises a VerifyException with one sentence if CLML cannot compute its argument.
    """

    version: int
    """The CLML version of the target."""

    @abstractmethod
    def read(
        self, value: SSAValue, layout: Layout = Layout.OPTIMAL, sizes: Shape | None = None
    ) -> SSAValue:
        """Return the tensor of an nn value in `layout`, adding at most one copy per layout.

        Only a value from outside of the graph can have `sizes` other than its own.
        """

    @abstractmethod
    def common_layout(self, values: Sequence[SSAValue]) -> Layout:
        """Return the layout, optimal or NCHW, in which reading all values needs fewest copies."""

    @abstractmethod
    def weight(
        self,
        value: SSAValue,
        sizes: Shape,
        layout: Layout = Layout.OPTIMAL,
        transform: Transform | None = None,
    ) -> SSAValue:
        """Return the parameter of these sizes that holds the constant `value`, transformed."""

    @abstractmethod
    def parameter(self, array: Array, sizes: Shape, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        """Return the parameter of these sizes that holds `array`."""

    @abstractmethod
    def add(self, command: MLOp) -> SSAValue:
        """Add a command and return its result."""

    def like(self, value: SSAValue, sizes: Shape, layout: Layout | None = None) -> MLTensorType:
        """Return the type of a computed tensor with the element type and layout of `value`."""
        source = clml.ml_tensor(value)
        return MLTensorType(sizes, source.element_type, layout or source.layout)

    def shaped(self, value: SSAValue, sizes: Shape) -> SSAValue:
        """Return `value` with these sizes, adding a reshape command if its sizes differ."""
        if clml.ml_tensor(value).get_shape() == sizes:
            return value
        return self.add(clml.ReshapeOp(value, self.like(value, sizes)))


def require_constant(value: SSAValue) -> None:
    """Raise VerifyException unless `value` is a constant."""
    require(
        isinstance(value.owner, nn.ConstantOp),
        "weights, biases and statistics must be constants, but one of them is computed",
    )


def tensor_type(
    value: SSAValue, layout: Layout, sizes: Shape | None = None, usage: Usage = Usage.CNN
) -> MLTensorType:
    """Return the CLML tensor type of an nn value."""
    type = nn.tensor_type(value)
    return MLTensorType(sizes or sizes_of(type.get_shape()), type.element_type, layout, usage)
