"""One step of an optimiser: Adagrad, Adam and Momentum of the domain ai.onnx.preview.training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from .....dialects.nn.types import tensor_type
from ....builder import Builder
from ...node import Handler, NodeContext, Table

Step = Callable[[SSAValue, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Maps the learning rate, the number of updates so far and [tensor, gradient, *states] to the new
tensor and states."""


def optimiser(states: int, prepare: Callable[[NodeContext], Step]) -> Handler:
    """Return the importer of an optimiser that keeps `states` tensors for each tensor it updates.

    The operands are the rate, the count, all tensors, all gradients, then all of each state.
    """

    def handler(node: NodeContext) -> Sequence[SSAValue]:
        rate, updates, *rest = node.present()
        groups = 2 + states
        if len(rest) % groups:
            node.refuse(f"has {len(rest)} tensors, gradients and states; each tensor has {groups}.")
        step, count = prepare(node), len(rest) // groups
        news: list[Sequence[SSAValue]] = []
        for i in range(count):
            operands = rest[i::count]
            type_ = tensor_type(operands[0]).element_type
            scalars = [
                node.builder.cast(node.builder.reshape(value, ()), type_)
                for value in (rate, updates)
            ]
            news.append(step(scalars[0], scalars[1], operands))
        return [new[i] for i in range(1 + states) for new in news]

    return handler


def _regularised(builder: Builder, norm: float, x: SSAValue, gradient: SSAValue) -> SSAValue:
    """Return the gradient of the loss with a penalty of norm / 2 * |x|^2."""
    return builder.binary("add", builder.binary("mul", x, norm), gradient)


def _average(builder: Builder, old: SSAValue, new: SSAValue, share: float) -> SSAValue:
    """Return share * old + (1 - share) * new."""
    kept = builder.binary("mul", old, share)
    return builder.binary("add", kept, builder.binary("mul", new, 1 - share))


def prepare_adagrad(node: NodeContext) -> Step:
    """Return the step of Adagrad: divide by the root of the sum of squared gradients."""
    builder, norm = node.builder, node.real("norm_coefficient", 0.0)
    decay, epsilon = node.real("decay_factor", 0.0), node.real("epsilon", 0.0)

    def step(rate: SSAValue, updates: SSAValue, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, gradient, squares = operands
        decayed = builder.binary("add", builder.binary("mul", updates, decay), 1)
        gradient = _regularised(builder, norm, x, gradient)
        squares = builder.binary("add", squares, builder.binary("mul", gradient, gradient))
        scale = builder.binary("add", builder.unary("sqrt", squares), epsilon)
        move = builder.binary("mul", builder.binary("div", rate, decayed), gradient)
        return builder.binary("sub", x, builder.binary("div", move, scale)), squares

    return step


def _one_minus_power(builder: Builder, base: float, exponent: SSAValue) -> SSAValue:
    """Return 1 - base ** exponent without cancellation, for an exponent above zero.

    With t = tanh(log(base) * exponent / 2), it is -2 t / (1 - t).
    """
    log = math.log(base) if base else -math.inf
    half = builder.unary("tanh", builder.binary("mul", exponent, log / 2))
    rest = builder.binary("sub", builder.scalar(1, half), half)
    return builder.binary("div", builder.binary("mul", half, -2), rest)


def prepare_adam(node: NodeContext) -> Step:
    """Return the step of Adam: averages of the gradients and of their squares."""
    builder, norm = node.builder, node.real("norm_coefficient", 0.0)
    alpha, beta = node.real("alpha", 0.9), node.real("beta", 0.999)
    epsilon, post = node.real("epsilon", 0.0), node.real("norm_coefficient_post", 0.0)
    if not min(alpha, beta) >= 0:
        node.refuse(f"its coefficients alpha {alpha} and beta {beta} must not be negative.")

    def step(rate: SSAValue, updates: SSAValue, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, gradient, mean, squares = operands
        gradient = _regularised(builder, norm, x, gradient)
        mean = _average(builder, mean, gradient, alpha)
        squares = _average(builder, squares, builder.binary("mul", gradient, gradient), beta)
        scale = builder.binary("add", builder.unary("sqrt", squares), epsilon)
        root = builder.unary("sqrt", _one_minus_power(builder, beta, updates))
        unbiased = builder.binary("div", root, _one_minus_power(builder, alpha, updates))
        unbiased = builder.binary("mul", rate, unbiased)
        rate = builder.where(builder.compare("gt", updates, 0), unbiased, rate)
        move = builder.binary("div", builder.binary("mul", rate, mean), scale)
        x = builder.binary("sub", x, move)
        return builder.binary("mul", x, 1 - post) if post else x, mean, squares

    return step


def prepare_momentum(node: NodeContext) -> Step:
    """Return the step of gradient descent with momentum, Nesterov's or the standard one."""
    builder, norm = node.builder, node.real("norm_coefficient")
    alpha, beta = node.real("alpha"), node.real("beta")
    nesterov = node.choice("mode", "", ("standard", "nesterov")) == "nesterov"

    def step(rate: SSAValue, updates: SSAValue, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, gradient, momentum = operands
        gradient = _regularised(builder, norm, x, gradient)
        first, later = builder.scalar(1, x), builder.scalar(beta, x)
        share = builder.where(builder.compare("gt", updates, 0), later, first)
        momentum = builder.binary("mul", momentum, alpha)
        momentum = builder.binary("add", momentum, builder.binary("mul", share, gradient))
        move = momentum
        if nesterov:
            move = builder.binary("add", gradient, builder.binary("mul", momentum, alpha))
        return builder.binary("sub", x, builder.binary("mul", rate, move)), momentum

    return step


TABLE: Table = {
    "Adagrad": {1: optimiser(1, prepare_adagrad)},
    "Adam": {1: optimiser(2, prepare_adam)},
    "Momentum": {1: optimiser(1, prepare_momentum)},
}
