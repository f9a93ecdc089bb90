"""Outputs that overwrite an input, in memory that both share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pyopencl.array as cla

from ...tensor_info import TensorInfo
from .boxes import LeadingBox

_T = TypeVar("_T")


def overwritten_inputs(
    inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]
) -> dict[int, int]:
    """Return the numbers, among all ports, of outputs in place and of the inputs they overwrite."""
    numbers = {port.name: i for i, port in enumerate(inputs)}
    ends = enumerate(outputs, len(inputs))
    return {i: numbers[port.in_place] for i, port in ends if port.in_place}


def whole_cache(port: TensorInfo, given: object, box: LeadingBox) -> tuple[TensorInfo, Any]:
    """Return a port and the memory given for it, widened to the whole cache if it is a box of one.

    A slice such as `cache[:, :, :past]` shows the elements in use of a cache with room for more.
    Its strides tell that the other elements of the program's cache are there, too.
    """
    if (
        box.is_whole
        or not isinstance(given, cla.Array)
        or given.shape not in (box.shape, box.whole)
    ):
        return port, given
    if given.shape == box.shape and given.strides != _strides(box):
        return port, given
    whole = cla.Array(
        given.queue or given.context,
        box.whole,
        given.dtype,
        data=given.base_data,
        offset=given.offset,
    )
    return replace(port, shape=box.whole), whole


def _strides(box: LeadingBox) -> tuple[int, ...]:
    """Return the strides in bytes of the larger array."""
    strides = [box.item_bytes]
    for size in reversed(box.whole[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides)


def shared(pairs: Mapping[int, int], memory: Mapping[int, _T]) -> dict[int, _T]:
    """Return memory of ports, where that of one port of a pair also serves the other."""
    found = dict(memory)
    for output, source in pairs.items():
        if output in found and source not in found:
            found[source] = found[output]
        elif source in found and output not in found:
            found[output] = found[source]
    return found
