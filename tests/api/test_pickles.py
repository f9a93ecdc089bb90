"""Pickles and copies of compiled models: equal results, here and in another process."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clopt
from clopt import CompiledModel, options, pickled_model
from clopt.backends.pyopencl_runtime import devices, find_device
from support.onnx import models
from support.processes import LIMIT

RNG = np.random.default_rng(0)
X = RNG.random((1, 1, 8, 8), np.float32)
NETWORK = models.model(
    "float[1,1,8,8] image",
    "h = Conv(image, w) r = Relu(h) y = GlobalAveragePool(r)",
    constants={"w": RNG.standard_normal((32, 1, 3, 3)).astype(np.float32)},
)
"""Small, with a weight that is not inline."""


def compiled(**options: Any) -> CompiledModel:
    return clopt.compile(NETWORK, **options)


def pickled(model: CompiledModel) -> CompiledModel:
    restored = pickle.loads(pickle.dumps(model))
    assert isinstance(restored, CompiledModel)
    return restored


@pytest.mark.parametrize("texture", ["off", "prefer"])
def test_a_pickle_has_all_that_a_model_has(device: str, texture: str, tmp_path: Path) -> None:
    model = compiled(device=device, texture=texture)
    same = pickled(pickled(model))
    assert same.inputs == model.inputs
    assert same.outputs == model.outputs
    assert (same.source, same.remarks) == (model.source, model.remarks)
    assert same.memory.total == model.memory.total
    folders = [tmp_path / name for name in ("original", "copy")]
    for each, folder in zip((model, same), folders, strict=True):
        each.save(folder)
    first, second = ({p.name: p.read_bytes() for p in each.iterdir()} for each in folders)
    assert first == second
    assert str(same.describe()) == str(clopt.load(folders[0], device=device).describe())
    np.testing.assert_array_equal(same.run([X]), model.run([X]))
    assert same.device_name == model.device_name
    assert not same.weights.get(next(same.weights.keys())).flags.writeable


def test_other_processes_run_it(device: str) -> None:
    model = compiled(device=device)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, mp_context=context)
    try:
        (logits,) = pool.submit(CompiledModel.run, model, [X]).result(LIMIT)
        name = pool.submit(getattr, model, "device_name").result(LIMIT)
    finally:
        pool.shutdown(cancel_futures=True)
    np.testing.assert_array_equal(logits, model.run([X])[0])
    assert name == model.device_name


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
def test_a_copy_has_memory_of_its_own(device: str, way: Any) -> None:
    model = compiled(device=device)
    other = way(model)
    np.testing.assert_array_equal(other.run([X]), model.run([X]))
    key = next(model.weights.keys())
    assert np.shares_memory(model.weights.get(key), other.weights.get(key))
    own, others = model.executable.arena, other.executable.arena
    assert {each.int_ptr for each in own}.isdisjoint(each.int_ptr for each in others)


def test_a_loaded_model(device: str, tmp_path: Path) -> None:
    model = compiled(device=device)
    model.save(tmp_path / "network")
    loaded = pickled(clopt.load(tmp_path / "network", device=int(device)))
    np.testing.assert_array_equal(loaded.run([X]), model.run([X]))
    assert loaded.device_name == model.device_name


def test_nothing_touches_a_device_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pickle.dumps(compiled(target="pocl"))
    monkeypatch.setattr(devices, "_listed", lambda: pytest.fail("lists devices"))
    model = pickle.loads(content)
    assert model.target_name == "pocl"
    assert "CompiledModel(image: 1x1x8x8 float32" in repr(pickle.loads(pickle.dumps(model)))


def test_a_report_of_errors_is_kept() -> None:
    asked = clopt.Quantization("int8", samples={"image": X}, report=True)
    model = compiled(device=0, quantize=asked)
    same = pickled(model)
    assert model.quantization is not None
    assert same.quantization is not None
    assert same.quantization.to_json() == model.quantization.to_json()


def test_objects_of_the_process_do_not_leave_it(device: str) -> None:
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    arena = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 1 << 20)]
    places = {
        "queue": clopt.Place(queue=queue),
        "context": clopt.Place(context=context),
        "arena": clopt.Place(queue=queue, arena=arena),
    }
    for name in ("queue", "context"):
        model = compiled(device=places[name])
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(clopt.CloptError, match=f"on your own {name} cannot be pickled"):
                leave(model)
    place = clopt.Place(device, arena=arena)
    assert options.Origin.of(place, None, {}, True).caller_owns == "arena"


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pickle.dumps(compiled(device=0))
    model, listed = pickle.loads(content), devices.list_devices()
    monkeypatch.setattr(devices, "list_devices", lambda: listed[1:])
    with pytest.raises(clopt.CloptError, match="but this process has the devices: "):
        model.run([X])


def test_devices_of_one_name() -> None:
    """As in a machine with two equal GPUs."""
    first = devices.list_devices()[0]
    name = devices.DeviceName.of(first)
    assert name.find() == first
    assert devices.DeviceName(first.platform, first.name, 5).find() == first


def test_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pickle.dumps(compiled(target="pocl"))
    monkeypatch.setattr(pickled_model, "VERSION", "99.1")
    with pytest.raises(clopt.CloptError, match=r"by clopt \S+, and this is clopt 99.1; pickle it"):
        pickle.loads(content)


def test_the_plan_of_a_model_alone() -> None:
    model = compiled(target="pocl")
    model.origin = None
    with pytest.raises(clopt.CloptError, match="a part of another one, or was not made by"):
        pickle.dumps(model)
