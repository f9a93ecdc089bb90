"""Grouping of operations into `nn.fused` regions, each of which becomes one kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f16
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...decisions import deciding
from ...dialects import nn
from ...dialects.nn import Role
from .group_choices import GroupChoices, drop_carried
from .program.layouts import check_plain
from .roles import role_of

_MOST_OPS = 48
"""Merging more operations than this did not help any benchmark."""

MOST_INPUTS = 120
"""OpenCL guarantees 128 parameters; the result and the bounds of rolled loops need some, too."""

_VECTOR = 8
"""Rows whose length is a multiple of this can be stored by whole vectors on any CPU."""

_MOST_GUARDED_READS = 9
"""Most overlapping windows that read through guards.

With more overlap, a border in memory is faster (5x5 with stride 1: twice as fast).
"""

_COPIED = "most of the result would be copied"
_REPEATED = "costly functions for every read"


def is_literal(value: SSAValue) -> bool:
    """Return whether the value is a constant of one element, which kernels inline as a number."""
    owner = value.owner
    return (
        isinstance(owner, nn.ConstantOp)
        and not isinstance(owner.value, nn.WeightAttr)
        and nn.count(nn.shape_of(value)) == 1
    )


@dataclass
class Group:
    """The operations of one kernel, in program order; the last one's results leave it."""

    ops: list[Operation] = field(default_factory=list[Operation])
    inputs: frozenset[SSAValue] = frozenset()
    """The values that the kernel reads, each through a parameter."""
    anchor: Operation | None = None
    """The operation with stages, if any: a kernel has at most one."""
    costly: bool = False
    placed: bool = False
    """Whether an index operation moves the anchor's result to other places."""
    rounds: bool = False
    """Whether the result was cast to half.

    Kernels compute halves as floats, so the result must be stored to be rounded.
    """

    @property
    def results(self) -> Sequence[SSAValue]:
        """Return the values that leave the kernel."""
        return self.ops[-1].results


@dataclass(frozen=True)
class Policy:
    """The rules of fusion that depend on the layouts of values."""

    stored: str
    """How values are stored between kernels, in a word."""
    role: Callable[[Operation], Role | None]
    places: Callable[[Group, nn.NNOp, Sequence[nn.ReshapeOp]], bool]
    """Whether the anchor of a group can store its result where an index operation moves it."""
    may_inline: Callable[[Group], bool]
    """Whether a window may inline its producer."""
    joins: Callable[[nn.NNOp], bool] = lambda op: False
    """Whether the pieces of a result are contiguous in it.

    Their own kernels can then write them in place, without a kernel that joins them.
    """


def form_groups(
    ops: Iterable[Operation], policy: Policy | None = None, choices: GroupChoices | None = None
) -> list[Group]:
    """Return the kernels of a straight-line list of operations, in one walk.

    A group is merged into the group of its only consumer, so no merge can close a cycle. `choices`
    decide about merges that are possible. The default policy is for plain layouts. Raise CloptError
    for an operation on packed tensors.
    """
    policy = policy or PLAIN
    group_of: dict[Operation, Group] = {}
    groups: dict[int, Group] = {}
    ops = list(ops)
    for op in ops:
        if isinstance(op, nn.NNOp):
            # Regions compute on plain tensors: only regions have layouts, operations do not.
            check_plain(op, (*op.operands, *op.results))
        role = policy.role(op)
        if role is None or not isinstance(op, nn.NNOp):
            continue
        inputs = frozenset(value for value in op.operands if not is_literal(value))
        group = Group([], inputs, op if role.starts_kernel else None, op.is_costly())
        group.rounds = _rounds_to_half(op)
        candidates = _candidates(op, group_of)
        is_copy = policy.joins(op) and _are_few(candidates, op)
        for producer, views in candidates:
            inputs = _merged_inputs(group, producer, views)
            if len(inputs) > MOST_INPUTS:
                continue
            if not _may_merge(policy, op, role, group, producer, views):
                continue
            why = _COPIED if is_copy else _why_apart(op, role, group, producer, views)
            if choices is not None and not choices.is_merged(op, producer.ops[-1], views, why):
                continue
            if choices is None and why:
                continue
            group.inputs = inputs
            group.ops += [*producer.ops, *views]
            group.placed |= producer.placed or (producer.anchor is not None and role is Role.INDEX)
            group.anchor = group.anchor or producer.anchor
            group.costly |= producer.costly
            group.rounds |= producer.rounds
            del groups[id(producer)]
        group.ops.append(op)
        for member in group.ops:
            group_of[member] = group
        groups[id(group)] = group
    order = {op: i for i, op in enumerate(ops)}
    for group in groups.values():
        group.ops.sort(key=order.__getitem__)
    return list(groups.values())


def _candidates(
    op: nn.NNOp, group_of: dict[Operation, Group]
) -> list[tuple[Group, list[nn.ReshapeOp]]]:
    """Return the groups that only `op` consumes, each with the reshapes in between.

    Later groups come first, since the operands of all groups exist before them.
    """
    candidates: dict[int, tuple[Group, list[nn.ReshapeOp]]] = {}
    for operand in op.operands:
        user, views = op, list[nn.ReshapeOp]()
        view = operand.owner
        if isinstance(view, nn.ReshapeOp) and view not in group_of and op.places_rows():
            if {use.operation for use in operand.uses} != {op}:
                continue
            user, operand, views = view, view.x, [view]
        producer = group_of.get(operand.owner) if isinstance(operand.owner, Operation) else None
        if producer is None or id(producer) in candidates or len(producer.results) != 1:
            continue
        if {use.operation for use in operand.uses} == {user}:
            candidates[id(producer)] = producer, views
    return list(candidates.values())[::-1]


def _merged_inputs(
    group: Group, producer: Group, views: Sequence[nn.ReshapeOp]
) -> frozenset[SSAValue]:
    """Return the inputs of a kernel that also computes `producer`."""
    inside = {*producer.results, *(view.result for view in views)}
    return (group.inputs - inside) | producer.inputs


def _are_few(producers: Sequence[tuple[Group, Sequence[Operation]]], op: Operation) -> bool:
    """Return whether `op` could compute at most half of its result and would copy the rest."""
    computed = sum(
        nn.count(nn.shape_of(producer.results[0]))
        for producer, views in producers
        if producer.anchor is None and not views
    )
    return 2 * computed <= nn.count(nn.shape_of(op.results[0]))


def _may_merge(
    policy: Policy,
    op: nn.NNOp,
    role: Role,
    group: Group,
    producer: Group,
    views: Sequence[nn.ReshapeOp],
) -> bool:
    """Return whether the kernel of `op` can also compute `producer`."""
    if op.reads_memory() or (producer.placed and role is not Role.INDEX):
        return False
    if producer.rounds and role not in (Role.INDEX, Role.PIECES):
        return False
    if producer.anchor is not None:
        if group.anchor is not None or role_of(producer.anchor) is Role.PIECES:
            return False
        if role is Role.ELEMENTWISE:
            # An epilogue: the consumer's loops must be the anchor's.
            return nn.shape_of(producer.results[0]) == nn.shape_of(op.results[0])
        return role is Role.INDEX and policy.places(producer, op, views)
    if views or role is Role.CONTRACTION:
        return False
    return role is not Role.WINDOW or policy.may_inline(producer)


def _why_apart(
    op: nn.NNOp, role: Role, group: Group, producer: Group, views: Sequence[nn.ReshapeOp]
) -> str:
    """Return why storing the result of `producer` for `op` is usually faster, or ""."""
    if len(group.ops) + len(producer.ops) + len(views) >= _MOST_OPS:
        return f"more than {_MOST_OPS} operations"
    if producer.anchor is not None:
        return ""
    (value,) = producer.results
    read, written = (nn.count(nn.shape_of(v)) for v in (value, op.results[0]))
    if role is Role.WINDOW:
        return _why_not_inlined(op, producer)
    is_repeated = read != written if role is Role.ELEMENTWISE else read < written
    if producer.costly and is_repeated and role is not Role.PIECES:
        return _REPEATED
    return ""


def _why_not_inlined(op: nn.NNOp, producer: Group) -> str:
    """Return why a window usually reads the stored result of `producer`, or ""."""
    last = producer.ops[-1]
    has_border = isinstance(last, nn.NNOp) and last.has_border()
    if has_border and op.overlap() > _MOST_GUARDED_READS:
        return f"{op.overlap():.3g} windows test the border of an element"
    if producer.costly:
        return _REPEATED
    return "" if _is_plain(producer) else "a long chain for every read"


def _places_rows(group: Group, op: nn.NNOp, views: Sequence[nn.ReshapeOp]) -> bool:
    """Return whether an anchor can store its result where `op` moves it, by whole vectors."""
    if group.anchor is None or role_of(group.anchor) is not Role.CONTRACTION:
        return False
    if any(nn.shape_of(view.result)[-1] % _VECTOR for view in views):
        return False
    return op.places_rows()


PLAIN = Policy("plain", role_of, _places_rows, lambda producer: True, lambda op: op.is_contiguous())


def _is_plain(group: Group) -> bool:
    """Return whether a group is short enough to be recomputed for every read."""
    return len(group.ops) <= 4


def _rounds_to_half(op: Operation) -> bool:
    """Return whether an operation converts other numbers to half."""
    types = [nn.tensor_type(value).element_type for value in (*op.operands, op.results[0])]
    return types[-1] == f16 and f16 not in types[:-1]


def outline(group: Group) -> list[nn.FusedOp]:
    """Move the operations of a group into `nn.fused` regions; return these.

    A kernel writes one result, since its stages are computed in the loops that write it. An
    operation with several used results gets one region per result, and each region computes it.
    """
    last = group.ops[-1]
    used = [result for result in last.results if result.uses]
    regions = [_region(group, result) for result in used or last.results[:1]]
    for op in reversed(group.ops):
        op.detach()
        op.erase()
    return regions


def _region(group: Group, result: SSAValue) -> nn.FusedOp:
    """Return a region that computes one result of the group's last operation, and replaces it."""
    members, last = set(group.ops), group.ops[-1]
    inputs: dict[SSAValue, None] = {}
    literals: dict[SSAValue, None] = {}
    for op in group.ops:
        for operand in op.operands:
            if operand.owner not in members:
                (literals if is_literal(operand) else inputs)[operand] = None
    block = Block(arg_types=[value.type for value in inputs])
    mapping: dict[SSAValue, SSAValue] = {}
    for value, arg in zip(inputs, block.args, strict=True):
        arg.name_hint = value.name_hint
        mapping[value] = arg
    for value in literals:
        assert isinstance(value.owner, nn.ConstantOp)
        clone = value.owner.clone()
        block.add_op(clone)
        mapping[value] = clone.result
    for op in group.ops:
        inner = op.clone(mapping)
        drop_carried(inner)
        block.add_op(inner)
    block.add_op(nn.YieldOp([mapping[result]]))
    fused = nn.FusedOp(list(inputs), block)
    fused.location = last.location
    Rewriter.insert_op(fused, InsertPoint.before(last))
    fused.outputs[0].name_hint = result.name_hint
    result.replace_all_uses_with(fused.outputs[0])
    return fused


class NNFusePass(ModulePass):
    """Put every nn operation except constants and reshapes into an `nn.fused`.

    A producer is merged into its only consumer unless that recomputes more than a buffer would
    cost, or a choice demands otherwise. Elementwise and index operations are inlined, and
    elementwise consumers follow a convolution, matmul or reduction as its epilogue.
    """

    name = "nn-fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with deciding(op, ctx) as choices:
            for function in nn.networks_of(op):
                decided = None if choices is None else GroupChoices(choices, PLAIN.stored)
                groups = form_groups(list(function.body.block.ops), PLAIN, decided)
                if decided is not None:
                    decided.note({each for group in groups for each in group.ops})
                for group in groups:
                    outline(group)
