"""The base class of nn operations, and the checks shared by their inference rules."""

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
from ..narrow import is_narrow
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
"""Assembly format of nn operations that start with the keyword of their kind."""

MODE_FORMAT = "$mode " + FORMAT
"""Assembly format of nn operations that start with the keyword of their mode."""


class NNOp(InferredOp, HasCanonicalizationPatternsInterface, ABC):
    """A pure tensor operation whose result types follow from its operands and properties.

    A subclass declares operands (at most one optional or variadic), properties and results, and
    implements `infer`, the only definition of its result types. The constructor takes the result
    types from it, and the verifier compares the stated types with it.

    The class variables and methods below are all that passes know of an operation, besides its
    lowering. The defaults are correct for every operation, but slow.
    """

    ROLE: ClassVar[Role | None] = None
    """The role in a kernel; an operation without a role is never fused into one by itself.

    Passes call `role`, which may depend on properties.
    """
    HALF: ClassVar[HalfRule] = HalfRule.SINGLE
    """How floats are stored in an f16 network; `half_rule` may depend on properties.

    Comparisons, arg_reduce, top_k and max_pool_indices are SINGLE, because two numbers that round
    to the same half would tie; cumsum, because its values grow; casts, because their integers are
    often indices. Intermediate values of other operations (exponentials, statistics, coordinates)
    are single precision in any case.
    """
    BY_CHANNEL: ClassVar[bool] = False
    """Whether axis 1 is special: windows lie in the axes after it, or it has parameters."""
    MOVES_AXES: ClassVar[bool] = False
    """Whether adjacent elements of the result need not be adjacent along that axis in the operand.
    """
    ACCEPTS_NARROW: ClassVar[bool] = False
    """Whether elements may have a narrow type: the operation moves them without computing."""

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
        """Return the result types.

        Raises VerifyException, one sentence, if the operation is illegal.
        """

    def role(self) -> Role | None:
        """Return the role in a kernel, or None."""
        return self.ROLE

    def half_rule(self) -> HalfRule:
        """Return how the floats of this operation are stored in an f16 network."""
        return self.HALF

    def sums_halves(self) -> bool:
        """Return whether the operation can sum f16 in f16: it has a property `accumulate`."""
        is_half = tensor_type(self.results[0]).element_type == f16
        return is_half and "accumulate" in self.get_irdl_definition().properties

    def is_costly(self) -> bool:
        """Return whether an element that is read repeatedly should be stored, not recomputed."""
        return False

    def reads_memory(self) -> bool:
        """Return whether other kernels must have stored the operands before."""
        return False

    def places_rows(self) -> bool:
        """Return whether a producer can store its result in this operation's order.

        The kernel that computes the operand then stores vectors at the rows of this result.
        """
        return False

    def has_border(self) -> bool:
        """Return whether reading an element tests whether it lies outside the operand."""
        return False

    def overlap(self) -> float:
        """Return how many elements of a window's result read the same element of its operand."""
        return 1

    def is_contiguous(self) -> bool:
        """Return whether the result stores its operands one after another."""
        return False

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool | None:
        """Return whether the first result is zero beyond the extent of an axis.

        None leaves the answer to the role: a function is evaluated for zeros, and a moved element
        is zero if its source is. Other results may be anything.
        """
        del axis, zeros

    def check_value(self, position: int, value: Array) -> None:
        """Verify the known value of an operand.

        Raises VerifyException, one sentence, if it is illegal.
        """
        del position, value

    def has_value_of_nothing(self) -> bool:
        """Return whether the result is defined if an operand has no elements."""
        return False

    def compute(self, operands: Sequence[Array]) -> Array | tuple[Array, ...] | None:
        """Return the results in numpy, computed as defined; None leaves them to run time.

        Built-in operations have an entry of `evaluation.EVALUATORS` instead.
        """
        del operands

    def visits(self) -> int:
        """Return how many elements the numpy evaluation visits or holds at once."""
        return max(count(shape_of(value)) for value in (*self.operands, *self.results))

    @classmethod
    def inferred_types(
        cls, operand_types: Sequence[Tensor], properties: Properties
    ) -> tuple[Tensor, ...]:
        """Return the result types by `infer`.

        Raises VerifyException also if a result is too large.
        """
        for type in operand_types:
            if is_narrow(type.element_type) and not cls.ACCEPTS_NARROW:
                raise VerifyException(
                    f"{cls.name} cannot compute with {type.element_type}, which tensors only "
                    "store; cast the operand"
                )
        inferred = tuple(cls.infer(operand_types, properties))
        for type in inferred:
            check_size(type)
        return inferred

    def verify_(self) -> None:
        operand_types = [tensor_type(v) for v in self.operands]
        for type in (*operand_types, *(tensor_type(v) for v in self.results)):
            if not type.has_static_shape():
                raise VerifyException(f"{type} has a dynamic dimension; nn requires static shapes")
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
    """Raise VerifyException for element types that are not floating point."""
    if not is_float(type.element_type):
        raise VerifyException(f"element type must be floating point but is {type.element_type}")


def require_same_element(types: Sequence[Tensor]) -> None:
    """Raise VerifyException for operands of different element types."""
    for type in types[1:]:
        if type.element_type != types[0].element_type:
            raise VerifyException(
                f"element types {types[0].element_type} and {type.element_type} differ"
            )


def sum_element(types: Sequence[Tensor]) -> Attribute:
    """Return the element type of a sum of products; a third type is the bias.

    It is i32 for products of 8-bit integers, signed or not, else the type of all operands.
    """
    if not all(_is_byte(factor.element_type) for factor in types[:2]):
        require_same_element(types)
        return types[0].element_type
    for bias in types[2:]:
        if bias.element_type != i32:
            raise VerifyException(
                f"the bias of 8-bit integers must be i32, not {bias.element_type}"
            )
    return i32


def _is_byte(element_type: Attribute) -> bool:
    return is_integer(element_type) and numpy_dtype(element_type).itemsize == 1


def require_accumulator(types: Sequence[Tensor], properties: Properties) -> None:
    """Raise VerifyException for an accumulator type unless the operands are f16."""
    if "accumulate" in properties and types[0].element_type != f16:
        raise VerifyException(
            f"accumulate = f16 requires f16 operands but got {types[0].element_type}"
        )


def require_lengths(expected: int, **arrays: Sequence[object]) -> None:
    """Raise VerifyException for attribute arrays that do not have the expected length."""
    for name, array in arrays.items():
        if len(array) != expected:
            raise VerifyException(f"{name} must have {expected} entries but has {len(array)}")


def axis_of(attr: Attribute, rank: int) -> int:
    """Return an axis; raise VerifyException unless it is at least 0 and below `rank`."""
    axis = cast("IntegerAttr", attr).value.data
    if not 0 <= axis < rank:
        raise VerifyException(f"axis {axis} is outside a tensor of rank {rank}")
    return axis


def normalize_axis(axis: int, rank: int) -> int:
    """Return an axis counted from the front (ONNX counts negative axes from the back)."""
    return axis + rank if axis < 0 else axis
