"""transform_layout: a constant parameter is stored in another order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr, MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from ....dialects.tir import FuncOp
from .analysis import memref_of
from .errors import refuse


def transform_layout(
    func: FuncOp, position: int, layout: Sequence[AffineExpr], shape: Sequence[int]
) -> None:
    """Read parameter `position` as an array of `shape` in which `layout` places the old indices.

    Only for parameters that are constants at every launch: `cl-pack-constants` rearranges those
    when the model is compiled. `layout` has one expression per dimension of `shape`, over the
    parameter's present indices.
    """
    param = func.params[position]
    if position not in func.constant_indices:
        raise refuse(func, f"parameter {position} is not a constant, its layout is not ours")
    layouts = {} if func.layouts is None else dict(func.layouts.data)
    if str(position) in layouts:
        raise refuse(func, f"the layout of parameter {position} was chosen before")
    old = memref_of(param)
    affine_map = AffineMap(old.get_num_dims(), 0, tuple(layout))
    layouts[str(position)] = AffineMapAttr(affine_map)
    func.properties["layouts"] = DictionaryAttr(layouts)
    Rewriter.replace_value_with_new_type(
        param, MemRefType(old.element_type, shape, memory_space=old.memory_space)
    )
    for use in list(func.params[position].uses):
        load = use.operation
        if not isinstance(load, memref.LoadOp):
            raise refuse(load, "a constant is only read")
        block = load.parent_block()
        assert block is not None
        old_indices, indices = list(load.indices), list[SSAValue]()
        for expr in layout:
            if isinstance(expr, AffineDimExpr):
                indices.append(old_indices[expr.position])
                continue
            part = AffineMapAttr(AffineMap(len(old_indices), 0, (expr,)))
            apply = ApplyOp(old_indices, part)
            block.insert_op_before(apply, load)
            indices.append(apply.result)
        load.operands = [load.memref, *indices]
