"""Convolution and transposed convolution in one to three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.onnx.single_node import Case, check, examples, generators, node, values


@st.composite
def convolutions(draw: st.DrawFn, rank: int) -> Case:
    """Groups, dilations, asymmetric padding, strides, every auto_pad, with and without a bias."""
    rng = draw(generators)

    def per_axis(low: int, high: int, count: int = rank) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    groups = draw(st.sampled_from([1, 1, 2, 3]))
    cin, cout = groups * draw(st.integers(1, 4)), groups * draw(st.integers(1, 9))
    kernel, strides, dilations = per_axis(1, 3), per_axis(1, 3), per_axis(1, 2)
    space = [s + (k - 1) * d for s, k, d in zip(per_axis(1, 6), kernel, dilations, strict=True)]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "group": groups}
    auto = draw(st.sampled_from(["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    if auto == "NOTSET":
        attributes |= {"pads": per_axis(0, 2, 2 * rank), "dilations": dilations}
    elif auto == "VALID":
        attributes |= {"auto_pad": auto, "dilations": dilations}
    else:
        attributes |= {"auto_pad": auto}
    x = values(rng, (draw(st.integers(1, 2)), cin, *space))
    w = values(rng, (cout, cin // groups, *kernel))
    bias = values(rng, (cout,)) if draw(st.booleans()) else None
    return node("Conv", x, w, bias, constants=[1, 2], **attributes)


@pytest.mark.in_turns
@examples(6)
@given(case=convolutions(1))
def test_conv_1d(device: str, case: Case) -> None:
    check(case, device)


@examples(12)
@given(case=convolutions(2))
@pytest.mark.by_default(cases=1)
def test_conv_2d(device: str, case: Case) -> None:
    check(case, device)


@pytest.mark.in_turns
@examples(4)
@given(case=convolutions(3))
def test_conv_3d(device: str, case: Case) -> None:
    check(case, device)


@examples(4)
@given(
    rng=generators,
    channels=st.integers(1, 20),
    size=st.integers(3, 17),
    stride=st.integers(1, 2),
    kernel=st.sampled_from([3, 5]),
)
def test_depthwise(
    device: str, rng: np.random.Generator, channels: int, size: int, stride: int, kernel: int
) -> None:
    x = values(rng, (1, channels, size, size + 1))
    w = values(rng, (channels, 1, kernel, kernel))
    pads = [kernel // 2] * 4
    case = node("Conv", x, w, constants=[1], pads=pads, strides=[stride] * 2, group=channels)
    check(case, device)


@examples(5)
@given(
    rng=generators,
    cin=st.sampled_from([1, 3, 8, 16, 33]),
    cout=st.sampled_from([1, 7, 16, 24, 65]),
    height=st.integers(1, 15),
    width=st.sampled_from([1, 7, 8, 14, 16, 17, 28]),
)
def test_pointwise(
    device: str, rng: np.random.Generator, cin: int, cout: int, height: int, width: int
) -> None:
    x = values(rng, (1, cin, height, width))
    case = node("Conv", x, values(rng, (cout, cin, 1, 1)), values(rng, (cout,)), constants=[1, 2])
    check(case, device)


@examples(4)
@given(
    rng=generators,
    cin=st.sampled_from([3, 8, 17]),
    cout=st.sampled_from([6, 16, 33]),
    size=st.sampled_from([7, 14, 16, 19]),
    stride=st.integers(1, 2),
    kernel=st.sampled_from([3, 7]),
)
def test_wide_conv(
    device: str,
    rng: np.random.Generator,
    cin: int,
    cout: int,
    size: int,
    stride: int,
    kernel: int,
) -> None:
    x, w = values(rng, (1, cin, size, size)), values(rng, (cout, cin, kernel, kernel))
    pads = [kernel // 2] * 4
    check(node("Conv", x, w, constants=[1], pads=pads, strides=[stride] * 2), device)


@examples(2)
@given(rng=generators)
def test_weights_at_run_time(device: str, rng: np.random.Generator) -> None:
    case = node("Conv", values(rng, (1, 3, 6, 7)), values(rng, (4, 3, 3, 2)), values(rng, (4,)))
    check(case, device)


@st.composite
def transposed(draw: st.DrawFn, rank: int) -> Case:
    """Transposed convolutions with every attribute; the result is never empty."""
    rng = draw(generators)

    def per_axis(low: int, high: int, count: int = rank) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    groups = draw(st.sampled_from([1, 1, 2]))
    cin, cout = groups * draw(st.integers(1, 4)), groups * draw(st.integers(1, 5))
    kernel, strides, dilations = per_axis(1, 4), per_axis(1, 3), per_axis(1, 2)
    space, pads = per_axis(1, 5), per_axis(0, 1, 2 * rank)
    extra = [draw(st.integers(0, stride - 1)) for stride in strides]
    for i in range(rank):
        extent = strides[i] * (space[i] - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        assume(extent - pads[i] - pads[rank + i] > 0)
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": strides,
        "dilations": dilations,
        "pads": pads,
        "output_padding": extra,
        "group": groups,
    }
    x = values(rng, (draw(st.integers(1, 2)), cin, *space))
    w = values(rng, (cin, cout // groups, *kernel))
    bias = values(rng, (cout,)) if draw(st.booleans()) else None
    return node("ConvTranspose", x, w, bias, constants=[1, 2], **attributes)


@pytest.mark.in_turns
@examples(3)
@given(case=transposed(1))
def test_conv_transpose_1d(device: str, case: Case) -> None:
    check(case, device)


@examples(8)
@given(case=transposed(2))
@pytest.mark.by_default(cases=1)
def test_conv_transpose_2d(device: str, case: Case) -> None:
    check(case, device)


@pytest.mark.in_turns
@examples(2)
@given(case=transposed(3))
def test_conv_transpose_3d(device: str, case: Case) -> None:
    check(case, device)


@pytest.mark.in_turns
@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@examples(1)
@given(rng=generators, stride=st.integers(1, 3))
def test_conv_transpose_auto_pad(
    device: str, auto: str, rng: np.random.Generator, stride: int
) -> None:
    x, w = values(rng, (1, 2, 4, 3)), values(rng, (2, 3, 3, 3))
    check(node("ConvTranspose", x, w, constants=[1], auto_pad=auto, strides=[stride] * 2), device)
