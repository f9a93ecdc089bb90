"""Fusion of attention's two products and the softmax between them into one kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...decisions import Choices, SiteKind, deciding
from ...dialects import cl, nn
from ...messages.explanations import Reason
from ..locations import node_name
from .fuse import Group, outline
from .roles import role_of
from .structure import structure_digest

_FLOAT_BYTES = 4
_TEMPORARIES = 2
"""The temporaries of a few queries: their scores, and the exponentials of these."""


@dataclass(frozen=True)
class NNJoinAttentionPass(ModulePass):
    """Compute `softmax(f(q k^T)) v` in one kernel on CPUs, so that scores are not stored in memory.

    f is any chain of elementwise operations: scales, masks and biases of any broadcast shape.
    Slices of a joint projection and a mask of the values' rows become reads, and a following
    transposition that keeps rows becomes writes. The kernel keeps the scores of one vector of
    queries in private memory. The operations stay separate if the scores exceed the L2 cache, or if
    there are fewer queries than lanes.
    """

    name: ClassVar[str] = "nn-join-attention"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        if target.device.device_type != "cpu":
            return
        with deciding(op, ctx) as choices:
            for function in nn.networks_of(op):
                for each in list(function.body.block.ops):
                    found = _Attention.of(each) if isinstance(each, nn.SoftmaxOp) else None
                    if found is not None and found.is_possible(target):
                        if _is_joined(found, target, choices):
                            found.join()


def _is_joined(found: _Attention, target: cl.Target, choices: Choices | None) -> bool:
    """Return whether to join an attention, as demanded or if its scores fit the L2 cache."""
    usual = found.fits(target)
    if choices is None:
        return usual
    site = choices.next_site(SiteKind.ATTENTION, found.digest)
    words, nodes = ("joined", "apart"), node_name(found.weighted)
    size, cache = found.scratch(target), target.machine.l2_cache_bytes
    reason = partial(Reason, remark=f"{size:,} bytes of scores, {cache:,} of L2 cache")
    return choices.decide(site, "joined" if usual else "apart", words, nodes, reason) == "joined"


@dataclass
class _Attention:
    """The operations around a softmax that one kernel can compute."""

    product: nn.MatmulOp
    """The product that computes the scores."""
    chain: list[Operation]
    """The elementwise operations between the product and the softmax."""
    softmax: nn.SoftmaxOp
    weighted: nn.MatmulOp
    before: list[Operation] = field(default_factory=list[Operation])
    """The operations that extract queries, keys and values from other values, for this use only."""
    after: list[Operation] = field(default_factory=list[Operation])

    @staticmethod
    def of(softmax: nn.SoftmaxOp) -> _Attention | None:
        """Return the attention around a softmax, or None."""
        rank = len(nn.shape_of(softmax.x))
        weighted = _only_user(softmax.result)
        if (
            softmax.log is not None
            or softmax.axis.value.data != rank - 1
            or nn.tensor_type(softmax.x).element_type != f32
            or not isinstance(weighted, nn.MatmulOp)
            or weighted.a is not softmax.result
            or weighted.transpose_a is not None
            or weighted.transpose_b is not None
        ):
            return None
        chain = _chain(softmax.x, softmax)
        if chain is None:
            return None
        product, *functions = chain
        assert isinstance(product, nn.MatmulOp)
        is_float = nn.tensor_type(product.result).element_type == f32
        if product.transpose_a is not None or not is_float:
            return None
        found = _Attention(product, functions, softmax, weighted)
        for value in dict.fromkeys((product.a, product.b)):
            found.before += _moves(value, rows=False)
        if weighted.b not in (product.a, product.b):
            found.before += _masked_moves(weighted.b)
        moved = _only_user(weighted.result)
        if isinstance(moved, nn.TransposeOp) and moved.places_rows():
            found.after.append(moved)
        return found

    def is_possible(self, target: cl.Target) -> bool:
        """Return whether there is a whole vector of queries."""
        *_, queries, keys = nn.shape_of(self.product.result)
        return 1 < target.machine.vector_width <= queries and keys > 0

    def fits(self, target: cl.Target) -> bool:
        """Return whether the scores of a vector of queries fit the L2 cache."""
        return self.scratch(target) <= target.machine.l2_cache_bytes

    def scratch(self, target: cl.Target) -> int:
        """Return the bytes of the scores of a vector of queries."""
        keys = nn.shape_of(self.product.result)[-1]
        return _TEMPORARIES * _FLOAT_BYTES * keys * target.machine.vector_width

    @property
    def digest(self) -> str:
        """A digest of the products, the softmax and the operations between them."""
        ops = [self.product, *reversed(self.chain), self.softmax, self.weighted]
        return structure_digest(self.product.operands, ops)

    def join(self) -> None:
        """Move all operations into one region."""
        product, weighted = self.product, self.weighted
        made: list[Operation] = []
        keys = product.b
        if product.transpose_b is None:
            rank = len(nn.shape_of(keys))
            turned = nn.TransposeOp(keys, (*range(rank - 2), rank - 1, rank - 2))
            made.append(turned)
            keys = turned.result
        scores = nn.AttentionScoresOp(product.a, keys)
        made.append(scores)
        _replace(product, made)
        result = nn.AttentionOp(self.softmax.x, weighted.b)
        _replace(weighted, [result])
        Rewriter.erase_op(self.softmax)
        last = self.after[-1:] or [result]
        members = {*self.before, *made, *self.chain, result, *last}
        block = result.parent_block()
        assert block is not None
        outline(Group([op for op in block.ops if op in members]))


def _replace(op: nn.MatmulOp, made: list[Operation]) -> None:
    for new in made:
        new.location = op.location
        Rewriter.insert_op(new, InsertPoint.before(op))
    made[-1].results[0].name_hint = op.result.name_hint
    op.result.replace_all_uses_with(made[-1].results[0])
    Rewriter.erase_op(op)


def _only_user(value: SSAValue) -> Operation | None:
    users = {use.operation for use in value.uses}
    return users.pop() if len(users) == 1 else None


def _chain(value: SSAValue, user: Operation) -> list[Operation] | None:
    """Follow single-use elementwise operations from `value` back to a matmul.

    Return [matmul, *operations], or None if another operation or use interrupts the chain to
    `user`.
    """
    op = value.owner
    if _only_user(value) is not user or not isinstance(op, Operation):
        return None
    if isinstance(op, nn.MatmulOp):
        return [op]
    if role_of(op) is not nn.Role.ELEMENTWISE:
        return None
    shape = nn.shape_of(value)
    operands = (operand for operand in op.operands if nn.shape_of(operand) == shape)
    chains = (_chain(operand, op) for operand in operands)
    found = next((chain for chain in chains if chain is not None), None)
    return None if found is None else [*found, op]


def _masked_moves(values: SSAValue) -> list[Operation]:
    """Return the operation that masks rows of the values, if any, and the moves before it."""
    mask = values.owner
    if not isinstance(mask, nn.WhereOp) or _only_user(values) is None:
        return _moves(values, rows=True)
    *_, keys, columns = nn.shape_of(values)
    is_of_rows = nn.shape_of(mask.condition)[-2:] == (keys, 1) and not nn.shape_of(mask.b)
    if not is_of_rows or nn.shape_of(mask.a) != nn.shape_of(values) or columns == 1:
        return []
    return [mask, *_moves(mask.a, rows=True)]


def _moves(value: SSAValue, rows: bool) -> list[Operation]:
    """Return the moves from `value` back to a slice, or none if anything else intervenes.

    With `rows`, adjacent elements of a row of the value must be adjacent in memory, too.
    """
    found: list[Operation] = []
    while _only_user(value) is not None:
        op = value.owner
        if isinstance(op, nn.TransposeOp) and rows and not op.places_rows():
            return []
        if not isinstance(op, nn.ReshapeOp | nn.TransposeOp | nn.SliceOp):
            return []
        found.append(op)
        if isinstance(op, nn.SliceOp):
            return found
        value = op.x
    return []
