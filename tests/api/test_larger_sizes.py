"""Programs of models with open dimensions that also serve smaller sizes than their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx
import pyopencl as cl
import pyopencl.array as cla
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.errors import CloptError
from clopt.frontends.onnx import import_onnx
from support.cl.exchange import counted_copies
from support.onnx.models import by_onnxruntime, model

pytestmark = pytest.mark.filterwarnings("ignore::clopt.errors.CloptWarning")

RNG = np.random.default_rng(0)

NETWORK = model(
    "float[n,2,8,8] x",
    """
        a = Conv<pads=[1,1,1,1]>(x, kernel)
        b = Relu(a)
        c = GlobalAveragePool(b)
        d = Flatten(c)
        e = MatMul(d, w)
        y = Softmax<axis=1>(e)
    """,
    constants={
        "kernel": RNG.standard_normal((6, 2, 3, 3), np.float32),
        "w": RNG.standard_normal((6, 5), np.float32),
    },
)
"""A network that computes each image without the others."""

SEQUENCE = model(
    "float[1,n,8] x",
    """
        t = Transpose<perm=[0,2,1]>(x)
        s = MatMul(x, t)
        p = Softmax<axis=2>(s)
        y = MatMul(p, x)
    """,
)
"""Attention of tokens to all tokens."""

ROWS = model("float[n,m] x", "y = ArgMax<axis=1, select_last_index=1>(x)")
"""n can be rounded up, m cannot."""


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def images(count: int) -> np.ndarray:
    return floats(count, 2, 8, 8)


def check(compiled: clopt.CompiledModel, proto: onnx.ModelProto, x: np.ndarray) -> None:
    """Fail unless a model computes what onnxruntime does."""
    for y, wanted in zip(compiled.run([x]), by_onnxruntime(proto, {"x": x}), strict=True):
        assert (y.shape, y.dtype, y.flags.c_contiguous) == (wanted.shape, wanted.dtype, True)
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


def dynamic(
    proto: onnx.ModelProto, device: str, dims: dict[str, tuple[int, int, int]] | None = None
) -> clopt.DynamicModel:
    compiled = clopt.compile(proto, device=device, dims=dims)
    assert isinstance(compiled, clopt.DynamicModel)
    return compiled


@pytest.mark.by_default(cases=1)
def test_sizes_up_to_a_power_of_two_share_a_program(devices: dict[str, str]):
    for device in devices.values():
        compiled = dynamic(NETWORK, device)
        for count, programs in ((5, 1), (8, 1), (7, 1), (3, 2), (4, 2), (1, 3), (6, 3)):
            check(compiled, NETWORK, images(count))
            assert compiled.programs == programs


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize(
    "target",
    [
        "adreno-740 texture=prefer fp16=false",
        "adreno-740 clml=prefer fp16=false",
        "adreno-740 clml=auto fp16=false",
        "generic-gpu",
        "nvidia",
    ],
)
def test_programs_for_gpus_and_accelerators(target: str):
    libraries = {"clml": "reference"} if "clml" in target else None
    compiled = clopt.compile(NETWORK, target, device="pocl", accelerators=libraries)
    assert isinstance(compiled, clopt.DynamicModel)
    for count, programs in ((3, 1), (4, 1), (7, 2), (6, 2)):
        check(compiled, NETWORK, images(count))
        assert compiled.programs == programs


@pytest.mark.by_default(cases=2)
@pytest.mark.parametrize(
    ("proto", "sizes"),
    [
        pytest.param(
            ROWS, [(3, 5, 1), (4, 5, 1), (3, 6, 2), (4, 6, 2), (3, 8, 3)], id="independent rows"
        ),
        pytest.param(
            model("float[n,m] x", "y = Exp(x)"),
            [(3, 5, 1), (4, 7, 1), (4, 8, 1), (0, 5, 2), (1, 5, 3)],
            id="both dimensions",
        ),
    ],
)
def test_which_dimensions_are_rounded_up(
    proto: onnx.ModelProto, sizes: list[tuple[int, int, int]], device: str
):
    """Each row has n, m and the number of programs after it."""
    compiled = dynamic(proto, device)
    for n, m, programs in sizes:
        check(compiled, proto, floats(n, m))
        assert compiled.programs == programs


def test_proofs_import_a_network_once(device: str, monkeypatch: pytest.MonkeyPatch):
    """The table has eleven elements, so that one proof fails, and another one follows."""
    body = "size = Shape<start=1>(x) part = Slice(table, zeros, size) y = Add(x, part)"
    constants = {"zeros": [0], "table": floats(11)}
    proto = model("float[n,m] x", body, constants=constants)
    compiled, imported = dynamic(proto, device), list[object]()

    def noted(*arguments: Any, **options: Any) -> object:
        imported.append(arguments[2])
        return import_onnx(*arguments, **options)

    monkeypatch.setattr("clopt.frontends.onnx.import_onnx", noted)
    check(compiled, proto, floats(6, 10))
    assert imported.count({"n": 8, "m": 16}) >= 1
    assert imported.count({"n": 6, "m": 10}) == 1


def test_outputs_without_the_dimension(device: str):
    proto = model("float[n,2] x, float[3] z", "y = Abs(x) s = ReduceSum<keepdims=0>(z)")
    x, z = floats(3, 2), floats(3)
    y, total = dynamic(proto, device).run([x, z])
    np.testing.assert_array_equal(y, np.abs(x))
    assert isinstance(total, np.ndarray)
    assert total.shape == ()
    np.testing.assert_allclose(total, z.sum(), rtol=1e-5, atol=1e-6)


def test_a_smaller_batch_takes_fewer_work_items(device: str, monkeypatch: pytest.MonkeyPatch):
    compiled = dynamic(NETWORK, device)
    check(compiled, NETWORK, images(8))
    whole = compiled.for_inputs([images(8)])
    asked: list[int] = []
    restricted = clopt.CompiledModel.restricted

    def noted(program: clopt.CompiledModel, value: int) -> clopt.CompiledModel:
        assert program is whole
        asked.append(value)
        return restricted(program, value)

    monkeypatch.setattr(clopt.CompiledModel, "restricted", noted)
    for count in (5, 6):
        check(compiled, NETWORK, images(count))
    assert asked == [5, 6]


def test_elements_of_earlier_inputs_do_not_matter(device: str):
    """A smaller input is copied over a part of the last one, whose other elements remain."""
    x, y = "float[n,m,9] x", "y = Relu(x)"
    for proto, given, sizes in (
        (NETWORK, (8, 2, 8, 8), ((5, 2, 8, 8), (1, 2, 8, 8), (7, 2, 8, 8))),
        (model(x, y), (8, 4, 9), ((5, 3, 9), (8, 3, 9), (7, 4, 9))),
    ):
        compiled = dynamic(proto, device)
        for shape in sizes:
            compiled.run([np.full(given, np.nan, np.float32)])
            check(compiled, proto, floats(*shape))


def test_sequences_share_a_program_that_takes_fewer_work_items(
    device: str, monkeypatch: pytest.MonkeyPatch
):
    compiled = dynamic(SEQUENCE, device, {"n": (2, 64, 64)})
    asked: list[int] = []
    restricted = clopt.CompiledModel.restricted

    def noted(program: clopt.CompiledModel, value: int) -> clopt.CompiledModel:
        asked.append(value)
        return restricted(program, value)

    monkeypatch.setattr(clopt.CompiledModel, "restricted", noted)
    for length in (64, 39, 33, 61):
        check(compiled, SEQUENCE, floats(1, length, 8))
    assert asked == [39, 33, 61]
    assert compiled.programs == 1


def test_masks_of_the_last_size_stay_on_the_device(device: str, monkeypatch: pytest.MonkeyPatch):
    compiled = dynamic(SEQUENCE, device, {"n": (2, 64, 64)})
    copies = counted_copies(monkeypatch)
    made: list[int] = []
    for length in (39, 39, 40, 39):
        copies.clear()
        check(compiled, SEQUENCE, floats(1, length, 8))
        made.append(len(copies))
    assert made[1] == 2, "x and y"
    assert min(made[0], made[2], made[3]) > 2


def test_one_element_needs_no_program_of_its_own(device: str):
    tokens, rows = (dynamic(each, device, {"n": (1, 16, 16)}) for each in (SEQUENCE, NETWORK))
    for size in (1, 16, 2, 1):
        check(tokens, SEQUENCE, floats(1, size, 8))
        check(rows, NETWORK, images(size))
    assert (tokens.programs, rows.programs) == (1, 1)


def test_a_special_size_does_not_keep_others_exact(device: str):
    """A squeeze removes an axis of one element alone, so that this size has its own program."""
    proto = model("float[n,1,4] x", "s = Squeeze(x) t = ReduceSum<keepdims=0>(s) y = Mul(x, t)")
    compiled = dynamic(proto, device, {"n": (1, 16, 16)})
    for length, programs in ((1, 1), (5, 2), (16, 2), (1, 2)):
        check(compiled, proto, floats(length, 1, 4))
        assert compiled.programs == programs


def test_recurrent_networks_share_a_program(device: str):
    proto = model(
        "float[9,n,4] x",
        "y, h, c = LSTM<hidden_size=5>(x, w, r)",
        constants={"w": floats(1, 20, 4), "r": floats(1, 20, 5)},
    )
    compiled = dynamic(proto, device)
    for batch, programs in ((8, 1), (5, 1), (7, 1), (3, 2)):
        check(compiled, proto, floats(9, batch, 4))
        assert compiled.programs == programs


def test_a_larger_size_that_is_impossible(device: str):
    """The table has eleven rows, so nine and ten rows take programs of their own."""
    proto = model(
        "float[n,2] x",
        """
            shape = Shape(x)
            size = Gather(shape, zeros)
            rows = Slice(table, zeros, size)
            y = Add(x, rows)
        """,
        constants={"zeros": [0], "table": floats(11, 2)},
    )
    compiled = dynamic(proto, device)
    for n, programs in ((5, 1), (7, 1), (9, 2), (10, 3)):
        check(compiled, proto, floats(n, 2))
        assert compiled.programs == programs


def test_ranges_limit_sizes(device: str):
    compiled = dynamic(NETWORK, device, dims={"n": (2, 12, 6)})
    for count, programs in ((5, 1), (6, 1), (7, 2), (9, 3), (12, 3)):
        check(compiled, NETWORK, images(count))
        assert compiled.programs == programs
    for count in (1, 13):
        with pytest.raises(CloptError, match=f"n is {count}, but its range is from 2 to 12"):
            compiled.run([images(count)])
        with pytest.raises(CloptError, match=f"n is {count}"):
            compiled.bound({"n": count}, {})


@pytest.mark.parametrize(
    ("dims", "match"),
    [
        ({"n": (3, 2)}, r"the range \(3, 2\); write the least"),
        ({"n": (1, 4, 5)}, r"the range \(1, 4, 5\)"),
        ({"n": (1,)}, r"the range \(1,\)"),
        ({"n": (-1, 4)}, r"the range \(-1, 4\)"),
        ({"n": (1, 2.5)}, "not a name with a whole number"),
        ({"m": (1, 4)}, "range to m, which is no open dimension of the model; it has: n"),
    ],
)
def test_mistakes_in_ranges(dims: dict[str, tuple[int, ...]], match: str):
    with pytest.raises(CloptError, match=match):
        clopt.compile(NETWORK, target="pocl", dims=dims)  # type: ignore[arg-type]


def test_outputs_of_the_caller(device: str):
    compiled, x = dynamic(NETWORK, device), images(5)
    (wanted,) = by_onnxruntime(NETWORK, {"x": x})
    mine = np.full((5, 5), np.nan, np.float32)
    (y,) = compiled.run([x], {"y": mine})
    assert y is mine
    np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)
    assert compiled.run([x], []) == []
    with pytest.raises(CloptError, match="outputs must be a list of names"):
        compiled.run([x], "y")
    with pytest.raises(CloptError, match='no output called "z"'):
        compiled.run([x], ["z"])
    with pytest.raises(CloptError, match='no output called "z"'):
        compiled.run([x], {"z": mine})
    with pytest.raises(CloptError, match=r'"y" has the shape 8x5, but the model .* 5x5'):
        compiled.run([x], {"y": np.empty((8, 5), np.float32)})
    assert compiled.programs == 1


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize(
    ("proto", "large", "small", "result"),
    [
        pytest.param(NETWORK, (4, 2, 8, 8), (3, 2, 8, 8), (3, 5), id="rows"),
        pytest.param(
            model("float[n,m,2] x", "y = Exp(x)"), (4, 8, 2), (3, 5, 2), (3, 5, 2), id="boxes"
        ),
    ],
)
def test_arrays_on_the_device(
    proto: onnx.ModelProto,
    large: tuple[int, ...],
    small: tuple[int, ...],
    result: tuple[int, ...],
    device: str,
):
    """They are copied on the queue to and from the program for larger sizes, without waiting."""
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    compiled = clopt.compile(proto, device=clopt.Place(queue=queue))
    assert isinstance(compiled, clopt.DynamicModel)
    compiled.run([np.full(large, np.nan, np.float32)])
    given = [floats(*small) for _ in range(2)]
    y = cla.empty(queue, result, np.float32)
    xs = [cla.to_device(queue, x) for x in given]
    expected = [by_onnxruntime(proto, {"x": x})[0] for x in given]
    compiled.enqueue(queue, {"x": xs[0], "y": y})
    np.testing.assert_allclose(y.get(), expected[0], rtol=1e-5, atol=1e-6)
    gate = cl.UserEvent(context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    compiled.enqueue(queue, {"x": xs[1], "y": y})
    gate.set_status(cl.command_execution_status.COMPLETE)
    np.testing.assert_allclose(y.get(), expected[1], rtol=1e-5, atol=1e-6)
    for target in (y, y.base_data):
        y.fill(np.nan)
        assert compiled.run([xs[0]], {"y": target})[0] is target
        np.testing.assert_allclose(y.get(), expected[0], rtol=1e-5, atol=1e-6)
    (on_host,) = compiled.run([xs[1]])
    np.testing.assert_allclose(on_host, expected[1], rtol=1e-5, atol=1e-6)
    with pytest.raises(CloptError, match="bytes, but needs"):
        compiled.enqueue(queue, {"x": xs[0], "y": cl.Buffer(context, 0, 16)})
    assert compiled.profile([xs[0]], runs=1).rows
    assert compiled.programs == 1
    assert compiled.for_inputs(given[:1]).inputs[0].shape == small


def test_a_profile_is_of_the_program_that_runs(device: str):
    compiled = dynamic(NETWORK, device)
    assert compiled.profile([images(3)], runs=1).rows
    check(compiled, NETWORK, images(4))
    assert compiled.programs == 1


def test_threads_share_a_program(device: str):
    compiled = dynamic(NETWORK, device)
    given = [images(count) for count in (5, 6, 7, 8) * 3]
    with ThreadPoolExecutor(4) as pool:
        for x, (y,) in zip(
            given, pool.map(compiled.run, [[x] for x in given], timeout=120), strict=True
        ):
            (wanted,) = by_onnxruntime(NETWORK, {"x": x})
            np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
    assert compiled.programs == 1
