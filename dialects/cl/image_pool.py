"""Sharing of image objects between values, for devices without images backed by buffers."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

from .. import tir
from .images import image_of
from .liveness import Lifetime, lifetimes

if TYPE_CHECKING:
    from .program import ProgramOp

_Busy: TypeAlias = "list[tuple[int, int]]"

_NEVER = Lifetime(-1, -1)


def image_objects(program: ProgramOp, values: Iterable[SSAValue]) -> dict[SSAValue, int]:
    """Assign an image object to each of `values`, which are images; return the objects' numbers.

    Two values can share an object if they have the same kind, extents and texels and are not live
    at once. Values are assigned in the order of their first writes, to a free object if there is
    one. This greedy interval colouring uses the fewest objects for each shape.
    """
    lives = lifetimes(program)
    order = sorted(values, key=lambda value: lives.get(value, _NEVER).first)
    busy: dict[tir.Image, _Busy] = {}
    objects: dict[SSAValue, int] = {}
    count = 0
    for value in order:
        image = image_of(value.type)
        assert image is not None, "an image"
        life = lives.get(value, _NEVER)
        same = busy.setdefault(image, [])
        if same and same[0][0] < life.first:
            _, chosen = heappop(same)
        else:
            chosen, count = count, count + 1
        heappush(same, (life.last, chosen))
        objects[value] = chosen
    return objects
