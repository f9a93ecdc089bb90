"""Operators that move elements: views, permutations, slices, concatenations and padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ..call import FxCall, Handler, Table


def reshaped(call: FxCall) -> SSAValue:
    """Reshape a tensor to the shape of the result."""
    return call.builder.reshape(call.tensor(), call.form().shape)


def _permute(call: FxCall) -> SSAValue:
    x = call.tensor()
    return call.builder.transpose(x, [axis % len(shape_of(x)) for axis in call.ints("dims")])


def _transpose(call: FxCall) -> SSAValue:
    x = call.tensor()
    perm = list(range(len(shape_of(x))))
    a, b = (call.axis(name) for name in ("dim0", "dim1"))
    if perm:
        perm[a], perm[b] = perm[b], perm[a]
    return call.builder.transpose(x, perm)


def _expand(call: FxCall) -> SSAValue:
    return call.builder.expand(call.tensor(), call.form().shape)


def _cat(call: FxCall) -> SSAValue:
    # torch accepts empty vectors among operands of any rank.
    values = [v for v in call.tensors() if shape_of(v) != (0,)]
    if not values:
        call.refuse("concatenates only empty vectors")
    element = call.form().element
    values = [call.builder.cast(value, element) for value in values]
    return call.builder.concat(values, call.axis(of=values[0]))


def _stack(call: FxCall) -> SSAValue:
    axis = int(call["dim"] or 0) % len(call.form().shape)
    rows = [
        call.builder.reshape(v, (*shape_of(v)[:axis], 1, *shape_of(v)[axis:]))
        for v in call.tensors()
    ]
    return call.builder.concat(rows, axis)


def _slice(call: FxCall) -> SSAValue:
    axis, x = call.axis(), call.tensor()
    length, step = shape_of(x)[axis], int(call["step"] or 1)
    start, stop, _ = slice(call["start"], call["end"], step).indices(length)
    return call.builder.slice(x, axis, start, len(range(start, stop, step)), step)


def _select(call: FxCall) -> SSAValue:
    axis, x = call.axis(), call.tensor()
    index = int(call["index"]) % shape_of(x)[axis]
    return call.builder.reshape(call.builder.slice(x, axis, index, 1), call.form().shape)


def _pieces(call: FxCall, sizes: Sequence[int]) -> list[SSAValue]:
    axis, start, pieces = call.axis(), 0, list[SSAValue]()
    for size in sizes:
        pieces.append(call.builder.slice(call.tensor(), axis, start, size))
        start += size
    return pieces


def _split(call: FxCall) -> list[SSAValue]:
    length, size = shape_of(call.tensor())[call.axis()], int(call["split_size"])
    return _pieces(call, [min(size, length - i) for i in range(0, length, size)])


def _unbind(call: FxCall) -> list[SSAValue]:
    axis, x = call.axis(), call.tensor()
    shape = shape_of(x)
    rest = (*shape[:axis], *shape[axis + 1 :])
    return [call.builder.reshape(piece, rest) for piece in _pieces(call, [1] * shape[axis])]


def _slice_scatter(call: FxCall) -> SSAValue:
    """Replace a slice of step 1 by concatenating the parts before and after it with `src`."""
    axis, x, source = call.axis(), call.tensor(), call.tensor("src")
    if call["step"] not in (None, 1):
        call.refuse(f"must have a step of 1, not {call['step']}")
    length = shape_of(x)[axis]
    start, stop, _ = slice(call["start"], call["end"]).indices(length)
    return _replaced(call, x, source, axis, range(start, max(start, stop)))


def _select_scatter(call: FxCall) -> SSAValue:
    axis, x, source = call.axis(), call.tensor(), call.tensor("src")
    shape = shape_of(x)
    index = int(call["index"]) % shape[axis]
    row = call.builder.reshape(source, (*shape[:axis], 1, *shape[axis + 1 :]))
    return _replaced(call, x, row, axis, range(index, index + 1))


def _replaced(call: FxCall, x: SSAValue, source: SSAValue, axis: int, places: range) -> SSAValue:
    builder, length = call.builder, shape_of(x)[axis]
    pieces = [source] if places else []
    if places.start > 0:
        pieces.insert(0, builder.slice(x, axis, 0, places.start))
    if places.stop < length:
        pieces.append(builder.slice(x, axis, places.stop, length - places.stop))
    return builder.concat(pieces, axis)


def _copy(call: FxCall) -> SSAValue:
    form = call.form()
    return call.builder.expand(call.builder.cast(call.tensor("src"), form.element), form.shape)


def pad(mode: str) -> Handler:
    """Return the importer of padding, whose widths torch lists from the last axis on."""

    def handler(call: FxCall) -> SSAValue:
        x = call.tensor()
        widths = call.ints("pad" if mode == "constant" else "padding")
        rank = len(shape_of(x))
        low, high = [0] * rank, [0] * rank
        for i in range(len(widths) // 2):
            low[rank - 1 - i], high[rank - 1 - i] = widths[2 * i], widths[2 * i + 1]
        if min((*low, *high), default=0) < 0:
            call.refuse("has a negative padding width")
        return call.add(nn.PadOp(x, low, high, mode, call.number("value")))

    return handler


def _flip(call: FxCall) -> SSAValue:
    x = call.tensor()
    for axis in call.axes("dims"):
        length = shape_of(x)[axis]
        x = call.builder.slice(x, axis, length - 1, length, -1)
    return x


def _repeat(call: FxCall) -> SSAValue:
    x, repeats = call.tensor(), call.ints("repeats")
    x = call.builder.reshape(x, (1,) * (len(repeats) - len(shape_of(x))) + shape_of(x))
    return call.add(nn.TileOp(x, repeats))


def _pixel_shuffle(call: FxCall) -> SSAValue:
    return call.add(nn.DepthToSpaceOp(call.tensor(), int(call["upscale_factor"]), "crd"))


TABLE: Table = {
    "aten._unsafe_view.default": reshaped,
    "aten.cat.default": _cat,
    "aten.constant_pad_nd.default": pad("constant"),
    "aten.copy.default": _copy,
    "aten.expand.default": _expand,
    "aten.flip.default": _flip,
    "aten.permute.default": _permute,
    "aten.pixel_shuffle.default": _pixel_shuffle,
    "aten.reflection_pad1d.default": pad("reflect"),
    "aten.reflection_pad2d.default": pad("reflect"),
    "aten.repeat.default": _repeat,
    "aten.replication_pad1d.default": pad("edge"),
    "aten.replication_pad2d.default": pad("edge"),
    "aten.reshape.default": reshaped,
    "aten.select.int": _select,
    "aten.select_scatter.default": _select_scatter,
    "aten.slice.Tensor": _slice,
    "aten.slice_scatter.default": _slice_scatter,
    "aten.split.Tensor": _split,
    "aten.split_with_sizes.default": lambda call: _pieces(call, call.ints("split_sizes")),
    "aten.squeeze.default": reshaped,
    "aten.squeeze.dim": reshaped,
    "aten.squeeze.dims": reshaped,
    "aten.stack.default": _stack,
    "aten.t.default": lambda call: call.builder.transpose(
        call.tensor(), range(len(shape_of(call.tensor())))[::-1]
    ),
    "aten.transpose.int": _transpose,
    "aten.unbind.int": _unbind,
    "aten.unsqueeze.default": reshaped,
    "aten.view.default": reshaped,
}
