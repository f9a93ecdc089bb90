"""set_scope: choose the memory of a temporary."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.rewriter import Rewriter

from ....dialects.tir import Scope, ScopeAttr
from .errors import refuse


def set_scope(alloca: memref.AllocaOp, scope: Scope) -> None:
    """Keep the temporary in private, local or global memory.

    Its type stays that of the whole tensor. `tir-lower-blocks` shrinks private and local
    temporaries to the elements that one iteration of the innermost common loop needs. A global
    temporary is a buffer between two launches: `tir-split-kernels` cuts the kernel there.
    """
    if scope not in (Scope.Private, Scope.Local, Scope.Global):
        raise refuse(alloca, f"a temporary must be private, local or global, not {scope.value}")
    old = alloca.memref.type
    assert isinstance(old, MemRefType)
    hint = alloca.memref.name_hint
    new = MemRefType(old.element_type, old.shape, old.layout, ScopeAttr(scope))
    Rewriter.replace_value_with_new_type(alloca.memref, new)
    alloca.memref.name_hint = hint
