"""Outputs that overwrite an input, in memory that both share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import mul
from typing import TypeVar, cast

import pyopencl as cl
import pyopencl.array as cla

from ...tensor_info import TensorInfo
from .arrays import Array, Bindable
from .bindings import buffer_of

_T = TypeVar("_T")


def overwritten_inputs(
    inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]
) -> dict[int, int]:
    """Return the numbers, among all ports, of outputs in place and of the inputs they overwrite."""
    numbers = {port.name: i for i, port in enumerate(inputs)}
    ends = enumerate(outputs, len(inputs))
    return {i: numbers[port.in_place] for i, port in ends if port.in_place}


def whole_cache(given: Bindable | Array, port: TensorInfo, whole: TensorInfo) -> cl.Buffer | None:
    """Return the buffer of the whole cache of which a caller gives the elements in use.

    These are those of `port`, the leading box of the program's port `whole`. The caller may give
    all of the cache, or a slice such as `cache[:, :, :past]`, whose strides tell that the other
    elements are there, too. Return None for an array of its own.
    """
    if isinstance(given, cl.Buffer):
        return given if given.size >= whole.bytes else None
    if not isinstance(given, cla.Array) or given.dtype != whole.dtype:
        return None
    if given.shape == whole.shape:
        return buffer_of(given, f'"{port.name}"')
    if given.shape != port.shape or given.strides != _strides(whole):
        return None
    if not given.offset:
        return cast("cl.Buffer", given.base_data)
    place, base, start = given.queue or given.context, given.base_data, given.offset
    all_ = cla.Array(place, whole.shape, whole.dtype, data=base, offset=start)
    return buffer_of(all_, f'"{port.name}"')


def _strides(port: TensorInfo) -> tuple[int, ...]:
    """Return the strides in bytes of a contiguous array."""
    sizes = accumulate(reversed(port.shape[1:]), mul, initial=port.dtype.itemsize)
    return tuple(reversed([*sizes]))


def shared(pairs: Mapping[int, int], memory: Mapping[int, _T]) -> dict[int, _T]:
    """Return memory of ports, where that of one port of a pair also serves the other."""
    found = dict(memory)
    for output, source in pairs.items():
        if output in found and source not in found:
            found[source] = found[output]
        elif source in found and output not in found:
            found[output] = found[source]
    return found
