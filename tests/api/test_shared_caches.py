"""Caches of their full length that outputs overwrite, as onnxruntime's decoders have, and alone."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)
ROOM, SIZE = 8, 16

DECODER = model(
    "float[1,s,16] x, int64[1,total] mask, float[1,2,past,16] keys, float[1,2,past,16] values",
    """
        count = ReduceSum<keepdims=0>(mask, one)
        last = Sub(count, one)
        ends = Cast<to=6>(last)
        size = Shape(mask)
        length = Gather(size, first)
        total_length = Cast<to=6>(length)
        qkv = MatMul(x, w)
        y, new_keys, new_values = com.microsoft.GroupQueryAttention
            <num_heads=4, kv_num_heads=2, do_rotary=1>
            (qkv, , , keys, values, ends, total_length, cos, sin)
    """,
    constants={
        "one": [1],
        "first": np.array(1),
        "w": RNG.standard_normal((16, 128), np.float32),
        "cos": np.cos(RNG.random((ROOM, SIZE // 2), np.float32)),
        "sin": np.sin(RNG.random((ROOM, SIZE // 2), np.float32)),
    },
    domains={"com.microsoft": 1},
)
"""A layer as exports for onnxruntime-genai have it: the mask tells how many tokens there are."""

PAIRS = {"new_keys": "keys", "new_values": "values"}


def tokens(count: int, total: int) -> dict[str, np.ndarray]:
    x = RNG.standard_normal((1, count, 16), np.float32)
    return {"x": x, "mask": np.ones((1, total), np.int64)}


def test_one_program_runs_all_steps_in_one_cache(device: str) -> None:
    """The elements that are not in use are NaN, which would show if a kernel used them."""
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    decoder = clopt.compile(
        DECODER,
        device=clopt.Place(queue=queue),
        dims={"past": ROOM, "total": (1, ROOM, ROOM)},
        in_place=PAIRS,
        use_cache=False,
    )
    assert isinstance(decoder, clopt.DynamicModel)
    whole = np.full((1, 2, ROOM, SIZE), np.nan, np.float32)
    caches = {name: cla.to_device(queue, whole) for name in ("keys", "values")}
    grown = {name: whole[:, :, :0] for name in caches}
    total = 0
    for count in (3, 1, 1, 1, 1, 1):
        total += count
        given = tokens(count, total)
        expected = by_onnxruntime(DECODER, {**given, **grown})
        grown = dict(zip(caches, expected[1:], strict=True))
        y = cla.zeros(queue, (1, count, 64), np.float32)
        bound = {name: cla.to_device(queue, each) for name, each in given.items()}
        overwritten = {output: caches[name] for output, name in PAIRS.items()}
        decoder.enqueue(queue, {**bound, **caches, "y": y, **overwritten})
        np.testing.assert_allclose(y.get(), expected[0], rtol=1e-4, atol=1e-5)
        for name, cache in caches.items():
            found = cache.get()
            np.testing.assert_allclose(found[:, :, :total], grown[name], rtol=1e-4, atol=1e-5)
            assert np.isnan(found[:, :, total:]).all()
    assert decoder.programs == 2, "one for the prompt, one for all other steps"


UPDATE = model(
    "float[2,2,8,16] cache, float[2,2,n,16] update, int64[2] at",
    "updated = TensorScatter<axis=2>(cache, update, at)",
    opset=24,
)


@pytest.mark.by_default(cases=1)
def test_each_row_of_a_batch_has_its_own_end(device: str) -> None:
    """TensorScatter writes the updates of each row after the tokens that the row has."""
    updater = clopt.compile(UPDATE, device=device, in_place={"updated": "cache"})
    cache, ends = RNG.standard_normal((2, 2, ROOM, SIZE), np.float32), np.array([4, 1])
    for count in (1, 3):
        update = RNG.standard_normal((2, 2, count, SIZE), np.float32)
        (found,) = updater.run({"cache": cache, "update": update, "at": ends})
        for row, end in enumerate(ends):
            cache[row, :, end : end + count] = update[row]
        np.testing.assert_array_equal(found, cache)
        ends += count
