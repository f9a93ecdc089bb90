"""Transposed convolution, compared with scattering every input element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clopt.dialects import nn
from support.tir.harness import evaluate, examples


def scatter(
    x: np.ndarray, w: np.ndarray, shape: tuple[int, ...], attributes: dict, groups: int
) -> np.ndarray:
    """Each input element adds its multiple of the kernel at `i * stride + k * dilation - pad`."""
    strides, dilations, pads = (attributes[name] for name in ("strides", "dilations", "pads"))
    y = np.zeros(shape)
    members, outputs = x.shape[1] // groups, w.shape[1]
    for n, c, *i in np.ndindex(*x.shape):
        for o, *k in np.ndindex(*w.shape[1:]):
            at = [a * s + b * d - p for a, s, b, d, p in zip(i, strides, k, dilations, pads)]
            if all(0 <= p < size for p, size in zip(at, shape[2:], strict=True)):
                y[n, c // members * outputs + o, *at] += float(x[n, c, *i]) * float(w[c, o, *k])
    return y


@pytest.mark.by_default(cases=1)
@given(st.data())
@examples(50)
def test_conv_transpose(data: st.DataObject) -> None:
    rank, groups = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 2))

    def ints(low: int, high: int, count: int = rank) -> tuple[int, ...]:
        return tuple(data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    attributes = dict(
        strides=ints(1, 4),
        dilations=ints(1, 4),
        pads=ints(0, 2, 2 * rank),
        output_padding=ints(0, 1),
    )
    size, kernel = ints(1, 4), ints(1, 3)
    spans = [
        attributes["strides"][i] * (size[i] - 1)
        + attributes["output_padding"][i]
        + (kernel[i] - 1) * attributes["dilations"][i]
        + 1
        - attributes["pads"][i]
        - attributes["pads"][i + rank]
        for i in range(rank)
    ]
    assume(min(spans) >= 1)
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = generator.normal(size=(1, 2 * groups, *size)).astype("f4")
    w = generator.normal(size=(2 * groups, 2, *kernel)).astype("f4")
    b = generator.normal(size=(2 * groups,)).astype("f4")
    (y,) = evaluate(
        lambda x, w, b: nn.ConvTransposeOp(x, w, b, groups=groups, **attributes), x, w, b
    )
    expected = scatter(x, w, y.shape, attributes, groups) + b.reshape(1, -1, *[1] * rank)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
