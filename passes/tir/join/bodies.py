"""Bodies of joint kernels, made of lowered kernels with independent work-items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects import tir
from ....dialects.tir.affine import simplify
from ..schedule.analysis import memref_of

_MOST_NAMES = 4
"""How many members' comments a joint kernel repeats."""


@dataclass(frozen=True)
class Member:
    """A kernel in a joint kernel, and the joint parameter for each of its own."""

    kernel: tir.FuncOp
    places: tuple[int, ...]


@dataclass(frozen=True)
class Signature:
    """The parameters of a joint kernel."""

    name: str
    types: Sequence[Attribute]
    outputs: Sequence[int]
    constants: Sequence[int]


def items_of(kernel: tir.FuncOp) -> int:
    """Return the number of work-items of a launch."""
    size = kernel.global_size
    assert size is not None, "the kernel is lowered"
    return prod(size.iter_values())


def in_sequence(members: Sequence[Member], signature: Signature) -> tir.FuncOp:
    """Return a kernel whose single work-item computes the members one after the other."""
    body = _body(members, signature)
    for member in members:
        for op in _statements(member, body):
            body.add_op(op)
            for loop in _bound_loops([op]):
                loop.kind = tir.LoopKindAttr(tir.LoopKind.Serial)
    return _kernel(members, signature, body, 1)


def side_by_side(members: Sequence[Member], signature: Signature) -> tir.FuncOp:
    """Return a kernel with a work-item for each item of the longest member.

    The items of shorter members are spread evenly over the grid, so that every core gets an equal
    share of them.
    """
    body = _body(members, signature)
    total = max(items_of(member.kernel) for member in members)
    grid = tir.ForOp(tir.LoopKind.GlobalX, total, hint="item")
    for member in members:
        statements = _statements(member, body)
        items = items_of(member.kernel)
        inside = grid.body.block
        item = grid.var
        if items < total:
            item, inside = _share(grid, items)
        extents = _grid(member.kernel)
        inside.add_ops(statements)
        for loop in _bound_loops(statements):
            _dissolve(loop, item, extents)
        if inside is not grid.body.block:
            inside.add_op(scf.YieldOp())
    body.add_op(grid)
    return _kernel(members, signature, body, total)


def _body(members: Sequence[Member], signature: Signature) -> Block:
    body = Block(arg_types=signature.types)
    for member in reversed(members):
        for param, place in zip(member.kernel.params, member.places, strict=True):
            body.args[place].name_hint = param.name_hint
    return body


def _statements(member: Member, body: Block) -> list[Operation]:
    """Copy a member's statements for the parameters of `body`, and its temporaries into `body`."""
    copy = member.kernel.clone()
    for param, place in zip(copy.params, member.places, strict=True):
        for use in list(param.uses):
            _reindex(use.operation, memref_of(param), memref_of(body.args[place]))
        param.replace_all_uses_with(body.args[place])
    found: list[Operation] = []
    for op in list(copy.body.block.ops):
        op.detach()
        if isinstance(op, memref.AllocaOp):
            body.add_op(op)
        else:
            found.append(op)
    return found


def _reindex(op: Operation, before: MemRefType[Attribute], after: MemRefType[Attribute]) -> None:
    """Change a load or store to address the same element in a buffer of another shape."""
    if before == after:
        return
    assert isinstance(op, memref.LoadOp | memref.StoreOp), "texels have no linear index"
    shape = before.get_shape()
    number: AffineExpr = AffineConstantExpr(0)
    for axis, _ in enumerate(shape):
        number = number + AffineExpr.dimension(axis) * prod(shape[axis + 1 :])
    new: list[SSAValue] = []
    for axis, size in enumerate(sizes := after.get_shape()):
        index = number // prod(sizes[axis + 1 :]) % size
        map_ = AffineMap(len(shape), 0, (simplify(index, shape),))
        apply = affine.ApplyOp(list(op.indices), AffineMapAttr(map_))
        Rewriter.insert_op(apply, InsertPoint.before(op))
        new.append(apply.result)
    first = len(op.operands) - len(op.indices)
    op.operands = [*op.operands[:first], *new]


def _bound_loops(ops: Iterable[Operation]) -> list[tir.ForOp]:
    """Return the loops bound to work-item indices, outermost first."""
    return [
        loop
        for op in ops
        for loop in op.walk()
        if isinstance(loop, tir.ForOp) and loop.kind.data.is_bound
    ]


def _grid(kernel: tir.FuncOp) -> list[int]:
    assert kernel.global_size is not None
    return list(kernel.global_size.iter_values())


def _share(grid: tir.ForOp, items: int) -> tuple[SSAValue, Block]:
    """Return the item of a short member that a grid item runs, and the block to run it in."""
    out, total = grid.body.block, grid.size
    bounds: list[SSAValue] = []
    for i in (AffineExpr.dimension(0), AffineExpr.dimension(0) + 1):
        before = simplify((i * items + (total - 1)) // total, [total])
        op = affine.ApplyOp([grid.var], AffineMapAttr(AffineMap(1, 0, (before,))))
        out.add_op(op)
        bounds.append(op.result)
    compare = arith.CmpiOp(bounds[0], bounds[1], "slt")
    block = Block()
    out.add_ops([compare, scf.IfOp(compare, [], Region(block))])
    return bounds[0], block


def _dissolve(loop: tir.ForOp, item: SSAValue, extents: Sequence[int]) -> None:
    """Replace a bound loop by its body, with its index computed from the work-item's number."""
    block = loop.parent_block()
    assert block is not None
    axis = loop.kind.data.axis
    index = AffineExpr.dimension(0) // prod(extents[:axis]) % extents[axis]
    index = simplify(index, [prod(extents)])
    value, new = item, list[Operation]()
    if index != AffineExpr.dimension(0):
        new = [affine.ApplyOp([item], AffineMapAttr(AffineMap(1, 0, (index,))))]
        value = new[0].results[0]
    loop.var.replace_all_uses_with(value)
    ops = list(loop.body.block.ops)
    for op in ops:
        op.detach()
    block.insert_ops_before([*new, *ops], loop)
    Rewriter.erase_op(loop)


def _kernel(members: Sequence[Member], signature: Signature, body: Block, items: int) -> tir.FuncOp:
    return tir.FuncOp(
        signature.name,
        Region(body),
        signature.outputs,
        constants=signature.constants or None,
        comment=joint_comment([member.kernel for member in members]),
        global_size=[items],
        local_size=[1],
    )


def joint_comment(kernels: Iterable[tir.FuncOp]) -> str | None:
    """Return the comment of a kernel that computes what others do."""
    given = (kernel.comment for kernel in kernels)
    comments = list(dict.fromkeys(comment.data for comment in given if comment is not None))
    shown = "; ".join(comments[:_MOST_NAMES])
    more = f" and {len(comments) - _MOST_NAMES} more" if len(comments) > _MOST_NAMES else ""
    return f"{shown}{more}" or None
