"""The facts of a live CPU: measured once in a second or two, kept, and read from then on.

One driver serves many processors, so their facts are no facts of the driver. A GPU has the facts of
its family and those that it reports.
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

from ....dialects.cl.target import Fact, Target
from ....errors import CloptError, warn
from ....files.caches import is_private, make_private
from ....files.writing import write_atomically
from ....messages.stages import stage
from ...targets import load_target
from .. import system
from ..devices import AVX512_REGISTERS, Device, target_for
from .dots import dot_product_of
from .figures import Figure, figures_of
from .kept import kept_file, text_of
from .readings import Built, Kernels, read

_log = logging.getLogger(__name__)

CHOICE = "CLOPT_CALIBRATION"
"""The environment variable that says whether live CPUs have measured facts: auto or off."""
_CHOICES = ("auto", "off")

AVX512_LANES = 16
"""Floats, and sums of products of bytes, of a vector."""

_CACHES = {1: "l1_cache_bytes", 2: "l2_cache_bytes"}

# Others may take minutes to compile the kernels (Mesa's llvmpipe does): on demand only.
_ON_FIRST_USE = ("intel-cpu", "pocl")

_MOST_SECONDS = 120
"""For a device to compile what measures it, which takes less than a second."""


def live_target(device: Device) -> Target:
    """The facts of a device as it is: those of a CPU measured, now if they never were.

    Where the user's cache cannot be kept, where `CLOPT_CALIBRATION` is off, and for runtimes that
    are not known to be quick, they are those of `target_for`, unless a file of an earlier
    calibration can be read. Warns after measuring, and where the driver refuses to.
    """
    return start_live_target(device)()


def start_live_target(device: Device) -> Callable[[], Target]:
    """Return `live_target` of a device, to be called when its facts are needed.

    Until then a device that must be measured compiles the kernels for that, in a thread.
    """
    choice = os.environ.get(CHOICE) or _CHOICES[0]
    if choice not in _CHOICES:
        raise CloptError(f'{CHOICE} is {" or ".join(_CHOICES)}, not "{choice}".')
    unmeasured = target_for(device)
    file = kept_file(device, unmeasured.name)
    if choice == "off" or unmeasured.device_type != "cpu" or file is None:
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
        warn(f"{str(error).removesuffix('.')}; clopt takes the facts of {unmeasured.name}.")
        return unmeasured
    seconds = perf_counter() - start
    warn(f"measured {device.name} in {seconds:.1f} s, once; its facts are kept in {file}.")
    return _kept_target(device, unmeasured, file)


class _Trials:
    """What a device compiles before the clock is read, from now on in threads."""

    def __init__(self, device: Device) -> None:
        kernels = Kernels.of(device)
        _ = kernels.source  # here: threads that import at once may see half a module
        threads = ThreadPoolExecutor(2)
        self._built = threads.submit(kernels.build)
        self._dot_product = threads.submit(dot_product_of, device)
        threads.shutdown(wait=False)

    def wait(self) -> tuple[Built, str | None]:
        """The kernels, and the value of the fact `dot_product` if vectors are wide."""
        return self._built.result(_MOST_SECONDS), self._dot_product.result(_MOST_SECONDS)


def calibrate(device: Device) -> Path:
    """Measure a CPU, now, and return the target file with its facts.

    Raises CloptError for other devices, and where the file cannot be kept.
    """
    unmeasured = target_for(device)
    if unmeasured.device_type != "cpu":
        raise CloptError(
            f"{device} is no CPU: its facts are those of the target {unmeasured.name} and those "
            "that it reports."
        )
    file = kept_file(device, unmeasured.name)
    if file is None or not make_private(file.parent):
        raise CloptError(
            f"clopt cannot keep what it measures in {file or 'a home'}; XDG_CACHE_HOME may name a "
            "folder of yours that can be written."
        )
    _measure(device, unmeasured, file, _Trials(device))
    return file


def _measure(device: Device, unmeasured: Target, file: Path, trials: _Trials) -> None:
    """Measure the device and keep its facts; CloptError where one or the other does not work."""
    try:
        with stage(_log, f"measuring {device.name}"):
            built, form = trials.wait()
            figures = _figures_of_system() | figures_of(read(built), unmeasured)
    except (cl.Error, TimeoutError) as error:
        reason = str(error) or f"no answer in {_MOST_SECONDS} s"
        raise CloptError(f"{device} does not run the kernels that measure it: {reason}.") from error
    if figures["vector_width"].value == AVX512_LANES and form:
        figures["dot_product"] = Figure(form, "computes what it should")
    measured = unmeasured.with_facts({fact: figure.value for fact, figure in figures.items()})
    base = load_target(unmeasured.name)
    text = text_of(device, base, measured, figures, date.today())
    try:
        write_atomically(file, text.encode())
    except OSError as error:
        raise CloptError(f"{file}: cannot write here: {error.strerror}.") from error


def _figures_of_system() -> dict[str, Figure]:
    told: dict[str, Fact] = {
        fact: bytes
        for level, bytes in system.data_cache_bytes().items()
        if (fact := _CACHES.get(level))
    }
    if system.has_avx512():
        told["vector_registers"] = AVX512_REGISTERS
    return {fact: Figure(value, "as the operating system says") for fact, value in told.items()}
