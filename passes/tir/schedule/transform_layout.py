"""transform_layout: store a constant parameter, or a temporary, in another order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from ....dialects.tir import FuncOp, Scope, ScopeAttr, packed_type
from .analysis import func_of, memref_of, users
from .errors import refuse


def transform_layout(func: FuncOp, position: int, layout: Sequence[AffineExpr]) -> None:
    """Request a storage order for parameter `position`, with indices permuted by `layout`.

    The parameter must be a constant in every launch: `cl-pack-constants` reorders it at compile
    time, and then changes the parameter's type and the kernel's loads. `layout` is a list of
    dimensions, and of their `floordiv` and `mod` by constants.
    """
    param = func.params[position]
    if position not in func.constant_indices:
        raise refuse(func, f"parameter {position} is not a constant, so its layout is fixed")
    layouts = {} if func.layouts is None else dict(func.layouts.data)
    if str(position) in layouts:
        raise refuse(func, f"the layout of parameter {position} is already chosen")
    for use in param.uses:
        if not isinstance(use.operation, memref.LoadOp):
            raise refuse(use.operation, "a constant must only be read")
    affine_map, _ = _checked(func, param, layout)
    layouts[str(position)] = AffineMapAttr(affine_map)
    func.properties["layouts"] = DictionaryAttr(layouts)


def transform_temporary(alloca: memref.AllocaOp, layout: Sequence[AffineExpr]) -> None:
    """Store a temporary in the order given by `layout`.

    Blocks access the same elements as before. Only temporaries in global memory can be stored in
    blocks: others shrink to the part of each dimension that a work-item or group needs.
    """
    buffer = alloca.memref
    is_order = all(isinstance(part, AffineDimExpr) for part in layout)
    if not is_order and memref_of(buffer).memory_space != ScopeAttr(Scope.Global):
        raise refuse(alloca, "only a temporary in global memory can be stored in blocks")
    affine_map, packed = _checked(func_of(alloca), buffer, layout)
    users(buffer)  # refuses accesses outside blocks
    hint = buffer.name_hint
    new = Rewriter.replace_value_with_new_type(buffer, packed)
    new.name_hint = hint
    access_in_layout(new, affine_map)


def _checked(
    func: FuncOp, buffer: SSAValue, layout: Sequence[AffineExpr]
) -> tuple[AffineMap, MemRefType[Attribute]]:
    """Return the map of a layout, and the resulting type of a buffer."""
    type_ = memref_of(buffer)
    affine_map = AffineMap(type_.get_num_dims(), 0, tuple(layout))
    try:
        return affine_map, packed_type(affine_map, type_)
    except VerifyException as error:
        raise refuse(func, str(error)) from None


def access_in_layout(buffer: SSAValue, layout: AffineMap) -> None:
    """Convert the indices of a buffer's accesses from its old order to `layout`."""
    for access in dict.fromkeys(use.operation for use in buffer.uses):
        assert isinstance(access, memref.LoadOp | memref.StoreOp)
        old, indices = list(access.indices), list[SSAValue]()
        for expr in layout.results:
            if isinstance(expr, AffineDimExpr):
                indices.append(old[expr.position])
                continue
            apply = ApplyOp(old, AffineMapAttr(AffineMap(len(old), 0, (expr,))))
            Rewriter.insert_op(apply, InsertPoint.before(access))
            indices.append(apply.result)
        value = [] if isinstance(access, memref.LoadOp) else [access.value]
        access.operands = [*value, buffer, *indices]
