"""The base class of CLML commands, and the rules they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import opt_prop_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..inferred import InferredOp, Properties, require
from .attributes import ELEMENT_TYPES, ArithmeticAttr, Layout
from .types import MLTensorType, Shape, Usage, ml_tensor, sizes_text

ANY_LAYOUT = (Layout.OPTIMAL, Layout.NCHW, Layout.NHWC)
"""For commands that accept any layout, if all their tensors have it."""


class Unit(StrEnum):
    """Kinds of commands with different throughput of multiply-adds."""

    CONVOLUTION = "convolution"
    DEPTHWISE = "depthwise"
    MATMUL = "matmul"


class MLOp(InferredOp, ABC):
    """A command of a graph: one operation of the CLML API.

    A subclass declares operands, properties and one result, and implements `infer`, the only
    definition of its rules and of the sizes of its result. A command may be built and verified
    outside a graph; the message of the VerifyException says why CLML cannot compute it.
    """

    REQUIRED_VERSION: ClassVar[int] = 1
    """The first major version of the interface with the operation."""
    LAYOUTS: ClassVar[tuple[Layout, ...]] = (Layout.OPTIMAL,)
    """The accepted layouts; all tensors of a command have the same one."""
    CONSTANT_TAIL: ClassVar[bool] = False
    """Whether all operands except the first are parameters."""
    ONE_IMAGE: ClassVar[bool] = True
    """Whether all tensors except parameters have a batch of 1."""

    def __init__(
        self,
        operands: Sequence[SSAValue | Sequence[SSAValue] | None],
        properties: Mapping[str, Attribute],
        result_type: MLTensorType,
    ):
        super().__init__(operands=operands, properties=properties, result_types=[result_type])

    @property
    def unit(self) -> Unit:
        """Return the kind whose throughput its multiply-adds have."""
        return Unit.CONVOLUTION

    @property
    def multiply_adds(self) -> int:
        """Return the number of multiply-adds, or 0 for commands bound by memory."""
        return 0

    @classmethod
    def accepted_layouts(cls, x: Shape) -> tuple[Layout, ...]:
        """Return the layouts accepted for an operand of these sizes, best first."""
        del x
        return cls.LAYOUTS

    @classmethod
    @abstractmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        """Return the sizes of the result.

        Raises VerifyException, one sentence, if CLML cannot compute it. `asked` are the sizes of
        the stated result type; a few operations can produce any.
        """

    def verify_(self) -> None:
        operands = [ml_tensor(value) for value in self.operands]
        (result,) = (ml_tensor(value) for value in self.results)
        _require_one_element_type([*operands, result])
        if result.usage is Usage.PARAMETER:
            raise VerifyException("the result of a command must not be a parameter")
        if self.CONSTANT_TAIL:
            _require_parameters(operands[1:])
        if self.ONE_IMAGE:
            _require_one_image([*operands, result])
        self._verify_layouts(operands, result)
        expected = self.infer(operands, self.with_defaults(self.properties), result.get_shape())
        if expected != result.get_shape():
            raise VerifyException(
                f"the result has the sizes {sizes_text(expected)}, "
                f"not {sizes_text(result.get_shape())}{self._size_hint()}"
            )

    def _verify_layouts(self, operands: Sequence[MLTensorType], result: MLTensorType) -> None:
        accepted = self.accepted_layouts((operands[0] if operands else result).get_shape())
        layouts = [type_.layout for type_ in (*operands, result)]
        for layout in layouts:
            require(
                layout in accepted,
                f"the layout must be {' or '.join(accepted)}, not {layout}: insert clml.copy",
            )
        for layout in layouts:
            require(
                layout is result.layout,
                f"all tensors must have the same layout, not {layout} and {result.layout}: "
                "insert clml.copy",
            )

    def _size_hint(self) -> str:
        """Return a clause about the sizes to append to the message about wrong ones."""
        return ""


class ArithmeticOp(MLOp, ABC):
    """A command with an arithmetic: its `arithmetic` property, or by default its graph's."""

    arithmetic = opt_prop_def(ArithmeticAttr)

    @property
    def adds_up(self) -> bool:
        """Return whether the arithmetic affects the result: more than one operation rounds."""
        return False

    def verify_(self) -> None:
        super().verify_()
        if self.arithmetic is None:
            return
        mode, element_type = self.arithmetic.data, ml_tensor(self.results[0]).element_type
        if ELEMENT_TYPES[mode] != element_type:
            raise VerifyException(
                f"arithmetic {mode} requires {ELEMENT_TYPES[mode]}, but the tensors are "
                f"{element_type}"
            )


def _require_one_element_type(types: Sequence[MLTensorType]) -> None:
    first = types[0].element_type
    for type_ in types:
        if type_.element_type != first:
            raise VerifyException(
                f"all tensors must have the same element type, not {first} and {type_.element_type}"
            )


def _require_one_image(types: Sequence[MLTensorType]) -> None:
    for type_ in types:
        batch = type_.get_shape()[0]
        if type_.usage is not Usage.PARAMETER and batch != 1:
            raise VerifyException(
                f"CLML requires a batch of 1, but {sizes_text(type_.get_shape())} has {batch}"
            )


def _require_parameters(types: Sequence[MLTensorType]) -> None:
    for type_ in types:
        if type_.usage is not Usage.PARAMETER:
            raise VerifyException(
                "weights, biases and statistics must be constants, but the one of sizes "
                f"{sizes_text(type_.get_shape())} is computed"
            )


def require_vectors(types: Sequence[MLTensorType], channels: int) -> None:
    """Raise VerifyException for biases and statistics without one value per channel."""
    for type_ in types:
        if type_.get_shape() != (1, channels, 1, 1):
            raise VerifyException(
                f"a value for each of {channels} channels must have the sizes 1x{channels}x1x1, "
                f"not {sizes_text(type_.get_shape())}"
            )


def require_pads(pads: Sequence[int]) -> None:
    """Raise VerifyException unless pads are four amounts: top, left, bottom, right."""
    require(len(pads) == 4, f"pads must be top, left, bottom and right, not {len(pads)} values")
    require(min(pads) >= 0, f"pads must be at least 0, not {list(pads)}")


def require_pairs(**arrays: Sequence[int]) -> None:
    """Raise VerifyException unless properties are two positive integers, for H and W."""
    for name, array in arrays.items():
        require(len(array) == 2, f"{name} must have two values, for H and W, not {len(array)}")
        require(min(array) >= 1, f"{name} must be positive, not {list(array)}")
