"""The builder that all frontends share: it appends nn operations and folds known values."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, LocationAttr, NameLoc, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..dialects import nn
from ..dialects.nn.base import NNOp
from ..dialects.nn.evaluation.folding import fold
from ..dialects.nn.limits import MAX_STEPS, check_computed, check_size
from ..dialects.nn.types import (
    Array,
    Tensor,
    array_type,
    numpy_dtype,
    shape_of,
    tensor_type,
    with_shape,
)
from ..errors import CloptError
from ..messages.printable import LONGEST
from ..weights import Weights

FOLDABLE_ELEMENTS = 1 << 16
"""Elements of the largest operand or result of an operation that is folded at import."""

DECIDING_ELEMENTS = 64
"""Elements of the largest input whose values may decide shapes.

The program is specialised for these values, so larger inputs, such as images, would give a program
for each inference.
"""


def name_location(name: str) -> LocationAttr:
    """Return the location `loc("name")`."""
    return NameLoc(StringAttr(name), NoneAttr())


def name_value(value: SSAValue, name: str) -> None:
    """Name a value as in the model, if MLIR can print the name and the value has none yet."""
    if value.name_hint is not None or len(name) > LONGEST:
        return
    if name.isascii() and SSAValue.is_valid_name(name):
        value.name_hint = name


class DataSize(NamedTuple):
    """The size of a value along an axis, computed at run time: a scalar of i64."""

    axis: int
    number: SSAValue


class TooManySteps(CloptError):
    """Raised when the model has too many operations; the import stops at once."""


class Builder:
    """Appends operations to a block.

    A constant stays without an operation until an operation uses it, so that shape computations
    leave no trace. An operation is folded instead of appended if all its operands are known and
    small, or if all its results are empty; its results are then constants.
    """

    def __init__(self, block: Block, weights: Weights):
        self.location: LocationAttr = UnknownLoc()
        self._block = block
        self._weights = weights
        self.inputs: dict[SSAValue, str] = {}
        """The inputs of the network, by value, with their names."""
        self.data_sizes: dict[SSAValue, DataSize] = {}
        """The sizes that only the device knows; the shape of such a value is an upper bound."""
        self.sequences: dict[SSAValue, Sequence[SSAValue] | None] = {}
        """The values that are sequences, with their elements; None for an optional without one."""
        self._known: dict[SSAValue, Array] = {}
        self._hints: dict[SSAValue, str] = {}
        self._placed: dict[SSAValue, SSAValue] = {}
        self._outer: list[Block] = []
        self.bodies: list[func.FuncOp] = []
        """Loop bodies, which become private functions of the module."""
        self._computed = 0
        self._steps = 0
        self._seeds = 0
        self._label = ""

    def add_input(self, type: Tensor, name: str) -> SSAValue:
        """Append an argument to the block, an input of the network."""
        argument = self._block.insert_arg(type, len(self._block.args))
        name_value(argument, name)
        self.inputs[argument] = name
        return argument

    @property
    def is_inside(self) -> bool:
        """Return whether operations go to the body of a loop."""
        return bool(self._outer)

    @contextmanager
    def inside(self, types: Sequence[Attribute]) -> Generator[Block]:
        """Append operations to a new block with arguments of `types`, the body of a loop.

        If an error ends it, the block and everything in it are discarded.
        """
        block, placed = Block(arg_types=types), self._placed
        steps, seeds = self._steps, self._seeds
        self._outer.append(self._block)
        self._block, self._placed = block, {}
        try:
            yield block
        except (CloptError, VerifyException):
            # An operation that was refused is not in the block, but still uses its operands.
            block.erase(safe_erase=False)
            self._steps, self._seeds = steps, seeds
            raise
        finally:
            self._block, self._placed = self._outer.pop(), placed

    def append(self, op: Operation) -> Sequence[SSAValue]:
        """Append an operation whose operands are placed. Return its results."""
        op.location = self.location
        self._block.add_op(op)
        return op.results

    def append_outside(self, op: Operation) -> Sequence[SSAValue]:
        """Append an operation, whose operands are placed, before the loop. Return its results."""
        self._outer[-1].add_op(op)
        return op.results

    def add_body(self, block: Block, types: Sequence[Attribute]) -> str:
        """Add a loop's body, which returns values of `types`, to the module. Return its name."""
        name = f"loop_{len(self.bodies)}"
        type_ = (list(block.arg_types), list(types))
        body = func.FuncOp(name, type_, Region(block), visibility="private")
        nn.mark_network(body)
        self.bodies.append(body)
        return name

    def count_step(self, label: str = "") -> None:
        """Count a node or an operation; raise TooManySteps beyond `MAX_STEPS`.

        The message names the last node, whose `label` later calls may omit.
        """
        self._label = label or self._label
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooManySteps(
                f"{self._label}: the model has more than {MAX_STEPS} operations when its functions "
                "are inlined and its loops unrolled; export it with smaller ones."
            )

    def next_seed(self) -> int:
        """Return the seed of the next random operator that has none: 0, then 1, and so on."""
        self._seeds += 1
        return self._seeds - 1

    def reserve(self, *shape: int, itemsize: int = 8) -> None:
        """Count the bytes of an array to be computed; raise VerifyException above the limit."""
        self._computed += math.prod(shape) * itemsize
        check_computed(self._computed)

    def positions(self, count: int, axis: int, rank: int) -> SSAValue:
        """Return the constant 0 .. count - 1 along `axis` of a tensor of `rank` dimensions."""
        self.reserve(count)
        return self.constant(
            np.arange(count).reshape([-1 if i == axis else 1 for i in range(rank)])
        )

    def constant(self, array: Array, hint: str = "") -> SSAValue:
        """Return a value known to hold `array`; `hint` is its name in the model."""
        (value,) = Block(arg_types=(array_type(array),)).args
        self._known[value] = array
        self._hints[value] = hint
        return value

    def sequence(self, values: Sequence[SSAValue] | None) -> SSAValue:
        """Return a placeholder value for a sequence; None is an empty optional."""
        (value,) = Block(arg_types=(IndexType(),)).args
        self.sequences[value] = values
        return value

    def is_absent(self, value: SSAValue) -> bool:
        """Return whether a value is an optional without element."""
        return value in self.sequences and self.sequences[value] is None

    def known_if_empty(self, value: SSAValue) -> SSAValue:
        """Return `value`, or an empty constant in its place if it has no elements."""
        if array_size(value):
            return value
        return self.constant(np.empty(shape_of(value), dtype_of_value(value)))

    def known(self, value: SSAValue) -> Array | None:
        """Return the array that a value is known to hold at import, or None."""
        return self._known.get(value)

    def deciding_inputs(self, value: SSAValue) -> list[str] | None:
        """Return the inputs on which a value depends; None if one of them is large or unknown.

        Inputs of at most `DECIDING_ELEMENTS` elements count as small.
        """
        found: set[SSAValue] = set()
        seen, waiting = {value}, [value]
        while waiting:
            each = waiting.pop()
            if isinstance(each.owner, Block):
                if each not in self.inputs or array_size(each) > DECIDING_ELEMENTS:
                    return None
                found.add(each)
                continue
            operands = [operand for operand in each.owner.operands if operand not in seen]
            seen.update(operands)
            waiting.extend(operands)
        return [name for value, name in self.inputs.items() if value in found]

    def place(self, value: SSAValue) -> SSAValue:
        """Return `value` as an operand: materialise it as a constant operation if it is known."""
        if value not in self._known:
            return value
        if value not in self._placed:
            hint = self._hints[value]
            op = nn.ConstantOp.from_array(self._known[value], self._weights, hint)
            op.location = name_location(hint) if hint else self.location
            name_value(op.result, hint)
            self._block.add_op(op)
            self._placed[value] = op.result
        return self._placed[value]

    def add_all(self, op: NNOp) -> Sequence[SSAValue]:
        """Append an operation, or fold it if its operands are known. Return its results."""
        self.count_step()
        if (folded := self._fold(op)) is not None:
            op.erase()
            return [self.constant(array) for array in folded]
        for i, operand in enumerate(op.operands):
            if operand in self._known:
                op.check_value(i, self._known[operand])
                if array_size(operand) == 0:
                    raise VerifyException("a tensor without elements is used at run time")
                op.operands[i] = self.place(operand)
        op.location = self.location
        self._block.add_op(op)
        return op.results

    def add(self, op: NNOp) -> SSAValue:
        """Append or fold an operation with one result. Return the result."""
        (result,) = self.add_all(op)
        return result

    def _fold(self, op: NNOp) -> Sequence[Array] | None:
        if all(array_size(result) == 0 for result in op.results):
            return [np.empty(shape_of(v), dtype_of_value(v)) for v in op.results]
        if not all(operand in self._known for operand in op.operands):
            return None
        if isinstance(op, nn.DequantizeOp) and shape_of(op.result):
            # A dequantised weight is not folded: a later pass may compute with its integers
            # instead.
            return None
        sizes = [array_size(v) for v in (*op.operands, *op.results)]
        if 0 in sizes:
            if not op.has_value_of_nothing():
                return None
        elif max(sizes) > FOLDABLE_ELEMENTS:
            return None
        for result in op.results:
            self.reserve(*shape_of(result), itemsize=dtype_of_value(result).itemsize)
        return fold(op, [self._known[operand] for operand in op.operands])

    # Shorthands from which importers compose operators.

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """Return a rank-0 constant of the element type of `like`."""
        dtype = dtype_of_value(like)
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            raise VerifyException(f"{value} is not representable as {dtype}")
        return self.constant(np.array(value, dtype))

    def unary(self, kind: str, x: SSAValue, *params: float) -> SSAValue:
        """Append an elementwise function."""
        return self.add(nn.UnaryOp(x, kind, params))

    def binary(self, kind: str, a: SSAValue, b: SSAValue | float) -> SSAValue:
        """Append an elementwise function of two tensors, or of a tensor and a number."""
        return self.add(nn.BinaryOp(a, self._operand(b, a), kind))

    def compare(self, kind: str, a: SSAValue, b: SSAValue | float) -> SSAValue:
        """Append an elementwise comparison of two tensors, or of a tensor and a number."""
        return self.add(nn.CompareOp(a, self._operand(b, a), kind))

    def where(
        self, condition: SSAValue, a: SSAValue, b: SSAValue, *, lazy: bool = False
    ) -> SSAValue:
        """Select `a` where the condition holds, else `b`; compute only one of them if `lazy`."""
        return self.add(nn.WhereOp(condition, a, b, lazy))

    def cast(self, x: SSAValue, to: Attribute, unsaturated: bool = False) -> SSAValue:
        """Cast `x` to the element type `to`; return `x` itself if it has that type."""
        if tensor_type(x).element_type == to:
            return x
        result = self.add(nn.CastOp(x, to, unsaturated))
        if x in self.data_sizes:
            self.data_sizes[result] = self.data_sizes[x]
        return result

    def reshape(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Reshape `x`; return `x` itself if it has that shape. A known array is not copied."""
        if tuple(shape) == shape_of(x):
            return x
        if (array := self.known(x)) is not None:
            if array.size != math.prod(shape):
                raise VerifyException(f"cannot reshape {list(array.shape)} to {list(shape)}")
            check_size(with_shape(array_type(array), shape))
            return self.constant(array.reshape(shape), self._hints[x])
        return self.add(nn.ReshapeOp(x, shape))

    def transpose(self, x: SSAValue, perm: Sequence[int]) -> SSAValue:
        """Permute the dimensions of `x`; return `x` itself if `perm` is the identity."""
        unmoved = tuple(perm) == tuple(range(len(shape_of(x))))
        return x if unmoved else self.add(nn.TransposeOp(x, perm))

    def concat(self, values: Sequence[SSAValue], axis: int) -> SSAValue:
        """Concatenate the values along `axis`."""
        return values[0] if len(values) == 1 else self.add(nn.ConcatOp(values, axis=axis))

    def slice(self, x: SSAValue, axis: int, start: int, size: int, step: int = 1) -> SSAValue:
        """Slice one dimension: `size` elements from `start` on, `step` apart."""
        shape = shape_of(x)
        if (start, size, step) == (0, shape[axis], 1):
            return x
        starts, steps, sizes = [0] * len(shape), [1] * len(shape), list(shape)
        starts[axis], steps[axis], sizes[axis] = start, step, size
        return self.add(nn.SliceOp(x, starts=starts, steps=steps, sizes=sizes))

    def expand(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Broadcast `x` to a shape; return `x` itself if it has that shape."""
        return x if tuple(shape) == shape_of(x) else self.add(nn.ExpandOp(x, shape))

    def gather(self, x: SSAValue, indices: SSAValue, axis: int) -> SSAValue:
        """Gather slices of `x` along `axis`."""
        return self.add(nn.GatherOp(x, indices, axis))

    def reduce(
        self, kind: str, x: SSAValue, axes: Sequence[int], keepdims: bool = True
    ) -> SSAValue:
        """Reduce `x` over `axes`."""
        return self.add(nn.ReduceOp(x, kind, axes=axes, keepdims=keepdims))

    def matmul(
        self, a: SSAValue, b: SSAValue, transpose_a: bool = False, transpose_b: bool = False
    ) -> SSAValue:
        """Append a matrix product of `a` and `b`."""
        return self.add(nn.MatmulOp(a, b, transpose_a, transpose_b))

    def _operand(self, value: SSAValue | float, like: SSAValue) -> SSAValue:
        return value if isinstance(value, SSAValue) else self.scalar(value, like)


def array_size(value: SSAValue) -> int:
    """Return the number of elements of a tensor value."""
    return math.prod(shape_of(value))


def dtype_of_value(value: SSAValue) -> np.dtype[Any]:
    """Return the numpy type of the elements of a tensor value."""
    return numpy_dtype(tensor_type(value).element_type)
