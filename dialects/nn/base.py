"""The base class of nn operations, and the checks that their shape rules share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, f16, i32
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, InferredOp, Properties
from .interfaces import HalfRule, Role, Zeros
from .limits import check_size
from .types import (
    Array,
    Tensor,
    count,
    is_float,
    is_integer,
    numpy_dtype,
    shape_of,
    tensor_type,
)

KIND_FORMAT = "$kind " + FORMAT
"""The text form of nn operations that start with the keyword of their kind."""

MODE_FORMAT = "$mode " + FORMAT
"""The text form of nn operations that start with the keyword of their mode."""


class NNOp(InferredOp, HasCanonicalizationPatternsInterface, ABC):
    """A pure tensor operation whose result types follow from its operands and properties.

    A subclass declares operands (at most one optional or variadic), properties and results, and
    implements `infer`, the only place for its shape rule. The constructor takes the result types
    from it, and the verifier compares the stated types with it.

    The facts below it are all that passes know of an operation, besides its lowering. The defaults
    are right for every operation, and only slow.
    """

    ROLE: ClassVar[Role | None] = None
    """The role in a kernel; operations without one never enter a kernel of their own accord.

    Passes ask `role`, which may depend on more.
    """
    HALF: ClassVar[HalfRule] = HalfRule.SINGLE
    """The storage of the floats in a network of halves; `half_rule` may depend on more.

    Single are comparisons, arg_reduce, top_k and max_pool_indices, because two numbers that round
    to one half would tie; cumsum, because it grows; casts, because integers are often indices. The
    inner values of others (exponentials, statistics, coordinates) are floats in any case.
    """
    BY_CHANNEL: ClassVar[bool] = False
    """Whether axis 1 is special: windows lie in the axes after it, or it has parameters."""
    MOVES_AXES: ClassVar[bool] = False
    """Whether neighbours along an axis of the result may not be neighbours along that axis of the
    operand.
    """

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
        inferred = self.inferred_types(operand_types, self.with_defaults(given))
        super().__init__(operands=operands, properties=given, result_types=inferred)

    @classmethod
    @abstractmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        """The result types. Raises VerifyException, one sentence, if the operation is not legal."""

    def role(self) -> Role | None:
        """The role in a kernel."""
        return self.ROLE

    def half_rule(self) -> HalfRule:
        """The storage of the floats of this operation in a network of halves."""
        return self.HALF

    def sums_halves(self) -> bool:
        """Whether the operation can add up its halves as halves: it has a property `accumulate`."""
        is_half = tensor_type(self.results[0]).element_type == f16
        return is_half and "accumulate" in self.get_irdl_definition().properties

    def is_costly(self) -> bool:
        """Whether an element that is read more than once should be stored, not computed again."""
        return False

    def places_rows(self) -> bool:
        """Whether a kernel that computes the operand can store it in this result's order, a vector
        at a time.
        """
        return False

    def has_border(self) -> bool:
        """Whether a read of an element tests whether it lies outside of the operand."""
        return False

    def overlap(self) -> float:
        """The number of elements of a window's result that read the same element of its operand."""
        return 1

    def is_contiguous(self) -> bool:
        """Whether the result stores its operands one after another."""
        return False

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool | None:
        """Whether the first result is zero beyond the extent of an axis.

        None leaves it to the role: a function of zeros is evaluated, an element that is only moved
        is zero where its source is. All other results may be anything.
        """
        del axis, zeros

    def check_value(self, position: int, value: Array) -> None:
        """Verify the known value of an operand; VerifyException, one sentence, if it is illegal."""
        del position, value

    def has_value_of_nothing(self) -> bool:
        """Whether the result is defined where an operand has no elements."""
        return False

    def compute(self, operands: Sequence[Array]) -> Array | tuple[Array, ...] | None:
        """The results in numpy, word for word from the definition; None leaves them to run time.

        Operations of nn itself have a row of `evaluation.EVALUATORS` instead.
        """
        del operands

    def visits(self) -> int:
        """The number of elements that computing it in numpy visits or holds at once."""
        return max(count(shape_of(value)) for value in (*self.operands, *self.results))

    @classmethod
    def inferred_types(
        cls, operand_types: Sequence[Tensor], properties: Properties
    ) -> tuple[Tensor, ...]:
        """The result types by `infer`. Raises VerifyException also if a result is too large."""
        inferred = tuple(cls.infer(operand_types, properties))
        for type in inferred:
            check_size(type)
        return inferred

    def verify_(self) -> None:
        operand_types = [tensor_type(v) for v in self.operands]
        for type in (*operand_types, *(tensor_type(v) for v in self.results)):
            if not type.has_static_shape():
                raise VerifyException(f"{type} has a dynamic dimension, nn shapes are static")
        inferred = self.inferred_types(operand_types, self.with_defaults(self.properties))
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


def sum_element(types: Sequence[Tensor]) -> Attribute:
    """The element type of sums of products of two factors; a third type is that of their bias.

    It is i32 for integers of 8 bits, signed or not, else that of all operands.
    """
    if not all(_is_byte(factor.element_type) for factor in types[:2]):
        require_same_element(types)
        return types[0].element_type
    for bias in types[2:]:
        if bias.element_type != i32:
            raise VerifyException(f"sums of 8-bit integers are i32, their bias {bias.element_type}")
    return i32


def _is_byte(element_type: Attribute) -> bool:
    return is_integer(element_type) and numpy_dtype(element_type).itemsize == 1


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
