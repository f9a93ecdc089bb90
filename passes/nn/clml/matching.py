"""Search for operations that CLML can compute, and for the reasons why it cannot compute others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import cl, nn
from ....dialects.clml import Arithmetic, Layout, MLOp, MLTensorType, Shape, Usage, ml_tensor
from ....dialects.clml.facts import CLMLFacts
from ....dialects.inferred import require
from ....dialects.nn import Array
from ....weights import Weights
from ...locations import op_name
from ..offload.matches import Match, Matches, inputs_of
from .builder import CommandBuilder, Transform, require_constant, tensor_type
from .patterns import PATTERNS, Pattern


@dataclass(frozen=True, eq=False, kw_only=True)
class CLMLMatch(Match):
    """nn operations that CLML can compute together; legal, since its commands were verified."""

    pattern: Pattern
    """The row of `PATTERNS` that matched."""
    commands: tuple[MLOp, ...]
    """The detached clml operations that compute the match, without copies between layouts.

    A reshape that moves no elements has none.
    """
    arithmetic: Arithmetic
    """The arithmetic of commands that accumulate."""


class _Trial(CommandBuilder):
    """Builds detached commands on placeholder tensors, so that verifiers can check them."""

    def __init__(self, version: int, weights: Weights) -> None:
        self.version = version
        self.weights = weights
        self.commands: list[MLOp] = []
        self._operands = Block()
        self._read: dict[tuple[SSAValue, MLTensorType], SSAValue] = {}

    def _operand(self, type: MLTensorType) -> SSAValue:
        return self._operands.insert_arg(type, len(self._operands.args))

    def read(
        self, value: SSAValue, layout: Layout = Layout.OPTIMAL, sizes: Shape | None = None
    ) -> SSAValue:
        if isinstance(value.owner, nn.ConstantOp):
            return self.weight(value, tensor_type(value, layout, sizes).get_shape(), layout)
        type = tensor_type(value, layout, sizes)
        if (value, type) not in self._read:
            self._read[value, type] = self._operand(type)
        return self._read[value, type]

    def common_layout(self, values: Sequence[SSAValue]) -> Layout:
        return Layout.OPTIMAL

    def weight(
        self,
        value: SSAValue,
        sizes: Shape,
        layout: Layout = Layout.OPTIMAL,
        transform: Transform | None = None,
    ) -> SSAValue:
        require_constant(value)
        if transform is not None:
            is_stored = nn.constant_value(value, self.weights) is not None
            require(is_stored, "the elements of a constant are missing from the weights")
        return self._operand(tensor_type(value, layout, sizes, Usage.PARAMETER))

    def parameter(self, array: Array, sizes: Shape, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        type = nn.element_type(array.dtype)
        return self._operand(MLTensorType(sizes, type, layout, Usage.PARAMETER))

    def add(self, command: MLOp) -> SSAValue:
        required = command.REQUIRED_VERSION
        require(
            required <= self.version,
            f"{command.name} needs CLML {required}, the target has version {self.version}",
        )
        command.verify()
        self.commands.append(command)
        return command.results[0]


def find_matches(function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
    """Return the legal matches of a function for the CLML version of `target`.

    Each operation is part of at most one match: the first, in program order, that includes it.
    """
    legal: list[Match] = []
    reasons: dict[Operation, str] = {}
    taken: set[Operation] = set()
    version = CLMLFacts.of(target).clml_version
    for op in function.body.block.ops:
        if op in taken or isinstance(op, nn.ConstantOp | func.ReturnOp):
            continue
        match = _match(op, version, weights)
        if isinstance(match, CLMLMatch):
            legal.append(match)
            taken.update(match.ops)
        else:
            reasons[op] = match
    return Matches(legal, reasons)


def _match(op: Operation, version: int, weights: Weights) -> CLMLMatch | str:
    """Return the best match that begins with `op`, or the reason why there is none."""
    reason = f"CLML has no operation for {op_name(op)}"
    for pattern in PATTERNS:
        if pattern.root is not type(op):
            continue
        for ops in _chains(op, pattern):
            match = _try(pattern, ops, version, weights)
            if isinstance(match, CLMLMatch):
                return match
            reason = match
    return reason


def _chains(op: Operation, pattern: Pattern) -> Iterator[tuple[Operation, ...]]:
    """Yield the chains of operations from `op` on that a pattern accepts, longest first."""
    ops = [op]
    for tail in pattern.tails:
        users = [use.operation for use in ops[-1].results[0].uses]
        if len(users) == 1 and users[0].parent is op.parent and tail(users[0], ops[-1]):
            ops.append(users[0])
    for length in range(len(ops), 0, -1):
        yield tuple(ops[:length])


def _try(
    pattern: Pattern, ops: tuple[Operation, ...], version: int, weights: Weights
) -> CLMLMatch | str:
    """Return the match of `ops` with a pattern, or the reason why CLML refuses it."""
    trial = _Trial(version, weights)
    try:
        pattern.build(ops, trial)
        alone = pattern.is_alone(ops)
    except VerifyException as refusal:
        return str(refusal).strip()
    commands = tuple(trial.commands)
    return CLMLMatch(
        pattern=pattern,
        ops=ops,
        inputs=inputs_of(ops),
        commands=commands,
        note=" and ".join(command.name for command in commands) or "a view of its operand",
        arithmetic=_arithmetic(ops),
        is_opaque=_is_opaque(commands),
        is_view=isinstance(ops[0], nn.ReshapeOp),
        needs_producer=pattern.needs_producer(ops),
        is_alone=alone,
    )


def _is_opaque(commands: Sequence[MLOp]) -> bool:
    """Return whether all computed tensors of the commands have the optimal layout."""
    tensors = [
        ml_tensor(value) for command in commands for value in (*command.operands, *command.results)
    ]
    return all(t.layout is Layout.OPTIMAL or t.usage is Usage.PARAMETER for t in tensors)


def _arithmetic(ops: Sequence[Operation]) -> Arithmetic:
    """Return the arithmetic of a match; sums that nn keeps in float are never kept in half."""
    if nn.tensor_type(ops[0].results[0]).element_type == f32:
        return Arithmetic.FP32
    return Arithmetic.FP16 if "accumulate" in ops[0].properties else Arithmetic.FP16_ACC32
