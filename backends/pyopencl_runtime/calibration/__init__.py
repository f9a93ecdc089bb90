"""Measured facts of a live CPU: measured once, in a second or two, and read from a file afterwards.

One driver serves many processors, so their facts cannot belong to the driver's target. A GPU has
the facts of its family and those that it reports itself.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import perf_counter

import pyopencl as cl

from ....errors import CloptError, warn
from ....files.caches import is_private, make_private
from ....files.writing import write_atomically
from ....machine.facts import Fact
from ....machine.target import Target
from ....messages.stages import stage
from ....targets import load_target
from .. import system
from ..devices import AVX512_REGISTERS, Device, target_for
from .dots import dot_product_of
from .figures import Figure, figures_of
from .kept import kept_file, text_of
from .readings import Built, Kernels, read

_log = logging.getLogger(__name__)

CHOICE = "CLOPT_CALIBRATION"
"""Environment variable that decides whether live CPUs have measured facts: auto or off."""
_CHOICES = ("auto", "off")

AVX512_LANES = 16
"""Lanes of a 512-bit vector: floats, or sums of products of bytes."""

_CACHES = {1: "l1_cache_bytes", 2: "l2_cache_bytes"}

# Other runtimes may take minutes to compile the kernels (Mesa's llvmpipe does), so they are only
# measured on demand.
_ON_FIRST_USE = ("intel-cpu", "pocl")

_MOST_SECONDS = 120
"""Limit for a device to compile the measuring kernels, which normally takes less than a second."""


def live_target(device: Device) -> Target:
    """Return the facts of a device; those of a CPU are measured if they never were.

    They are the facts of `target_for`, unless an earlier calibration file exists, in three cases:
    the user's cache is not writable, `CLOPT_CALIBRATION` is off, or the runtime is not known to
    compile quickly. Warns after measuring and if the measurement fails.
    """
    return start_live_target(device)()


def start_live_target(device: Device) -> Callable[[], Target]:
    """Return a function that returns `live_target` of a device.

    Until it is called, a device that must be measured compiles the measuring kernels in a thread.
    """
    choice = os.environ.get(CHOICE) or _CHOICES[0]
    if choice not in _CHOICES:
        raise CloptError(f'{CHOICE} must be {" or ".join(_CHOICES)}, not "{choice}".')
    unmeasured = target_for(device)
    file = kept_file(device, unmeasured.name)
    if choice == "off" or unmeasured.device.device_type != "cpu" or file is None:
        return lambda: unmeasured
    if is_private(file):
        return lambda: _kept_target(device, unmeasured, file)
    if unmeasured.name not in _ON_FIRST_USE or not make_private(file.parent):
        return lambda: unmeasured
    trials = _Trials(device)
    return lambda: _measured_target(device, unmeasured, file, trials)


def _kept_target(device: Device, unmeasured: Target, file: Path) -> Target:
    return target_for(device, replace(load_target(str(file)), name=unmeasured.name))


def _measured_target(device: Device, unmeasured: Target, file: Path, trials: _Trials) -> Target:
    start = perf_counter()
    try:
        _measure(device, unmeasured, file, trials)
    except CloptError as error:
        warn(f"{str(error).removesuffix('.')}; clopt uses the facts of {unmeasured.name}.")
        return unmeasured
    seconds = perf_counter() - start
    warn(f"measured {device.name} in {seconds:.1f} s, once; its facts are kept in {file}.")
    return _kept_target(device, unmeasured, file)


class _Trials:
    """The compilations that must finish before anything is timed; they start in threads at once."""

    def __init__(self, device: Device) -> None:
        kernels = Kernels.of(device)
        _ = kernels.source  # in this thread, since concurrent imports may see half a module
        threads = ThreadPoolExecutor(2)
        self._built = threads.submit(kernels.build)
        self._dot_product = threads.submit(dot_product_of, device)
        threads.shutdown(wait=False)

    def wait(self) -> tuple[Built, str | None]:
        """Return the kernels, and the `dot_product` fact for a target with wide vectors."""
        return self._built.result(_MOST_SECONDS), self._dot_product.result(_MOST_SECONDS)


def calibrate(device: Device) -> Path:
    """Measure a CPU now, and return the target file with its facts.

    Raises CloptError for other devices, and if the file cannot be written.
    """
    unmeasured = target_for(device)
    if unmeasured.device.device_type != "cpu":
        raise CloptError(
            f"{device} is not a CPU: its facts come from the target {unmeasured.name} and from "
            "the device itself."
        )
    file = kept_file(device, unmeasured.name)
    if file is None or not make_private(file.parent):
        raise CloptError(
            f"clopt cannot store the measured facts in {file or 'a home directory'}; set "
            "XDG_CACHE_HOME to a folder that you can write."
        )
    _measure(device, unmeasured, file, _Trials(device))
    return file


def _measure(device: Device, unmeasured: Target, file: Path, trials: _Trials) -> None:
    """Measure the device and store its facts; raise CloptError if either fails."""
    try:
        with stage(_log, f"measuring {device.name}"):
            built, form = trials.wait()
            figures = _figures_of_system() | figures_of(read(built), unmeasured)
    except (cl.Error, TimeoutError) as error:
        reason = str(error) or f"no answer in {_MOST_SECONDS} s"
        raise CloptError(f"{device} does not run the kernels that measure it: {reason}.") from error
    if figures["vector_width"].value == AVX512_LANES and form:
        figures["dot_product"] = Figure(form, "tested: its sums are exact")
    measured = unmeasured.with_facts({fact: figure.value for fact, figure in figures.items()})
    base = load_target(unmeasured.name)
    text = text_of(device, base, measured, figures, date.today())
    try:
        write_atomically(file, text.encode())
    except OSError as error:
        raise CloptError(f"{file}: cannot write here: {error.strerror}.") from error


def _figures_of_system() -> dict[str, Figure]:
    reported: dict[str, Fact] = {
        fact: bytes
        for level, bytes in system.data_cache_bytes().items()
        if (fact := _CACHES.get(level))
    }
    if system.has_avx512():
        reported["vector_registers"] = AVX512_REGISTERS
    return {
        fact: Figure(value, "reported by the operating system") for fact, value in reported.items()
    }
