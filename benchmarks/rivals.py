"""The programs that run a network, each used inside a warm process of its own."""

from __future__ import annotations

import resource
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from models import sample_inputs

Arrays = dict[str, np.ndarray]


@dataclass
class Prepared:
    """A compiled network: its run function, number of kernels, seconds in our own passes."""

    run: Callable[[Arrays], list[np.ndarray]]
    kernels: int | None = None
    passes_s: float | None = None


def onnxruntime(path: Path, device: str) -> Prepared:
    """onnxruntime on two CPU threads that do not spin between runs."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return Prepared(lambda inputs: [np.asarray(y) for y in session.run(None, inputs)])


def tinygrad(path: Path, device: str) -> Prepared:
    """tinygrad's ONNX frontend under its JIT."""
    from tinygrad.engine.jit import TinyJit
    from tinygrad.nn.onnx import OnnxRunner
    from tinygrad.tensor import Tensor

    runner = OnnxRunner(path)

    def forward(**inputs: Tensor) -> list[Tensor]:
        return [y.contiguous().realize() for y in runner(inputs).values()]

    jitted: Any = TinyJit(forward)

    def run(inputs: Arrays) -> list[np.ndarray]:
        tensors = {name: Tensor(array).realize() for name, array in inputs.items()}
        return [y.numpy() for y in jitted(**tensors)]

    prepared = Prepared(run)
    inputs = sample_inputs(path)
    for _ in range(3):
        run(inputs)
    prepared.kernels = len(jitted.captured.linear.src)
    return prepared


def clopt(path: Path, device: str) -> Prepared:
    """This compiler; the kernels are built after, and timed apart from, our own passes."""
    import clopt
    from clopt.backends.pyopencl_runtime import find_device, live_target
    from clopt.dialects.cl.ops import EnqueueKernelOp

    target = live_target(find_device(device))
    start = time.process_time()
    lowered = clopt.compile(path, target=target)
    _ = lowered.source
    passes = time.process_time() - start
    compiled = clopt.compile(lowered.module, device=device, weights=lowered.weights)
    launches = sum(isinstance(op, EnqueueKernelOp) for op in lowered.module.walk())
    return Prepared(compiled.run, launches, passes)


RIVALS: dict[str, Callable[[Path, str], Prepared]] = {
    "clopt": clopt,
    "onnxruntime": onnxruntime,
    "tinygrad": tinygrad,
}


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def work(connection: Connection, rival: str, device: str, path: Path) -> None:
    """Prepare the network, answer with facts about it, then time runs on request."""
    inputs = sample_inputs(path)
    try:
        start = time.perf_counter()
        prepared = RIVALS[rival](path, device)
        outputs = prepared.run(inputs)
        seconds = time.perf_counter() - start
        for _ in range(2):
            outputs = prepared.run(inputs)
    except Exception as error:
        connection.send({"failure": f"{type(error).__name__}: {error}"[:300]})
        traceback.print_exc()
        return
    facts = {"compile_s": seconds, "kernels": prepared.kernels, "passes_s": prepared.passes_s}
    connection.send(facts | {"outputs": outputs})
    while True:
        count: int = connection.recv()
        if count == 0:
            return
        walls: list[float] = []
        cpu = _cpu_seconds()
        for _ in range(count):
            start = time.perf_counter()
            prepared.run(inputs)
            walls.append(time.perf_counter() - start)
        connection.send({"wall": walls, "cpu": (_cpu_seconds() - cpu) / count})
