"""Sums of products over windows as convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ...dialects.nn import ConvOp, ConvTransposeOp, SliceOp
from ...dialects.nn.types import shape_of
from ..builder import Builder
from .bodies import Read, Structured
from .products import converted
from .reductions import combined
from .views import NotNamedError, Operand, TensorView, exactly, in_frame
from .windows import WindowAxis, cropped, swapped, windows_of


@dataclass(frozen=True)
class _Loops:
    """The loops of a convolution by role, and the extents of all loops."""

    batch: Sequence[int]
    groups: Sequence[int]
    channels: Sequence[int]
    features: Sequence[int]
    windows: Sequence[WindowAxis]
    extents: Sequence[int]

    @property
    def places(self) -> list[int]:
        """Return the loops over the window positions."""
        return [window.place for window in self.windows]

    @property
    def kernel(self) -> list[int]:
        """Return the number of taps along each window axis."""
        return [1 if w.kernel is None else self.extents[w.kernel] for w in self.windows]

    def count(self, loops: Sequence[int]) -> int:
        """Return the total iterations of several loops."""
        return prod(self.extents[loop] for loop in loops)


def convolve(builder: Builder, op: Structured, a: Read, b: Read) -> TensorView:
    """Import a convolution: one input has windows, plain loops index the other."""
    try:
        image, weights = a, b.operand
    except NotNamedError:
        image, weights = b, a.operand
    found = swapped(windows_of(image), op.reduced_loops)
    loops = _loops(op, found, weights)
    (output,) = op.outputs
    w = _weights(builder, loops, weights)
    start = output.operand
    bias = _bias(builder, start, [*loops.groups, *loops.features])
    walked = tuple(w.place if isinstance(w, WindowAxis) else w for w in found)
    result = _transposed(builder, loops, image.view, walked, w, bias)
    if result is None:
        x = cropped(builder, _image(builder, loops, image.view, walked), loops.windows, op.extents)
        result = ConvOp(
            *converted(builder, x, w, output.view.element_type),
            bias,
            strides=[window.stride for window in loops.windows],
            dilations=[window.dilation for window in loops.windows],
            groups=loops.count(loops.groups),
        )
    frame = [*loops.batch, *loops.groups, *loops.features, *loops.places]
    value = builder.reshape(builder.add(result), [op.extents[loop] for loop in frame])
    view = in_frame(value, frame, start.loops, output.view.shape)
    return view if bias is not None else combined(builder, "sum", view, output.view)


def _loops(op: Structured, found: Sequence[WindowAxis | int], weights: Operand) -> _Loops:
    """Assign each loop its role; raise NotNamedError if one has no role in a convolution."""
    windows = [w for w in found if isinstance(w, WindowAxis)]
    plain = [w for w in found if isinstance(w, int)]
    written, read = set(op.written_loops), {loop for loop in weights.loops if loop is not None}
    taps = {w.kernel for w in windows if w.kernel is not None}
    places = {w.place for w in windows}
    features = [
        loop for loop in weights.loops if loop is not None and loop in written and loop not in plain
    ]
    batch = [loop for loop in plain if loop in written and loop not in read]
    groups = [loop for loop in plain if loop in written and loop in read]
    channels = [loop for loop in plain if loop not in written and loop in read]
    is_complete = (
        {*batch, *groups, *features, *places} == written
        and {*channels, *taps} == set(op.reduced_loops)
        and {*groups, *features, *channels, *taps} == read
        and {*batch, *groups, *channels} == set(plain)
        and not places & read
    )
    if not is_complete or not 1 <= len(windows) <= 3 or len(batch) > 1:
        raise NotNamedError
    return _Loops(batch, groups, channels, features, windows, op.extents)


def _image(
    builder: Builder, loops: _Loops, view: TensorView, walked: Sequence[int | None]
) -> SSAValue:
    """Return the image as N, C, D1.."""
    order = [*loops.batch, *loops.groups, *loops.channels, *loops.places]
    x = exactly(builder, Operand(view, tuple(walked)), order)
    spatial = shape_of(x)[len(order) - len(loops.windows) :]
    channels = loops.count([*loops.groups, *loops.channels])
    return builder.reshape(x, (loops.count(loops.batch), channels, *spatial))


def _weights(builder: Builder, loops: _Loops, weights: Operand) -> SSAValue:
    """Return the weights as O, C / groups, K1.."""
    taps = [w.kernel for w in loops.windows if w.kernel is not None]
    order = [*loops.groups, *loops.features, *loops.channels, *taps]
    features, channels = loops.count([*loops.groups, *loops.features]), loops.count(loops.channels)
    value = exactly(builder, weights, order)
    return builder.reshape(value, (features, channels, *loops.kernel))


def _bias(builder: Builder, start: Operand, channels: Sequence[int]) -> SSAValue | None:
    """Return the initial value of the sums as a bias, if it has one number per channel."""
    shape = shape_of(start.view.value)
    walked = {loop for loop, axis in start.places().items() if shape[axis] > 1}
    if not walked or not walked <= set(channels):
        return None
    value = exactly(builder, start, channels)
    return builder.reshape(value, [prod(shape_of(value))])


def _transposed(
    builder: Builder,
    loops: _Loops,
    view: TensorView,
    walked: Sequence[int | None],
    w: SSAValue,
    bias: SSAValue | None,
) -> ConvTransposeOp | None:
    """Return the transposed convolution that equals a convolution over a dilated image, or None."""
    dilated = view.dilated
    if dilated is None or any((w.stride, w.dilation) != (1, 1) for w in loops.windows):
        return None
    low: list[int] = []
    high: list[int] = []
    strides: list[int] = []
    sizes = zip(view.shape, dilated.part.shape, dilated.starts, dilated.steps, strict=True)
    by_loop = dict(zip(walked, sizes, strict=True))
    for window, taps in zip(loops.windows, loops.kernel, strict=True):
        _, size, start, step = by_loop.pop(window.place)
        spread = (size - 1) * step + 1
        low.append(taps - 1 - start)
        high.append(taps - 1 - (loops.extents[window.place] + taps - 1 - start - spread))
        strides.append(step)
    if min(low) < 0 or any(whole != size for whole, size, _, _ in by_loop.values()):
        return None
    x = _image(builder, loops, dilated.part, walked)
    groups = loops.count(loops.groups)
    _, depth, *kernel = shape_of(w)
    rank = len(kernel)
    start, steps = [0, 0, *(k - 1 for k in kernel)], [1, 1, *[-1] * rank]
    w = builder.add(SliceOp(w, start, shape_of(w), steps))
    w = builder.reshape(w, (groups, shape_of(w)[0] // groups, depth, *kernel))
    w = builder.transpose(w, (0, 2, 1, *range(3, rank + 3)))
    w = builder.reshape(w, (groups * depth, shape_of(w)[2], *kernel))
    return ConvTransposeOp(
        x,
        w,
        bias,
        strides=strides,
        pads=[*low, *(max(n, 0) for n in high)],
        output_padding=[max(-n, 0) for n in high],
        groups=groups,
    )
