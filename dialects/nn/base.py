"""The base class of nn operations, and the checks that their shape rules share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import IntegerAttr, f16
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .limits import check_size
from .types import Tensor, is_float, tensor_type

Properties: TypeAlias = Mapping[str, Attribute]
"""The properties of an operation, with defaults filled in."""

FORMAT = "operands attr-dict `:` functional-type(operands, results)"
"""The text form of most nn operations."""

KIND_FORMAT = "$kind " + FORMAT
"""The text form of nn operations that start with the keyword of their kind."""

MODE_FORMAT = "$mode " + FORMAT
"""The text form of nn operations that start with the keyword of their mode."""


class NNOp(IRDLOperation, HasCanonicalizationPatternsInterface, ABC):
    """A pure tensor operation whose result types follow from its operands and properties.

    A subclass declares operands (at most one optional or variadic), properties and results, and
    implements `infer`, the only place for its shape rule. The constructor takes the result types
    from it, and the verifier compares the stated types with it.
    """

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self,
        operands: Sequence[SSAValue | Sequence[SSAValue] | None],
        properties: Mapping[str, Attribute | None],
    ):
        given = {name: attr for name, attr in properties.items() if attr is not None}
        operand_types: list[Tensor] = []
        for operand in operands:
            values = (operand,) if isinstance(operand, SSAValue) else operand or ()
            operand_types.extend(tensor_type(v) for v in values)
        inferred = self.inferred_types(operand_types, self._with_defaults(given))
        super().__init__(operands=operands, properties=given, result_types=inferred)

    @classmethod
    @abstractmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        """The result types. Raises VerifyException, one sentence, if the operation is not legal."""

    @classmethod
    def inferred_types(
        cls, operand_types: Sequence[Tensor], properties: Properties
    ) -> tuple[Tensor, ...]:
        """The result types by `infer`. Raises VerifyException also if a result is too large."""
        inferred = tuple(cls.infer(operand_types, properties))
        for type in inferred:
            check_size(type)
        return inferred

    @classmethod
    def _with_defaults(cls, properties: Properties) -> Properties:
        definitions = cls.get_irdl_definition().properties
        defaults = {
            name: definition.default_value
            for name, definition in definitions.items()
            if definition.default_value is not None
        }
        return {**defaults, **properties}

    def verify_(self) -> None:
        operand_types = [tensor_type(v) for v in self.operands]
        for type in (*operand_types, *(tensor_type(v) for v in self.results)):
            if not type.has_static_shape():
                raise VerifyException(f"{type} has a dynamic dimension, nn shapes are static")
        inferred = self.inferred_types(operand_types, self._with_defaults(self.properties))
        stated = tuple(tensor_type(v) for v in self.results)
        if inferred != stated:
            expected = ", ".join(map(str, inferred))
            raise VerifyException(
                f"result type should be {expected} but is {', '.join(map(str, stated))}"
            )

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from ...passes.nn.canonicalization import patterns_for

        return patterns_for(cls.name)


def require(condition: bool, message: str) -> None:
    """Raise a VerifyException unless the condition holds."""
    if not condition:
        raise VerifyException(message)


def require_float(type: Tensor) -> None:
    """Refuse element types that are not floating point."""
    if not is_float(type.element_type):
        raise VerifyException(f"element type must be floating point but is {type.element_type}")


def require_same_element(types: Sequence[Tensor]) -> None:
    """Refuse operands of differing element types."""
    for type in types[1:]:
        if type.element_type != types[0].element_type:
            raise VerifyException(
                f"element types {types[0].element_type} and {type.element_type} differ"
            )


def require_accumulator(types: Sequence[Tensor], properties: Properties) -> None:
    """Refuse an accumulator type unless the operands are half."""
    if "accumulate" in properties and types[0].element_type != f16:
        raise VerifyException(
            f"accumulate = f16 takes f16 operands but got {types[0].element_type}"
        )


def require_lengths(expected: int, **arrays: Sequence[object]) -> None:
    """Refuse attribute arrays that do not have the expected length."""
    for name, array in arrays.items():
        if len(array) != expected:
            raise VerifyException(f"{name} needs {expected} entries but has {len(array)}")


def axis_of(attr: Attribute, rank: int) -> int:
    """A verified axis: at least 0 and below rank."""
    axis = cast("IntegerAttr", attr).value.data
    if not 0 <= axis < rank:
        raise VerifyException(f"axis {axis} is outside a tensor of rank {rank}")
    return axis


def normalize_axis(axis: int, rank: int) -> int:
    """An axis counted from the front (ONNX counts negative ones from the back)."""
    return axis + rank if axis < 0 else axis
