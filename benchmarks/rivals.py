"""The programs that run a network, each in its own warm process."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
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

THREADS = 2
"""Threads of each rival that has its own."""


@dataclass
class Prepared:
    """A compiled network: its run function, number of kernels, and seconds in clopt's passes."""

    run: Callable[[Arrays], list[np.ndarray]]
    kernels: int | None = None
    passes_s: float | None = None


def onnxruntime(path: Path, device: str) -> Prepared:
    """Run onnxruntime on two CPU threads, which spin until the inference ends.

    With spinning off, `onnxruntime-sleeping`, a small network takes up to 1.6 times as long.
    """
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    if device == "sleeping":
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    else:
        # By default they also spin after an inference, while the next rival is timed.
        options.add_session_config_entry("session.force_spinning_stop", "1")
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return Prepared(lambda inputs: [np.asarray(y) for y in session.run(None, inputs)])


def tinygrad(path: Path, device: str) -> Prepared:
    """Run tinygrad's ONNX frontend under its JIT."""
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
    """Run clopt; kernels are built after its own passes and timed separately."""
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


def openvino(path: Path, device: str) -> Prepared:
    """Run OpenVINO on two CPU threads, with the latency hint."""
    import openvino as ov

    # Its default for floats may be half or bfloat16 if the CPU supports them.
    settings = {
        "INFERENCE_NUM_THREADS": THREADS,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = ov.Core().compile_model(str(path), "CPU", settings).create_infer_request()
    count = len(request.model_outputs)

    def run(inputs: Arrays) -> list[np.ndarray]:
        request.infer(inputs)
        return [np.array(request.get_output_tensor(i).data) for i in range(count)]

    return Prepared(run)


# Channels-last takes a third of the time (SqueezeNet, 224x224). Without a larger stack, IREE
# refuses the text encoder at batch 8.
_IREE = [
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O3",
    "--iree-llvmcpu-stack-allocation-limit=1048576",
    "--iree-preprocessing-pass-pipeline="
    "builtin.module(util.func(iree-preprocessing-convert-conv-to-channels-last))",
]


def iree(path: Path, device: str) -> Prepared:
    """Run IREE's LLVM code for this CPU on its own two threads."""
    from iree import compiler, runtime

    with tempfile.TemporaryDirectory() as folder:
        imported = Path(folder, "model.mlir")
        words = ["-m", "iree.compiler.tools.import_onnx", str(path), "-o", str(imported)]
        subprocess.run([sys.executable, *words, "--opset-version", "17"], check=True)
        code = compiler.tools.compile_file(
            str(imported),
            input_type="onnx",
            target_backends=["llvm-cpu"],
            extra_args=_IREE,
        )
    # Set before the first device is created, which reads the flag.
    runtime.flags.parse_flags(f"--task_topology_group_count={THREADS}")
    config = runtime.Config("local-task")
    modules = runtime.load_vm_modules(
        runtime.create_hal_module(config.vm_instance, config.device),
        runtime.VmModule.copy_buffer(config.vm_instance, code),
        config=config,
    )
    module = modules[-1]
    (name,) = (
        name for name in module.vm_module.function_names if "$" not in name and name != "__init"
    )
    function = module[name]

    def run(inputs: Arrays) -> list[np.ndarray]:
        results = function(*inputs.values())
        results = results if isinstance(results, tuple | list) else [results]
        return [np.array(result.to_host()) for result in results]

    return Prepared(run)


RIVALS: dict[str, Callable[[Path, str], Prepared]] = {
    "clopt": clopt,
    "iree": iree,
    "onnxruntime": onnxruntime,
    "openvino": openvino,
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
