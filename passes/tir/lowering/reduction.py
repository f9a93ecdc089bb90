"""Step 1: a separate stage stores the initial values of a reduction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import BlockOp, ForOp, IterKind, building, enclosing_loops
from ..schedule.analysis import driven, index_expr
from ..schedule.errors import refuse
from ..schedule.stage import index_value, spatial_part


def place_initial_values(blocks: Iterable[BlockOp]) -> None:
    """Store the initial values of each reduction before its outermost reduction loop.

    The stores run in copies, of the same kinds, of the loops that select the elements. The blocks
    keep their reduce variables and lose their `init`.
    """
    for block in blocks:
        if block.is_reduction:
            _place(block)
            block.init = ArrayAttr(())


def _place(block: BlockOp) -> None:
    loops = enclosing_loops(block)
    roles = [driven(block, loop.var) for loop in loops]
    for loop, role in zip(loops, roles, strict=True):
        if len(role) > 1:
            raise refuse(
                loop, f"it drives spatial and reduce variables of block '{block.label.data}'"
            )
    start = next((i for i, role in enumerate(roles) if IterKind.Reduce in role), len(loops))
    copies = [
        (loop, ForOp(loop.kind.data, loop.size, hint=loop.var.name_hint or ""))
        for loop, role in zip(loops[start:], roles[start:], strict=True)
        if IterKind.Spatial in role
    ]
    renamed: dict[SSAValue, SSAValue] = {old.var: new.var for old, new in copies}
    initial = _initial(block, [renamed.get(var, var) for var in block.loops])
    chain: list[Operation] = [*(new for _, new in copies), initial]
    anchor: Operation = loops[start] if start < len(loops) else block
    parent = anchor.parent_block()
    assert parent is not None
    parent.insert_op_before(chain[0], anchor)
    for (_, outer), inner in zip(copies, chain[1:], strict=True):
        outer.body.block.add_op(inner)


def _initial(block: BlockOp, loops: Sequence[SSAValue]) -> BlockOp:
    """Return a block over the spatial variables that stores the initial values."""
    spatial, leaves = spatial_part(block)
    body = Block(arg_types=[IndexType()] * len(spatial))
    for arg, position in zip(body.args, spatial, strict=True):
        arg.name_hint = block.iter_vars[position].name_hint
    for store, value in zip(block.stores(), block.init.data, strict=True):
        indices: list[SSAValue] = []
        for index in store.indices:
            expr = index_expr(index, leaves)
            if expr is None:
                raise refuse(block, "a reduction stores at an affine function of its spatial part")
            indices.append(index_value(expr, body))
        constant = _constant(value)
        body.add_ops([constant, building.store(constant.result, store.memref, indices)])
    used = sorted({d for i in spatial for d in block.exprs[i].used_dims()})
    renumber = [AffineExpr.constant(0)] * len(loops)
    for new, old in enumerate(used):
        renumber[old] = AffineExpr.dimension(new)
    return BlockOp(
        f"{block.label.data}_init",
        [loops[d] for d in used],
        [block.iter_extents[i] for i in spatial],
        [IterKind.Spatial] * len(spatial),
        Region(body),
        exprs=[block.exprs[i].replace_dims_and_symbols(renumber, ()) for i in spatial],
    )


def _constant(value: Attribute) -> arith.ConstantOp:
    return arith.ConstantOp.create(
        result_types=[getattr(value, "type")],
        properties={"value": value},
    )
