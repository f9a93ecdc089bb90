"""Reductions and poolings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.nn import PoolOp
from ...dialects.nn.types import numpy_dtype, shape_of
from ..builder import Builder
from .bodies import Fold, Structured
from .elementwise import ScalarBody
from .views import NotNamedError, Operand, TensorView, aligned, exactly, in_frame, one_number
from .windows import WindowAxis, cropped, swapped, windows_of

_COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}


def reduce(
    builder: Builder, op: Structured, fold: Fold, view_of: Mapping[SSAValue, TensorView]
) -> TensorView:
    """Import a reduction of the term over the loops that the result lacks."""
    operands = {
        argument: read.operand
        for argument, read in zip(op.arguments, op.inputs, strict=True)
        if argument.uses
    }
    body = ScalarBody(builder, operands, op.extents, view_of)
    term, frame = body.value(fold.term), body.frame
    lacking = len(frame) - len(shape_of(term))
    reduced = [i for i, loop in enumerate(frame) if loop in op.reduced_loops]
    shape = [1 if loop is None else op.extents[loop] for loop in frame]
    if any(i < lacking or shape_of(term)[i - lacking] != shape[i] for i in reduced):
        term, lacking = builder.expand(term, shape), 0
    if reduced:
        term = builder.reduce(fold.kind, term, [i - lacking for i in reduced])
    (output,) = op.outputs
    view = in_frame(term, frame, output.operand.loops, output.view.shape)
    return combined(builder, fold.kind, view, output.view)


def combined(builder: Builder, kind: str, result: TensorView, start: TensorView) -> TensorView:
    """Combine a result with the initial value `start` of its reduction."""
    if _is_neutral(builder, kind, start):
        return result
    loops = tuple(range(len(result.shape)))
    frame = Operand(result, loops).frame()
    frame += [loop for loop in loops if loop not in frame and result.shape[loop] > 1]
    values = [aligned(builder, Operand(view, loops), frame) for view in (result, start)]
    return in_frame(builder.binary(_COMBINE[kind], *values), frame, loops, result.shape)


def _is_neutral(builder: Builder, kind: str, start: TensorView) -> bool:
    """Return whether `start` is the neutral element of a reduction."""
    array = one_number(builder, start)
    if array is None:
        return False
    dtype = numpy_dtype(start.element_type)
    if kind in ("sum", "prod"):
        return bool(array == (kind == "prod"))
    if dtype.kind == "b":
        return bool(array) == (kind == "min")
    numbers = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return bool(array <= numbers.min if kind == "max" else array >= numbers.max)


def pool(builder: Builder, op: Structured, fold: Fold) -> TensorView:
    """Import a maximum or sum over windows; raise NotNamedError for any other reduction."""
    image, (output,) = op.inputs[0], op.outputs
    if fold.term is not op.arguments[0] or fold.kind not in ("max", "sum"):
        raise NotNamedError
    found = swapped(windows_of(image), op.reduced_loops)
    windows = [w for w in found if isinstance(w, WindowAxis)]
    # The loop over the window positions stands for the window's axis.
    walked = [w.place if isinstance(w, WindowAxis) else w for w in found]
    taps = {w.kernel for w in windows if w.kernel is not None}
    if taps != set(op.reduced_loops) or set(walked) != set(op.written_loops):
        raise NotNamedError
    if not 1 <= len(windows) <= 3:
        raise NotNamedError
    operand = Operand(image.view, tuple(walked))
    at = operand.places()
    plain = sorted((w for w in found if isinstance(w, int)), key=lambda loop: at.get(loop, -1))
    order = [*plain, *(w.place for w in windows)]
    x = exactly(builder, operand, order)
    outer, spatial = shape_of(x)[: len(plain)], shape_of(x)[len(plain) :]
    x = builder.reshape(x, (*_batch_and_channels(outer), *spatial))
    x = cropped(builder, x, windows, op.extents)
    kernel = [1 if w.kernel is None else op.extents[w.kernel] for w in windows]
    x = builder.add(
        PoolOp(
            x,
            "max" if fold.kind == "max" else "average",
            kernel,
            strides=[w.stride for w in windows],
            dilations=[w.dilation for w in windows],
        )
    )
    if fold.kind == "sum":
        x = builder.binary("mul", x, float(prod(kernel)))
    x = builder.reshape(x, (*outer, *shape_of(x)[2:]))
    view = in_frame(x, order, output.operand.loops, output.view.shape)
    return combined(builder, fold.kind, view, output.view)


def _batch_and_channels(outer: Sequence[int]) -> tuple[int, int]:
    """Return the sizes of the axes without windows as batch and channels of a pooling."""
    if len(outer) < 2:
        return 1, prod(outer)
    return outer[0], prod(outer[1:])
