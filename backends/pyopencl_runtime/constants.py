"""Buffers of constants, which programs in one context share.

Programs of one model for several sizes have the same weights, and keys depend on the content.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

import pyopencl as cl

from .memory import BufferMemory

_buffers: WeakValueDictionary[tuple[int, str], BufferMemory] = WeakValueDictionary()
"""The buffers by context and key. A context lives at least as long as its buffers."""

_lock = Lock()


def constant_memory(
    context: cl.Context, key: str, make: Callable[[], BufferMemory]
) -> BufferMemory:
    """Return the buffer of the constant with this key; `make` creates it for the first program."""
    with _lock:
        memory = _buffers.get((context.int_ptr, key))
        if memory is None:
            memory = _buffers[context.int_ptr, key] = make()
        return memory
