"""Matrix products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of
from ..call import FxCall, Handler, Table


def _product(call: FxCall) -> SSAValue:
    return call.builder.matmul(call.tensor(), call.tensor("mat2"))


def _linear(call: FxCall) -> SSAValue:
    x, weight, bias = call.tensor("input"), call.tensor("weight"), call.optional("bias")
    if len(shape_of(x)) < 2 or len(shape_of(weight)) != 2:
        call.refuse("must multiply matrices, not vectors")
    y = call.builder.matmul(x, weight, transpose_b=True)
    return y if bias is None else call.builder.binary("add", y, bias)


def added(left: str, right: str) -> Handler:
    """Return the importer of beta * self + alpha * left @ right."""

    def handler(call: FxCall) -> SSAValue:
        builder, bias = call.builder, call.tensor()
        y = builder.matmul(call.tensor(left), call.tensor(right))
        alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
        if alpha != 1.0:
            y = builder.binary("mul", y, alpha)
        if beta == 0.0:
            return y
        return builder.binary("add", y, bias if beta == 1.0 else builder.binary("mul", bias, beta))

    return handler


TABLE: Table = {
    "aten.addmm.default": added("mat1", "mat2"),
    "aten.baddbmm.default": added("batch1", "batch2"),
    "aten.bmm.default": _product,
    "aten.linear.default": _linear,
    "aten.mm.default": _product,
}
