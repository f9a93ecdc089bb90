"""C packages build for another processor, by themselves, and two of them in one application."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

import clopt
from clopt.backends.clml.library import reference_library
from clopt.backends.pyopencl_runtime import find_device
from support import processes
from support.c import packaged_models as models
from support.c.compilers import run

CROSS = "aarch64-linux-gnu-gcc"
HEADERS = Path("/usr/include/CL")

needs_cmake = pytest.mark.skipif(not shutil.which("cmake"), reason="builds by CMake: install cmake")


def package(folder: Path, name: str, target: str = "generic", **facts: object) -> Path:
    """The package of the digits network in a folder of its name."""
    model = clopt.compile(models.DIGITS, target, {"batch": 1}, **facts)  # type: ignore[arg-type]
    model.save_c(folder / name, name)
    return folder / name


@pytest.mark.skipif(
    not shutil.which(CROSS) or not Path("/usr/aarch64-linux-gnu/include/stdio.h").exists(),
    reason="compiles for aarch64: install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross",
)
@pytest.mark.skipif(not HEADERS.exists(), reason="needs OpenCL's headers: opencl-c-headers")
def test_for_aarch64(tmp_path: Path) -> None:
    folder = package(tmp_path, "digits", "adreno-740", texture="prefer")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "CL").symlink_to(HEADERS)  # not the other headers of this machine
    include = [f"-I{path}" for path in (tmp_path / "include", folder, folder / "clopt_runtime")]
    sources = sorted(folder.rglob("*.c"))
    assert len(sources) >= 11
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", *include]
    done = processes.run(
        [CROSS, *flags, "-c", *sources], cwd=tmp_path, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    header = (tmp_path / "clopt_runtime.o").read_bytes()[:20]
    assert header[:5] == b"\x7fELF\x02"
    assert int.from_bytes(header[18:], "little") == 183  # EM_AARCH64


@needs_cmake
@pytest.mark.by_default(cases=1)
def test_package_alone(devices: Mapping[str, str], tmp_path: Path) -> None:
    device = next(iter(devices.values()))
    folder, build = package(tmp_path, "digits"), tmp_path / "build"
    by_cmake(folder, build, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")  # with all optimisations
    printed = run(
        build / "digits_example",
        *("--device", find_device(device).platform, "--weights", build / "weights.bin"),
    )
    assert "logits: float32, 40 bytes: " in printed


QUICK = "-DCMAKE_BUILD_TYPE=Debug"

APPLICATION = """
cmake_minimum_required(VERSION 3.13)
project(application LANGUAGES C)
add_subdirectory(one)
add_subdirectory(two)
add_executable(application main.c)
target_link_libraries(application PRIVATE one two)
"""

MAIN = """
#include "one.h"
#include "two.h"

int main(void) {
    clopt_options options = {0};
    one_model *first;
    two_model *second;
    return one_create(&options, &first, 0, 0) == CLOPT_ARGUMENT &&
                   two_create(&options, &second, 0, 0) == CLOPT_ARGUMENT
               ? 0
               : 1;
}
"""


@needs_cmake
def test_application_with_two_models(tmp_path: Path) -> None:
    """Both use the runtime of the first."""
    for name in ("one", "two"):
        package(tmp_path, name)
    (tmp_path / "CMakeLists.txt").write_text(APPLICATION)
    (tmp_path / "main.c").write_text(MAIN)
    by_cmake(tmp_path, tmp_path / "build", QUICK)
    run(tmp_path / "build" / "application")
    assert len(list((tmp_path / "build").rglob("libclopt_runtime.a"))) == 1


MAIN_CLML = """
#include "one.h"
#include "two.h"

static void tell(const char *name, const clopt_model *model, const char *message) {
    const char *library = clopt_model_offload(model).library;
    printf("%s: %s%s\\n", name, model ? "created " : message, library ? library : "");
}

/* Usage: application PLATFORM WEIGHTS...; whether each model can be created. */
int main(int count, char **words) {
    (void)count;
    cl_platform_id platforms[8];
    cl_uint found = 0;
    char message[512];
    clopt_options options = {0};
    one_model *first;
    two_model *second;
    clGetPlatformIDs(8, platforms, &found);
    for (cl_uint i = 0; i < found; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, words[1]) == 0) {
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &options.device, NULL);
        }
    }
    options.context = clCreateContext(NULL, 1, &options.device, NULL, NULL, NULL);
    options.queue = clCreateCommandQueue(options.context, options.device, 0, NULL);
    options.weights_path = words[2];
    one_create(&options, &first, message, sizeof message);
    tell("one", first, message);
    options.weights_path = words[3];
    two_create(&options, &second, message, sizeof message);
    tell("two", second, message);
    one_destroy(first);
    two_destroy(second);
    return 0;
}
"""


@needs_cmake
@pytest.mark.parametrize(
    "with_clml",
    [
        pytest.param("one", marks=pytest.mark.long),
        pytest.param("two", marks=pytest.mark.long),
        "both",
    ],
)
def test_application_with_and_without_clml(
    with_clml: str, devices: Mapping[str, str], tmp_path: Path
) -> None:
    """The first model's runtime serves both; CLML's comes from the model that has it."""
    device = next(iter(devices.values()))
    uses = {name: with_clml in (name, "both") for name in ("one", "two")}
    for name in uses:
        if uses[name]:
            models.operations().save_c(tmp_path / name, name)
        else:
            package(tmp_path, name)
    (tmp_path / "CMakeLists.txt").write_text(APPLICATION)
    (tmp_path / "main.c").write_text(f"#include <stdio.h>\n#include <string.h>\n{MAIN_CLML}")
    build = tmp_path / "build"
    library = tmp_path / "libclml_reference.so"
    library.symlink_to(reference_library())
    by_cmake(tmp_path, build, QUICK, f"-DCLML_LIBRARY={library}")
    weights = [tmp_path / name / "weights.bin" for name in uses]
    printed = run(build / "application", find_device(device).platform, *weights)
    assert printed.splitlines() == [
        f"{name}: created {'CLML' if used else ''}" for name, used in uses.items()
    ]
    for library in ("clopt_runtime", "clopt_clml"):
        assert len(list(build.rglob(f"lib{library}.a"))) == 1


def by_cmake(source: Path, build: Path, *options: str) -> None:
    """Configure and build."""
    for words in (["-S", source, "-B", build, *options], ["--build", build]):
        done = processes.run(["cmake", *words], capture_output=True, text=True)
        assert not done.returncode, done.stdout + done.stderr
