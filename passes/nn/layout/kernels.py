"""The kernels between which layouts are chosen, before and after they become regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.ir import Operation, SSAValue

from ....dialects import nn
from ..fuse import Group, is_literal
from ..structure import digest, structure, structure_text
from .access import OperandAccess, contraction_lane, is_contraction, operand_accesses

_NEVER = OperandAccess(0.0)

_VERSION = 1
"""Version of the code generated for a kernel in given layouts.

Raising it invalidates the stored records of layouts.
"""


@dataclass(eq=False)
class Work:
    """Operations that become one kernel with one result."""

    ops: Sequence[Operation]
    inputs: Sequence[SSAValue]
    """The values that `ops` read: operands from outside of a group, or arguments of a region."""
    result: SSAValue
    contraction: nn.NNOp | None = None
    _accesses: dict[tuple[int, int], dict[SSAValue, OperandAccess]] = field(
        default_factory=dict[tuple[int, int], dict[SSAValue, OperandAccess]]
    )

    def number_of(self, operand: SSAValue) -> int:
        """Return the position of an operand among the inputs."""
        return self._numbers[operand]

    @cached_property
    def key(self) -> object:
        """Return a key that is equal for kernels that differ only in operands and names."""
        rows, number = structure(self.inputs, self.ops)
        return rows, number[self.result]

    @cached_property
    def digest(self) -> str:
        """Return a digest of the computation, independent of names: the key of its records."""
        rows, number = cast("tuple[tuple[object, ...], int]", self.key)
        return digest([str(_VERSION), *map(structure_text, rows), str(number)])

    @cached_property
    def _numbers(self) -> dict[SSAValue, int]:
        return {value: i for i, value in enumerate(self.inputs)}

    @property
    def is_view(self) -> bool:
        """Return whether it only reshapes, so that nothing moves between plain tensors."""
        return all(isinstance(op, nn.ReshapeOp) for op in self.ops)

    @property
    def over_channels(self) -> list[SSAValue]:
        """Return the values with channels and spatial axes; only their channels may be packed."""
        ranks = {
            len(nn.shape_of(op.operands[0]))
            for op in self.ops
            if isinstance(op, nn.NNOp) and op.BY_CHANNEL
        }
        return [v for v in (*self.inputs, self.result) if len(nn.shape_of(v)) in ranks]

    def access(self, value: SSAValue, lane: int, lanes: int) -> OperandAccess:
        """Return the reads of a value if `lanes` results are computed at once along axis `lane`."""
        key = lane, lanes
        if key not in self._accesses:
            self._accesses[key] = operand_accesses(self.ops, self.result, lane, lanes)
        return self._accesses[key].get(value, _NEVER)


def works_of_group(group: Group) -> list[Work]:
    """Return the kernels that `outline` makes of a group: one for each result with a use."""
    last, members = group.ops[-1], set(group.ops)
    outside = dict.fromkeys(v for op in group.ops for v in op.operands if v.owner not in members)
    inputs = [value for value in outside if not is_literal(value)]
    used = [result for result in last.results if result.uses] or last.results[:1]
    return [Work(group.ops, inputs, result, _contraction(group.ops)) for result in used]


def work_of_region(fused: nn.FusedOp) -> Work:
    """Return the kernel of a region for its first result."""
    ops = [op for op in fused.body.block.ops if not isinstance(op, nn.YieldOp)]
    return Work(ops, fused.body.block.args, fused.yielded[0], _contraction(ops))


def work_lane(work: Work) -> int | None:
    """Return the axis of the result along which the contraction of a kernel computes.

    Return None if there is no contraction, or if later operations move its elements.
    """
    op = work.contraction
    if op is None or nn.shape_of(op.results[0]) != nn.shape_of(work.result):
        return None
    return contraction_lane(op)


def _contraction(ops: Iterable[Operation]) -> nn.NNOp | None:
    return next((op for op in ops if is_contraction(op)), None)
