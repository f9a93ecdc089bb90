"""What of the process a test, or a tool that it calls, must leave as it was.

As a plugin it fails the test that leaves something changed, not one of those that come after it.
"""

from __future__ import annotations

import gc
import inspect
import locale
import logging
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Mapping

import numpy as np
import pytest
from xdsl.ir import Attribute, Operation
from xdsl.utils.diagnostic import Diagnostic

State = Mapping[str, object]

UNCHECKED = {
    "environment PYTEST_CURRENT_TEST",
    # scikit-learn sets these two when it is first imported.
    "environment KMP_DUPLICATE_LIB_OK",
    "environment KMP_INIT_AT_FORK",
}


def _signals() -> dict[str, object]:
    names = "ABRT ALRM CHLD FPE HUP INT PIPE PROF SEGV TERM USR1 USR2 VTALRM".split()
    return {f"SIG{name}": signal.getsignal(getattr(signal, f"SIG{name}")) for name in names}


def _limits() -> dict[str, object]:
    kinds = ("RLIMIT_AS", "RLIMIT_STACK", "RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE")
    return {kind: resource.getrlimit(getattr(resource, kind)) for kind in kinds}


_CHEAP: dict[str, Callable[[], Mapping[str, object]]] = {
    "environment": lambda: os.environ,
    "garbage collector": lambda: {"thresholds": gc.get_threshold(), "enabled": gc.isenabled()},
    "signal": _signals,
    "limit": _limits,
    "numpy": lambda: {"errors": np.geterr(), "printing": np.get_printoptions()},
    "process": lambda: {"folder": os.getcwd(), "locale": locale.setlocale(locale.LC_ALL)},
    "sys": lambda: {
        "path": tuple(sys.path),
        "recursion limit": sys.getrecursionlimit(),
        "digits of integers": sys.get_int_max_str_digits(),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook),
    },
    "xdsl": lambda: {
        "Attribute.__post_init__": Attribute.__post_init__,
        "Operation.__post_init__": Operation.__post_init__,
        "Diagnostic.colored": Diagnostic.colored,
    },
}


def _loggers() -> dict[str, object]:
    known = {"root": logging.getLogger(), **logging.Logger.manager.loggerDict}
    return {
        name: (logger.level, logger.propagate, tuple(logger.handlers))
        for name, logger in known.items()
        if isinstance(logger, logging.Logger)
    }


def _xdsl_modules() -> dict[str, object]:
    """Return what the modules of xDSL, and the classes in them, are made of."""
    found: dict[str, object] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "xdsl":
            continue
        for key, value in vars(module).items():
            found[f"{name}.{key}"] = id(value)
            if inspect.isclass(value) and value.__module__ == name:
                members = vars(value).items()
                found |= {f"{name}.{key}.{member}": id(thing) for member, thing in members}
    return found


_THOROUGH: dict[str, Callable[[], Mapping[str, object]]] = _CHEAP | {
    "logger": _loggers,
    "module": _xdsl_modules,
    "stream": lambda: {"all": (sys.stdin, sys.stdout, sys.stderr)},
    "thread": lambda: {thread.name: thread for thread in threading.enumerate()},
    "warnings": lambda: {"filters": tuple(warnings.filters), "shown by": warnings.showwarning},
}


def state(thorough: bool = False) -> State:
    """Return the process's state; `thorough` takes milliseconds, otherwise it takes 0.1."""
    parts = _THOROUGH if thorough else _CHEAP
    return {
        f"{part} {name}": value for part, read in parts.items() for name, value in read().items()
    }


def changes(before: State, after: State) -> list[str]:
    """Return a line for each part of the state that is not as it was."""
    absent = "absent"
    imported = {name for name in after.keys() - before if name.startswith(("logger ", "module "))}
    return [
        f"{name}: {before.get(name, absent)!r} became {after.get(name, absent)!r}"
        for name in sorted((before.keys() | after.keys()) - imported - UNCHECKED)
        if before.get(name, absent) != after.get(name, absent)
    ]


_states = pytest.StashKey[State]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Note the state before the test's fixtures."""
    item.stash[_states] = state()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Fail the test when it and its fixtures left the process changed."""
    outcome = yield
    if found := changes(item.stash[_states], state()):
        pytest.fail("This test leaves the process changed:\n" + "\n".join(found), pytrace=False)
    return outcome
