"""The core of the reference library refuses misuse with a reason; everything allowed works.

The tests themselves are in C: core_main.c, and beside it one file for each subject.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from clopt.backends.pyopencl_runtime import find_device, list_devices
from support import processes
from support.c.compilers import STRICT, compilers, faults, for_valgrind
from support.clml.reference.sources import INCLUDE, REFERENCE

HERE = Path(__file__).parent
SUBJECTS = ("interface", "tensors", "transfers", "sets", "events", "operations", "tuning")
LAYER = ("layer", "recordings", "events", "threads")


def run(
    program: Path, platform: str, *subjects: str, before: Sequence[str] = (), **knobs: object
) -> str:
    """The standard error of a run in which every subject passed."""
    environment = dict(os.environ) | {name: str(value) for name, value in knobs.items()}
    words = [*before, program, platform, *subjects]
    done = processes.run(words, capture_output=True, text=True, env=environment)
    assert not done.returncode, done.stderr
    assert done.stdout.split() == list(subjects)
    return done.stderr


def test_core(device: str, core_program: Path) -> None:
    """One process for all subjects builds the few programs once."""
    run(core_program, find_device(device).platform, *SUBJECTS, "threads")


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_versions(version: int, devices: dict[str, str], core_program: Path) -> None:
    platform = find_device(next(iter(devices.values()))).platform
    knobs = {"CLML_REFERENCE_VERSION": version, "CORE_VERSIONS": version}
    run(core_program, platform, "interface", **knobs)


def test_locked(devices: dict[str, str], core_program: Path) -> None:
    platform = find_device(next(iter(devices.values()))).platform
    run(core_program, platform, "interface", CLML_REFERENCE_LOCKED=1, CORE_VERSIONS=0)


def test_as_layer(device: str, core_program: Path, reference_library: Path) -> None:
    """Debian's loader takes the library as a layer; everything else works as before."""
    platform = find_device(device).platform
    knobs = {"OPENCL_LAYERS": reference_library, "CLML_REFERENCE_RECORDING_SIZE": 3}
    run(core_program, platform, *LAYER, **knobs)


IN_PYTHON = """
import pyopencl as cl
from clopt.backends.pyopencl_runtime import list_devices
found = list_devices()
for platform in cl.get_platforms():
    for device in platform.get_devices():
        assert "cl_qcom_ml_ops" in device.extensions.split()
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        recorder = cl.CommandQueue(context, properties=1 << 30)
        data = cl.Buffer(context, cl.mem_flags.READ_WRITE, 16)
        cl.enqueue_fill_buffer(queue, data, bytes(4), 0, 16).wait()
        try:
            cl.enqueue_fill_buffer(recorder, data, bytes(4), 0, 16)
        except cl.LogicError:
            print(platform.name)
"""


def test_as_layer_of_the_loader_of_pyopencl(
    devices: dict[str, str], reference_library: Path, tmp_path: Path
) -> None:
    """The process has two loaders: pyopencl's, and the one that the library links to."""
    environment = os.environ | {"OPENCL_LAYERS": str(reference_library)}
    command = [sys.executable, "-c", IN_PYTHON]
    done = processes.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert not done.returncode, done.stderr
    assert set(done.stdout.splitlines()) == {find_device(i).platform for i in devices.values()}


@pytest.mark.long  # a package with the library is looked at in the short form
@pytest.mark.skipif(not shutil.which("valgrind"), reason="looks at memory: install valgrind")
def test_memory(core_program: Path, reference_library: Path, tmp_path: Path) -> None:
    """No access out of bounds, and no block lost, in the library or the tests: on PoCL, whose
    own faults, and those of the loader and of glibc, are not ours."""
    name = "Portable Computing Language"
    if name not in {device.platform for device in list_devices()}:
        pytest.skip("runs on PoCL: install it")
    log = tmp_path / "log"
    checks = ["valgrind", "--leak-check=full", "--num-callers=8", f"--log-file={log}"]
    knobs = {"OPENCL_LAYERS": reference_library, "CLML_REFERENCE_RECORDING_SIZE": 3}
    knobs |= for_valgrind(tmp_path)
    subjects = ("sets", "tuning", "recordings")
    run(core_program, name, *subjects, **knobs)
    run(core_program, name, *subjects, before=checks, **knobs)
    names = [path.name for folder in (REFERENCE, HERE) for path in folder.glob("*.c")]
    found = faults(log, rf"\((?:{'|'.join(map(re.escape, names))}):")
    assert not found, "\n\n".join(found)


def test_log(devices: dict[str, str], core_program: Path, tmp_path: Path) -> None:
    platform = find_device(next(iter(devices.values()))).platform
    log = tmp_path / "log"
    run(core_program, platform, "tuning", CLML_REFERENCE_LOG=log)
    lines = log.read_text().splitlines()
    assert len(lines) > 40
    assert all(re.fullmatch(r"cl\w+QCOM: .+ \(error -\d+\)", line) for line in lines)
    level = {"CLML_REFERENCE_LOG": "stderr", "CLML_REFERENCE_LOG_LEVEL": 1}
    told = run(core_program, platform, "events", **level)
    assert "- clEnqueueMLOpQCOM: clCreateMLOpBinaryQCOM\n" in told
    assert "- clEnqueueCopyMLTensorDataQCOM: 1x5x1x1 float OPTIMAL to 1x5x1x1 float NCHW\n" in told


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sources_with(compiler: str, tmp_path: Path) -> None:
    if compiler not in compilers():
        pytest.skip(f"compiles by {compiler}: install it")
    command = [compiler, *STRICT, "-fsyntax-only", INCLUDE, *sorted(REFERENCE.glob("*.c"))]
    done = processes.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
