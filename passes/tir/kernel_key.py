"""The digest of a naive kernel: the site of its plan."""

from __future__ import annotations

from hashlib import sha256
from io import StringIO

from xdsl.dialects.builtin import StringAttr
from xdsl.printer import Printer

from ...dialects import tir


def kernel_key(func: tir.FuncOp) -> str:
    """Return a digest of what a naive kernel computes, without its names, comment and plan."""
    kernel = func.clone()
    kernel.plan = kernel.schedule = kernel.comment = kernel.roles = None
    for op in kernel.walk():
        args = (arg for region in op.regions for block in region.blocks for arg in block.args)
        for value in (*op.results, *args):
            value.name_hint = None
        if isinstance(op, tir.BlockOp):
            op.label = StringAttr("")
    kernel.sym_name = StringAttr("kernel")
    text = StringIO()
    Printer(stream=text, print_generic_format=True).print_op(kernel)
    return sha256(text.getvalue().encode()).hexdigest()[:16]
