"""Activation functions that recurrent operators name in attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from ...builder import Builder
from ..node import NodeContext

Activation: TypeAlias = Callable[[Builder, SSAValue], SSAValue]
"""An elementwise function with its parameters bound."""

FUNCTIONS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "affine": ("affine", (1.0, 0.0)),
    "elu": ("elu", (1.0,)),
    "hardsigmoid": ("hard_sigmoid", (0.2, 0.5)),
    "leakyrelu": ("leaky_relu", (0.01,)),
    "relu": ("relu", ()),
    "scaledtanh": ("scaled_tanh", (1.0, 1.0)),
    "sigmoid": ("sigmoid", ()),
    "softplus": ("softplus", ()),
    "softsign": ("softsign", ()),
    "tanh": ("tanh", ()),
    "thresholdedrelu": ("thresholded_relu", (1.0,)),
}
"""Lower-case ONNX name to the nn.unary kind and the defaults of alpha and beta."""


def read_activations(node: NodeContext, defaults: Sequence[str], total: int) -> list[Activation]:
    """Return the functions of all directions in order.

    Functions with an alpha or a beta consume `activation_alpha` and `activation_beta` in order.
    """
    names = node.texts("activations") or tuple(defaults) * (total // len(defaults))
    alphas = iter(node.reals("activation_alpha") or ())
    betas = iter(node.reals("activation_beta") or ())
    if len(names) != total:
        node.refuse(f"names {len(names)} activations; expected {total}.")
    chosen: list[Activation] = []
    for name in names:
        if name.lower() not in FUNCTIONS:
            node.refuse(f"the activation {name} is not supported.")
        _, params = FUNCTIONS[name.lower()]
        sources = zip((alphas, betas), params, strict=False)
        chosen.append(activation(name, [next(source, default) for source, default in sources]))
    return chosen


def activation(name: str, given: Sequence[float]) -> Activation:
    """Return the function of a name in `FUNCTIONS`, with defaults for parameters not given."""
    kind, defaults = FUNCTIONS[name.lower()]
    params = [*given[: len(defaults)], *defaults[len(given) :]]

    def apply(builder: Builder, x: SSAValue) -> SSAValue:
        if kind == "affine":
            return builder.binary("add", builder.binary("mul", x, params[0]), params[1])
        if kind == "scaled_tanh":
            inner = builder.unary("tanh", builder.binary("mul", x, params[1]))
            return builder.binary("mul", inner, params[0])
        return builder.unary(kind, x, *params)

    return apply
