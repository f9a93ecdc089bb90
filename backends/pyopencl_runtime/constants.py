"""Buffers of constants, which programs in one context share.

Programs of one model for several sizes have the same weights, and keys depend on the content.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import pyopencl as cl

from .arrays import Array
from .memory import BufferMemory

if TYPE_CHECKING:
    from .images import Images

_buffers: WeakValueDictionary[tuple[int, str], BufferMemory] = WeakValueDictionary()
"""The buffers by context and key. A context lives at least as long as its buffers."""

_lock = Lock()


def constant_memory(
    images: Images, key: str, array: Array, *, in_place: bool = False
) -> BufferMemory:
    """Return the buffer of the constant with this key; the first program creates it from `array`.

    With `in_place`, the buffer uses the memory of `array` instead of a copy.
    """
    context = images.context
    with _lock:
        memory = _buffers.get((context.int_ptr, key))
        if memory is None:
            contents = cl.mem_flags.USE_HOST_PTR if in_place else cl.mem_flags.COPY_HOST_PTR
            buffer = cl.Buffer(context, cl.mem_flags.READ_ONLY | contents, hostbuf=array)
            memory = BufferMemory(buffer, images, array.nbytes)
            _buffers[context.int_ptr, key] = memory
        return memory
