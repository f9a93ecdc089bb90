"""Models with two plans, CLML and kernels: the device decides, and the model says why."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.clml.library import reference_library
from clopt.backends.pyopencl_runtime import find_device
from clopt.tools import compile, run
from support import processes
from support.c.compilers import CLML, RUNTIME, STRICT, compilers, link_objects
from support.clml.single_ops import by_onnxruntime

pytestmark = pytest.mark.in_turns

TARGET = "adreno-740 clml=prefer"
REASON = {
    "absent": r"net has operations of CLML .*, which neither the device nor .* provides; .*",
    "locked": r"The device's CLML cannot be used: clQueryMLInterfaceVersionsQCOM returns -6, .*",
    "too old": r"net needs version 3 of CLML; it was built for versions up to 5, but the device .*",
}


def network() -> onnx.ModelProto:
    """A batch norm and a convolution for CLML, and a function that it does not have."""
    text = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,8,8] x) => (float[1,4,8,8] y) {
  n = BatchNormalization (x, scale, bias, mean, var)
  r = Relu (n)
  c = Conv <pads = [1, 1, 1, 1]> (r, w)
  s = Softsign (c)
  y = Conv <pads = [1, 1, 1, 1]> (s, v)
}
"""
    model = onnx.parser.parse_model(text)
    rng = np.random.default_rng(0)
    arrays = {name: rng.uniform(0.5, 1, 3) for name in ("scale", "bias", "mean", "var")}
    arrays |= {"w": rng.standard_normal((4, 3, 3, 3)), "v": rng.standard_normal((4, 4, 3, 3))}
    for name, array in arrays.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype("f"), name))
    return model


X = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    (y,) = by_onnxruntime(network(), {"x": X})
    return y


@pytest.fixture(scope="module")
def model() -> clopt.CompiledModel:
    return clopt.compile(network(), TARGET, fallback=True)


@pytest.fixture(scope="module")
def package(model: clopt.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package") / "net"
    model.save_c(folder, "net")
    return folder


def build(package: Path, folder: Path, *flags: str, without: bool = False) -> list[Path]:
    """The objects of the package, without a warning; `without` any header of CLML."""
    folder.mkdir(parents=True)
    paths = [*package.glob("*.c"), *RUNTIME.glob("*.c"), *([] if without else CLML.glob("*.c"))]
    headers = [] if without else [f"-I{CLML}", f"-I{package / 'clml'}"]
    include = [f"-I{package}", f"-I{RUNTIME}", *headers]
    words = [compilers()[0], *STRICT, "-O0", *flags, *include, "-c", *sorted(paths)]
    done = processes.run(words, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(folder.glob("*.o"))


@pytest.fixture(scope="module")
def objects(package: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build(package, tmp_path_factory.mktemp("objects") / "o")


@pytest.fixture(scope="module")
def programs(
    package: Path, objects: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The example "with" the reference library, "alone", or with CLML "left out" of its build."""
    folder = tmp_path_factory.mktemp("programs")

    @cache
    def program(form: str) -> Path:
        if form != "left out":
            libraries = [reference_library()] if form == "with" else []
            return link_objects(objects, folder / form, *libraries)
        plain = build(package, folder / "o", "-DCLOPT_WITHOUT_CLML", without=True)
        return link_objects(plain, folder / "without", reference_library())

    return program


Infer = Callable[..., tuple[np.ndarray, str]]


@pytest.fixture
def infer(programs: Callable[[str], Path], package: Path, device: str, tmp_path: Path) -> Infer:
    """The output of a program on the device, and what it printed."""
    (tmp_path / "x.bin").write_bytes(X.tobytes())

    def start(program: str, *options: str | Path) -> tuple[np.ndarray, str]:
        words = [programs(program), "--device", find_device(device).platform, *options]
        words += ["--weights", package / "weights.bin", "--output", tmp_path / "y"]
        done = processes.run([*words, tmp_path / "x.bin"], capture_output=True, text=True)
        assert not done.returncode, done.stderr
        return np.fromfile(tmp_path / "y0.bin", np.float32).reshape(1, 4, 8, 8), done.stdout

    return start


def test_first_plan(infer: Infer, expected: np.ndarray) -> None:
    y, printed = infer("with")
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    assert "CLML 5.0: " in printed
    assert "plan:" not in printed


@pytest.mark.parametrize(
    ("program", "knobs", "reason"),
    [
        ("alone", {}, REASON["absent"]),
        ("with", {"LOCKED": "1"}, REASON["locked"]),
        ("with", {"VERSION": "2"}, REASON["too old"]),
        ("left out", {}, "net was built without CLML."),
    ],
)
def test_second_plan(
    program: str,
    knobs: dict[str, str],
    reason: str,
    infer: Infer,
    expected: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in knobs.items():
        monkeypatch.setenv(f"CLML_REFERENCE_{name}", value)
    y, printed = infer(program)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    assert re.search(f"^plan: kernels. {reason}$", printed, re.M), printed
    assert "CLML 5.0" not in printed


def test_plan_that_is_asked_for(infer: Infer, expected: np.ndarray) -> None:
    y, printed = infer("with", "--plan", "kernels")
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    assert "plan: kernels. The options ask for the plan kernels." in printed
    assert "CLML 5.0: " in infer("with", "--plan", "CLML")[1]


@pytest.mark.parametrize(
    ("program", "plan", "said"),
    [
        ("alone", "CLML", REASON["absent"]),
        ("left out", "CLML", "net was built without CLML."),
        ("with", "cuda", r"net has no plan called cuda; it has CLML and kernels\."),
    ],
)
def test_plan_that_is_asked_for_in_vain(
    program: str,
    plan: str,
    said: str,
    programs: Callable[[str], Path],
    package: Path,
    devices: Mapping[str, str],
) -> None:
    platform = find_device(next(iter(devices.values()))).platform
    words = [programs(program), "--device", platform, "--plan", plan]
    words += ["--weights", package / "weights.bin"]
    done = processes.run(words, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(said, done.stderr.strip())


def test_built_kernels_belong_to_a_plan(infer: Infer, tmp_path: Path) -> None:
    """A file of one plan's kernels is not taken for the other's."""
    path = tmp_path / "kernels.bin"
    first, _ = infer("with", "--save-binaries", path)
    second, printed = infer("alone", "--binaries", path)
    assert "kernels: from" not in printed
    again, printed = infer("with", "--binaries", path)
    assert again.tobytes() == first.tobytes()
    assert "kernels: from" in printed
    np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-4)


_ARENAS = """
#include "net.h"
#include <stdio.h>

int main(int count, char **words) {
    clopt_options options = {0};
    cl_mem arenas[2] = {0};
    cl_int error;
    net_model *model = NULL;
    char message[512] = "";
    cl_platform_id platforms[8];
    cl_uint found = 0;
    clGetPlatformIDs(8, platforms, &found);
    clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, &options.device, NULL);
    options.context = clCreateContext(NULL, 1, &options.device, NULL, NULL, &error);
    options.queue = clCreateCommandQueue(options.context, options.device, 0, &error);
    options.weights_path = words[1];
    options.plan = count > 2 ? words[2] : NULL;
    for (size_t i = 0; i < net_arena_count(); i++) {
        arenas[i] = clCreateBuffer(options.context, CL_MEM_READ_WRITE, net_arena_size(i), NULL,
                                   &error);
    }
    options.arenas = arenas;
    options.arena_count = net_arena_count();
    clopt_status status = net_create(&options, &model, message, sizeof message);
    printf("%s%s %zu %zu", message, clopt_status_name(status), net_arena_count(),
           net_arena_size(0));
    if (model) {
        const clopt_info *info = clopt_model_info(model);
        printf(" %s %zu %zu", net_plan(model, NULL), info->arena_count, info->arena_sizes[0]);
    }
    printf("\\n");
    net_destroy(model);
    for (size_t i = 0; i < net_arena_count(); i++) {
        clReleaseMemObject(arenas[i]);
    }
    clReleaseCommandQueue(options.queue);
    clReleaseContext(options.context);
    return status;
}
"""


def test_arenas_do_for_both_plans(
    model: clopt.CompiledModel, package: Path, objects: Sequence[Path], tmp_path: Path
) -> None:
    """Their sizes are known before it is known which plan runs; the model's own are exact."""
    (tmp_path / "arenas.c").write_text(_ARENAS)
    flags = [*STRICT, f"-I{package}", f"-I{RUNTIME}", "-c", "arenas.c", "-o", "arenas.o"]
    processes.run([compilers()[0], *flags], cwd=tmp_path, check=True)
    parts = [tmp_path / "arenas.o", *(path for path in objects if path.name != "main.o")]
    program = link_objects(parts, tmp_path / "arenas", reference_library())
    sizes: dict[str, int] = {}
    most = set[int]()
    for plan in ("CLML", "kernels"):
        words = [program, package / "weights.bin", plan]
        told = processes.run(words, capture_output=True, text=True).stdout.split()
        assert told[:2] == ["CLOPT_OK", "1"]
        assert told[3:5] == [plan, "1"]
        most.add(int(told[2]))
        sizes[plan] = int(told[5])
    assert most == {max(sizes.values())}
    assert sizes["CLML"] != sizes["kernels"]
    assert json.loads((package / "package.json").read_text())["arenas"] == [*most]


def test_plans_share_weights(model: clopt.CompiledModel, package: Path, tmp_path: Path) -> None:
    """Arrays with the same bytes are in the file once."""
    assert model.fallback
    alone = [tmp_path / "first", tmp_path / "second"]
    clopt.compile(network(), TARGET).save_c(alone[0], "net")
    clopt.compile(network(), "adreno-740").save_c(alone[1], "net")
    sizes = [(folder / "weights.bin").stat().st_size - 64 for folder in alone]
    both = (package / "weights.bin").stat().st_size - 64
    assert max(sizes) <= both < sum(sizes)


@pytest.mark.skipif(not shutil.which("cmake"), reason="builds by CMake: install cmake")
@pytest.mark.parametrize("without", [False, True])
def test_by_cmake(without: bool, package: Path, devices: Mapping[str, str], tmp_path: Path) -> None:
    """Without CLML no header of it is there."""
    folder, made = tmp_path / "net", tmp_path / "build"
    shutil.copytree(package, folder)
    options = ["-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"]
    if without:
        shutil.rmtree(folder / "clml")
        options.append("-DCLOPT_WITHOUT_CLML=ON")
    for words in (["cmake", "-S", folder, "-B", made, *options], ["cmake", "--build", made]):
        done = processes.run(words, capture_output=True, text=True)
        assert not done.returncode, done.stdout + done.stderr
    platform = find_device(next(iter(devices.values()))).platform
    told = processes.run(
        [made / "net_example", "--device", platform, "--weights", made / "weights.bin"],
        capture_output=True,
        text=True,
    ).stdout
    assert ("plan: kernels. net was built without CLML." in told) == without
    assert ("which neither the device nor a library" in told) != without


def test_package_says_what_it_has(package: Path) -> None:
    description = json.loads((package / "package.json").read_text())
    assert description["plans"] == ["CLML", "kernels"]
    readme = (package / "README.md").read_text()
    assert "needs an OpenCL library and nothing else; for CLML" in readme.replace("\n", " ")
    assert "`clopt_model_plan` returns the plan" in readme
    assert max(map(len, readme.splitlines())) <= 120
    for path in package.glob("*.[ch]"):
        if "kernels" not in path.name:
            assert max(map(len, path.read_text().splitlines())) <= 100, path


def test_nothing_to_fall_back_from(tmp_path: Path) -> None:
    """Where CLML computes nothing there is one plan, and no trace of another."""
    model = clopt.compile(network(), "adreno-740", fallback=True)
    assert model.fallback is None
    model.save_c(tmp_path / "asked", "net")
    clopt.compile(network(), "adreno-740").save_c(tmp_path / "not", "net")
    asked, plain = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path / "asked", tmp_path / "not")
    )
    assert asked == plain


def test_saved_with_both_plans(
    model: clopt.CompiledModel, device: str, expected: np.ndarray, tmp_path: Path
) -> None:
    model.save(tmp_path / "saved")
    loaded = clopt.load(tmp_path / "saved", device=device)
    np.testing.assert_allclose(loaded.run([X])[0], expected, rtol=1e-4, atol=1e-4)
    assert loaded.plan == "kernels"
    assert re.match(r".* has no CLML \(cl_qcom_ml_ops\); ", loaded.plan_reason or "")
    offloaded = clopt.load(tmp_path / "saved", device=device, accelerators={"clml": "reference"})
    np.testing.assert_allclose(offloaded.run([X])[0], expected, rtol=1e-4, atol=1e-4)
    assert (offloaded.plan, offloaded.plan_reason) == ("CLML", None)
    with pytest.raises(clopt.CloptError, match='not "refrence"'):
        clopt.load(tmp_path / "saved", device=device, accelerators={"clml": "refrence"})
    loaded.save_c(tmp_path / "again", "net")
    assert json.loads((tmp_path / "again" / "package.json").read_text())["plans"] == [
        "CLML",
        "kernels",
    ]


def test_saved_without_a_fallback(device: str, tmp_path: Path) -> None:
    clopt.compile(network(), TARGET).save(tmp_path)
    with pytest.raises(clopt.CloptError, match="has no CLML"):
        clopt.load(tmp_path, device=device)


def test_command_lines(device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(network(), tmp_path / "net.onnx")
    words = ["--target", "adreno-740", "clml=prefer", "--fallback", "-o", str(tmp_path / "saved")]
    compile.main([str(tmp_path / "net.onnx"), *words])
    run.main([str(tmp_path / "saved"), "--device", device])
    told = " ".join("".join(capsys.readouterr()).split())
    assert "Kernels compute everything here." in told
    assert "ran saved on" in told


def test_pickled_with_both_plans(model: clopt.CompiledModel, expected: np.ndarray) -> None:
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(same.run([X])[0], expected, rtol=1e-4, atol=1e-4)
    assert same.accelerators == model.accelerators == ("CLML",)
    assert (same.plan, same.plan_reason) == ("kernels", model.plan_reason)
