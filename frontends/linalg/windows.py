"""Window indices: `position * stride + tap * dilation`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ...dialects.nn import PadMode, PadOp, SliceOp, ints, number
from ...dialects.nn.types import shape_of
from ..builder import Builder
from .bodies import Read
from .views import NotNamedError


@dataclass(frozen=True)
class WindowAxis:
    """An axis of an image that is indexed by windows."""

    place: int
    """The loop over the positions of the window."""
    stride: int
    kernel: int | None
    """The loop over the taps; None if there is one tap."""
    dilation: int


def windows_of(image: Read) -> list[WindowAxis | int]:
    """Return the window of each axis of an image, or the loop that indexes it.

    The first of the two loops of a window in the text is taken as the loop over positions.
    """
    return [_window(index) for index in image.index]


def _window(index: AffineExpr) -> WindowAxis | int:
    if isinstance(index, AffineDimExpr):
        return index.position
    terms = _terms(index)
    if not 1 <= len(terms) <= 2 or any(factor < 1 for _, factor in terms):
        raise NotNamedError
    (place, stride), *rest = terms
    if not rest:
        return WindowAxis(place, stride, None, 1)
    ((kernel, dilation),) = rest
    return WindowAxis(place, stride, kernel, dilation)


def _terms(index: AffineExpr) -> list[tuple[int, int]]:
    """Return the loops of a sum with their factors; raise NotNamedError for other expressions."""
    match index:
        case AffineDimExpr():
            return [(index.position, 1)]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            return [*_terms(index.lhs), *_terms(index.rhs)]
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mul, lhs=AffineDimExpr() as loop, rhs=AffineConstantExpr() as n
        ):
            return [(loop.position, n.value)]
        case _:
            raise NotNamedError


def swapped(windows: Sequence[WindowAxis | int], kernels: Sequence[int]) -> list[WindowAxis | int]:
    """Return the windows with position and tap exchanged where the position is in `kernels`."""
    return [
        WindowAxis(w.kernel, w.dilation, w.place, w.stride)
        if isinstance(w, WindowAxis) and w.kernel is not None and w.place in kernels
        else w
        for w in windows
    ]


def cropped(
    builder: Builder, image: SSAValue, windows: Sequence[WindowAxis], extents: Sequence[int]
) -> SSAValue:
    """Crop the end of an image [N, C, D1..] where nn would fit more windows."""
    sizes = list(shape_of(image))
    first = len(sizes) - len(windows)
    for axis, window in enumerate(windows, first):
        taps = 1 if window.kernel is None else extents[window.kernel]
        used = (extents[window.place] - 1) * window.stride + (taps - 1) * window.dilation + 1
        if sizes[axis] >= used + window.stride:
            sizes[axis] = used
    if tuple(sizes) == shape_of(image):
        return image
    unread = [n - size for n, size in zip(shape_of(image), sizes, strict=True)]
    pad = image.owner
    if isinstance(pad, PadOp) and pad.mode.data is PadMode.CONSTANT:
        high = [n - less for n, less in zip(ints(pad.high), unread, strict=True)]
        if min(high) >= 0:
            value = 0 if pad.value is None else number(pad.value)
            return builder.add(PadOp(pad.x, ints(pad.low), high, value=value))
    return builder.add(SliceOp(image, [0] * len(sizes), sizes))
