"""rfactor: partial results of a reduction, one per iteration of a loop, and their combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.tir import BlockOp, ForOp, IterKind
from ....dialects.tir.affine import bounds
from .analysis import blocks_in, drive, driven, index_expr, loop_extents, memref_of
from .compute_at import iteration_names
from .errors import refuse
from .stage import (
    func_of,
    index_value,
    insert_after,
    new_stage,
    new_temporary,
    spatial_part,
    whole_stage,
)

_INFINITY = float("inf")

IDENTITIES: Mapping[str, float | str] = {
    "arith.addf": 0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -_INFINITY,
    "arith.maxnumf": -_INFINITY,
    "arith.minimumf": _INFINITY,
    "arith.minnumf": _INFINITY,
    "arith.addi": 0,
    "arith.muli": 1,
    "arith.maxsi": "least",
    "arith.minsi": "greatest",
    "arith.maxui": 0,
    "arith.minui": -1,
    "arith.andi": -1,
    "arith.ori": 0,
    "arith.xori": 0,
}
"""Associative and commutative operations, each with the value that changes nothing."""


@dataclass(frozen=True)
class _Update:
    """The statement `buffer[indices] = combine(buffer[indices], value)` of a reduction."""

    store: memref.StoreOp
    load: memref.LoadOp
    combine: Operation
    indices: Sequence[AffineExpr]

    @property
    def buffer(self) -> SSAValue:
        return self.store.memref


def rfactor(loop: ForOp) -> BlockOp:
    """Make the partial results along `loop` a stage of their own; returns its block, `<label>_rf`.

    The stage keeps its loops; `loop` is spatial in it and can be bound or vectorized. Its results
    go to a temporary with one more dimension, the last. A new stage with the old label, over the
    spatial variables and a reduce loop called like `loop`, combines them.
    """
    block = _block(loop)
    root = whole_stage(block, "factor")
    update = _update(block)
    position = next(i for i, var in enumerate(block.loops) if var is loop.var)
    split, _ = _entangled(block, position)
    if any(block.iter_kinds[i] is IterKind.Spatial for i in split):
        raise refuse(loop, "a spatial variable shares loops with the reduction; factor it earlier")
    names = iteration_names(block)
    positions, _ = spatial_part(block)
    init = block.init.data
    shape = [*memref_of(update.buffer).get_shape(), loop.size]
    name = f"{update.buffer.name_hint or 'buffer'}_rf"
    partial = new_temporary(func_of(block), update.buffer, shape, name, None)
    iters = [(names[p], block.iter_extents[p], IterKind.Spatial) for p in positions]
    along = loop.var.name_hint or "r"
    final_root, final = new_stage(
        block.label.data, [*iters, (along, loop.size, IterKind.Reduce)], init
    )
    _combine(final, update, partial)
    insert_after(final_root, root)
    _factor(block, position, update, partial)
    return block


def _block(loop: ForOp) -> BlockOp:
    blocks = blocks_in(loop)
    if len(blocks) != 1:
        raise refuse(loop, f"it holds {len(blocks)} blocks; one can be factored")
    if driven(blocks[0], loop.var) != {IterKind.Reduce}:
        raise refuse(
            loop, f"it drives no reduction of block '{blocks[0].label.data}' that it could factor"
        )
    return blocks[0]


def _update(block: BlockOp) -> _Update:
    """The update of a reduction with one result, refused where its operation is not known."""
    stores = block.stores()
    if len(stores) != 1:
        raise refuse(block, f"it reduces to {len(stores)} results; one can be factored")
    (store,) = stores
    _, leaves = spatial_part(block)
    indices = [index_expr(index, leaves) for index in store.indices]
    value = store.value
    if isinstance(value, OpResult) and value.op.name in IDENTITIES:
        for operand in value.op.operands:
            load = operand.owner
            if (
                isinstance(load, memref.LoadOp)
                and load.memref is store.memref
                and [index_expr(index, leaves) for index in load.indices] == indices
                and None not in indices
                and load.res.has_one_use()
            ):
                known = [index for index in indices if index is not None]
                return _Update(store, load, value.op, known)
    raise refuse(block, f"its update is none of {', '.join(IDENTITIES)} of the old value")


def _combine(final: BlockOp, update: _Update, partial: SSAValue) -> None:
    body = final.body.block
    at = [index_value(index, body) for index in update.indices]
    value = memref.LoadOp.get(partial, [*at, body.args[-1]])
    old = memref.LoadOp.get(update.buffer, at)
    new = update.combine.create(
        operands=[old.res, value.res],
        result_types=[old.res.type],
        properties=update.combine.properties.copy(),
    )
    body.add_ops([value, old, new, memref.StoreOp.get(new.results[0], update.buffer, at)])


def _factor(block: BlockOp, position: int, update: _Update, partial: SSAValue) -> None:
    """Turn the reduction into that of the partial results."""
    split, inner = _entangled(block, position)
    body = block.body.block
    new_args = [body.insert_arg(IndexType(), len(body.args)) for _ in [position, *inner]]
    for arg, d in zip(new_args, [position, *inner], strict=True):
        arg.name_hint = block.loops[d].name_hint or "r"
    along = new_args[0]
    update.load.operands = [partial, *update.load.indices, along]
    update.store.operands = [update.store.value, partial, *update.store.indices, along]
    kept = [i for i in range(len(block.exprs)) if i not in split]
    extents = loop_extents(block)
    _recover(block, split, dict(zip([position, *inner], new_args, strict=True)), extents)
    for i in reversed(split):
        body.erase_arg(body.args[i])
    loops = list(block.loops)
    exprs = [block.exprs[i] for i in kept]
    exprs += [AffineExpr.dimension(d) for d in (position, *inner)]
    sizes = [block.iter_extents[i] for i in kept] + [extents[d] for d in (position, *inner)]
    kinds = [block.iter_kinds[i] for i in kept] + [IterKind.Spatial]
    kinds += [IterKind.Reduce] * len(inner)
    if IterKind.Reduce not in kinds:
        # What the loop leaves over is one step, which still starts from the identity.
        body.insert_arg(IndexType(), len(body.args)).name_hint = "one"
        exprs.append(AffineExpr.constant(0))
        sizes.append(1)
        kinds.append(IterKind.Reduce)
    block.label = StringAttr(f"{block.label.data}_rf")
    block.extents = DenseArrayBase.from_list(i64, sizes)
    block.kinds = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    block.init = ArrayAttr([_identity(update.combine)])
    drive(block, loops, exprs)


def _entangled(block: BlockOp, position: int) -> tuple[list[int], list[int]]:
    """The variables that hang together with loop `position`, and the other loops that drive them.

    They are replaced together: each variable of a block takes its values independently of the
    others, and so must the new ones.
    """
    drivers, split = {position}, list[int]()
    while True:
        found = [i for i, expr in enumerate(block.exprs) if drivers & expr.used_dims()]
        if found == split:
            return split, sorted(drivers - {position})
        split = found
        drivers = drivers.union(*(block.exprs[i].used_dims() for i in split))


def _recover(
    block: BlockOp, split: Sequence[int], args: Mapping[int, SSAValue], extents: Sequence[int]
) -> None:
    """Compute the replaced variables from the new ones, and guard the body where they run over."""
    body = block.body.block
    old_ops = list(body.ops)
    values = list(args.values())
    renumber = [AffineExpr.constant(0)] * len(block.loops)
    for new, d in enumerate(args):
        renumber[d] = AffineExpr.dimension(new)
    inside: list[SSAValue] = []
    made: list[Operation] = []
    for i in split:
        expr = block.exprs[i].replace_dims_and_symbols(renumber, ())
        apply = affine.ApplyOp(values, AffineMapAttr(AffineMap(len(values), 0, (expr,))))
        apply.result.name_hint = block.iter_vars[i].name_hint
        made.append(apply)
        block.iter_vars[i].replace_all_uses_with(apply.result)
        _, high = bounds(block.exprs[i], extents)
        if high is None or high >= block.iter_extents[i]:
            limit = arith.ConstantOp(IntegerAttr.from_index_int_value(block.iter_extents[i]))
            compare = arith.CmpiOp(apply.result, limit.result, "slt")
            made += [limit, compare]
            inside.append(compare.result)
    condition = inside[0] if inside else None
    for other in inside[1:]:
        assert condition is not None
        both = arith.AndIOp(condition, other)
        made.append(both)
        condition = both.result
    for op in old_ops:
        op.detach()
    body.add_ops(made)
    if condition is None:
        body.add_ops(old_ops)
        return
    then = Block([*old_ops, scf.YieldOp()])
    body.add_op(scf.IfOp(condition, [], Region(then)))


def _identity(combine: Operation) -> Attribute:
    value = IDENTITIES[combine.name]
    kind = combine.results[0].type
    if not isinstance(kind, IntegerType):
        assert isinstance(value, float)
        return FloatAttr(value, cast(AnyFloat, kind))
    integer = cast(IntegerType, kind)
    if isinstance(value, str):
        half = 1 << (integer.width.data - 1)
        value = -half if value == "least" else half - 1
    return IntegerAttr(int(value), integer)
