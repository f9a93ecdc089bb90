"""Elementwise operators, and constants."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute, SSAValue

from ....dialects import nn
from ....dialects.nn.types import is_bool, is_float, shape_of
from ..call import FxCall, Handler, Table, as_value, element_of

_SELU = (1.6732632423543772, 1.0507009873554805)


def unary(kind: str, *params: float | str) -> Handler:
    """Return the importer of an elementwise function; `params` are numbers or argument names."""

    def handler(call: FxCall) -> SSAValue:
        x = call.operand("self", call.form().element)
        given = [call.number(p, 1.0) if isinstance(p, str) else p for p in params]
        return call.builder.unary(kind, x, *given)

    return handler


def test(kind: str, *params: float) -> Handler:
    """Return the importer of an elementwise function with a bool result."""
    return lambda call: call.builder.unary(kind, call.tensor(), *params)


def binary(kind: str, of_bools: str | None = None) -> Handler:
    """Return the importer of a function computed in its result type.

    `of_bools` is the nn kind for booleans.
    """

    def handler(call: FxCall) -> SSAValue:
        element = call.form().element
        a, b = (call.operand(name, element) for name in ("self", "other"))
        if (alpha := call["alpha"]) not in (None, 1):
            b = call.builder.binary("mul", b, alpha)
        if is_bool(element):
            if of_bools is None:
                call.refuse(f"computes {kind} of booleans")
            return call.builder.binary(of_bools, a, b)
        return call.builder.binary(kind, a, b)

    return handler


def logical(kind: str) -> Handler:
    """Return the importer of a boolean function; non-zero elements are true."""
    return lambda call: call.builder.binary(
        kind, call.operand("self", i1), call.operand("other", i1)
    )


def compare(kind: str) -> Handler:
    """Return the importer of a comparison in the type that both operands promote to."""

    def handler(call: FxCall) -> SSAValue:
        element = _promoted(call)
        a, b = (call.operand(name, element) for name in ("self", "other"))
        return call.builder.compare(kind, a, b)

    return handler


def _promoted(call: FxCall) -> Attribute:
    """Return the promoted type: floats before integers before booleans, then the wider."""
    elements = [
        element_of(value)
        for name in ("self", "other")
        if (value := as_value(call[name])) is not None
    ]
    if isinstance(call["other"], float) and not is_float(elements[0]):
        return f32

    def rank(element: Attribute) -> tuple[int, int]:
        dtype = nn.numpy_dtype(element)
        return "biuf".index(dtype.kind.replace("u", "i")), dtype.itemsize

    return max(elements, key=rank)


def _gelu(call: FxCall) -> SSAValue:
    kind = "gelu_tanh" if call["approximate"] == "tanh" else "gelu"
    return call.builder.unary(kind, call.tensor())


def _elu(call: FxCall) -> SSAValue:
    if call.number("input_scale", 1.0) != 1.0:
        call.refuse("scales its input")
    y = call.builder.unary("elu", call.tensor(), call.number("alpha", 1.0))
    scale = call.number("scale", 1.0)
    return y if scale == 1.0 else call.builder.binary("mul", y, scale)


def _softplus(call: FxCall) -> SSAValue:
    if call.number("beta", 1.0) != 1.0:
        call.refuse("has a beta other than 1")
    return call.builder.unary("softplus", call.tensor())


def clip(low: str, high: str) -> Handler:
    """Return the importer of a clip with an optional lower and upper bound."""

    def handler(call: FxCall) -> SSAValue:
        x = call.operand("self", call.form().element)
        bounds = [None if call[name] is None else call.number(name) for name in (low, high)]
        return call.add(nn.ClipOp(x, *bounds))

    return handler


def _div(call: FxCall) -> SSAValue:
    """Divide, and round float quotients by the rounding mode."""
    mode, element = call["rounding_mode"], call.form().element
    if mode is not None and not is_float(element):
        call.refuse(f"rounds integer quotients by '{mode}'")
    a, b = (call.operand(name, element) for name in ("self", "other"))
    quotient = call.builder.binary("div", a, b)
    if mode == "trunc":
        call.refuse("truncates quotients")
    return call.builder.unary("floor", quotient) if mode == "floor" else quotient


def _rsub(call: FxCall) -> SSAValue:
    if call["alpha"] not in (None, 1):
        call.refuse("has an alpha other than 1")
    element = call.form().element
    a, b = (call.operand(name, element) for name in ("other", "self"))
    return call.builder.binary("sub", a, b)


def _pow(call: FxCall) -> SSAValue:
    """Raise to a power; a square becomes a product."""
    element = call.form().element
    a, exponent = call.operand("self", element), call["exponent"]
    if exponent == 2:
        return call.builder.binary("mul", a, a)
    return call.builder.binary("pow", a, call.operand("exponent", element))


def _where(call: FxCall) -> SSAValue:
    element = call.form().element
    a, b = (call.operand(name, element) for name in ("self", "other"))
    return call.builder.where(call.operand("condition", i1), a, b)


def _masked_fill(call: FxCall) -> SSAValue:
    element = call.form().element
    a, b = call.operand("value", element), call.operand("self", element)
    return call.builder.where(call.operand("mask", i1), a, b)


def same(call: FxCall) -> SSAValue:
    """Cast a tensor to the type of the result."""
    return call.builder.cast(call.tensor(), call.form().element)


def filled(name: str | None = None, number: float = 0.0) -> Handler:
    """Return the importer of a tensor of one number, which may be an argument."""

    def handler(call: FxCall) -> SSAValue:
        form = call.form()
        given = number if name is None else call.number(name)
        scalar = call.builder.constant(np.array(given, form.dtype))
        return call.builder.expand(scalar, form.shape)

    return handler


def _arange(call: FxCall) -> SSAValue:
    form = call.form()
    call.builder.reserve(*form.shape)
    start, step = call.number("start"), call.number("step", 1)
    array = start + step * np.arange(form.shape[0])
    return call.builder.constant(array.astype(form.dtype))


def _fill(call: FxCall) -> SSAValue:
    element = call.form().element
    return call.builder.expand(call.operand("value", element), shape_of(call.tensor()))


_UNARY = (
    "abs ceil floor neg sign round sqrt rsqrt reciprocal exp log sin cos tan asin acos atan sinh "
    "cosh tanh asinh acosh atanh erf relu sigmoid silu mish"
).split()


def _nothing(_: FxCall) -> None:
    """Import nothing: the call only asserts what torch knew while tracing."""


TABLE: Table = {
    **{f"aten.{kind}.default": unary(kind) for kind in _UNARY},
    **{
        f"aten.{kind}.{form}": compare(kind)
        for kind in "eq ne lt le gt ge".split()
        for form in ("Tensor", "Scalar")
    },
    **{f"aten.logical_{kind}.default": logical(kind) for kind in ("and", "or", "xor")},
    **{
        f"aten.{name}.{form}": binary(kind, of_bools)
        for name, kind, of_bools in (
            ("add", "add", "or"),
            ("sub", "sub", None),
            ("mul", "mul", "and"),
            ("div", "div", None),
            ("remainder", "mod", None),
            ("fmod", "fmod", None),
            ("bitwise_and", "bit_and", "and"),
            ("bitwise_or", "bit_or", "or"),
            ("bitwise_xor", "bit_xor", "xor"),
        )
        for form in ("Tensor", "Scalar")
    },
    "aten._assert_tensor_metadata.default": _nothing,
    "aten._to_copy.default": same,
    "aten.alias.default": same,
    "aten.arange.start_step": _arange,
    "aten.bitwise_not.default": lambda call: call.builder.unary(
        "logical_not" if is_bool(call.form().element) else "bitwise_not", call.tensor()
    ),
    "aten.clamp.default": clip("min", "max"),
    "aten.clone.default": same,
    "aten.detach.default": same,
    "aten.div.Tensor_mode": _div,
    "aten.elu.default": _elu,
    "aten.empty.memory_format": filled(),
    "aten.fill.Scalar": _fill,
    "aten.full.default": filled("fill_value"),
    "aten.full_like.default": filled("fill_value"),
    "aten.gelu.default": _gelu,
    "aten.hardsigmoid.default": unary("hard_sigmoid", 1 / 6, 0.5),
    "aten.hardswish.default": unary("hard_swish"),
    "aten.hardtanh.default": clip("min_val", "max_val"),
    "aten.isinf.default": test("isinf", 1, 1),
    "aten.isnan.default": test("isnan"),
    "aten.leaky_relu.default": unary("leaky_relu", "negative_slope"),
    "aten.lift_fresh_copy.default": same,
    "aten.logical_not.default": lambda call: call.builder.unary(
        "logical_not", call.operand("self", i1)
    ),
    "aten.masked_fill.Scalar": _masked_fill,
    "aten.masked_fill.Tensor": _masked_fill,
    "aten.maximum.default": binary("max", "or"),
    "aten.minimum.default": binary("min", "and"),
    "aten.ones.default": filled(None, 1.0),
    "aten.ones_like.default": filled(None, 1.0),
    "aten.pow.Scalar": _pow,
    "aten.pow.Tensor_Scalar": _pow,
    "aten.pow.Tensor_Tensor": _pow,
    "aten.rsub.Scalar": _rsub,
    "aten.rsub.Tensor": _rsub,
    "aten.scalar_tensor.default": filled("s"),
    "aten.selu.default": unary("selu", *_SELU),
    "aten.softplus.default": _softplus,
    "aten.where.self": _where,
    "aten.zeros.default": filled(),
    "aten.zeros_like.default": filled(),
}
