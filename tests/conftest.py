"""Fixtures of every test that runs kernels."""

from __future__ import annotations

import os

import pytest

from clopt.backends.pyopencl_runtime import list_devices, target_for


def pytest_configure() -> None:
    """Fail at once if a platform that CLOPT_TEST_RUNTIMES names (comma-separated) is missing."""
    found = {device.platform for device in list_devices()}
    wanted = os.environ.get("CLOPT_TEST_RUNTIMES", "").split(",")
    missing = [name for name in wanted if name and name not in found]
    if missing:
        raise pytest.UsageError(f"no OpenCL device of {', '.join(missing)}; found: {found or '-'}")


def _devices() -> dict[str, str]:
    return {target_for(device).name: str(device.index) for device in list_devices()}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `device` runs once on each OpenCL runtime found; without any it fails."""
    if "device" in metafunc.fixturenames:
        names = _devices() or {"no-opencl-device": ""}
        metafunc.parametrize("device", list(names.values()), ids=list(names))


@pytest.fixture(scope="session")
def devices() -> dict[str, str]:
    """Every OpenCL runtime found, by name: for a test that compiles once and runs on each."""
    found = _devices()
    assert found, "no OpenCL device"
    return found
