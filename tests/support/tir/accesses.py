"""The accesses of a kernel to its arguments, as the interpreter sees them: by whom, and when."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from xdsl.dialects.builtin import MemRefType

from clopt.dialects import nn, tir
from support.tir import interpreter

Touch = tuple[int, tuple[int, ...]]
"""When, and which work-item."""


@dataclass
class Log:
    """Reads and writes of the elements of one argument, by number."""

    reads: dict[int, list[Touch]] = field(default_factory=lambda: defaultdict(list))
    writes: dict[int, list[Touch]] = field(default_factory=lambda: defaultdict(list))


class Watched(np.ndarray):
    """An array that logs accesses to single elements, through views of it as well."""

    def __array_finalize__(self, source: np.ndarray | None) -> None:
        for name in ("log", "clock", "item", "start"):
            setattr(self, name, getattr(source, name, None))

    def _number(self, index: tuple[int, ...]) -> int:
        offset = self.ctypes.data - self.start
        offset += sum(i * stride for i, stride in zip(index, self.strides, strict=True))
        return offset // self.itemsize

    def _note(self, index: object, side: str) -> None:
        index = index if isinstance(index, tuple) else (index,)
        if self.log is not None and len(index) == self.ndim:
            getattr(self.log, side)[self._number(index)].append((next(self.clock), self.item))

    def __getitem__(self, index):
        self._note(index, "reads")
        return super().__getitem__(index)

    def __setitem__(self, index, value) -> None:
        self._note(index, "writes")
        super().__setitem__(index, value)


def watch(kernel: tir.FuncOp, seed: int = 0) -> list[Log]:
    """Run a lowered kernel on random numbers and integers of zero. Returns the accesses."""
    random, clock = np.random.default_rng(seed), count()
    arrays: list[np.ndarray] = []
    for param in kernel.params:
        assert isinstance(param.type, MemRefType)
        dtype = np.dtype(nn.numpy_dtype(param.type.element_type))
        shape = param.type.get_shape()
        values = random.standard_normal(shape) if dtype.kind == "f" else np.zeros(shape)
        arrays.append(values.astype(dtype))
    logs = [Log() for _ in arrays]

    def own(args, ids):
        watched: list[np.ndarray] = []
        for array, log in zip(args, logs, strict=True):
            view = array.view(Watched)
            view.log, view.clock, view.item = log, clock, tuple(ids.values())
            view.start = array.ctypes.data
            watched.append(view)
        return watched

    interpreter.run(kernel, arrays, watch=own)
    return logs


def may_share(source: Log, result: Log) -> bool:
    """Whether only the work-item that writes an element of the result reads that of the source, and
    reads it before.
    """
    for number, writes in result.writes.items():
        reads = source.reads.get(number, [])
        items = {item for _, item in (*writes, *reads)}
        if reads and (len(items) > 1 or max(reads)[0] > min(writes)[0]):
            return False
    return True
