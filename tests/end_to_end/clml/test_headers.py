"""Emitted C compiles with headers of CLML that are not ours: other names, other versions."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import clopt
from clopt.backends.clml.library import reference_library
from clopt.backends.pyopencl_runtime import find_device
from support import processes
from support.c.compilers import CLML, RUNTIME, STRICT, compilers, infer, link_objects
from support.c.compilers import runtime as runtime
from support.clml.cases import CASES
from support.clml.graph_cases import GRAPH_CASES, module_of
from support.clml.headers import public_names, write_renamed, write_version
from support.clml.single_ops import check_close, expected, feeds_of, model_of

TARGET = "adreno-740 clml=prefer clml_version=5"
OTHER_ACTIVATIONS = [
    f"-DCLOPT_CLML_ACTIVATION_{name}=other_CL_ACTIVATION_{name}" for name in ("SIGMOID", "TANH")
]


@pytest.fixture(scope="module")
def models() -> Mapping[str, clopt.CompiledModel]:
    """Every command with all its modes, of ONNX and of graphs; and one of version 3."""
    module, weights = module_of(GRAPH_CASES, "fp16_acc32")
    return {
        "cases": clopt.compile(model_of(CASES), TARGET),
        "graphs": clopt.compile(module, TARGET, weights=weights),
        "one": clopt.compile(model_of([case for case in CASES if case.name == "scaled"]), TARGET),
    }


@pytest.fixture(scope="module")
def packages(
    models: Mapping[str, clopt.CompiledModel], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("packages")
    for name, model in models.items():
        model.save_c(folder / name, name)
    return {name: folder / name for name in models}


def build(
    compiler: str, package: Path, headers: Path, folder: Path, flags: Sequence[str] = ()
) -> list[Path]:
    """The objects of a package with these headers of CLML, without a warning. Those of the runtime
    for all models are not among them: it includes no header of CLML."""
    include = [f"-I{path}" for path in (headers, package, RUNTIME, CLML)]
    paths = [*sorted(package.glob("*.c")), *sorted(CLML.glob("*.c"))]
    words = [compiler, *STRICT, "-O0", *flags, *include, "-c", *paths]
    folder.mkdir()
    done = processes.run(words, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return [folder / f"{path.stem}.o" for path in paths]


CHECKED = ["-fsyntax-only"]
"""For `build`: find errors and warnings, make no objects."""


def test_renamed_headers_have_no_other_name(tmp_path: Path) -> None:
    """The test below means something: our own names are gone, the public ones are there."""
    text = (write_renamed(tmp_path) / "CL" / "cl_qcom_ml_ops.h").read_text()
    words = set(text.replace("*", " ").replace(";", " ").replace(",", " ").split())
    assert {"other_layout", "other_CL_ACTIVATION_TANH", "other_num_dimensions"} <= words
    assert {"CL_TENSOR_UNUSED_QCOM", "num_dimensions", "clCreateMLOpClipQCOM"} <= words
    assert not {"layout", "CL_ACTIVATION_TANH", "cl_batchnorm_mode_qcom"} & words
    declared = {word for word in words if "QCOM" in word and not word.startswith("other_")}
    assert {word.split("(")[0] for word in declared} <= public_names() | {"CL_QCOM_ML_OPS_H"}


@pytest.mark.parametrize(
    "compiler",
    [pytest.param(name, marks=pytest.mark.long if i else ()) for i, name in enumerate(compilers())],
)
@pytest.mark.parametrize("name", ["cases", "graphs"])
def test_public_names_suffice(
    compiler: str, name: str, packages: Mapping[str, Path], tmp_path: Path
) -> None:
    headers = write_renamed(tmp_path / "include")
    build(compiler, packages[name], headers, tmp_path / "objects", [*CHECKED, *OTHER_ACTIVATIONS])


@pytest.mark.in_turns
def test_results_do_not_depend_on_names(
    models: Mapping[str, clopt.CompiledModel],
    packages: Mapping[str, Path],
    runtime: Sequence[Path],
    device: str,
    tmp_path: Path,
) -> None:
    """Members lie where they lay, so the reference library computes what it did."""
    headers = write_renamed(tmp_path / "include")
    made = build(
        compilers()[0], packages["cases"], headers, tmp_path / "objects", OTHER_ACTIVATIONS
    )
    program = link_objects([*made, *runtime], tmp_path / "cases", reference_library())
    arrays = list(feeds_of(CASES).values())
    outputs, _ = infer(packages["cases"], program, device, models["cases"], arrays)
    results = expected(CASES)
    assert len(outputs) == len(CASES) > 50
    for case, output in zip(CASES, outputs, strict=True):
        check_close(output, results[case.name], "fp32")


@pytest.mark.parametrize("version", range(1, 7))
def test_headers_of_other_versions(
    version: int,
    packages: Mapping[str, Path],
    runtime: Sequence[Path],
    devices: Mapping[str, str],
    tmp_path: Path,
) -> None:
    """The package compiles with each. It runs where it has all it needs, and says it elsewhere."""
    headers = write_version(tmp_path / "include", version)
    build(compilers()[0], packages["cases"], headers, tmp_path / "cases", CHECKED)
    made = build(compilers()[0], packages["one"], headers, tmp_path / "objects")
    program = link_objects([*made, *runtime], tmp_path / "one", reference_library())
    done = run_example(program, packages["one"], devices)
    if version < 3:
        told = f"one needs version 3 of CLML; it was built for versions up to {version}, "
        assert told in done.stderr
    else:
        assert f"CLML {min(version, 5)}.0: " in done.stdout, done.stderr


def run_example(
    program: Path, package: Path, devices: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The example of a package on the first device."""
    platform = find_device(next(iter(devices.values()))).platform
    words = [program, "--device", platform, "--weights", package / "weights.bin"]
    return processes.run(words, capture_output=True, text=True)


def other_fifth(folder: Path) -> Path:
    """A header whose version 5 is not as we take it to be."""
    write_version(folder, 5)
    path = folder / "CL" / "cl_qcom_ml_ops.h"
    start, fifth = path.read_text().split("typedef struct CLMLInterfaceV5QCOM {")
    fifth = fifth.replace("clCreateMLTensorWithUsageQCOM", "clCreateMLTensorOfVersion5QCOM", 1)
    path.write_text(f"{start}typedef struct CLMLInterfaceV5QCOM {{{fifth}")
    return folder


def test_newest_version_that_is_used(
    packages: Mapping[str, Path],
    runtime: Sequence[Path],
    devices: Mapping[str, str],
    tmp_path: Path,
) -> None:
    headers, limit = other_fifth(tmp_path / "include"), ["-DCLOPT_CLML_MAX_VERSION=4"]
    build(compilers()[0], packages["cases"], headers, tmp_path / "cases", [*CHECKED, *limit])
    made = build(compilers()[0], packages["one"], headers, tmp_path / "objects", limit)
    program = link_objects([*made, *runtime], tmp_path / "one", reference_library())
    assert "CLML 4.0: " in run_example(program, packages["one"], devices).stdout


@pytest.mark.skipif(not shutil.which("cmake"), reason="builds by CMake: install cmake")
@pytest.mark.parametrize(
    ("header", "options", "version"),
    [("ours", [], 5), ("other fifth", [], 4), ("ours", ["-DCLOPT_CLML_MAX_VERSION=3"], 3)],
)
def test_cmake_finds_the_newest_version_that_compiles(
    header: str,
    options: list[str],
    version: int,
    packages: Mapping[str, Path],
    devices: Mapping[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENCL_LAYERS", str(reference_library()))
    package, build = packages["one"], tmp_path / "build"
    if header != "ours":
        options = [f"-DCLML_INCLUDE_DIR={other_fifth(tmp_path / 'include')}"]
    words = ["cmake", "-S", package, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", *options]
    done = processes.run(words, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert f"CLML: versions up to {version}," in done.stdout
    done = processes.run(["cmake", "--build", build], capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert f"CLML {version}.0: " in run_example(build / "one_example", package, devices).stdout
