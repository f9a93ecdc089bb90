"""`!clml.tensor`: sizes, element type, layout and usage of one CLML tensor."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    Float16Type,
    Float32Type,
    IntAttr,
    ShapedType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .attributes import Layout, LayoutAttr, Usage, UsageAttr

Shape: TypeAlias = tuple[int, int, int, int]
"""Sizes in the order n, c, h, w."""

MAX_SIZE = 32768
"""The largest size of a tensor in any dimension."""

_ROW_BYTES = 64
"""Assumed alignment in bytes of the rows of a tensor in the optimal layout."""


@irdl_attr_definition
class MLTensorType(ParametrizedAttribute, TypeAttribute, ShapedType):
    """`!clml.tensor<1x64x56x56xf32, optimal>`, followed by the usage unless it is cnn.

    The four sizes are n, c, h, w in every layout. `!clml.tensor<32x3x3x3xf32, optimal, parameter>`
    is a constant.
    """

    name = "clml.tensor"

    sizes: ArrayAttr[IntAttr]
    element_type: Attribute
    layout_attr: LayoutAttr
    usage_attr: UsageAttr

    def __init__(
        self,
        shape: Sequence[int],
        element_type: Attribute,
        layout: Layout = Layout.OPTIMAL,
        usage: Usage = Usage.CNN,
    ):
        super().__init__(
            ArrayAttr([IntAttr(n) for n in shape]),
            element_type,
            LayoutAttr(layout),
            UsageAttr(usage),
        )

    @property
    def layout(self) -> Layout:
        """Return the order of the elements in memory."""
        return self.layout_attr.data

    @property
    def usage(self) -> Usage:
        """Return the use of the tensor."""
        return self.usage_attr.data

    @property
    def element_bytes(self) -> int:
        """Return the bytes of one element."""
        return 2 if isinstance(self.element_type, Float16Type) else 4

    @property
    def bytes(self) -> int:
        """Return the bytes of its elements."""
        return prod(self.get_shape()) * self.element_bytes

    @property
    def planned_bytes(self) -> int:
        """Return the bytes to plan for: exact for row-major layouts, else an estimate.

        Only the device knows the size of the optimal layout. The estimate assumes blocks of four
        channels with rows padded to 64 bytes.
        """
        n, c, h, w = self.get_shape()
        if self.layout is not Layout.OPTIMAL:
            return self.bytes
        row = -(-w * 4 * self.element_bytes // _ROW_BYTES) * _ROW_BYTES
        return n * -(-c // 4) * h * row

    def get_num_dims(self) -> int:
        return len(self.sizes)

    def get_shape(self) -> Shape:
        n, c, h, w = self.sizes
        return n.data, c.data, h.data, w.data

    def element_count(self) -> int:
        return prod(self.get_shape())

    def verify(self) -> None:
        sizes = [size.data for size in self.sizes]
        if len(sizes) != 4:
            raise VerifyException(
                f"a CLML tensor must have four sizes n, c, h, w, not {len(sizes)}"
            )
        if not isinstance(self.element_type, Float16Type | Float32Type):
            raise VerifyException(f"CLML supports f32 and f16, not {self.element_type}")
        if min(sizes) < 1 or max(sizes) > MAX_SIZE:
            text = "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in sizes)
            raise VerifyException(f"the sizes of a CLML tensor must be 1 to {MAX_SIZE}, not {text}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        usage = Usage.CNN
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            layout = parser.parse_str_enum(Layout)
            if parser.parse_optional_punctuation(","):
                usage = parser.parse_str_enum(Usage)
        return cls(shape, element_type, layout, usage).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for size in self.sizes:
                printer.print_string(f"{size.data}x")
            printer.print_attribute(self.element_type)
            printer.print_string(f", {self.layout}")
            if self.usage is not Usage.CNN:
                printer.print_string(f", {self.usage}")


def ml_tensor(value: SSAValue) -> MLTensorType:
    """Return the CLML tensor type of a value of a verified operation of this dialect."""
    return cast(MLTensorType, value.type)


def sizes_text(shape: Sequence[int]) -> str:
    """Return the sizes as `1x64x56x56`."""
    return "x".join(map(str, shape))
