"""Operators that move elements: reshape, transpose, split, slice, pad, ..."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import broadcast, shape_of
from ...builder import dtype_of_value
from ..node import Handler, NodeContext, Table


def import_reshape(node: NodeContext) -> SSAValue:
    """Import Reshape: 0 copies a dimension (unless allowzero), -1 is inferred."""
    wanted, shape = list(node.constant_ints(1, "shape")), node.shape()
    if not node.flag("allowzero"):
        if any(n == 0 and i >= len(shape) for i, n in enumerate(wanted)):
            node.refuse(f"the shape {wanted} copies a dimension that the input does not have.")
        wanted = [shape[i] if n == 0 else n for i, n in enumerate(wanted)]
    if min(wanted, default=0) < -1:
        node.refuse(f"the shape {wanted} has a negative dimension.")
    if -1 in wanted:
        rest = math.prod(n for n in wanted if n != -1)
        if wanted.count(-1) > 1 or rest == 0 or math.prod(shape) % rest:
            node.refuse(f"cannot reshape {list(shape)} to {wanted}.")
        wanted[wanted.index(-1)] = math.prod(shape) // rest
    return node.builder.reshape(node.input(0), wanted)


def import_flatten(node: NodeContext) -> SSAValue:
    """Import Flatten: reshape to a matrix, split before an axis."""
    shape, axis = node.shape(), node.integer("axis", 1)
    if not -len(shape) <= axis <= len(shape):
        node.refuse(f"axis {axis} is outside a tensor of rank {len(shape)}.")
    axis %= len(shape) if axis < 0 else len(shape) + 1
    rows = math.prod(shape[:axis])
    return node.builder.reshape(node.input(0), (rows, math.prod(shape[axis:])))


def _axes(node: NodeContext, rank: int, as_input: bool) -> list[int] | None:
    """Return the axes of (un)squeeze, from the attribute or (since opset 13) the second input."""
    if as_input:
        axes = None if node.optional(1) is None else node.constant_ints(1, "axes")
    else:
        axes = node.integers("axes")
    if axes is None:
        return None
    unique = {node.axis(axis, rank) for axis in axes}
    if len(unique) != len(axes):
        node.refuse(f"the axes {list(axes)} repeat.")
    return sorted(unique)


def squeeze(as_input: bool) -> Handler:
    """Return the importer of Squeeze: drop dimensions of size 1, without axes all of them."""

    def handler(node: NodeContext) -> SSAValue:
        shape = node.shape()
        axes = _axes(node, len(shape), as_input)
        if axes is None:
            axes = [i for i, n in enumerate(shape) if n == 1]
        if any(shape[axis] != 1 for axis in axes):
            node.refuse(f"the axes {axes} of shape {list(shape)} are not all of size 1.")
        kept = [n for i, n in enumerate(shape) if i not in axes]
        return node.builder.reshape(node.input(0), kept)

    return handler


def unsqueeze(as_input: bool) -> Handler:
    """Return the importer of Unsqueeze: insert dimensions of size 1 at axes of the result."""

    def handler(node: NodeContext) -> SSAValue:
        count = len(node.constant_ints(1, "axes")) if as_input else len(node.integers("axes") or ())
        axes = _axes(node, node.rank() + count, as_input)
        if axes is None:
            node.refuse("the axes are missing.")
        rest = iter(node.shape())
        result = [1 if i in axes else next(rest) for i in range(node.rank() + count)]
        return node.builder.reshape(node.input(0), result)

    return handler


def import_transpose(node: NodeContext) -> SSAValue:
    """Import Transpose; without perm the dimensions are reversed."""
    perm = node.integers("perm")
    return node.builder.transpose(
        node.input(0), tuple(reversed(range(node.rank()))) if perm is None else perm
    )


def import_concat(node: NodeContext) -> SSAValue:
    """Import Concat; drop operands without elements."""
    values = node.present()
    axis = node.axis(node.integer("axis"), node.rank())
    kept = [v for v in values if shape_of(v)[axis : axis + 1] != (0,)]
    return node.builder.concat(kept or values[:1], axis)


def _split(node: NodeContext, sizes: Sequence[int] | None, parts: int) -> Sequence[SSAValue]:
    axis = node.axis(node.integer("axis", 0), node.rank())
    length = node.shape()[axis]
    if sizes is None:
        chunk = -(-length // parts)
        sizes = [max(min(chunk, length - i * chunk), 0) for i in range(parts)]
    if sum(sizes) != length or min(sizes, default=-1) < 0:
        node.refuse(f"cannot split {length} elements into {list(sizes)}.")
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [
        node.builder.slice(node.input(0), axis, start, size)
        for start, size in zip(starts, sizes, strict=True)
    ]


def import_split_attribute(node: NodeContext) -> Sequence[SSAValue]:
    """Import Split before opset 13: the sizes are an attribute."""
    return _split_equally(node, node.integers("split"))


def import_split_input(node: NodeContext) -> Sequence[SSAValue]:
    """Import Split of opset 13: the sizes are an input."""
    sizes = None if node.optional(1) is None else node.constant_ints(1, "split")
    return _split_equally(node, sizes)


def _split_equally(node: NodeContext, sizes: Sequence[int] | None) -> Sequence[SSAValue]:
    """Split the input; without sizes, the parts must be equal."""
    axis = node.axis(node.integer("axis", 0), node.rank())
    if sizes is None and node.shape()[axis] % node.outputs:
        node.refuse(f"cannot split {node.shape()[axis]} elements into {node.outputs} equal parts.")
    return _split(node, sizes, node.outputs)


def import_split(node: NodeContext) -> Sequence[SSAValue]:
    """Import Split since opset 18: the last of num_outputs parts may be smaller."""
    sizes = None if node.optional(1) is None else node.constant_ints(1, "split")
    parts = node.integer("num_outputs", node.outputs)
    if parts != node.outputs:
        node.refuse(f"num_outputs is {parts} but the node has {node.outputs} outputs.")
    return _split(node, sizes, parts)


def _slice(
    node: NodeContext,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int],
    steps: Sequence[int],
) -> SSAValue:
    """Slice the input, clamping the bounds as numpy does."""
    shape = node.shape()
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        node.refuse(
            "starts, ends, axes and steps must have the same length, and no step may be zero."
        )
    firsts, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        at = node.axis(axis, len(shape))
        indices = range(*slice(start, end, step).indices(shape[at]))
        firsts[at], sizes[at], strides[at] = indices.start, len(indices), step
        if not indices:
            firsts[at] = 0
    # A slice of the whole stays, so that networks for other sizes have the same operations.
    return node.add(nn.SliceOp(node.input(0), starts=firsts, sizes=sizes, steps=strides))


def import_slice_attributes(node: NodeContext) -> SSAValue:
    """Import Slice before opset 10: all parameters are attributes and the step is 1."""
    starts, ends = node.integers("starts") or (), node.integers("ends") or ()
    axes = node.integers("axes")
    if axes is None:
        axes = tuple(range(len(starts)))
    return _slice(node, starts, ends, axes, [1] * len(starts))


def import_slice(node: NodeContext) -> SSAValue:
    """Import Slice since opset 10: all parameters are inputs."""
    starts, ends = node.constant_ints(1, "starts"), node.constant_ints(2, "ends")
    axes = range(len(starts)) if node.optional(3) is None else node.constant_ints(3, "axes")
    steps = [1] * len(starts) if node.optional(4) is None else node.constant_ints(4, "steps")
    return _slice(node, starts, ends, axes, steps)


def import_expand(node: NodeContext) -> SSAValue:
    """Import Expand: both shapes broadcast, so dimensions of the target may be 1."""
    wanted = node.constant_ints(1, "shape")
    if min(wanted, default=0) < 0:
        node.refuse(f"cannot expand to the shape {list(wanted)}.")
    return node.builder.expand(node.input(0), broadcast(node.shape(), wanted))


def import_tile(node: NodeContext) -> SSAValue:
    """Import Tile; a Tile by 1 along all axes is its input."""
    repeats = node.constant_ints(1, "repeats")
    if len(repeats) == node.rank() and all(n == 1 for n in repeats):
        return node.input(0)
    return node.add(nn.TileOp(node.input(0), repeats))


def _pad(node: NodeContext, pads: Sequence[int], axes: Sequence[int], value: float) -> SSAValue:
    mode = node.choice("mode", "constant", ("constant", "reflect", "edge", "wrap"))
    rank = node.rank()
    if len(pads) != 2 * len(axes):
        node.refuse(f"pads has {len(pads)} entries; expected {2 * len(axes)}.")
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        at = node.axis(axis, rank)
        low[at], high[at] = pads[i], pads[i + len(axes)]
    x = node.input(0)
    if not any(low + high):
        return x
    if mode != "constant" and min(low + high) < 0:
        # Crop first: the mode repeats the border of the cropped input.
        cropped = nn.PadOp(x, [min(n, 0) for n in low], [min(n, 0) for n in high])
        x, low, high = node.add(cropped), [max(n, 0) for n in low], [max(n, 0) for n in high]
    return node.add(nn.PadOp(x, low, high, mode, value))


def import_pad_attributes(node: NodeContext) -> SSAValue:
    """Import Pad before opset 11: amounts and value are attributes."""
    return _pad(node, node.integers("pads") or (), range(node.rank()), node.real("value", 0.0))


def import_pad(node: NodeContext) -> SSAValue:
    """Import Pad since opset 11; opset 18 added axes, opset 19 the mode wrap."""
    pads = node.constant_ints(1, "pads")
    value = node.optional(2)
    axes = node.optional_constant(3, "axes")
    return _pad(
        node,
        pads,
        range(node.rank()) if axes is None else axes.reshape(-1).tolist(),
        0 if value is None else node.constant_number(2, "constant value"),
    )


def import_depth_to_space(node: NodeContext) -> SSAValue:
    """Import DepthToSpace."""
    mode = node.choice("mode", "DCR", ("DCR", "CRD")).lower()
    return node.add(nn.DepthToSpaceOp(node.input(0), node.integer("blocksize"), mode))


def import_space_to_depth(node: NodeContext) -> SSAValue:
    """Import SpaceToDepth; opset 28 added the mode."""
    mode = node.choice("mode", "DCR", ("DCR", "CRD")).lower()
    return node.add(nn.SpaceToDepthOp(node.input(0), node.integer("blocksize"), mode))


def import_trilu(node: NodeContext) -> SSAValue:
    """Import Trilu: select a triangle of the last two dimensions by a constant mask."""
    node.check_rank(0, 2)
    k = node.constant_int(1, "diagonal", 0)
    upper, builder, x = node.flag("upper", True), node.builder, node.input(0)
    builder.reserve(*node.shape()[-2:])
    ones = np.ones(node.shape()[-2:], np.bool_)
    mask = builder.constant(np.triu(ones, k) if upper else np.tril(ones, k))
    zero = builder.constant(np.zeros((), dtype_of_value(x)))
    return builder.where(mask, x, zero)


TABLE: Table = {
    "Concat": {4: import_concat},
    "DepthToSpace": {1: import_depth_to_space},
    "Expand": {8: import_expand},
    "Flatten": {1: import_flatten},
    "Pad": {2: import_pad_attributes, 11: import_pad},
    "Reshape": {5: import_reshape},
    "Slice": {1: import_slice_attributes, 10: import_slice},
    "SpaceToDepth": {1: import_space_to_depth},
    "Split": {2: import_split_attribute, 13: import_split_input, 18: import_split},
    "Squeeze": {1: squeeze(as_input=False), 13: squeeze(as_input=True)},
    "Tile": {6: import_tile},
    "Transpose": {1: import_transpose},
    "Trilu": {14: import_trilu},
    "Unsqueeze": {1: unsqueeze(as_input=False), 13: unsqueeze(as_input=True)},
}
