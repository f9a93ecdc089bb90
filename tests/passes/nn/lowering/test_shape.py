"""Operations that only move elements, against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clopt.dialects import nn
from support.tir.harness import evaluate, examples, onnx_reference

TYPES = ("f2", "f4", "f8", "?", "i1", "u1", "i2", "i4", "i8", "u8")
shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)
tensors = st.builds(
    lambda shape, dtype: (np.arange(math.prod(shape)) % 113).reshape(shape).astype(dtype),
    shapes,
    st.sampled_from(TYPES),
)


@st.composite
def factors(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    """A shape with `size` elements."""
    shape: list[int] = []
    while size > 1:
        shape.append(draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0])))
        size //= shape[-1]
    return tuple(shape + [1] * draw(st.integers(0, 1)))


@given(tensors, st.data())
@examples(60)
def test_reshape(x: np.ndarray, data: st.DataObject) -> None:
    shape = data.draw(factors(x.size))
    (y,) = evaluate(lambda x: nn.ReshapeOp(x, shape), x)
    np.testing.assert_array_equal(y, x.reshape(shape))


def test_reshape_of_nothing() -> None:
    (y,) = evaluate(lambda x: nn.ReshapeOp(x, (3, 0)), np.zeros((0, 2), "f4"))
    assert y.shape == (3, 0)


@given(tensors, st.randoms(use_true_random=False))
@examples(20)
def test_transpose(x: np.ndarray, random) -> None:
    perm = list(range(x.ndim))
    random.shuffle(perm)
    (y,) = evaluate(lambda x: nn.TransposeOp(x, perm), x)
    np.testing.assert_array_equal(y, x.transpose(perm))


@given(tensors, st.data(), st.booleans())
@examples(30)
def test_concat(x: np.ndarray, data: st.DataObject, consumed: bool) -> None:
    assume(x.ndim)
    axis = data.draw(st.integers(0, x.ndim - 1))
    pieces = []
    for size in data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)):
        shape = list(x.shape)
        shape[axis] = size
        pieces.append((np.arange(math.prod(shape)) + len(pieces)).reshape(shape).astype(x.dtype))

    def build(*values):
        concat = nn.ConcatOp(values, axis)
        if not consumed:
            return concat
        # A consumer asks for elements of the whole, an output stores each piece.
        return [concat, nn.SliceOp(concat.result, [0] * x.ndim, nn.shape_of(concat.result))]

    (y,) = evaluate(build, *pieces)
    np.testing.assert_array_equal(y, np.concatenate(pieces, axis))


def test_concat_of_nothing() -> None:
    """The kernel of a result without elements has code that reads one."""
    empty = np.zeros(0, np.float32)

    def build(*values):
        concat = nn.ConcatOp(values, 0)
        return [concat, nn.UnaryOp(concat.result, "abs")]

    (y,) = evaluate(build, empty, empty)
    assert y.shape == (0,)


@given(tensors, st.data())
@examples(40)
def test_slice(x: np.ndarray, data: st.DataObject) -> None:
    slices = []
    for size in x.shape:
        step = data.draw(st.sampled_from([-3, -2, -1, 1, 2, 3]))
        first, last = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
        slices.append(slice(first, last, step))
    expected = x[tuple(slices)]
    starts = [s.indices(n)[0] for s, n in zip(slices, x.shape, strict=True)]
    steps = [s.step for s in slices]
    (y,) = evaluate(lambda x: nn.SliceOp(x, starts, expected.shape, steps), x)
    np.testing.assert_array_equal(y, expected)


@given(tensors, st.data())
@examples(30)
def test_pad_with_a_constant(x: np.ndarray, data: st.DataObject) -> None:
    assume(x.ndim)
    amounts = [(data.draw(st.integers(-1, 3)), data.draw(st.integers(-1, 3))) for _ in x.shape]
    assume(all(n + a + b >= 0 for n, (a, b) in zip(x.shape, amounts, strict=True)))
    assume(all(min(a, b) > -n for n, (a, b) in zip(x.shape, amounts, strict=True)))
    low, high = [a for a, _ in amounts], [b for _, b in amounts]
    (y,) = evaluate(lambda x: nn.PadOp(x, low, high, value=1), x)
    padded = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in amounts], constant_values=1)
    crop = [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(padded.shape, amounts)]
    np.testing.assert_array_equal(y, padded[tuple(crop)])


def test_pad_of_a_scalar() -> None:
    assert evaluate(lambda x: nn.PadOp(x, (), ()), np.array(3, "f4"))[0] == 3


@given(tensors, st.sampled_from(["reflect", "edge", "wrap"]), st.data())
@examples(40)
def test_pad_with_elements(x: np.ndarray, mode: str, data: st.DataObject) -> None:
    most = [max(n - 1, 0) if mode == "reflect" else 6 for n in x.shape]
    amounts = [(data.draw(st.integers(0, m)), data.draw(st.integers(0, m))) for m in most]
    low, high = [a for a, _ in amounts], [b for _, b in amounts]
    (y,) = evaluate(lambda x: nn.PadOp(x, low, high, mode), x)
    np.testing.assert_array_equal(y, np.pad(x, amounts, mode) if x.ndim else x)


@given(tensors, st.data())
@examples(20)
def test_expand_and_tile(x: np.ndarray, data: st.DataObject) -> None:
    kept = tuple(data.draw(st.sampled_from([1, n])) for n in x.shape)
    source = np.ascontiguousarray(x[tuple(slice(n) for n in kept)])
    (y,) = evaluate(lambda value: nn.ExpandOp(value, (2, *x.shape)), source)
    np.testing.assert_array_equal(y, np.broadcast_to(source, (2, *x.shape)))
    repeats = [data.draw(st.integers(0, 3)) for _ in x.shape]
    (y,) = evaluate(lambda x: nn.TileOp(x, repeats), x)
    np.testing.assert_array_equal(y, np.tile(x, repeats))


@pytest.mark.parametrize("mode", ["dcr", "crd"])
def test_depth_and_space(mode: str) -> None:
    x = np.arange(2 * 12 * 2 * 3, dtype="f4").reshape(2, 12, 2, 3)
    (y,) = evaluate(lambda x: nn.DepthToSpaceOp(x, 2, mode), x)
    (expected,) = onnx_reference("DepthToSpace", x, blocksize=2, mode=mode.upper())
    np.testing.assert_array_equal(y, expected)
    (back,) = evaluate(lambda y: nn.SpaceToDepthOp(y, 2, mode), y)
    np.testing.assert_array_equal(back, x)
