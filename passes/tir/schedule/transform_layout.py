"""transform_layout: a constant parameter, or a temporary, is stored in another order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr, MemRefType
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ....dialects.tir import FuncOp, packed_type
from .analysis import memref_of
from .errors import refuse


def transform_layout(func: FuncOp, position: int, layout: Sequence[AffineExpr]) -> None:
    """Ask for parameter `position` in the order in which `layout` places its indices.

    Only for parameters that are constants at every launch: `cl-pack-constants` rearranges those at
    compile time, and then changes the type of the parameter and the kernel's loads.
    `layout` is a list of dimensions, and of their `floordiv` and `mod` by constants.
    """
    param = func.params[position]
    if position not in func.constant_indices:
        raise refuse(func, f"parameter {position} is not a constant, its layout is not ours")
    layouts = {} if func.layouts is None else dict(func.layouts.data)
    if str(position) in layouts:
        raise refuse(func, f"the layout of parameter {position} was chosen before")
    for use in param.uses:
        if not isinstance(use.operation, memref.LoadOp):
            raise refuse(use.operation, "a constant is only read")
    type_ = memref_of(param)
    affine_map = AffineMap(type_.get_num_dims(), 0, tuple(layout))
    try:
        packed_type(affine_map, type_)
    except VerifyException as error:
        raise refuse(func, str(error)) from None
    layouts[str(position)] = AffineMapAttr(affine_map)
    func.properties["layouts"] = DictionaryAttr(layouts)


def transpose_temporary(alloca: memref.AllocaOp, layout: Sequence[AffineExpr]) -> None:
    """Store a temporary with its dimensions in another order, which `layout` lists.

    Blocks access the same elements as before, at permuted indices.
    """
    rank = memref_of(alloca.memref).get_num_dims()
    order = [part.position for part in layout if isinstance(part, AffineDimExpr)]
    if len(order) != len(layout) or sorted(order) != list(range(rank)):
        raise refuse(alloca, f"the layout of a temporary is an order of its {rank} dimensions")
    uses = [use.operation for use in alloca.memref.uses]
    for use in uses:
        if not isinstance(use, memref.LoadOp | memref.StoreOp):
            raise refuse(use, "a temporary is only loaded and stored")
    old, hint = memref_of(alloca.memref), alloca.memref.name_hint
    shape = [old.get_shape()[d] for d in order]
    new = MemRefType(old.element_type, shape, old.layout, old.memory_space)
    Rewriter.replace_value_with_new_type(alloca.memref, new)
    alloca.memref.name_hint = hint
    for use in dict.fromkeys(uses):
        assert isinstance(use, memref.LoadOp | memref.StoreOp)
        value = [use.value] if isinstance(use, memref.StoreOp) else []
        indices = list(use.indices)
        use.operands = [*value, alloca.memref, *(indices[d] for d in order)]
