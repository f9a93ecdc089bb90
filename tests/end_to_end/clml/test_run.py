"""Networks that CLML computes in part run from Python, on the one queue of kernels and CLML."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pyopencl as cl
import pytest

import clopt
from clopt import CloptError
from clopt.backends.clml.device import sdk_at
from clopt.backends.clml.library import reference_library
from clopt.backends.host_c import package_files
from clopt.backends.pyopencl_runtime.c_package import NAME, CPackage
from clopt.dialects.cl import EnqueueKernelOp, EnqueueOffloadOp
from support import processes
from support.clml.small_networks import AROUND, BETWEEN, CONV_RELU, OUTPUTS, network

X = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)


def compiled(text: str, device: str | clopt.Place, **options: object) -> clopt.CompiledModel:
    """The network with all that CLML can do computed by the reference library."""
    settings = {"clml": "prefer", "accelerators": {"clml": "reference"}, **options}
    return clopt.compile(network(text), device=device, **settings)  # type: ignore[arg-type]


def expected(text: str) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(network(text).SerializeToString())
    return session.run(None, {"x": X})


def commands(model: clopt.CompiledModel) -> tuple[int, int]:
    """How many kernels an inference launches, and how many operations of CLML."""
    ops = list(model.module.walk())
    kinds = (EnqueueKernelOp, EnqueueOffloadOp)
    return tuple(sum(isinstance(op, kind) for op in ops) for kind in kinds)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "graphs"),
    [(CONV_RELU, 1), (BETWEEN, 1), (AROUND, 2), (OUTPUTS, 1)],
    ids=["all", "between", "around", "outputs"],
)
def test_networks(text: str, graphs: int, device: str) -> None:
    model = compiled(text, device)
    kernels, operations = commands(model)
    assert (kernels > 0) == (text != CONV_RELU)
    assert str(model.module).count("clml.graph @") == graphs
    offload = model.executable.offload
    assert offload is not None
    assert offload.operations == operations > 0
    for _ in range(2):
        for got, want in zip(model.run({"x": X}), expected(text), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.in_turns
def test_kernels_and_clml_share_the_callers_queue(device: str) -> None:
    """The input comes when everything is on the queue, so nothing may have run on another queue."""
    model = compiled(BETWEEN, device)
    context = model.executable.context
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags
    (want,) = expected(BETWEEN)
    x, y = (
        cl.Buffer(context, flags.READ_WRITE, X.nbytes),
        cl.Buffer(context, flags.READ_WRITE, want.nbytes),
    )
    gate = cl.UserEvent(context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    copied = cl.enqueue_copy(queue, x, X, is_blocking=False)
    model.enqueue(queue, {"x": x, "y": y})  # would not return if anything in it waited
    queue.flush()
    time.sleep(0.1)
    gate.set_status(cl.command_execution_status.COMPLETE)
    got = np.empty_like(want)
    cl.enqueue_copy(queue, got, y)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    del copied


def test_calls_of_an_inference(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call for each command; none copies by way of the host, and none waits for memory."""
    model = compiled(BETWEEN, device)
    model.run({"x": X})
    log = tmp_path / "log"
    monkeypatch.setenv("CLML_REFERENCE_LOG", str(log))
    monkeypatch.setenv("CLML_REFERENCE_LOG_LEVEL", "1")
    model.run({"x": X})
    calls = [line.split()[1].rstrip(":") for line in log.read_text().splitlines()]
    ops = [op for op in model.module.walk() if isinstance(op, EnqueueOffloadOp)]
    copies = str(model.module).count("= clml.copy")
    assert copies == 2
    assert calls.count("clEnqueueCopyMLTensorDataQCOM") == copies
    assert calls.count("clEnqueueMLOpQCOM") == len(ops) - copies
    assert len(calls) == len(ops)


@pytest.mark.in_turns
def test_one_arena_for_models_with_and_without_clml(device: str) -> None:
    with_clml = compiled(BETWEEN, device)
    (size,) = with_clml.executable.arena_bytes
    context = with_clml.executable.context
    queue, arena = with_clml.executable.queue, [cl.Buffer(context, cl.mem_flags.READ_WRITE, 65536)]
    assert size < 65536
    models = [
        compiled(BETWEEN, clopt.Place(queue=queue, arena=arena), clml=m) for m in ("prefer", "off")
    ]
    assert [model.executable.offload is None for model in models] == [False, True]
    (want,) = expected(BETWEEN)
    for model in models * 2:
        assert model.executable.arena == (arena[0],)
        np.testing.assert_allclose(model.run({"x": X})[0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
def test_saved_and_loaded(device: str, tmp_path: Path) -> None:
    model = compiled(BETWEEN, device)
    model.save(tmp_path / "saved")
    again = clopt.load(tmp_path / "saved", device, accelerators={"clml": "reference"})
    assert again.run({"x": X})[0].tobytes() == model.run({"x": X})[0].tobytes()
    with pytest.raises(CloptError, match=r"has no CLML.*accelerators=\{\"clml\": \"reference\"\}"):
        clopt.load(tmp_path / "saved", device)


@pytest.mark.in_turns
def test_a_device_without_clml(device: str) -> None:
    assert not clopt.has_accelerator("clml", device)
    assert clopt.has_accelerator("clml", device, "reference")
    assert clopt.has_accelerator("vta", device)
    with pytest.raises(CloptError, match='No accelerator is called "clm"; did you mean clml'):
        clopt.has_accelerator("clm", device)
    with pytest.raises(CloptError, match="clml=prefer needs a device with CLML"):
        clopt.compile(network(CONV_RELU), device=device, clml="prefer")
    with pytest.raises(CloptError, match=r"has no CLML .*; compile the model with clml=off, or"):
        clopt.compile(network(CONV_RELU), "adreno-740 clml=prefer", device=device)
    with pytest.raises(CloptError, match='The only library for CLML is "reference", not "x"'):
        clopt.compile(network(CONV_RELU), device=device, accelerators={"clml": "x"})


@pytest.mark.in_turns
def test_a_library_that_refuses(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Phones refuse the library to applications."""
    monkeypatch.setenv("CLML_REFERENCE_LOCKED", "1")
    assert not clopt.has_accelerator("clml", device, "reference")
    with pytest.raises(CloptError, match=r"does not work in this process.*error -6"):
        compiled(CONV_RELU, device)


@pytest.mark.in_turns
def test_the_version_of_the_library(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLML_REFERENCE_VERSION", "2")
    model = compiled(CONV_RELU, device)
    assert "clml_version = 2" in str(model.module)
    offload = model.executable.offload
    assert offload is not None
    assert offload.major == 2
    np.testing.assert_allclose(model.run([X])[0], expected(CONV_RELU)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.in_turns
def test_tensors_larger_than_planned(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors larger than our guess at the device's layouts get memory outside of the arena."""
    monkeypatch.setenv("CLML_REFERENCE_PADDING", "4096")
    model = compiled(BETWEEN, device)
    offload = model.executable.offload
    assert offload is not None
    assert 0 < offload.larger_tensors <= offload.tensors
    assert model.executable.device_bytes >= offload.larger_bytes >= 4096 * offload.larger_tensors
    np.testing.assert_allclose(model.run([X])[0], expected(BETWEEN)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.in_turns
def test_threads_take_turns(device: str) -> None:
    """Two models, each used by two threads."""
    models = [compiled(text, device) for text in (CONV_RELU, BETWEEN)]
    wanted = [expected(text)[0] for text in (CONV_RELU, BETWEEN)]

    def check(i: int) -> bool:
        (got,) = models[i % 2].run([X])
        return bool(np.allclose(got, wanted[i % 2], rtol=1e-5, atol=1e-6))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, range(100)))


@pytest.mark.in_turns
def test_nothing_of_clml_outlives_a_model(device: str) -> None:
    library = ctypes.CDLL(str(reference_library()))
    compiled(BETWEEN, device).run([X])
    gc.collect()
    before = library.clmlReferenceLiveHandles()
    model = compiled(BETWEEN, device)
    model.run([X])
    assert library.clmlReferenceLiveHandles() > before
    del model
    gc.collect()
    assert library.clmlReferenceLiveHandles() == before


def test_the_header_of_an_sdk(tmp_path: Path) -> None:
    """CLML_INCLUDE_DIR names the header that a package is compiled with instead of ours."""
    model = clopt.compile(network(CONV_RELU), "adreno-740 clml=prefer")
    files = package_files(model.module, model.source, model.weights, NAME)
    with pytest.raises(
        CloptError, match=r"which has no CL/cl_qcom_ml_ops\.h; set it to the folder"
    ):
        CPackage(files, tmp_path / "libraries", sdk_at(str(tmp_path / "sdk")))
    header = tmp_path / "sdk" / "CL" / "cl_qcom_ml_ops.h"
    header.parent.mkdir(parents=True)
    (ours,) = [content for path, content in files.items() if path.endswith(header.name)]
    header.write_bytes(ours)
    assert CPackage(files, tmp_path / "libraries", sdk_at(str(tmp_path / "sdk"))).path.exists()


AS_A_LAYER = """
import os
import sys
import numpy as np
import clopt
from clopt.backends.pyopencl_runtime import find_device, target_for
device = find_device(sys.argv[1])
assert clopt.has_accelerator("clml", device)
assert target_for(device).facts["clml_version"] == 5
model = clopt.compile(sys.argv[2], device=device, clml="prefer")
(y,) = model.run([np.zeros((1, 3, 8, 8), np.float32)])
print(model.executable.offload.operations, *y.ravel()[:4])
os.environ["CLML_REFERENCE_LOCKED"] = "1"
assert not clopt.has_accelerator("clml", device)
assert "clml_version" not in target_for(device).facts
try:
    clopt.compile(sys.argv[2], "adreno-740 clml=prefer", device=device)
except clopt.CloptError as error:
    print(error)
"""


@pytest.mark.in_turns
def test_a_device_that_has_clml(device: str, tmp_path: Path) -> None:
    """With the library as a layer of OpenCL the device itself claims CLML, and refuses it."""
    path = tmp_path / "conv_relu.onnx"
    path.write_bytes(network(CONV_RELU).SerializeToString())
    done = processes.run(
        [sys.executable, "-c", AS_A_LAYER, device, str(path)],
        env=os.environ | {"OPENCL_LAYERS": str(reference_library())},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    first, sentence = done.stdout.splitlines()
    assert "does not work in this process" in sentence
    operations, *values = map(float, first.split())
    model = compiled(CONV_RELU, device)
    assert operations == commands(model)[1]
    (want,) = model.run([np.zeros_like(X)])
    np.testing.assert_allclose(values, want.ravel()[:4], rtol=1e-6)
