"""Operations of the CLML reference, one at a time: described here, run by operation_driver.c."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

REAL, UNUSED, MISSING, FIRST = range(4)


class _Row(ctypes.Structure):
    _fields_ = (
        ("state", ctypes.c_int32),
        ("type", ctypes.c_uint32),
        ("layout", ctypes.c_int32),
        ("usage", ctypes.c_int32),
        ("sizes", ctypes.c_uint32 * 4),
        ("data", ctypes.c_void_p),
        ("result", ctypes.c_void_p),
    )


class _Request(ctypes.Structure):
    _fields_ = (
        ("operation", ctypes.c_char_p),
        ("integers", ctypes.POINTER(ctypes.c_int32)),
        ("floats", ctypes.POINTER(ctypes.c_float)),
        ("properties", ctypes.POINTER(ctypes.c_ssize_t)),
        ("rows", ctypes.POINTER(_Row)),
        ("count", ctypes.c_uint32),
        ("waits", ctypes.c_int32),
    )


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor: what it holds before (NCHW), or only its shape and element type."""

    array: np.ndarray
    layout: str = "OPTIMAL"
    usage: str = "CNN"
    written: bool = True
    """Whether the array is what the tensor holds before."""


Operand = Tensor | int
"""A tensor, or how its absence is said: UNUSED, MISSING (NULL); or FIRST, that again."""


@dataclass
class Operation:
    """A call of a creator: its name in operation_driver.c, numbers and tensors in order.

    Names among the integers are those of enumerators without `CL_` and `_QCOM`.
    """

    name: str
    integers: Sequence[int | str]
    tensors: Sequence[Operand]
    floats: Sequence[float] = ()
    properties: Mapping[str, float] | None = None
    arithmetic: str | None = None
    """The arithmetic mode: FP32, FP16, FP16_ACC32; by default by the first tensor's type."""
    result: int = -1
    """Which of the tensors is the result."""
    waits: bool = False


class Driver:
    """The driver on a device."""

    def __init__(self, library: Path, platform: str) -> None:
        self._functions = ctypes.CDLL(str(library))
        self._functions.open_session.restype = ctypes.c_void_p
        self._functions.last_message.restype = ctypes.c_char_p
        self._session = ctypes.c_void_p(self._functions.open_session(platform.encode()))
        assert self._session.value, platform

    def close(self) -> None:
        """Releases queue and context."""
        self._functions.close_session(self._session)

    def value_of(self, name: str) -> int:
        """An enumerator's number."""
        for full in (f"CL_{name}_QCOM", f"CL_{name}"):
            value = self._functions.value_of(full.encode())
            if value != -1:
                return value
        raise KeyError(name)

    def run(self, operation: Operation) -> np.ndarray:
        """The result in NCHW order."""
        error, result = self._run(operation, runs=True)
        assert error == 0, f"error {error}"
        return result

    def refusal(self, operation: Operation) -> str:
        """Why the operation's creator refuses it."""
        error, _ = self._run(operation, runs=False)
        assert error != 0, "nothing was refused"
        return self._functions.last_message().decode()

    def _run(self, operation: Operation, runs: bool) -> tuple[int, np.ndarray]:
        rows = (_Row * len(operation.tensors))(*map(self._row, operation.tensors))
        target = operation.tensors[operation.result]
        assert isinstance(target, Tensor)
        result = np.empty(target.array.shape, target.array.dtype)
        rows[operation.result].result = result.ctypes.data
        words = [operation.arithmetic or _arithmetic_of(target), *operation.integers]
        numbers = [self._number("ARITHMETIC_MODE_", words[0]), *map(self._number_of, words[1:])]
        properties = self._properties(operation.properties)
        request = _Request(
            operation.name.encode(),
            (ctypes.c_int32 * len(numbers))(*numbers),
            (ctypes.c_float * max(1, len(operation.floats)))(*operation.floats),
            properties,
            rows,
            len(rows),
            operation.waits,
        )
        before = self._functions.live_handles()
        error = self._functions.run_operation(self._session, ctypes.byref(request), int(runs))
        assert self._functions.live_handles() == before
        return error, result

    def _number(self, prefix: str, word: int | str) -> int:
        return self.value_of(prefix + word) if isinstance(word, str) else word

    def _number_of(self, word: int | str) -> int:
        return self._number("", word)

    def _row(self, operand: Operand) -> _Row:
        if isinstance(operand, int):
            return _Row(state=operand)
        array = operand.array
        assert array.flags.c_contiguous
        return _Row(
            REAL,
            self.value_of("HALF_FLOAT" if array.dtype == np.float16 else "FLOAT"),
            self.value_of(f"TENSOR_LAYOUT_{operand.layout}"),
            self.value_of(f"TENSOR_USAGE_{operand.usage}"),
            (ctypes.c_uint32 * 4)(*array.shape),
            array.ctypes.data if operand.written else None,
        )

    def _properties(self, properties: Mapping[str, float] | None) -> object:
        """A list key, value, 0; above a float's bits is what happens to lie there."""
        if properties is None:
            return None
        words: list[int] = []
        for key, value in properties.items():
            bits = int(np.float32(value).view(np.uint32))
            words += [self.value_of(key), bits | 0x5A5A5A5A << 32]
        return (ctypes.c_ssize_t * (len(words) + 1))(*words, 0)


def _arithmetic_of(tensor: Tensor) -> str:
    return "FP16_ACC32" if tensor.array.dtype == np.float16 else "FP32"
