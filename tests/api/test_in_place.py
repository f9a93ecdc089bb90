"""Outputs that overwrite an input, such as key-value caches, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pyopencl as cl
import pyopencl.array as cla
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.errors import CloptError
from clopt.open_model import OpenModel
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


ATTENTION = """
    all_keys = Concat<axis=2>(keys, k)
    all_values = Concat<axis=2>(values, v)
    t = Transpose<perm=[0,1,3,2]>(all_keys)
    s = MatMul(q, t)
    p = Softmax<axis=-1>(s)
    y = MatMul(p, all_values)
    new_keys = Identity(all_keys)
    new_values = Identity(all_values)
"""
CACHES = "float[1,2,past,4] keys, float[1,2,past,4] values"
STEP = model(f"float[1,2,1,4] q, float[1,2,1,4] k, float[1,2,1,4] v, {CACHES}", ATTENTION)
SEVERAL = model(f"float[1,2,n,4] q, float[1,2,n,4] k, float[1,2,n,4] v, {CACHES}", ATTENTION)
PAIRS = {"new_keys": "keys", "new_values": "values"}
ROOM = 8


def compiled_step(
    device: str | clopt.Place, network: onnx.ModelProto = STEP
) -> clopt.CompiledModel:
    return clopt.compile(
        network, device=device, dims={"past": (1, ROOM)}, in_place=PAIRS, use_cache=False
    )


def new(tokens: int = 1) -> dict[str, np.ndarray]:
    return {name: floats(1, 2, tokens, 4) for name in "qkv"}


def first() -> dict[str, np.ndarray]:
    return {name: floats(1, 2, 1, 4) for name in ("keys", "values")}


def grown(results: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The caches that a step returned, as the inputs of the next one."""
    return dict(zip(("keys", "values"), results[1:], strict=True))


def check(found: list[Any], expected: list[np.ndarray]) -> None:
    for each, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, wanted, atol=1e-5, strict=True)


@pytest.mark.by_default(cases=1)
def test_one_program_runs_all_steps(device: str) -> None:
    decoder, caches = compiled_step(device), first()
    assert isinstance(decoder, clopt.DynamicModel)
    for _ in range(1, ROOM):
        inputs = {**new(), **caches}
        expected = by_onnxruntime(STEP, inputs)
        check(decoder.run(inputs), expected)
        caches = grown(expected)
    assert decoder.programs == 1
    with pytest.raises(CloptError, match="9 elements along axis 2, but the cache"):
        decoder.run({**new(), **caches})


class OnDevice:
    """Caches with room for all steps, on a device."""

    def __init__(self, device: str, caches: dict[str, np.ndarray]) -> None:
        chosen = find_device(device)
        self.context = cl.Context([chosen.handle])
        self.queue = cl.CommandQueue(self.context)
        self.caches = {name: self.array(self.with_room(each)) for name, each in caches.items()}

    def array(self, content: np.ndarray) -> cla.Array:
        return cla.to_device(self.queue, content.astype(np.float32))

    @staticmethod
    def with_room(cache: np.ndarray) -> np.ndarray:
        room = np.full((1, 2, ROOM, 4), np.nan)
        room[:, :, : cache.shape[2]] = cache
        return room

    def step(self, decoder: clopt.CompiledModel, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Run a step that sees the first elements of the caches and writes the next ones.

        Slices or the sizes tell how many elements are in use.
        """
        past, tokens = inputs["keys"].shape[2], inputs["q"].shape[2]
        y = self.array(np.zeros((1, 2, tokens, 4)))
        end = past + tokens
        bound = {
            **{name: self.array(inputs[name]) for name in "qkv"},
            **{name: each[:, :, :past] for name, each in self.caches.items()},
            "y": y,
            "new_keys": self.caches["keys"],
            "new_values": self.caches["values"][:, :, :end],
        }
        if past % 2:
            decoder.enqueue(self.queue, bound)
        else:
            assert isinstance(decoder, OpenModel)
            keys = self.caches["keys"].base_data
            whole = {"keys": keys, "new_keys": keys, "values": self.caches["values"]}
            decoder.enqueue(self.queue, {**bound, **whole}, {"past": past})
        return y.get(self.queue)


@pytest.mark.by_default(cases=1)
def test_callers_bind_one_array_to_both(device: str) -> None:
    """The elements after those in use are NaN, which would show if a kernel read or moved them."""
    caches = first()
    here = OnDevice(device, caches)
    decoder = compiled_step(clopt.Place(queue=here.queue))
    for past in range(1, ROOM):
        inputs = {**new(), **caches}
        y, *rest = by_onnxruntime(STEP, inputs)
        check([here.step(decoder, inputs)], [y])
        caches = grown([y, *rest])
        for name, expected in caches.items():
            found = here.caches[name].get()
            np.testing.assert_array_equal(found[:, :, : past + 1], expected)
            assert np.isnan(found[:, :, past + 1 :]).all()


def test_first_tokens_come_together(device: str) -> None:
    """The cache of the first tokens serves the steps that follow."""
    caches = first()
    here = OnDevice(device, caches)
    decoder = compiled_step(clopt.Place(queue=here.queue), SEVERAL)
    for tokens in (3, 1, 1, 2):
        inputs = {**new(tokens), **caches}
        y, *rest = by_onnxruntime(SEVERAL, inputs)
        check([here.step(decoder, inputs)], [y])
        check(decoder.run(inputs), [y, *rest])
        caches = grown([y, *rest])


def test_saved_models(device: str, tmp_path: Path) -> None:
    caches = first()
    here = OnDevice(device, caches)
    compiled_step(device).save(tmp_path)
    loaded = clopt.load(tmp_path, clopt.Place(queue=here.queue))
    for _ in range(1, ROOM):
        inputs = {**new(), **caches}
        y, *rest = by_onnxruntime(STEP, inputs)
        check(loaded.run(inputs), [y, *rest])
        check([here.step(loaded, inputs)], [y])
        caches = grown([y, *rest])
    with pytest.raises(CloptError, match="serves no past=8; it serves past of 1 to 7"):
        loaded.run({**new(), **caches})


def test_arrays_of_the_host_stay(device: str) -> None:
    """Large arrays, which kernels could use in place, are not overwritten."""
    network = model(
        "float[400,200] x, float[1,200] row", "y = ScatterND(x, at, row)", 18, {"at": [[7]]}
    )
    compiled = clopt.compile(network, device=device, in_place={"y": "x"})
    x, row = floats(400, 200), floats(1, 200)
    before = x.copy()
    (y,) = compiled.run({"x": x, "row": row})
    np.testing.assert_array_equal(x, before)
    before[7] = row
    np.testing.assert_array_equal(y, before)


@pytest.mark.by_default(cases=1)
def test_an_update_of_the_same_size(device: str) -> None:
    """TensorScatter, with one array for both and with two."""
    network = model(
        "float[2,6,4] cache, float[2,2,4] update, int64[2] at",
        "y = TensorScatter<axis=1>(cache, update, at) z = ReduceSum<keepdims=0>(y, axis) "
        "all = Identity(y)",
        24,
        {"axis": [2]},
    )
    inputs = {"cache": floats(2, 6, 4), "update": floats(2, 2, 4), "at": np.array([1, 4])}
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    compiled = clopt.compile(network, device=clopt.Place(queue=queue), in_place={"all": "cache"})
    y = inputs["cache"].copy()
    for i, at in enumerate(inputs["at"]):
        y[i, at : at + 2] = inputs["update"][i]
    for is_shared in (True, False):
        given = {name: cla.to_device(queue, each) for name, each in inputs.items()}
        z = cla.zeros(queue, (2, 6), np.float32)
        all_ = given["cache"] if is_shared else cla.zeros(queue, (2, 6, 4), np.float32)
        compiled.enqueue(queue, {**given, "z": z, "all": all_})
        np.testing.assert_array_equal(all_.get(), y)
        np.testing.assert_allclose(z.get(), y.sum(2), atol=1e-5)
    with pytest.raises(CloptError, match='"z" shares its memory with "cache"'):
        compiled.enqueue(queue, {**given, "z": given["cache"][0, :3].reshape(2, 6), "all": all_})


NETWORK = model(
    "float[3,4] x, float[3,4] a", "y = Add(x, a) z = ReduceSum<keepdims=0>(x) r = Neg(y)"
)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({"q": "x"}, 'the output "q" overwrites the input "x", but the network has the inputs'),
        ({"r": "q"}, 'the output "r" overwrites the input "q"'),
        ({"z": "x"}, '"z" is tensor<f32>, which neither has the type of "x" nor appends to it'),
        ({"r": "x"}, 'reads the input "x" after the output "r" has overwritten it'),
        (["r"], "in_place must be a mapping of outputs to inputs"),
    ],
)
def test_wrong_pairs(pairs: Any, message: str) -> None:
    with pytest.raises(CloptError, match=message):
        clopt.compile(NETWORK, "pocl", in_place=pairs)


def test_two_outputs_of_one_input() -> None:
    network = model("float[3,4] x", "y = Neg(x) z = Abs(x)")
    with pytest.raises(CloptError, match='"y" and "z" overwrite the same input "x"'):
        clopt.compile(network, "pocl", in_place={"y": "x", "z": "x"})


def test_the_room_of_a_cache_is_no_place_for_another_output(device: str) -> None:
    """Although callers of this step see less of the cache."""
    here = OnDevice(device, first())
    decoder = compiled_step(clopt.Place(queue=here.queue))
    keys, values = here.caches.values()
    inputs = {name: here.array(each) for name, each in new().items()}
    inputs |= {"keys": keys[:, :, :1], "values": values[:, :, :1]}
    last = keys.base_data.get_sub_region(128, 32)
    outputs = {"y": last, "new_keys": keys, "new_values": values}
    with pytest.raises(CloptError, match='"y" shares its memory with "keys"'):
        decoder.run(inputs, outputs)


def test_stated_sizes_are_those_of_open_dimensions(device: str) -> None:
    here = OnDevice(device, first())
    decoder = compiled_step(clopt.Place(queue=here.queue))
    assert isinstance(decoder, OpenModel)
    bound = {name: here.array(each) for name, each in new().items()}
    with pytest.raises(CloptError, match="dims gives a size to all, which is no open dimension"):
        decoder.enqueue(here.queue, {**bound, **here.caches}, {"all": 3})


def test_a_cache_needs_a_largest_size(device: str) -> None:
    decoder = clopt.compile(STEP, device=device, in_place=PAIRS)
    with pytest.raises(CloptError, match="no stated largest size; leave that dimension open"):
        decoder.run({**new(), **first()})
