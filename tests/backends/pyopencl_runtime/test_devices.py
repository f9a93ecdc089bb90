"""Devices are listed once, found by any part of their names, and described as targets."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyopencl import device_fp_config

from clopt import CloptError
from clopt.backends.pyopencl_runtime import (
    Device,
    devices,
    environment,
    find_device,
    list_devices,
    target_for,
)
from clopt.backends.pyopencl_runtime.icd import vendors_with_pip
from clopt.targets import load_target, with_facts
from support import processes

INTEL = Path(sys.prefix) / "lib" / "libintelocl.so"


def test_indices_count_from_zero_without_repetition() -> None:
    listed = list_devices()
    assert [device.index for device in listed] == list(range(len(listed)))
    assert len({str(device.handle.int_ptr) for device in listed}) == len(listed)


def test_a_device_answers_to_its_names(device: str) -> None:
    wanted = find_device(device)
    assert find_device(wanted) is wanted
    assert find_device(wanted.index) is wanted
    assert find_device(wanted.name.upper()).name == wanted.name
    assert find_device(wanted.platform.lower()).platform == wanted.platform
    assert find_device(wanted.kind).kind == wanted.kind


def test_the_default_is_the_first_gpu_or_else_cpu() -> None:
    kinds = [device.kind for device in list_devices()]
    assert find_device() is list_devices()[0]
    assert kinds == sorted(kinds, key=["gpu", "cpu", "accelerator"].index)


@pytest.mark.parametrize("words", ["no such device", "4711"])
def test_an_unknown_device_lists_what_there_is(words: str) -> None:
    with pytest.raises(CloptError) as error:
        find_device(words)
    assert f'No OpenCL device matches "{words}"; available are: [0] ' in str(error.value)


def test_the_target_has_the_devices_own_figures(device: str) -> None:
    wanted = find_device(device)
    target = target_for(wanted)
    assert target.device.compute_units == wanted.compute_units
    assert target.device.device_type == ("gpu" if wanted.kind == "gpu" else "cpu")
    assert target.machine.vector_width == load_target(target.name).machine.vector_width


@pytest.mark.parametrize(
    ("version", "name", "pitch"),
    [
        ("OpenCL 3.0 Adreno(TM) 740", "adreno-740", 64),
        ("OpenCL 2.0 Adreno(TM) 642", "adreno-6xx", 64),
        ("OpenCL 3.0 Adreno(TM) 999", "adreno", 64),
        ("OpenCL 3.0 Adreno(TM) X1-85", "adreno-x1-85", 64),
        ("OpenCL 3.0 Mali-G78 r0p1", "generic-gpu", 64 * 16),  # texels of four floats
    ],
)
def test_a_gpu_is_known_by_its_model(
    version: str, name: str, pitch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "image_pitch_alignment", lambda _: 64)
    answers = {
        "version": version,
        "platform": SimpleNamespace(vendor="QUALCOMM" if "Adreno" in version else "ARM"),
        "extensions": "cl_khr_fp16 cl_khr_image2d_from_buffer",
        "image_support": True,
        "image2d_max_width": 4096,
        "image2d_max_height": 2048,
        "image_max_array_size": 64,
        "image_max_buffer_size": 1000,
        "max_read_image_args": 8,
        "max_write_image_args": 4,
        "mem_base_addr_align": 4096,
        "max_compute_units": 5,
        "max_mem_alloc_size": 2**30,
        "max_work_group_size": 512,
        "local_mem_size": 1024,
        "single_fp_config": device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT,
    }
    handle = cast("Any", SimpleNamespace(**answers))
    target = target_for(Device(0, handle, "A platform", "A device", "1.0", "gpu"))
    # It lists no cl_qcom_ml_ops, so a fact about CLML goes.
    assert target == with_facts(
        load_target(name),
        {
            "clml_version": 0,
            "fp16": True,
            "fp64": False,
            "correctly_rounded_division": True,
            "max_image_width": 4096,
            "max_image_height": 2048,
            "max_image_layers": 64,
            "max_image_buffer_texels": 1000,
            "max_read_images": 8,
            "max_write_images": 4,
            "read_imageh": True,
            "image_from_buffer": True,
            "image_pitch_alignment_bytes": pitch,
            "image_base_alignment_bytes": 512,
            "compute_units": 5,
            "max_alloc_bytes": 2**30,
            "max_work_group_size": 512,
            "local_memory_bytes": 1024,
        },
    )


def test_intels_runtime_joins_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    library = tmp_path / "lib" / "libintelocl.so"
    library.touch()
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "other.icd").write_text("libother.so\n")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("clopt.backends.pyopencl_runtime.icd._SYSTEM", vendors)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    vendors = vendors_with_pip()
    assert vendors is not None
    folder = Path(vendors)
    texts = {file.name: file.read_text() for file in folder.iterdir()}
    assert texts == {"clopt-intel.icd": f"{library}\n", "other.icd": "libother.so\n"}


def test_the_users_choice_of_runtimes_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/the/users/own")
    assert "OCL_ICD_VENDORS" not in environment._variables.__wrapped__()


ENVIRONMENT = """
import os, subprocess, sys
before = dict(os.environ)
from clopt.backends.pyopencl_runtime import list_devices
assert list_devices()
assert dict(os.environ) == before, before.keys() ^ os.environ.keys()
inherited = subprocess.run(["env", "-0"], capture_output=True, text=True, timeout=60).stdout
assert "OCL_ICD" not in inherited and "PYOPENCL" not in inherited
print(*(device.platform for device in list_devices()), sep=";", end="")
"""


def test_finding_devices_leaves_the_environment_as_it_was() -> None:
    """Processes that the user starts see no runtimes but those of the system."""
    ours = ("OCL_ICD_VENDORS", "PYOPENCL_HOME", "POCL_CACHE_DIR")
    clean = {name: value for name, value in os.environ.items() if name not in ours}
    done = processes.run(
        [sys.executable, "-c", ENVIRONMENT], env=clean, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    assert set(done.stdout.split(";")) == {device.platform for device in list_devices()}


@pytest.mark.by_default(cases=1)
def test_without_any_runtime_one_sentence(tmp_path: Path) -> None:
    code = "from clopt.backends.pyopencl_runtime import find_device; find_device()"
    done = processes.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OCL_ICD_VENDORS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No OpenCL device was found; install" in done.stderr.splitlines()[-1]
