"""rfactor: compute one partial result of a reduction per loop iteration, then combine them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.tir import BlockOp, ForOp, IterKind
from ....dialects.tir.affine import bounds
from .analysis import blocks_in, drive, driven, func_of, loop_extents, memref_of
from .combine import Update
from .compute_at import iteration_names
from .errors import refuse
from .stage import (
    free_label,
    index_value,
    insert_after,
    new_stage,
    new_temporary,
    spatial_part,
    whole_stage,
)

_T = TypeVar("_T")


def rfactor(loop: ForOp) -> BlockOp:
    """Compute the partial results along `loop` in a separate stage. Return its block, `<label>_rf`.

    The stage keeps its loops; `loop` becomes spatial in it, so it can be bound or vectorized. The
    results go to a temporary with an additional last dimension. A new stage with the old label
    combines them, over the spatial variables and a reduce loop named like `loop`.
    """
    return rfactor_tree(loop, loop.size)[0]


def rfactor_tree(loop: ForOp, fan_in: int, axis: int | None = None) -> list[BlockOp]:
    """Apply `rfactor`, and combine partial results `fan_in` at a time until few are left.

    Each level of this tree is a stage, labelled `<label>_<n>` after the n results that it leaves. A
    level combines the results furthest apart, so that neighbours read neighbours: sequential
    addressing in Harris, "Optimizing Parallel Reduction in CUDA" (2007). Work-items bound to the
    levels' loops, which are named like `loop`, cooperate. The temporaries have an additional
    dimension for partial results, either last or before dimension `axis`.

    Returns the blocks in execution order, from `<label>_rf` to `<label>`.
    """
    block = _block(loop)
    root = whole_stage(block, "factor")
    update = Update.of(block)
    position = next(i for i, var in enumerate(block.loops) if var is loop.var)
    split, _ = _entangled(block, position)
    if any(block.iter_kinds[i] is IterKind.Spatial for i in split):
        raise refuse(loop, "a spatial variable shares loops with the reduction; factor it earlier")
    if fan_in < 2 and loop.size > fan_in:
        raise refuse(loop, f"a level of the tree must combine at least 2 results, not {fan_in}")
    tree = _Tree(block, update, loop.var.name_hint or "r", axis)
    count = loop.size
    partial = results = tree.temporaries(count, "rf")
    stages = [block]
    while count > 2 * fan_in and count % fan_in == 0:
        count //= fan_in
        smaller = tree.temporaries(count, str(count))
        root, level = tree.level(root, results, smaller, fan_in, count)
        results = smaller
        stages.append(level)
    stages.append(tree.last(root, results, count))
    _factor(block, position, update, partial, tree.axis)
    return stages


class _Tree:
    """The stages that combine the partial results of one reduction."""

    def __init__(self, block: BlockOp, update: Update, along: str, axis: int | None):
        self.block, self.update, self.along = block, update, along
        rank = len(memref_of(update.accumulators[0].buffer).get_shape())
        self.axis = rank if axis is None else axis
        self.label = block.label.data
        self.init = block.init.data
        names = iteration_names(block)
        positions, _ = spatial_part(block)
        self.iters = [(names[p], block.iter_extents[p], IterKind.Spatial) for p in positions]

    def temporaries(self, count: int, suffix: str) -> list[SSAValue]:
        """Allocate a temporary for `count` partial results of each accumulator."""
        made: list[SSAValue] = []
        for accumulator in self.update.accumulators:
            buffer = accumulator.buffer
            shape = _with(memref_of(buffer).get_shape(), self.axis, count)
            name = f"{buffer.name_hint or 'buffer'}_{suffix}"
            made.append(new_temporary(func_of(self.block), buffer, shape, name, None))
        return made

    def level(
        self,
        after: Operation,
        source: Sequence[SSAValue],
        target: Sequence[SSAValue],
        fan_in: int,
        count: int,
    ) -> tuple[Operation, BlockOp]:
        """Add a stage with `count` results after `after`. Return its root and its block."""
        iters = [(self.along, count, IterKind.Spatial), ("part", fan_in, IterKind.Reduce)]
        label = free_label(func_of(self.block), f"{self.label}_{count}")
        root, stage = new_stage(label, [*self.iters, *iters], self.update.starts)
        body = stage.body.block
        lane, part = body.args[-2:]
        dims = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
        apart = AffineMap(2, 0, (dims[0] * count + dims[1],))
        at = affine.ApplyOp([part, lane], AffineMapAttr(apart))
        body.add_op(at)
        self._combine(body, source, at.result, target, lane)
        insert_after(root, after)
        return root, stage

    def last(self, after: Operation, source: Sequence[SSAValue], count: int) -> BlockOp:
        """Add the stage after `after` that computes the reduction's results."""
        iters = [*self.iters, (self.along, count, IterKind.Reduce)]
        root, stage = new_stage(self.label, iters, self.init)
        body = stage.body.block
        buffers = [accumulator.buffer for accumulator in self.update.accumulators]
        self._combine(body, source, body.args[-1], buffers, None)
        insert_after(root, after)
        return stage

    def _combine(
        self,
        body: Block,
        source: Sequence[SSAValue],
        along: SSAValue,
        target: Sequence[SSAValue],
        lane: SSAValue | None,
    ) -> None:
        """Combine `source[..., along, ...]` into `target`, indexed by `lane` as well if given."""
        values: list[memref.LoadOp] = []
        olds: list[memref.LoadOp] = []
        places: list[list[SSAValue]] = []
        for accumulator, new, old in zip(self.update.accumulators, source, target, strict=True):
            at = [index_value(index, body) for index in accumulator.indices]
            place = at if lane is None else _with(at, self.axis, lane)
            values.append(memref.LoadOp.get(new, _with(at, self.axis, along)))
            olds.append(memref.LoadOp.get(old, place))
            places.append(place)
        body.add_ops([*values, *olds])
        results = self.update.combine([op.res for op in olds], [op.res for op in values], body)
        for result, old, place in zip(results, target, places, strict=True):
            body.add_op(memref.StoreOp.get(result, old, place))


def _with(items: Sequence[_T], position: int, item: _T) -> list[_T]:
    return [*items[:position], item, *items[position:]]


def _block(loop: ForOp) -> BlockOp:
    blocks = blocks_in(loop)
    if len(blocks) != 1:
        raise refuse(loop, f"it must contain one block to factor, but has {len(blocks)}")
    if driven(blocks[0], loop.var) != {IterKind.Reduce}:
        raise refuse(loop, f"it must drive only reduce variables of block '{blocks[0].label.data}'")
    return blocks[0]


def _factor(
    block: BlockOp, position: int, update: Update, partials: Sequence[SSAValue], axis: int
) -> None:
    """Turn the reduction into one that computes the partial results."""
    split, inner = _entangled(block, position)
    body = block.body.block
    new_args = [body.insert_arg(IndexType(), len(body.args)) for _ in [position, *inner]]
    for arg, d in zip(new_args, [position, *inner], strict=True):
        arg.name_hint = block.loops[d].name_hint or "r"
    for accumulator, partial in zip(update.accumulators, partials, strict=True):
        load, store = accumulator.load, accumulator.store
        load.operands = [partial, *_with(list(load.indices), axis, new_args[0])]
        store.operands = [store.value, partial, *_with(list(store.indices), axis, new_args[0])]
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
        # One reduce step per partial result remains, which still starts from the identity.
        body.insert_arg(IndexType(), len(body.args)).name_hint = "one"
        exprs.append(AffineExpr.constant(0))
        sizes.append(1)
        kinds.append(IterKind.Reduce)
    block.label = StringAttr(free_label(func_of(block), f"{block.label.data}_rf"))
    block.extents = DenseArrayBase.from_list(i64, sizes)
    block.kinds = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    block.init = ArrayAttr(update.starts)
    drive(block, loops, exprs)


def _entangled(block: BlockOp, position: int) -> tuple[list[int], list[int]]:
    """Return the variables that share loops with loop `position`, and those other loops.

    They are replaced together, because the variables of a block must take their values
    independently of each other.
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
    """Compute the replaced variables from the new ones, and guard the body against overruns."""
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
