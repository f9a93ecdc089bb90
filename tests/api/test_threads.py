"""Models on several threads: each runs while others wait for their devices, or are compiled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pyopencl as cl

import clopt
from clopt.backends.pyopencl_runtime import find_device

LIMIT = 120.0
DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
IMAGE = np.zeros((1, 1, 8, 8), np.float32)


def while_it_waits(
    model: clopt.CompiledModel, queue: cl.CommandQueue, meanwhile: Callable[[], None]
) -> None:
    """Do something while another thread is in the middle of an inference on `queue`."""
    gate = cl.UserEvent(queue.context)
    cl.enqueue_barrier(queue, wait_for=[gate])
    results: list[list[np.ndarray]] = []
    thread = threading.Thread(target=lambda: results.append(model.run([IMAGE])), daemon=True)
    thread.start()
    try:
        meanwhile()
        assert not results
    finally:
        gate.set_status(cl.command_execution_status.COMPLETE)
        thread.join(LIMIT)
    assert len(results) == 1


def test_a_model_waits_for_no_other_one(device: str) -> None:
    """If one lock served all inferences, this would never end."""
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    first = clopt.compile(DIGITS, dims={"batch": 1}, device=clopt.Place(queue=queue))
    second = clopt.compile(DIGITS, dims={"batch": 1}, device=device)
    expected = first.run([IMAGE])

    def run_and_compile() -> None:
        np.testing.assert_array_equal(second.run([IMAGE]), expected)
        third = clopt.compile(DIGITS, dims={"batch": 2}, device=device, use_cache=False)
        assert third.run([np.repeat(IMAGE, 2, axis=0)])[0].shape == (2, 10)

    while_it_waits(first, queue, run_and_compile)


def test_threads_compile_and_run_at_once(devices: dict[str, str]) -> None:
    """Eight networks on all devices, each for itself from its ONNX file to its results."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 3, 12, 12), np.float32)

    def compute(number: int) -> tuple[np.ndarray, np.ndarray]:
        channels = number + 1
        text = f"""<ir_version: 8, opset_import: ["" : 18]>
        net (float[1,3,12,12] x) => (float[1,{channels},10,10] y) {{ y = Conv (x, w) }}"""
        model = onnx.parser.parse_model(text)
        w = np.full((channels, 3, 3, 3), channels, np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(w, "w"))
        device = list(devices.values())[number % len(devices)]
        compiled = clopt.compile(model, device=device, use_cache=False)
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        sums = windows.sum(axis=(1, 4, 5))[:, None]
        results = [compiled.run([x])[0] for _ in range(20)]
        assert all(np.array_equal(result, results[0]) for result in results)
        return results[0], channels * sums.repeat(channels, axis=1)

    with ThreadPoolExecutor(4) as pool:
        for result, expected in pool.map(compute, range(8), timeout=LIMIT):
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
