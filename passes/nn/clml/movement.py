"""Legalisation of operations that move or resample elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects import clml, nn
from ....dialects.clml import PadMode
from ....dialects.inferred import require
from ....dialects.nn import CoordinateMode, floats, ints, number, shape_of
from ....dialects.nn.evaluation.resize import nearest_positions
from .builder import CommandBuilder, expect, sizes_of

_PADS = {
    nn.PadMode.CONSTANT: PadMode.CONSTANT,
    nn.PadMode.REFLECT: PadMode.REFLECT,
    # A symmetric pad of one element repeats the border element, which is what EDGE does.
    nn.PadMode.EDGE: PadMode.SYMMETRIC,
}
_CORNERS = {CoordinateMode.ALIGN_CORNERS: True, CoordinateMode.ASYMMETRIC: False}


def reshape(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.reshape`; it needs no command if only trailing ones appear or disappear."""
    (op,) = ops
    assert isinstance(op, nn.ReshapeOp)
    x = builder.read(op.x, builder.common_layout([op.x]))
    return builder.shaped(x, sizes_of(shape_of(op.result)))


def concat(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.concat` of channels."""
    (op,) = ops
    assert isinstance(op, nn.ConcatOp)
    axis = op.axis.value.data
    require(axis == 1, f"CLML concatenates channels (axis 1), not axis {axis}")
    inputs = [builder.read(value) for value in op.inputs]
    result = builder.like(inputs[0], sizes_of(shape_of(op.result)))
    return builder.add(clml.ConcatOp(inputs, result))


def pad(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.pad` of H and W."""
    (op,) = ops
    assert isinstance(op, nn.PadOp)
    mode = expect(
        _PADS.get(op.mode.data),
        f"CLML pads by the modes constant, reflect and (one element) edge, not {op.mode.data}",
    )
    sizes = sizes_of(shape_of(op.result))
    before, after = ((*ints(amounts), 0, 0, 0)[:4] for amounts in (op.low, op.high))
    value = 0 if op.value is None else number(op.value)
    require(value == 0 or mode is not PadMode.CONSTANT, f"CLML pads with 0, not with {value:g}")
    require(not any((*before[:2], *after[:2])), "CLML pads H and W (axes 2 and 3), not other axes")
    amounts = (*before[2:], *after[2:])
    require(min(amounts) >= 0, f"CLML does not crop, but the pads are {list(amounts)}")
    require(
        mode is not PadMode.SYMMETRIC or max(amounts) <= 1,
        f"CLML repeats an edge by one element, not by {max(amounts)}",
    )
    x = builder.read(op.x)
    result = builder.like(x, sizes)
    return builder.add(clml.PadOp(x, result, mode=mode, pads=amounts))


def depth_to_space(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.depth_to_space` of mode DCR."""
    (op,) = ops
    assert isinstance(op, nn.DepthToSpaceOp)
    mode = op.mode.data
    require(mode is nn.BlockOrder.DCR, f"CLML's depth_to_space has the mode dcr, not {mode}")
    x = builder.read(op.x)
    result = builder.like(x, sizes_of(shape_of(op.result)))
    return builder.add(clml.DepthToSpaceOp(x, result, block=op.block.value.data))


def resize(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.resize` of H and W.

    CLML supports linear interpolation with aligned corners or asymmetric coordinates, and nearest
    if each element becomes a square of copies.
    """
    (op,) = ops
    assert isinstance(op, nn.ResizeOp)
    mode, coordinates = op.mode.data, op.coordinate_mode.data
    if mode is nn.ResizeMode.NEAREST:
        return _repeat(op, builder)
    require(mode is nn.ResizeMode.LINEAR, f"CLML resizes bilinearly, not by mode {mode}")
    corners = expect(
        _CORNERS.get(coordinates),
        f"CLML resizes with the coordinates {' or '.join(_CORNERS)}, not {coordinates}",
    )
    require(op.exclude_outside is None, "CLML's resize has no exclude_outside")
    shape, result_shape = shape_of(op.x), shape_of(op.result)
    require(
        len(shape) == 4 and shape[:2] == result_shape[:2],
        f"CLML resizes H and W, not {list(shape)} to {list(result_shape)}",
    )
    for scale, n, m in zip(floats(op.scales), shape, result_shape, strict=True):
        require(
            corners or math.isclose(scale, m / n, rel_tol=1e-6),
            f"CLML resizes by the quotient of the sizes, {m}/{n}, not by {scale:g}",
        )
    x = builder.read(op.x)
    result = builder.like(x, sizes_of(result_shape))
    return builder.add(clml.ResizeBilinearOp(x, result, align_corners=corners))


def _repeat(op: nn.ResizeOp, builder: CommandBuilder) -> SSAValue:
    """Build a nearest resize that copies each element to a square of elements.

    The channels are concatenated once per element of the square, then moved to the plane by
    depth_to_space.
    """
    n, c, h, w = sizes_of(shape_of(op.x))
    sizes = sizes_of(shape_of(op.result))
    block = sizes[2] // h
    repeats = block > 1 and sizes == (n, c, h * block, w * block)
    require(
        repeats and all(_is_repeated(op, axis, block) for axis in (2, 3)),
        "CLML resizes bilinearly, or by mode nearest if each element becomes a square of copies",
    )
    x = builder.read(op.x)
    copies = block * block
    many = builder.add(clml.ConcatOp([x] * copies, builder.like(x, (n, c * copies, h, w))))
    return builder.add(clml.DepthToSpaceOp(many, builder.like(x, sizes), block=block))


def _is_repeated(op: nn.ResizeOp, axis: int, block: int) -> bool:
    """Return whether the resize repeats each element `block` times along an axis."""
    positions = nearest_positions(op, axis)
    return positions is not None and all(p == i // block for i, p in enumerate(positions))
