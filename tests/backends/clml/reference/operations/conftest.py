"""The driver of the reference's operations, compiled once, with a context for each runtime."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from clopt.backends.pyopencl_runtime import find_device
from support import processes
from support.c.compilers import STRICT, compilers
from support.clml.reference.operations import Driver
from support.clml.reference.sources import INCLUDE


@pytest.fixture(scope="session")
def driver_library(reference_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """operation_driver.c and operation_creators.c, which call the reference."""
    (compiler, *_) = compilers()
    library = tmp_path_factory.mktemp("operations") / "operation_driver.so"
    sources = sorted(Path(__file__).parent.glob("*.c"))
    where = [f"-L{reference_library.parent}", f"-Wl,-rpath,{reference_library.parent}"]
    flags = [*STRICT, "-g", "-fPIC", "-shared", INCLUDE, *where]
    command = [compiler, *flags, *sources, "-o", library, "-lclml_reference", "-lOpenCL"]
    done = processes.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return library


@pytest.fixture(scope="session")
def drivers(driver_library: Path) -> Iterator[Callable[[str], Driver]]:
    """The driver on a device; its context, with the programs in it, lives as long as the tests."""
    made: list[Driver] = []

    @cache
    def driver_on(device: str) -> Driver:
        made.append(Driver(driver_library, find_device(device).platform))
        return made[-1]

    yield driver_on
    for each in made:
        each.close()


@pytest.fixture
def driver(devices: dict[str, str], drivers: Callable[[str], Driver]) -> Driver:
    """The driver on the first runtime, where all cases run."""
    return drivers(next(iter(devices.values())))


@pytest.fixture
def each_driver(device: str, drivers: Callable[[str], Driver]) -> Driver:
    """The driver on each runtime, for a few cases only: PoCL compiles for seconds."""
    return drivers(device)
