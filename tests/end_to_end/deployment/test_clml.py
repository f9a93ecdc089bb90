"""C packages with CLML run on the reference library, and say so where there is none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from clopt.backends.clml.library import reference_library
from clopt.backends.pyopencl_runtime import find_device, list_devices
from support import processes
from support.c import packaged_models as models
from support.c.compilers import (
    CLML,
    CLML_HEADERS,
    INCLUDE,
    RUNTIME,
    STRICT,
    compilers,
    faults,
    for_valgrind,
    link_objects,
    objects,
    run,
)
from support.clml.graph_programs import row

pytestmark = pytest.mark.in_turns

X = np.random.default_rng(4).uniform(-1, 1, (1, 3, 8, 8)).astype(np.float32)


def expected() -> np.ndarray:
    """What the program computes: maxpool(relu6(conv(2 x)))."""
    _, weights = row()
    w, b = (weights.get(key) for key in weights.keys())
    x = np.pad(2 * X[0], ((0, 0), (1, 1), (1, 1))).astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    y = np.einsum("chwij,ocij->ohw", windows, w) + b.reshape(-1, 1, 1)
    return np.clip(y, 0, 6).reshape(8, 4, 2, 4, 2).max((2, 4))[None]


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clml") / "net"
    models.operations().save_c(folder, "net")
    return folder


@pytest.fixture(scope="session")
def parts(
    package: Path, clml_runtime: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """The objects of the example."""
    folder = tmp_path_factory.mktemp("objects")
    return [*clml_runtime, *objects(compilers()[0], sorted(package.glob("*.c")), folder)]


@pytest.fixture(scope="session")
def program(parts: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return link_objects(parts, tmp_path_factory.mktemp("program") / "net", reference_library())


@pytest.fixture(scope="session")
def program_alone(parts: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return link_objects(parts, tmp_path_factory.mktemp("program") / "net")


Infer = Callable[..., tuple[np.ndarray, str]]


@pytest.fixture
def infer(package: Path, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Infer:
    """The output of a program on the device and what it printed; the reference finds no mistake."""
    log, output = tmp_path / "log", tmp_path / "output"
    (tmp_path / "x.bin").write_bytes(X.tobytes())
    monkeypatch.setenv("CLML_REFERENCE_LOG", str(log))
    platform = find_device(device).platform
    given = ["--device", platform, "--weights", package / "weights.bin", "--output", output]

    def start(program: Path, *options: str | Path) -> tuple[np.ndarray, str]:
        words = [program, *given, "--repeat", "1", *options, tmp_path / "x.bin"]
        done = processes.run(list(map(str, words)), capture_output=True, text=True)
        assert not done.returncode, done.stderr
        assert not log.exists() or not log.read_text()
        y = np.fromfile(f"{output}0.bin", np.float32).reshape(1, 8, 4, 4)
        return y, done.stdout

    return start


@pytest.mark.skipif(not shutil.which("valgrind"), reason="looks at memory: install valgrind")
def test_memory(
    program: Path, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No access out of bounds and no block lost, in the package or in the reference: on PoCL."""
    name = "Portable Computing Language"
    if name not in {device.platform for device in list_devices()}:
        pytest.skip("runs on PoCL: install it")
    monkeypatch.setenv("OPENCL_LAYERS", str(reference_library()))
    for variable, value in for_valgrind(tmp_path).items():
        monkeypatch.setenv(variable, value)
    log = tmp_path / "log"
    checks = ["valgrind", "--leak-check=full", "--num-callers=8", f"--log-file={log}"]
    given = ["--device", name, "--weights", package / "weights.bin", "--repeat", "2"]
    words = [program, *given, "--replay", "--profile", "--tune", tmp_path / "tuning.bin"]
    for before in ([], checks):
        assert "recorded and replayed" in run(*before, *words)
    ours = "|".join(re.escape(str(path)) for path in (program, reference_library()))
    found = faults(log, rf"\(in (?:{ours})\)")
    assert not found, "\n\n".join(found)


def refusal(program: Path, package: Path, device: str, *options: str) -> str:
    """The example's sentence when it cannot create its model."""
    words = [program, *options, "--device", find_device(device).platform]
    words += ["--weights", package / "weights.bin"]
    done = processes.run(list(map(str, words)), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith(".\n")
    return done.stderr


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("knobs", "options", "said"),
    [
        ({}, [], "CLML 5.0: 4 operations; 0 of 5 tensors are larger than planned"),
        ({"PADDING": "4096"}, [], "3 of 5 tensors are larger than planned"),
        ({"PADDING": "4096"}, ["--replay"], "launches: recorded and replayed"),
        ({"VERSION": "3"}, ["--replay"], "CLML 3.0: 4 operations"),
        ({"VERSION": "4"}, [], "CLML 4.0: 4 operations"),
        ({}, ["--offload-version", "3"], "CLML 3.0: 4 operations"),
        ({"VERSION": "3"}, ["--offload-version", "4"], "CLML 3.0: 4 operations"),
        ({}, ["--offload-version", "9"], "CLML 5.0: 4 operations"),
    ],
)
def test_inference(
    knobs: dict[str, str],
    options: list[str],
    said: str,
    program: Path,
    infer: Infer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel's output is the graph's input, and parts of the arena are its tensors."""
    for name, value in knobs.items():
        monkeypatch.setenv(f"CLML_REFERENCE_{name}", value)
    y, printed = infer(program, *options)
    assert said in printed
    np.testing.assert_allclose(y, expected(), rtol=1e-5, atol=1e-5)


def test_tuning(program: Path, infer: Infer, tmp_path: Path) -> None:
    """Tuning runs an inference; its file is used, and ignored when it is damaged."""
    path = tmp_path / "tuning.bin"
    y, printed = infer(program, "--tune", path)
    assert "tuned in " in printed
    np.testing.assert_allclose(y, expected(), rtol=1e-5, atol=1e-5)
    data = path.read_bytes()
    assert data.startswith(b"CLOPTTUN")
    for content in (data, data[:-1] + bytes([data[-1] ^ 1]), b""):
        path.write_bytes(content)
        assert infer(program, "--tuning", path)[0].tobytes() == y.tobytes()


def test_times_of_commands(program: Path, infer: Infer) -> None:
    y, printed = infer(program, "--profile", "--replay")
    np.testing.assert_allclose(y, expected(), rtol=1e-5, atol=1e-5)
    rows = re.findall(r"^ +([\d.]+) ms  (\S+) +(.*)$", printed, re.M)
    commands = [(kind, name) for _, kind, name in rows]
    assert commands == [
        ("kernel", "twice"),
        ("CLML", "copy a"),
        ("CLML", "conv_activation c"),
        ("CLML", "pool p"),
        ("CLML", "copy y"),
        ("in", "all"),
    ]
    times = [float(time) for time, *_ in rows]
    assert times[-1] == pytest.approx(sum(times[:-1]), abs=0.01)


def test_as_a_layer(program_alone: Path, infer: Infer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader leads to it: the program is linked to OpenCL alone."""
    monkeypatch.setenv("OPENCL_LAYERS", str(reference_library()))
    np.testing.assert_allclose(infer(program_alone)[0], expected(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("replay", [0, 1])
def test_new_bindings_while_inferences_are_under_way(
    replay: int,
    parts: Sequence[Path],
    package: Path,
    device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each inference has its own buffers and arena, and recordings are made anew.

    As a layer, the reference has the device list recordable queues.
    """
    files = [path for path in parts if path.name != "main.o"]
    (made,) = objects(compilers()[0], [Path(__file__).parent / "rebind.c"], tmp_path, package)
    monkeypatch.setenv("CLML_REFERENCE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OPENCL_LAYERS", str(reference_library()))
    rebind = link_objects([made, *files], tmp_path / "rebind")
    words = [find_device(device).platform, package / "weights.bin", str(replay)]
    found = re.fullmatch(r"0 differ; ([01]); (\S+) (\S+)\n", run(rebind, *words))
    assert found
    assert int(found[1]) == replay
    assert found[2] != found[3]
    assert not (tmp_path / "log").exists() or not (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"VERSION": "2"}, "net needs version 3 of CLML; it was .* 5, but the device .* 2: .*=2 "),
        ({"LOCKED": "1"}, r"clQueryMLInterfaceVersionsQCOM returns -6, .* compile net .* clml=off"),
    ],
)
def test_a_device_that_cannot(
    knobs: dict[str, str],
    said: str,
    program: Path,
    package: Path,
    devices: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in knobs.items():
        monkeypatch.setenv(f"CLML_REFERENCE_{name}", value)
    assert re.search(said, refusal(program, package, next(iter(devices.values()))))


def test_no_version_is_left(program: Path, package: Path, devices: dict[str, str]) -> None:
    said = refusal(program, package, next(iter(devices.values())), "--offload-version", "2")
    assert "needs version 3 of CLML, but options.offload_version allows 2: compile" in said


def test_no_clml(program_alone: Path, package: Path, devices: dict[str, str]) -> None:
    said = refusal(program_alone, package, next(iter(devices.values())))
    assert "neither the device nor a library in this process provides; compile it with" in said


_ANOTHER = """
int clQueryMLInterfaceVersionsQCOM(int *a, int *b, unsigned c, unsigned *d) {
    return a && b && c && d ? -1 : -2;
}
int clGetMLInterfaceQCOM(void *a, int b, int c) {
    return a && b && c ? -1 : -2;
}
"""


@pytest.fixture(scope="session")
def sdk_parts(parts: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The objects of the example, the look-up built with a header that is not the reference's."""
    folder = tmp_path_factory.mktemp("sdk")
    (folder / "CL").mkdir()
    for header in (CLML_HEADERS / "CL").glob("*.h"):
        text = re.sub(r"#define CLML_REFERENCE_HEADER .*", "", header.read_text())
        (folder / "CL" / header.name).write_text(text)
    made = folder / "clopt_clml_interface.o"
    flags = [*STRICT, f"-I{folder}", *INCLUDE, f"-I{RUNTIME}"]
    source = CLML / "clopt_clml_interface.c"
    processes.run([compilers()[0], *flags, "-c", source, "-o", made], check=True)
    return [made, *(path for path in parts if path.name != made.name)]


def test_header_and_library_belong_together(
    parts: Sequence[Path], package: Path, devices: dict[str, str], tmp_path: Path
) -> None:
    """Numbers of enumerators differ from header to header, so a program knows which it has."""
    device = next(iter(devices.values()))
    (tmp_path / "another.c").write_text(_ANOTHER)
    another = tmp_path / "libanother.so"
    words = [compilers()[0], "-shared", "-fPIC", tmp_path / "another.c", "-o", another]
    processes.run(list(map(str, words)), check=True)
    said = refusal(link_objects(parts, tmp_path / "net", another), package, device)
    assert "build it with the header of Qualcomm's SDK (CMake: -DCLML_INCLUDE_DIR" in said


def test_reference_with_another_header(
    sdk_parts: Sequence[Path], package: Path, devices: dict[str, str], tmp_path: Path
) -> None:
    mixed = link_objects(sdk_parts, tmp_path / "mixed", reference_library())
    said = refusal(mixed, package, next(iter(devices.values())))
    assert "the library found is the reference for CLML" in said


# Takes the place of the loader's function.
_DEVICE_WITH_CLML = """
#include "clopt_runtime.h"
#include <string.h>
%s
void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id id, const char *name) {
    int (*query)(int *, int *, unsigned, unsigned *) = clQueryMLInterfaceVersionsQCOM;
    int (*get)(void *, int, int) = clGetMLInterfaceQCOM;
    void *found = 0;
    if (id && strcmp(name, "clQueryMLInterfaceVersionsQCOM") == 0) {
        memcpy(&found, &query, sizeof found);
    } else if (id && strcmp(name, "clGetMLInterfaceQCOM") == 0) {
        memcpy(&found, &get, sizeof found);
    }
    return found;
}
"""


def test_device_with_its_own_library(
    parts: Sequence[Path],
    sdk_parts: Sequence[Path],
    package: Path,
    device: str,
    infer: Infer,
    tmp_path: Path,
) -> None:
    """With the reference in the process, each program takes the library of its header."""
    source = tmp_path / "own.c"
    source.write_text(_DEVICE_WITH_CLML % _ANOTHER.replace("\nint ", "\nstatic int "))
    own = objects(compilers()[0], [source], tmp_path)
    both = link_objects([*parts, *own], tmp_path / "both", reference_library())
    np.testing.assert_allclose(infer(both)[0], expected(), rtol=1e-5, atol=1e-5)
    alone = link_objects([*parts, *own], tmp_path / "alone")
    assert "the device has another library" in refusal(alone, package, device)
    sdk = link_objects([*sdk_parts, *own], tmp_path / "sdk", reference_library())
    assert "is the reference" not in refusal(sdk, package, device)
