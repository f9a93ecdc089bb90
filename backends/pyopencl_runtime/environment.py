"""Environment variables that OpenCL runtimes read at the first OpenCL call of a process.

They are set only during that call: other code of the process, and child processes, see the
environment that the user set.
"""

# pyopencl's private variable, which it reads when it is imported, has no public equivalent.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

import pyopencl as cl

from ...errors import CloptError
from ...files.caches import is_cache_kept, process_folder
from .icd import VENDORS, vendors_with_pip

POCL_CACHE = "POCL_CACHE_DIR"

_PYOPENCL_HOME = "PYOPENCL_HOME"
"""The variable that tells the loader inside pyopencl's wheel where it is installed."""


_process: int | None = None
"""The process that made the first OpenCL call; a forked process inherits the value."""


def check_process() -> None:
    """Raise CloptError if this process was forked after its parent had used OpenCL.

    The runtime's threads do not survive the fork, and PoCL would wait for them forever.
    """
    if _process is not None and _process != os.getpid():
        raise CloptError(
            "This process was forked by one that had used OpenCL, and OpenCL runtimes do not "
            'survive a fork; start it with "spawn" (multiprocessing.set_start_method), or use '
            "clopt only in the forked processes."
        )


@contextmanager
def environment_of_runtimes() -> Generator[None]:
    """Set the variables for the first OpenCL call of the process, which the body makes.

    Later calls find the runtimes loaded.
    """
    global _process
    _process = os.getpid()
    _share_invokers()
    added = {name: text for name, text in _variables().items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        if os.environ.get(_PYOPENCL_HOME) == str(Path(cl.__file__).resolve().parent):
            del os.environ[_PYOPENCL_HOME]


def environment_of_helpers() -> Mapping[str, str]:
    """Return the environment of a process that uses the same runtimes and caches as this one."""
    return os.environ | _variables()


def pocl_cache() -> str:
    """Return the folder of PoCL's cache, or an empty text if PoCL chooses it."""
    return os.environ.get(POCL_CACHE) or _variables().get(POCL_CACHE, "")


@cache
def _variables() -> dict[str, str]:
    """Return the variables that clopt adds, excluding those that the user has set."""
    added: dict[str, str] = {}
    if POCL_CACHE not in os.environ and not is_cache_kept():
        # PoCL aborts the process if it cannot write to its cache.
        with suppress(OSError):
            added[POCL_CACHE] = str(process_folder() / "pocl")
    if VENDORS not in os.environ and (vendors := vendors_with_pip()) is not None:
        added[VENDORS] = vendors
    return added


InvokerKey: TypeAlias = tuple[str, int, int, "tuple[object, ...] | None", bool, bool, bool]
"""The kernel's name, its number of arguments, twice, their types, and pyopencl's settings."""


class _Invokers:
    """A stand-in for pyopencl's database of generated Python code, which fails on a full disk.

    Generating the functions of a kernel takes 0.5 ms (Zen 4). Until the user gives its arguments
    types, they depend on the number of arguments alone, so kernels share them.
    """

    def __init__(self) -> None:
        self._known: dict[int, object] = {}

    def __getitem__(self, key: InvokerKey) -> object:
        _, count, _, types, *_ = key
        if types is not None:
            raise KeyError(key)
        return self._known[count]

    def store_if_not_present(self, key: InvokerKey, value: object) -> None:
        """Keep the functions for a number of arguments."""
        _, count, _, types, *_ = key
        if types is None:
            self._known[count] = value


def _share_invokers() -> None:
    usual = cl._PYOPENCL_NO_CACHE
    # With this flag set, importing the module opens no database.
    setattr(cl, "_PYOPENCL_NO_CACHE", True)
    try:
        invoker = import_module("pyopencl.invoker")
    finally:
        setattr(cl, "_PYOPENCL_NO_CACHE", usual)
    setattr(invoker, "invoker_cache", _Invokers())
