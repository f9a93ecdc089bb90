"""Finds the operations that CLML can compute, alone or together, and says why not the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects import cl, nn
from ....dialects.clml import Arithmetic, Layout, MLOp, MLTensorType, Shape, Usage
from ....dialects.inferred import require
from ....dialects.nn import Array
from ....weights import Weights
from ...locations import op_name
from .builder import Builder, Transform, require_constant, tensor_type
from .patterns import PATTERNS, Pattern


@dataclass(frozen=True, eq=False)
class Match:
    """nn operations that CLML can compute together; legal, since its commands were verified."""

    pattern: Pattern
    """The row of the table."""
    ops: tuple[Operation, ...]
    """In program order; the last gives the result, and only the match reads the others."""
    inputs: tuple[SSAValue, ...]
    """The nn values that it reads, without constants."""
    commands: tuple[MLOp, ...]
    """The clml operations that compute it, detached, without copies between layouts. A reshape that
    moves nothing has none."""
    arithmetic: Arithmetic
    """The arithmetic of commands that add up."""
    is_view: bool = False
    """Whether it is a reshape."""
    needs_producer: bool = False
    """Whether its input must be computed in the same graph."""
    is_alone: bool = False
    """Whether it must be the only match of its graph, since its tensors have other sizes there."""
    rewritten: tuple[Operation, ...] = ()
    """The operations that `ops` stand for, where our kernels compute them in another form; both
    read the same inputs in the same order."""

    @property
    def result(self) -> SSAValue:
        """The nn value that it computes."""
        return self.ops[-1].results[0]

    @property
    def model(self) -> tuple[Operation, ...]:
        """The operations from which the commands are built: the model's."""
        return self.rewritten or self.ops


@dataclass
class Matches:
    """The parts of a function that CLML can compute."""

    legal: list[Match] = field(default_factory=list[Match])
    """In program order; no operation is in two."""
    reasons: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """One sentence for each other operation, except constants and `func.return`."""


class _Trial(Builder):
    """Builds detached commands on made-up tensors, so that verifiers can judge them."""

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
            known = nn.constant_value(value, self.weights) is not None
            require(known, "the numbers of a constant are not in the store of weights")
        return self._operand(tensor_type(value, layout, sizes, Usage.PARAMETER))

    def parameter(self, array: Array, sizes: Shape, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        type = nn.element_type(array.dtype)
        return self._operand(MLTensorType(sizes, type, layout, Usage.PARAMETER))

    def add(self, command: MLOp) -> SSAValue:
        required = command.REQUIRED_VERSION
        require(
            required <= self.version,
            f"{command.name} needs version {required} of CLML, the target has {self.version}",
        )
        command.verify()
        self.commands.append(command)
        return command.results[0]


def find_matches(function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
    """The legal matches of a function for the CLML version of `target`.

    An operation is in the first match, in program order, that takes it.
    """
    matches = Matches()
    taken: set[Operation] = set()
    for op in function.body.block.ops:
        if op in taken or isinstance(op, nn.ConstantOp | func.ReturnOp):
            continue
        found = _match(op, target.clml_version, weights)
        if isinstance(found, Match):
            matches.legal.append(found)
            taken.update(found.ops)
        else:
            matches.reasons[op] = found
    return matches


def _match(op: Operation, version: int, weights: Weights) -> Match | str:
    """The best match that begins with an operation, or the reason why there is none."""
    reason = f"CLML has no operation for {op_name(op)}"
    for pattern in PATTERNS:
        if pattern.root is not type(op):
            continue
        for ops in _chains(op, pattern):
            found = _try(pattern, ops, version, weights)
            if isinstance(found, Match):
                return found
            reason = found
    return reason


def _chains(op: Operation, pattern: Pattern) -> Iterator[tuple[Operation, ...]]:
    """The chains of operations that a pattern takes from `op` on, longest first."""
    ops = [op]
    for tail in pattern.tails:
        users = [use.operation for use in ops[-1].results[0].uses]
        if len(users) == 1 and users[0].parent is op.parent and tail(users[0], ops[-1]):
            ops.append(users[0])
    for length in range(len(ops), 0, -1):
        yield tuple(ops[:length])


def _try(
    pattern: Pattern, ops: tuple[Operation, ...], version: int, weights: Weights
) -> Match | str:
    trial = _Trial(version, weights)
    try:
        pattern.build(ops, trial)
        alone = pattern.is_alone(ops)
    except VerifyException as refusal:
        return str(refusal).strip()
    return Match(
        pattern,
        ops,
        inputs_of(ops),
        tuple(trial.commands),
        _arithmetic(ops),
        isinstance(ops[0], nn.ReshapeOp),
        pattern.needs_producer(ops),
        alone,
    )


def inputs_of(ops: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """The values that operations read from outside, without constants, in order of first use."""
    inside = {value for op in ops for value in op.results}
    return tuple(
        dict.fromkeys(
            value
            for op in ops
            for value in op.operands
            if value not in inside and not isinstance(value.owner, nn.ConstantOp)
        )
    )


def _arithmetic(ops: Sequence[Operation]) -> Arithmetic:
    """The arithmetic of a match: sums that nn keeps in float are never kept in half."""
    if nn.tensor_type(ops[0].results[0]).element_type == f32:
        return Arithmetic.FP32
    return Arithmetic.FP16 if "accumulate" in ops[0].properties else Arithmetic.FP16_ACC32
