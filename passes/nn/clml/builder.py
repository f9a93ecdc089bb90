"""The interface by which legalisations build CLML commands, for a trial or for a graph."""

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
"""Rearranges the numbers of an nn array for CLML."""


def expect(value: T | None, sentence: str) -> T:
    """The value, which must not be None; raises a VerifyException otherwise."""
    if value is None:
        raise VerifyException(sentence)
    return value


def sizes_of(shape: Sequence[int]) -> Shape:
    """The four sizes of an nn tensor: its own, then ones."""
    require(len(shape) <= 4, f"CLML tensors have four dimensions, not {len(shape)}")
    require(len(shape) > 0, "CLML tensors have at least one dimension")
    n, c, h, w = (*shape, 1, 1, 1, 1)[:4]
    return n, c, h, w


def plane(values: Sequence[int], fill: int) -> tuple[int, ...]:
    """Spatial properties for H and W; one dimension is H, and W gets `fill`."""
    require(len(values) in (1, 2), f"CLML has windows of two dimensions, not {len(values)}")
    return (*values, fill)[:2]


def borders(pads: Sequence[int]) -> tuple[int, int, int, int]:
    """Pads of one or two dimensions, all begins before all ends, as top, left, bottom, right."""
    half = len(pads) // 2
    (top, left), (bottom, right) = plane(pads[:half], 0), plane(pads[half:], 0)
    return top, left, bottom, right


class CommandBuilder(ABC):
    """Adds commands, and maps nn values to CLML tensors.

    Each method raises a VerifyException, one sentence, if CLML cannot compute its argument.
    """

    version: int
    """The version of CLML on the target."""

    @abstractmethod
    def read(
        self, value: SSAValue, layout: Layout = Layout.OPTIMAL, sizes: Shape | None = None
    ) -> SSAValue:
        """The tensor of an nn value in a layout, copied to it at most once.

        Only a value from outside of the graph can have `sizes` other than its own.
        """

    @abstractmethod
    def common_layout(self, values: Sequence[SSAValue]) -> Layout:
        """The layout, optimal or NCHW, in which reading all values takes the fewest copies."""

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
        """Add a command; return its result."""

    def like(self, value: SSAValue, sizes: Shape, layout: Layout | None = None) -> MLTensorType:
        """The type of a computed tensor with the element type and default layout of `value`."""
        source = clml.ml_tensor(value)
        return MLTensorType(sizes, source.element_type, layout or source.layout)

    def shaped(self, value: SSAValue, sizes: Shape) -> SSAValue:
        """The tensor with these sizes, which takes a command unless it has them."""
        if clml.ml_tensor(value).get_shape() == sizes:
            return value
        return self.add(clml.ReshapeOp(value, self.like(value, sizes)))


def require_constant(value: SSAValue) -> None:
    """Refuse weights, biases and statistics that are computed."""
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
