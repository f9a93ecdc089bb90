"""Elementwise functions, comparisons, selection and casts."""

from __future__ import annotations

from functools import reduce

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects import nn
from ....dialects.narrow import is_narrow
from ....dialects.nn.types import (
    element_type,
    is_float,
    is_unsigned,
    numpy_dtype,
    shape_of,
    tensor_type,
)
from ...builder import dtype_of_value
from ..node import Handler, NodeContext, Table
from .legacy import aligned_binary, aligned_compare, import_prelu_6

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875
"""Defaults of Selu, exact in single precision."""


def unary(kind: str) -> Handler:
    """Return the importer of an operator without attributes that is one nn.unary."""
    return lambda node: node.builder.unary(kind, node.input(0))


def parametric(kind: str, **defaults: float) -> Handler:
    """Return the importer of an operator whose float attributes are the parameters of nn.unary."""

    def handler(node: NodeContext) -> SSAValue:
        params = [node.real(name, value) for name, value in defaults.items()]
        return node.builder.unary(kind, node.input(0), *params)

    return handler


def binary(kind: str) -> Handler:
    """Return the importer of an operator that is one nn.binary."""
    return lambda node: node.builder.binary(kind, node.input(0), node.input(1))


def compare(kind: str) -> Handler:
    """Return the importer of an operator that is one nn.compare."""
    return lambda node: node.builder.compare(kind, node.input(0), node.input(1))


def variadic(kind: str) -> Handler:
    """Return the importer of a variadic operator: a chain of nn.binary over all inputs."""

    def handler(node: NodeContext) -> SSAValue:
        return reduce(lambda a, b: node.builder.binary(kind, a, b), node.present())

    return handler


def import_mean(node: NodeContext) -> SSAValue:
    """Import Mean: the mean of all inputs, broadcast to one shape."""
    total = variadic("add")(node)
    assert isinstance(total, SSAValue)
    return node.builder.binary("div", total, float(len(node.inputs)))


def import_gelu(node: NodeContext) -> SSAValue:
    """Import Gelu, exact or approximated by tanh."""
    tanh = node.choice("approximate", "none", ("none", "tanh")) == "tanh"
    return node.builder.unary("gelu_tanh" if tanh else "gelu", node.input(0))


def import_is_inf(node: NodeContext) -> SSAValue:
    """Import IsInf: two attributes select the signs to detect."""
    signs = [node.integer(f"detect_{sign}", 1) for sign in ("negative", "positive")]
    return node.builder.unary("isinf", node.input(0), *signs)


def import_pow(node: NodeContext) -> SSAValue:
    """Import Pow: since opset 12, the result has the type of the base."""
    builder, base, exponent = node.builder, node.input(0), node.input(1)
    base_type, exponent_type = (tensor_type(v).element_type for v in (base, exponent))
    if is_float(exponent_type) and not is_float(base_type):
        powers = builder.binary("pow", builder.cast(base, exponent_type), exponent)
        return builder.cast(powers, base_type)
    return builder.binary("pow", base, builder.cast(exponent, base_type))


def import_mod(node: NodeContext) -> SSAValue:
    """Import Mod: the result has the sign of the divisor, or with fmod of the dividend."""
    kind = "fmod" if node.flag("fmod") else "mod"
    return node.builder.binary(kind, node.input(0), node.input(1))


def import_bit_shift(node: NodeContext) -> SSAValue:
    """Import BitShift: shifting by the width or more leaves only copies of the sign (opset 28)."""
    builder, x, amount = node.builder, node.input(0), node.input(1)
    left = node.choice("direction", "", ("LEFT", "RIGHT")) == "LEFT"
    kind = "shl" if left else "shr"
    dtype = dtype_of_value(x)
    bits = dtype.itemsize * 8
    known = builder.known(amount)
    if known is not None and ((known >= 0) & (known < bits)).all():
        return builder.binary(kind, x, amount)
    # A C shift by the width or more is undefined, so the amount is clamped first.
    in_range = builder.compare("lt", amount, bits)
    if not is_unsigned(tensor_type(x).element_type):
        in_range = builder.binary("and", in_range, builder.compare("ge", amount, 0))
    bounded = builder.where(in_range, amount, builder.scalar(0, amount))
    outside = builder.scalar(0, x)
    if not left and dtype.kind == "i":
        outside = builder.binary("shr", x, bits - 1)
    return builder.where(in_range, builder.binary(kind, x, bounded), outside)


def import_clip_attributes(node: NodeContext) -> SSAValue:
    """Import Clip before opset 11: its bounds are attributes."""
    low, high = (node.real(name) if node.has(name) else None for name in ("min", "max"))
    return node.add(nn.ClipOp(node.input(0), low, high))


def import_clip(node: NodeContext) -> SSAValue:
    """Import Clip: constant bounds become properties, computed ones a maximum and a minimum."""
    x, bounds = node.input(0), [node.optional(1), node.optional(2)]
    known = [None if bound is None else node.builder.known(bound) for bound in bounds]
    if all(b is None or k is not None for b, k in zip(bounds, known, strict=True)):
        names = ("minimum", "maximum")
        low, high = (
            None if k is None else node.constant_number(i, name)
            for i, (k, name) in enumerate(zip(known, names, strict=True), 1)
        )
        return x if low is None and high is None else node.add(nn.ClipOp(x, low, high))
    for kind, bound in zip(("max", "min"), bounds, strict=True):
        if bound is not None:
            x = node.builder.binary(kind, x, node.builder.reshape(bound, ()))
    return x


def import_cast(node: NodeContext) -> SSAValue:
    """Import Cast; `round_mode` concerns only float8e8m0, which is unsupported."""
    node.text("round_mode", "up")
    to, saturate = element_type(node.dtype(node.integer("to"))), node.flag("saturate", True)
    return node.builder.cast(node.input(0), to, unsaturated=is_narrow(to) and not saturate)


def import_bit_cast(node: NodeContext) -> SSAValue:
    """Import BitCast: between integers a cast, which keeps the bits, else one of each scalar."""
    x, to = node.input(0), element_type(node.dtype(node.integer("to")))
    source = tensor_type(x).element_type
    if source == to:
        return x
    dtype, result = dtype_of_value(x), numpy_dtype(to)
    if dtype.itemsize == result.itemsize and dtype.kind in "biu" and result.kind in "iu":
        return node.builder.cast(x, to)
    if (dtype.itemsize, result.itemsize) not in ((4, 4), (8, 8)):
        node.refuse(
            f"the bits of {dtype} cannot be read as {result}; cast to types of 32 or 64 bits first."
        )
    held = [nn.storage_type(source), nn.storage_type(to)]
    block = Block(arg_types=held[:1])
    made = arith.BitcastOp(block.args[0], held[1])
    block.add_ops([made, nn.YieldOp([made.result])])
    index = AffineMap.identity(node.rank())
    x = node.builder.cast(x, held[0])
    bits = nn.GenericOp([x], [index, index], node.shape(), held[1:], Region(block))
    return node.builder.cast(node.add(bits), to)


def import_identity(node: NodeContext) -> SSAValue:
    """Import Identity as its input."""
    return node.input(0)


def import_prelu(node: NodeContext) -> SSAValue:
    """Import PRelu: the slope broadcasts to the input, not the other way round."""
    result = node.builder.binary("prelu", node.input(0), node.input(1))
    if shape_of(result) != node.shape():
        node.refuse(f"the slope of shape {list(node.shape(1))} does not broadcast to the input.")
    return result


def import_where(node: NodeContext) -> SSAValue:
    """Import Where."""
    return node.builder.where(node.input(0), node.input(1), node.input(2))


def import_not(node: NodeContext) -> SSAValue:
    """Import Not."""
    if tensor_type(node.input(0)).element_type != i1:
        node.refuse("its input must have bool elements.")
    return node.builder.unary("logical_not", node.input(0))


TABLE: Table = {
    "Abs": {6: unary("abs")},
    "Acos": {7: unary("acos")},
    "Acosh": {9: unary("acosh")},
    "Add": {1: aligned_binary("add"), 7: binary("add")},
    "And": {1: aligned_binary("and"), 7: binary("and")},
    "Asin": {7: unary("asin")},
    "Asinh": {9: unary("asinh")},
    "Atan": {7: unary("atan")},
    "Atanh": {9: unary("atanh")},
    "BitShift": {11: import_bit_shift},
    "BitwiseAnd": {18: binary("bit_and")},
    "BitwiseNot": {18: unary("bitwise_not")},
    "BitwiseOr": {18: binary("bit_or")},
    "BitwiseXor": {18: binary("bit_xor")},
    "BitCast": {26: import_bit_cast},
    "Cast": {6: import_cast},
    "Ceil": {6: unary("ceil")},
    "Celu": {12: parametric("celu", alpha=1.0)},
    "Clip": {6: import_clip_attributes, 11: import_clip},
    "Cos": {7: unary("cos")},
    "Cosh": {9: unary("cosh")},
    "Div": {1: aligned_binary("div"), 7: binary("div")},
    "Elu": {6: parametric("elu", alpha=1.0)},
    "Equal": {1: aligned_compare("eq"), 7: compare("eq")},
    "Erf": {9: unary("erf")},
    "Exp": {6: unary("exp")},
    "Floor": {6: unary("floor")},
    "Gelu": {20: import_gelu},
    "Greater": {1: aligned_compare("gt"), 7: compare("gt")},
    "GreaterOrEqual": {12: compare("ge")},
    "HardSigmoid": {6: parametric("hard_sigmoid", alpha=0.2, beta=0.5)},
    "HardSwish": {14: unary("hard_swish")},
    "Identity": {1: import_identity},
    "IsInf": {10: import_is_inf},
    "IsNaN": {9: unary("isnan")},
    "LeakyRelu": {6: parametric("leaky_relu", alpha=0.01)},
    "Less": {1: aligned_compare("lt"), 7: compare("lt")},
    "LessOrEqual": {12: compare("le")},
    "Log": {6: unary("log")},
    "Max": {6: variadic("max")},
    "Mean": {6: import_mean},
    "Min": {6: variadic("min")},
    "Mish": {18: unary("mish")},
    "Mod": {10: import_mod},
    "Mul": {1: aligned_binary("mul"), 7: binary("mul")},
    "Neg": {6: unary("neg")},
    "Not": {1: import_not},
    "Or": {1: aligned_binary("or"), 7: binary("or")},
    "PRelu": {6: import_prelu_6, 7: import_prelu},
    "Pow": {1: aligned_binary("pow"), 7: import_pow},
    "Reciprocal": {6: unary("reciprocal")},
    "Relu": {6: unary("relu")},
    "Round": {11: unary("round")},
    "Selu": {6: parametric("selu", alpha=SELU_ALPHA, gamma=SELU_GAMMA)},
    "Shrink": {9: parametric("shrink", bias=0.0, lambd=0.5)},
    "Sigmoid": {6: unary("sigmoid")},
    "Sign": {9: unary("sign")},
    "Sin": {7: unary("sin")},
    "Sinh": {9: unary("sinh")},
    "Softplus": {1: unary("softplus")},
    "Softsign": {1: unary("softsign")},
    "Sqrt": {6: unary("sqrt")},
    "Sub": {1: aligned_binary("sub"), 7: binary("sub")},
    "Sum": {6: variadic("add")},
    "Swish": {24: parametric("swish", alpha=1.0)},
    "Tan": {7: unary("tan")},
    "Tanh": {6: unary("tanh")},
    "ThresholdedRelu": {10: parametric("thresholded_relu", alpha=1.0)},
    "Where": {9: import_where},
    "Xor": {1: aligned_binary("xor"), 7: binary("xor")},
}
