"""The options of our tests, the order of their files, and fixtures of all that run kernels."""

from __future__ import annotations

import gc
import os
import random
import secrets
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from clopt.backends.pyopencl_runtime import build, list_devices, target_for, workers
from clopt.backends.pyopencl_runtime.environment import environment_of_helpers
from clopt.tools import logs
from support import costs, effort, process_state, random_state
from support.tiers import Tier, tiers

# The same facts in every run and on every machine, also in the processes that tests start.
os.environ["CLOPT_CALIBRATION"] = "off"
os.environ["CLOPT_TUNING"] = "off"
# A test of the compiler compiles.
os.environ["CLOPT_MODEL_CACHE"] = "off"
# C programs that tests start, which know nothing of clopt, find the runtimes that pip installed.
os.environ.update(environment_of_helpers())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say how much the tests try (see `effort`), and in which order."""
    group = parser.getgroup("clopt")
    group.addoption("--long", action="store_true", help="many random examples; tests marked long")
    group.addoption(
        "--thorough", action="store_true", help="the tests that are left out by default"
    )
    group.addoption("--record-costs", action="store_true", help="write tests/costs.json")
    group.addoption("--seed", type=int, help="draw the random examples of this seed")
    group.addoption("--file-order", type=int, metavar="SEED", help="shuffle the files of tests")


def pytest_configure(config: pytest.Config) -> None:
    """Set the effort and the order, and make sure of the OpenCL runtimes."""
    long, seed = config.getoption("--long"), config.getoption("--seed")
    if hasattr(config, "workerinput"):
        seed = config.workerinput["seed"]
    elif long and seed is None:
        seed = secrets.randbits(32)
    effort.configure(long, seed, config.getoption("--thorough"))
    # A parent process may have set it for its own terminal, as pytest does for those of xdist.
    os.environ.pop("COLUMNS", None)
    # Failed asserts of helpers show their values, too.
    for folder in Path(effort.__file__).parent.iterdir():
        pytest.register_assert_rewrite(f"support.{folder.name}")
    # Processes that help to compile would take the cores of other tests.
    tests = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    cores = workers._cores()
    workers._cores = lambda: max(1, cores // tests)
    # What tools print must not depend on how busy the machine is.
    logs.PATIENCE = 3600.0
    if not config.pluginmanager.has_plugin("process-state"):
        config.pluginmanager.register(process_state, "process-state")
    config.pluginmanager.register(costs)
    config.pluginmanager.register(random_state)
    if not hasattr(config, "workerinput"):
        default = not (long or config.getoption("--thorough"))
        summary = costs.Summary(costs.BUDGET if default else None)
        config.pluginmanager.register(summary)
        if config.getoption("--record-costs"):
            config.add_cleanup(summary.record)
    _require_runtimes()


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_configure_node(node) -> None:
    """Every worker draws from the same seed."""
    node.workerinput["seed"] = effort.seed_asked()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the seed first, in case the run is broken off."""
    if effort.seed_asked() is not None and not hasattr(session.config, "workerinput"):
        session.config.get_terminal_writer().line(effort.how_to_repeat())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seed again, below the failures."""
    if effort.seed_asked() is not None:
        terminalreporter.write_line(effort.how_to_repeat())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another form runs; a test that the command line names runs in any form."""
    if (seed := config.getoption("--file-order")) is not None:
        files = sorted({item.path for item in items})
        random.Random(seed).shuffle(files)
        items.sort(key=lambda item: files.index(item.path))
    if config.getoption("--long") or any("::" in word for word in config.args):
        return
    wanted = Tier.THOROUGH if config.getoption("--thorough") else Tier.DEFAULT
    found = dict(zip(items, tiers(items, _devices()), strict=True))
    config.hook.pytest_deselected(items=[item for item in items if found[item] is not wanted])
    items[:] = [item for item in items if found[item] is wanted]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at modules and tests again: they stay.

    It looks at what is new less often: compilers make many objects, and few cycles.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _require_runtimes() -> None:
    """Fail at once if a platform that CLOPT_TEST_RUNTIMES names (comma-separated) is missing."""
    found = {device.platform for device in list_devices()}
    wanted = os.environ.get("CLOPT_TEST_RUNTIMES", "").split(",")
    missing = [name for name in wanted if name and name not in found]
    if missing:
        raise pytest.UsageError(f"no OpenCL device of {', '.join(missing)}; found: {found or '-'}")


@cache
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


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """Return the package torch with a fixed seed, imported by the first test that needs it."""
    module = pytest.importorskip("torch", reason="needs PyTorch: install clopt[torch]")
    module.manual_seed(0)
    return module


@pytest.fixture
def quick_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are built as `support.cl.quick_builds` says."""
    from support.cl.quick_builds import CHANGES

    for name, value in CHANGES.items():
        monkeypatch.setattr(build, name, value)
