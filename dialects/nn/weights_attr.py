"""`#nn.weights`: the arrays that a module refers to, stored on the module."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ...weights import Weights
from .types import Tensor, array_type, numpy_dtype

_NAME = "nn.weights"


@irdl_attr_definition
class WeightsAttr(Data[Weights]):
    """The weights of a module, its attribute `nn.weights`: a store that its passes fill.

    `#nn.weights<"w_c54fda4b3ba11d30" = "0x0000803f00000040" : tensor<2xf32>>`

    The text contains the bytes of each array, little-endian. clopt itself keeps weights beside a
    module; the attribute is for drivers of other projects that pass on only a module.
    """

    name = "nn.weights"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Weights:
        weights = Weights()

        def parse_array() -> None:
            key = parser.parse_str_literal()
            parser.parse_punctuation("=")
            text = parser.parse_str_literal()
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
            if not isinstance(type_, TensorType):
                parser.raise_error(f"the array {key} must be a tensor, not {type_}")
            tensor = cast(Tensor, type_)
            try:
                array = np.frombuffer(bytes.fromhex(text[2:]), numpy_dtype(tensor.element_type))
                digest = weights.add(array.reshape(tensor.get_shape()))
            except ValueError as error:
                parser.raise_error(f"the array {key} is not a {type_}: {error}")
            if digest != key:
                parser.raise_error(f"the array {key} is damaged: its bytes have the key {digest}")

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_array)
        return weights

    def print_parameter(self, printer: Printer) -> None:
        def print_array(key: str) -> None:
            array = self.data.get(key)
            printer.print_string_literal(key)
            printer.print_string(f' = "0x{array.tobytes().hex()}" : ')
            printer.print_attribute(array_type(array))

        with printer.in_angle_brackets():
            printer.print_list(self.data.keys(), print_array)


def module_weights(module: ModuleOp) -> Weights | None:
    """Return the weights store in the attribute of `module`, or None."""
    attribute = module.attributes.get(_NAME)
    return attribute.data if isinstance(attribute, WeightsAttr) else None


def set_module_weights(module: ModuleOp, weights: Weights | None) -> None:
    """Make `weights` an attribute of `module`, so that its text has them; None removes it."""
    if weights is None:
        module.attributes.pop(_NAME, None)
    else:
        module.attributes[_NAME] = WeightsAttr(weights)
