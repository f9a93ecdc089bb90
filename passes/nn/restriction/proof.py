"""The comparison of two networks, operation by operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from ....dialects import nn
from ....dialects.nn.in_place import seen_shapes
from ....restriction import Array, Change, ChangeKind, Restriction
from ....weights import Weights
from ...locations import node_name
from ..lowering import KernelBuilder, lowering_of
from ..structure import structure
from .comparison import TwoSizes
from .inputs import Inputs
from .masks import ZeroTails, masked_parts
from .moves import moved_parts
from .nests import result_parts
from .neutral import may_read_border
from .parts import Axis, Parts, axis_of, beginnings, keeps_indices, reshaped

_LARGEST_INPUT = 1 << 16
"""The bytes of the largest constant that becomes an input."""


class DifferentElementsError(Exception):
    """A network for larger sizes does not compute the results for smaller ones.

    The message names the node where this begins.
    """


class LargerNetwork:
    """A network that is compared with several smaller ones."""

    def __init__(self, module: ModuleOp, weights: Weights) -> None:
        self.module = module
        self.weights = weights
        self.kernels: dict[object, Block | None] = {}
        """The naive loop nests of operations by structure, which all comparisons need."""


def check_restriction(
    smaller: ModuleOp,
    weights: Weights,
    larger: LargerNetwork,
    changes: Sequence[Change] | None = (),
) -> Restriction:
    """Return how `larger` computes the results of `smaller`, as leading boxes of its own.

    This is proved for inputs that are leading boxes of each other, with any other elements in the
    larger ones, after certain `changes` of the larger network; None finds those that are needed.
    `weights` are those of the smaller one. Raises DifferentElementsError if there is no proof.
    """
    (small,), (large,) = nn.entries_of(smaller), nn.entries_of(larger.module)
    inputs = Inputs(changes)
    _Proof(weights, larger, inputs).check(small, large)
    return Restriction(seen_shapes(small), tuple(inputs.changes), inputs.arrays())


class _Proof:
    def __init__(self, weights: Weights, larger: LargerNetwork, inputs: Inputs) -> None:
        self._weights = weights
        self._larger = larger
        self._inputs = inputs
        self._zeros = ZeroTails()
        self._known: dict[object, Parts | None] = {}
        """The parts of results, by both operations and the parts of the operands."""
        self._counterpart: dict[SSAValue, SSAValue] = {}
        self._axes: dict[SSAValue, tuple[Axis, ...]] = {}
        """The axes of each value of the smaller network that is a part of its counterpart."""

    def check(self, small: func.FuncOp, large: func.FuncOp) -> Sequence[SSAValue]:
        """Compare two networks, and return the results of the smaller one."""
        args = small.body.block.args, large.body.block.args
        results = self._compare_networks(small, large, _beginnings(*args))
        if not all(keeps_indices(axis) for value in results for axis in self._axes[value]):
            raise DifferentElementsError("the result")
        return results

    def _compare_networks(
        self, small: func.FuncOp, large: func.FuncOp, inputs: Parts
    ) -> Sequence[SSAValue]:
        """Compare two networks whose inputs have these axes, and return the smaller results."""
        blocks = small.body.block, large.body.block
        needed = _needed(blocks[0])
        self._pair(blocks[0].args, blocks[1].args, inputs)
        for position, (a, b) in enumerate(zip(blocks[0].ops, blocks[1].ops, strict=False)):
            if a not in needed:
                self._counterpart |= zip(a.results, b.results, strict=False)
                continue
            parts = self._parts(position, a, b) if self._corresponds(a, b) else None
            if parts is None:
                raise DifferentElementsError(node_name(a))
            self._pair(a.results, b.results, parts)
        last = blocks[0].last_op
        assert last is not None
        return last.operands

    def _pair(self, small: Sequence[SSAValue], large: Sequence[SSAValue], parts: Parts) -> None:
        self._counterpart |= zip(small, large, strict=True)
        self._axes |= zip(small, parts, strict=True)

    def _corresponds(self, small: Operation, large: Operation) -> bool:
        """Return whether operations have the same name, operands and ranks of results."""
        return (
            type(small) is type(large)
            and [self._counterpart.get(value) for value in small.operands] == [*large.operands]
            and [*map(_rank, small.results)] == [*map(_rank, large.results)]
        )

    def _parts(self, position: int, small: Operation, large: Operation) -> Parts | None:
        """Return the parts that the results of corresponding operations are; None if unknown."""
        if isinstance(small, func.ReturnOp):
            return ()
        if isinstance(small, nn.ConstantOp):
            return self._of_constants(position, small, cast("nn.ConstantOp", large))
        operands = tuple(self._axes[value] for value in small.operands)
        if isinstance(small, nn.LoopOp):
            return self._of_loop(small, cast("nn.LoopOp", large), operands)
        given = self._inputs.given(position)
        # Changes that are found here have to serve other sizes, too.
        is_open = given is None and may_read_border(small)
        if not given and not is_open:
            if (parts := self._compare(small, large, operands)) is not None:
                return parts
        pair = TwoSizes(position, small, large, operands)
        moved = moved_parts(pair, self._inputs, self._compare)
        found = moved or masked_parts(pair, self._inputs, self._compare, self._zeros)
        return found or (self._compare(small, large, operands) if is_open else None)

    def _of_loop(self, small: nn.LoopOp, large: nn.LoopOp, operands: Parts) -> Parts | None:
        """Return the parts if iterations keep those of carried values; the body is not changed."""
        count, end = small.carried_count, small.carried_count + small.row_count
        rows = [axis for axis, *_ in operands[count:end]]
        trips = axis_of([(small.trip_count, large.trip_count)])
        if small.properties != large.properties or any(axis != trips for axis in rows):
            return None
        inside = (*operands[:count], *(tuple(axes[1:]) for axes in operands[count:end]))
        proof = _Proof(self._weights, self._larger, Inputs(()))
        bodies = (SymbolTable.lookup_symbol(op, op.body) for op in (small, large))
        a, b = (cast("func.FuncOp", body) for body in bodies)
        found = proof._compare_networks(a, b, (*inside, *operands[end:]))
        parts = [proof._axes[value] for value in found]
        if tuple(parts[:count]) != tuple(operands[:count]):
            return None
        return (*parts[:count], *((trips, *axes) for axes in parts[count:]))

    def _compare(self, small: Operation, large: Operation, operands: Parts) -> Parts | None:
        """Return the parts that the results are, by the loop nests of both operations."""
        if _are_equal(small, large):
            return _beginnings(small.results, large.results)
        keys = _key(small), _key(large)
        if keys[0] == keys[1]:
            return _beginnings(small.results, large.results)
        known = *keys, tuple(operands)
        if known not in self._known:
            self._known[known] = self._parts_of_results(small, large, keys[1], operands)
        return self._known[known]

    def _parts_of_results(
        self, small: Operation, large: Operation, key: object, operands: Parts
    ) -> Parts | None:
        """Return the parts that the results are; `key` is the structure of the larger operation."""
        if isinstance(small, nn.ReshapeOp):
            shapes = (nn.shape_of(op.results[0]) for op in (small, large))
            axes = reshaped(operands[0], *shapes)
            return None if axes is None else (axes,)
        kernels = self._larger.kernels
        if key not in kernels:
            kernels[key] = _kernel(large)
        a, b = _kernel(small), kernels[key]
        return None if a is None or b is None else result_parts(a, b, operands, len(small.results))

    def _of_constants(
        self, position: int, small: nn.ConstantOp, large: nn.ConstantOp
    ) -> Parts | None:
        """Return the parts if the smaller constant is one, or becomes an input if it is not."""
        given = self._inputs.given(position)
        parts = _beginnings(small.results, large.results)
        if not given and small.value == large.value:
            return parts
        a, b = (
            nn.constant_value(op.result, weights)
            for op, weights in ((small, self._weights), (large, self._larger.weights))
        )
        if a is None or b is None or a.ndim != b.ndim or a.dtype != b.dtype:
            return None
        if not given and _is_box(a, b):
            return parts
        if given == [] or b.nbytes > _LARGEST_INPUT or any(np.greater(a.shape, b.shape)):
            return None
        padded = np.zeros_like(b)
        padded[tuple(map(slice, a.shape))] = a
        is_added = self._inputs.add(ChangeKind.FEED, position, 0, -1, padded)
        return parts if is_added else None


def _is_box(small: Array, large: Array) -> bool:
    """Return whether an array is the leading box of a larger one."""
    box = large[tuple(map(slice, small.shape))]
    return box.shape == small.shape and small.tobytes() == box.tobytes()


def _rank(value: SSAValue) -> int:
    return len(nn.shape_of(value))


def _beginnings(small: Sequence[SSAValue], large: Sequence[SSAValue]) -> Parts:
    pairs = zip(small, large, strict=True)
    return tuple(beginnings(nn.shape_of(a), nn.shape_of(b)) for a, b in pairs)


def _needed(block: Block) -> set[Operation]:
    """Return the operations on which the results of a network depend."""
    needed: set[Operation] = set()
    for op in reversed(block.ops):
        users = (use.operation for value in op.results for use in value.uses)
        if op is block.last_op or any(user in needed for user in users):
            needed.add(op)
    return needed


def _key(op: Operation) -> object:
    return structure((), [op])[0]


def _are_equal(small: Operation, large: Operation) -> bool:
    """Return whether operations without regions are equal, sooner than by their structures."""
    values = (*small.operands, *small.results), (*large.operands, *large.results)
    return (
        not small.regions
        and small.name == large.name
        and small.properties == large.properties
        and [value.type for value in values[0]] == [value.type for value in values[1]]
    )


def _kernel(op: Operation) -> Block | None:
    """Return the naive loop nests of an operation; None if it has no lowering."""
    if (lower := lowering_of(op)) is None:
        return None
    builder = KernelBuilder("kernel", op.operands, op.results)
    lower(builder, op)
    return builder.finish().body.block
