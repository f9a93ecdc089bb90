"""Selection of the values of a float network that become int8.

Products with constants read int8, and so do operations between products: residual sums, averages
and data movement. Values that no product needs stay float.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import f32
from xdsl.ir import Block, Operation, SSAValue

from ....dialects import nn
from ....dialects.nn import BinaryKind, PoolKind, ReduceKind, UnaryKind
from ...locations import node_name

BOUNDS = (UnaryKind.RELU, UnaryKind.LEAKY_RELU)
"""Functions that may stand between a product and the rounding of its result."""


def is_constant(value: SSAValue) -> bool:
    """Return whether a value is a constant of the network."""
    return isinstance(value.owner, nn.ConstantOp)


def is_product(op: Operation) -> bool:
    """Return whether `op` multiplies a value by constant weights and accumulates."""
    match op:
        case nn.ConvolutionOp():
            return _is_f32(op) and not is_constant(op.x) and is_constant(op.w)
        case nn.MatmulOp():
            return _is_f32(op) and is_constant(op.a) != is_constant(op.b)
        case _:
            return False


def moves_integers(op: Operation) -> bool:
    """Return whether `op` only moves elements of its operands, or selects the largest of some."""
    if not isinstance(op, nn.NNOp) or any(map(is_constant, op.operands)):
        return False
    match op:
        case nn.PoolOp():
            return op.kind.data is PoolKind.MAX
        case nn.PadOp():
            return op.value is None
        case nn.ConcatOp() | nn.ReshapeOp():
            return True
        case _:
            return op.ROLE is nn.Role.INDEX and len(op.operands) == 1


def averages(op: Operation) -> bool:
    """Return whether `op` computes means of its operand's elements."""
    match op:
        case nn.PoolOp():
            return op.kind.data is PoolKind.AVERAGE
        case nn.ReduceOp():
            return op.kind.data is ReduceKind.MEAN
        case _:
            return False


def adds_values(op: Operation) -> bool:
    """Return whether `op` adds two computed values."""
    is_sum = isinstance(op, nn.BinaryOp) and op.kind.data is BinaryKind.ADD
    return is_sum and not any(map(is_constant, op.operands))


def _bounds(op: Operation) -> bool:
    """Return whether `op` bounds its operand or adds a bias."""
    match op:
        case nn.ClipOp():
            return True
        case nn.UnaryOp():
            return op.kind.data in BOUNDS
        case nn.BinaryOp():
            return op.kind.data is BinaryKind.ADD and any(map(is_constant, op.operands))
        case _:
            return False


def _is_f32(op: nn.NNOp) -> bool:
    return nn.tensor_type(op.results[0]).element_type == f32


@dataclass
class QuantizationPlan:
    """The operations of one network that read int8, and the values that are rounded to it."""

    readers: dict[Operation, tuple[int, ...]] = field(
        default_factory=dict[Operation, tuple[int, ...]]
    )
    """The operations, with the positions of the operands that they read as int8."""
    sites: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values that are rounded, in the order of the network."""
    moved: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values that consist of elements of rounded ones, with the same scale."""
    _parent: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def root(self, value: SSAValue) -> SSAValue:
        """Return the representative of the values that share one scale."""
        while value in self._parent:
            value = self._parent[value]
        return value

    def join(self, a: SSAValue, b: SSAValue) -> None:
        """Give two values one scale."""
        a, b = self.root(a), self.root(b)
        if a is not b:
            self._parent[b] = a


@dataclass
class _Planning:
    """Search for the operations between products, backwards and forwards."""

    plan: QuantizationPlan
    _leads: dict[Operation, bool] = field(default_factory=dict[Operation, bool])
    _comes: dict[Operation, bool] = field(default_factory=dict[Operation, bool])
    _wanted: set[SSAValue] = field(default_factory=set[SSAValue])

    def run(self, function: func.FuncOp) -> None:
        """Fill the plan for a function."""
        ops = list(function.body.block.ops)
        # One pass against and one along the order of the network visit each operation once.
        for op in reversed(ops):
            self._leads[op] = any(self._leads_on(user) for user in _users(op))
        for op in ops:
            self._comes[op] = is_product(op) or (_is_step(op) and self._all_come(op))
        for op in ops:
            if is_product(op):
                is_left = not isinstance(op, nn.MatmulOp) or is_constant(op.b)
                self.plan.readers[op] = (0,) if is_left else (1,)
            elif adds_values(op) and self._comes[op] and self._leads[op]:
                self.plan.readers[op] = (0, 1)
            elif averages(op) and self._comes[op] and self._leads[op]:
                self.plan.readers[op] = (0,)
        for op, positions in self.plan.readers.items():
            for position in positions:
                self._want(op.operands[position])
        order: dict[Operation | Block, int] = {op: i for i, op in enumerate(ops)}
        self.plan.sites.sort(key=lambda value: order.get(value.owner, -1))

    def _leads_on(self, user: Operation) -> bool:
        return is_product(user) or (_is_step(user) and self._leads[user])

    def _all_come(self, op: Operation) -> bool:
        owners = [value.owner for value in op.operands if not is_constant(value)]
        return all(isinstance(owner, Operation) and self._comes[owner] for owner in owners)

    def _want(self, value: SSAValue) -> None:
        """Give an int8 form to a value, and to the values whose elements it consists of."""
        pending = [value]
        while pending:
            value = pending.pop()
            if value in self._wanted:
                continue
            self._wanted.add(value)
            owner = value.owner
            if not isinstance(owner, Operation) or not moves_integers(owner):
                self.plan.sites.append(value)
                continue
            self.plan.moved.append(value)
            for operand in owner.operands:
                self.plan.join(value, operand)
                pending.append(operand)


def _is_step(op: Operation) -> bool:
    """Return whether int8 may stay int8 across an operation."""
    keeps_steps = moves_integers(op) or averages(op) or adds_values(op) or _bounds(op)
    return keeps_steps and isinstance(op, nn.NNOp) and _is_f32(op)


def _users(op: Operation) -> set[Operation]:
    return {use.operation for result in op.results for use in result.uses}


def plan_of(function: func.FuncOp) -> QuantizationPlan:
    """Return the plan for one simplified float network."""
    plan = QuantizationPlan()
    _Planning(plan).run(function)
    return plan


def site_names(function: func.FuncOp, plan: QuantizationPlan) -> list[str]:
    """Return a unique name for each site: its input or value name, else its node's name."""
    inputs = nn.parameter_names(function) if function.arg_attrs else []
    taken: dict[str, int] = {}
    names: list[str] = []
    for value in plan.sites:
        owner = value.owner
        if isinstance(owner, Operation):
            name = value.name_hint or node_name(owner)
        else:
            position = next(i for i, arg in enumerate(function.args) if arg is value)
            name = inputs[position] if inputs else value.name_hint or f"input{position}"
        count = taken[name] = taken.get(name, 0) + 1
        names.append(name if count == 1 else f"{name}#{count}")
    return names
