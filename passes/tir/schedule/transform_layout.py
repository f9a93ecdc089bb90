"""transform_layout: a constant parameter is stored in another order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr
from xdsl.ir.affine import AffineExpr, AffineMap
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
