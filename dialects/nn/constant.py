"""Constants: small ones are inline in the IR, large ones are keys of the weights store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue, TypedAttribute
from xdsl.irdl import irdl_op_definition, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..inferred import Properties
from ..narrow import is_narrow
from .attributes import WeightAttr
from .base import NNOp
from .types import Array, Tensor, array_type, is_bool, is_float, numpy_dtype, tensor_type

_FIRST_IN_BITS = 1e6
_LISTED = 100
"""xDSL prints more elements than these as bits, unless they are equal."""

INLINE_BYTES = 1024
"""The bytes of the largest inline constant."""


class WeightStore(Protocol):
    """The methods of clopt.weights.Weights that constants use."""

    def add(self, array: Array, hint: str = "") -> str:
        """Store an array. Return its key."""
        ...

    def get(self, key: str) -> Array:
        """Return the array of a key."""
        ...

    def __contains__(self, key: object) -> bool:
        """Return whether the key names an array."""
        ...


@irdl_op_definition
class ConstantOp(NNOp):
    """A constant tensor: inline `dense<…>`, or `#nn.weight<"key", "hint">` in the weights store."""

    name = "nn.constant"
    value = prop_def(DenseIntOrFPElementsAttr | WeightAttr)
    result = result_def(TensorType)

    def __init__(self, value: Attribute, type: Tensor | None = None):
        if type is None:
            (type,) = self.infer([], {"value": value})
        super(NNOp, self).__init__(properties={"value": value}, result_types=[type])

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        value = properties["value"]
        if not isinstance(value, TypedAttribute):
            raise VerifyException("a constant with a named weight must state its type")
        return [cast(Tensor, value.get_type())]

    def verify_(self) -> None:
        type = tensor_type(self.result)
        if not type.has_static_shape():
            raise VerifyException(f"{type} has a dynamic dimension; nn requires static shapes")
        numpy_dtype(type.element_type)
        if isinstance(self.value, WeightAttr):
            return
        (value_type,) = self.infer([], self.properties)
        if value_type != type:
            raise VerifyException(f"value of type {value_type} in a constant of type {type}")

    def print(self, printer: Printer) -> None:
        """Print a discardable dictionary, then `dense<…> : type` or `#nn.weight<…> : type`."""
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        if isinstance(self.value, WeightAttr):
            printer.print_attribute(self.value)
        else:
            _print_dense(self.value, printer)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """Parse the format that `print` writes."""
        attributes = parser.parse_optional_attr_dict()
        value = parser.parse_attribute()
        if isinstance(value, TypedAttribute):
            op = cls.build(properties={"value": value}, result_types=[value.get_type()])
        else:
            parser.parse_punctuation(":")
            op = cls.build(properties={"value": value}, result_types=[parser.parse_type()])
        op.attributes |= attributes
        return op

    @staticmethod
    def from_array(array: Array, weights: WeightStore | None = None, hint: str = "") -> ConstantOp:
        """Return a constant that holds a numpy array; a large array is stored in `weights`."""
        return ConstantOp(constant_attr(array, weights, hint), array_type(array))


def _print_dense(value: DenseIntOrFPElementsAttr, printer: Printer) -> None:
    """Print a value as xDSL does, which unpacks all elements to see whether they are equal."""
    data, count = value.data.data, len(value)
    element = data[: len(data) // max(1, count)]
    shown = value
    if count > 1 and data == count * element:
        type = TensorType(value.get_element_type(), [1])
        shown = DenseIntOrFPElementsAttr(type, BytesAttr(element))
    if len(shown) <= _LISTED and _reads_as_printed(shown):
        shown.print_without_type(printer)
    else:
        # xDSL parses 0x7F800000 in a list of elements as an integer, not as the bits of a float.
        printer.print_string(f'dense<"0x{data.hex().upper()}">')


def _reads_as_printed(value: DenseIntOrFPElementsAttr) -> bool:
    """Return whether xDSL prints every element as a decimal number.

    xDSL prints other elements as bits, such as 1048576.0 as 0x49800000, and parses these in a list
    as the integer 1233125376. They are whole numbers from a million on, infinities and NaNs.
    """
    element_type = value.get_element_type()
    if is_narrow(element_type):
        return False
    if not is_float(element_type):
        return True
    numbers = np.frombuffer(value.data.data, numpy_dtype(element_type))
    return bool((np.abs(numbers.astype(np.float64)) < _FIRST_IN_BITS).all())


def dense(array: Array) -> Attribute:
    """Return the inline attribute of an array."""
    # xDSL's parser stores true as the byte -1; using the same bytes makes equal constants equal.
    stored = -array.astype(np.int8) if array.dtype == np.bool_ else array
    type = cast("TensorType[AnyFloat | IntegerType]", array_type(array))
    return DenseIntOrFPElementsAttr(type, BytesAttr(stored.tobytes()))


def constant_attr(array: Array, weights: WeightStore | None = None, hint: str = "") -> Attribute:
    """Return the value attribute of an array: inline up to INLINE_BYTES, else in `weights`."""
    if weights is None or array.nbytes <= INLINE_BYTES:
        return dense(array)
    return WeightAttr(weights.add(array, hint), hint)


def attr_array(attr: Attribute, type: Tensor, weights: WeightStore | None = None) -> Array | None:
    """Return the array of a value attribute, or None for a weight that the store lacks."""
    if isinstance(attr, WeightAttr):
        key = attr.key.data
        if weights is None or key not in weights:
            return None
        stored = weights.get(key)
        return (
            stored.view(numpy_dtype(type.element_type)) if is_narrow(type.element_type) else stored
        )
    data = cast("DenseIntOrFPElementsAttr", attr).data.data
    dtype = numpy_dtype(type.element_type)
    array = np.frombuffer(data, np.uint8 if is_bool(type.element_type) else dtype)
    if is_bool(type.element_type):
        array = array != 0
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), type.get_shape())
    return array.reshape(type.get_shape())


def constant_value(value: SSAValue, weights: WeightStore | None = None) -> Array | None:
    """Return the array of a constant as a read-only view, or None if it is not a constant."""
    if not isinstance(value.owner, ConstantOp):
        return None
    return attr_array(value.owner.value, tensor_type(value), weights)


def hint_of(value: SSAValue) -> str:
    """Return the name of a weight in the original model, or an empty string."""
    if isinstance(value.owner, ConstantOp) and isinstance(value.owner.value, WeightAttr):
        return value.owner.value.hint.data
    return ""
