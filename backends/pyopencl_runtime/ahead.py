"""Loads a device's compiler, and starts its helpers, while this process lowers a network.

Lowering keeps one core busy. Meanwhile the other core starts a helper and loads the compiler's
libraries. On two cores this shortens the first start of ResNet-50 by half a second.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from .build import compiles_kernel_by_kernel, compiling_helper, keeps_own_binaries
from .compiler import load_compiler
from .devices import Device
from .place import context_of
from .workers import dismiss, stand_by

# Of the eleven benchmark networks, those with fewer kernels have too little source for helpers.
_MOST_OF_SMALL_NETWORKS = 11


@contextmanager
def compiler_ahead(device: Device) -> Generator[Callable[[int], None]]:
    """Yield a function that gets the compiler of `device` ready for a number of kernels.

    The body also builds them. At its end helpers without work are gone.
    """
    helper = _helper(device)
    loading: list[Future[None]] = []
    with ThreadPoolExecutor(1) as thread:

        def get_ready(kernels: int) -> None:
            if helper is None or kernels <= _MOST_OF_SMALL_NETWORKS or loading:
                return
            stand_by(helper, kernels)
            loading.append(thread.submit(load_compiler, device, context_of(device)))

        try:
            yield get_ready
        finally:
            if helper is not None:
                dismiss(helper)


def _helper(device: Device) -> str | None:
    """Return the Python of helpers for a device, or None where it has none."""
    if device.index < 0:  # helpers find only listed devices
        return None
    if compiles_kernel_by_kernel(device):
        return compiling_helper(device)
    if keeps_own_binaries(device):
        from .first_launch import launching_helper  # needs xDSL

        return launching_helper(device)
    return None
