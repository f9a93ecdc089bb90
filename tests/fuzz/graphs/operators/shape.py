"""Operators that move elements."""

from __future__ import annotations

import numpy as np

from ..builder import ANY, FLOAT, GraphBuilder

MOVED = (np.float32, np.float32, np.float32, np.int32, np.int64, np.uint8, np.bool_)


def _factors(g: GraphBuilder, size: int) -> list[int]:
    """A shape of `size` elements."""
    shape: list[int] = []
    while size > 1 and len(shape) < 3:
        factor = g.one_of(*(n for n in range(1, size + 1) if size % n == 0))
        shape.append(factor)
        size //= factor
    return [*shape, size]


def reshape(g: GraphBuilder) -> None:
    """Reshape, with -1 and 0 where they say the same."""
    x = g.pick(ANY)
    shape = _factors(g, x.exact.size)
    if g.chance(0.4):
        shape[g.random.randrange(len(shape))] = -1
    elif shape[0] == x.shape[0] and g.chance(0.5):
        shape[0] = 0
    g.op("Reshape", x, g.ints(*shape))


def flatten(g: GraphBuilder) -> None:
    """Flatten."""
    x = g.pick()
    g.op("Flatten", x, axis=g.random.randint(-x.rank, x.rank))


def transpose(g: GraphBuilder) -> None:
    """Transpose, at times the common ones of images."""
    x = g.pick(ANY, rank=(2, 3, 4, 4, 5))
    perm = g.random.sample(range(x.rank), x.rank)
    if x.rank == 4 and g.chance(0.4):
        perm = g.one_of([0, 2, 3, 1], [0, 3, 1, 2])
    g.op("Transpose", x, perm=None if g.chance(0.1) else perm)


def slice(g: GraphBuilder) -> None:
    """Slice of some axes, backwards too, with bounds beyond the ends."""
    x = g.pick(ANY)
    axes = g.axes(x.rank)
    starts, ends, steps = [], [], []
    for axis in axes:
        n, step = x.shape[axis], g.one_of(1, 1, 1, 2, 3, -1, -1, -2)
        first, last = sorted(g.random.sample(range(n + 1), 2))
        bounds = (first, last) if step > 0 else (last, first - 1)
        start, end = (b - n if b < n and g.chance(0.3) and b >= 0 else b for b in bounds)
        starts.append(start)
        ends.append(g.one_of(2**31 - 1, end) if step > 0 else -(2**31) if end == -1 else end)
        steps.append(step)
    named = [a - x.rank if g.chance(0.3) else a for a in axes]
    g.op("Slice", x, g.ints(*starts), g.ints(*ends), g.ints(*named), g.ints(*steps))


def concat(g: GraphBuilder) -> None:
    """Concat of a value with others, itself among them."""
    x = g.pick(ANY)
    axis = g.random.randrange(x.rank)
    parts = [x]
    for _ in range(g.one_of(1, 1, 2, 3)):
        fitting = [
            v
            for v in g.values
            if v.type == x.type
            and v.rank == x.rank
            and v.shape[:axis] + v.shape[axis + 1 :] == x.shape[:axis] + x.shape[axis + 1 :]
        ]
        shape = [*x.shape[:axis], g.one_of(1, 2, 3), *x.shape[axis + 1 :]]
        make = g.one_of(
            lambda: g.random.choice(fitting),
            lambda shape=shape: g.weight(*shape, type=x.type),
            lambda shape=shape: g.new_input(shape, x.type),
        )
        parts.insert(g.random.randint(0, len(parts)), make())
    g.op("Concat", *parts, axis=axis - x.rank if g.chance(0.3) else axis)


def split(g: GraphBuilder) -> None:
    """Split into parts of given sizes, or equal ones."""
    x = g.pick(ANY, where=lambda shape: max(shape) > 1)
    axis = g.one_of(*(i for i, n in enumerate(x.shape) if n > 1))
    n = x.shape[axis]
    cuts = sorted(g.random.sample(range(1, n), min(g.one_of(1, 2), n - 1)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    if g.chance(0.3) and n % 2 == 0:
        count = {"num_outputs": 2} if g.opset >= 18 else {}
        g.op("Split", x, outputs=2, axis=axis, **count)
    else:
        g.op("Split", x, g.ints(*sizes), outputs=len(sizes), axis=axis)


def pad(g: GraphBuilder) -> None:
    """Pad in every mode; constant padding crops, too."""
    x = g.pick(FLOAT)
    mode = g.one_of("constant", "constant", "reflect", "edge")
    if g.opset >= 19:
        mode = g.one_of(mode, mode, "wrap")
    low = [g.random.randint(0, min(n - 1, 3)) for n in x.shape]
    high = [g.random.randint(0, min(n - 1, 3)) for n in x.shape]
    if mode == "constant" and g.chance(0.4):
        axis = g.random.randrange(x.rank)
        low[axis] = -g.random.randint(0, x.shape[axis] - 1)
    value = g.constant(g.one_of(0.0, 1.5), "f") if mode == "constant" and g.chance(0.5) else None
    if g.opset >= 18 and g.chance(0.3):
        axes = g.axes(x.rank)
        pads = [low[a] for a in axes] + [high[a] for a in axes]
        g.op("Pad", x, g.ints(*pads), value, g.ints(*axes), mode=mode)
    else:
        g.op("Pad", x, g.ints(*low, *high), value, mode=mode)


def expand(g: GraphBuilder) -> None:
    """Expand of axes of one element, and to higher ranks."""
    x = g.pick(ANY)
    shape = [g.extent() if n == 1 else g.one_of(n, 1) for n in x.shape]
    g.op("Expand", x, g.ints(*([g.one_of(1, 2)] if g.chance(0.3) else []), *shape))


def tile(g: GraphBuilder) -> None:
    """Tile."""
    x = g.pick()
    g.op("Tile", x, g.ints(*(g.one_of(1, 1, 2, 3) for _ in x.shape)))


def squeeze(g: GraphBuilder) -> None:
    """Squeeze of all axes of one element, or of one."""
    x = g.pick(ANY, where=lambda shape: 1 in shape and len(shape) > 1)
    axes = None if g.chance(0.3) else g.ints(x.shape.index(1))
    g.op("Squeeze", x, axes)


def unsqueeze(g: GraphBuilder) -> None:
    """Unsqueeze."""
    x = g.pick(ANY, rank=(1, 2, 3))
    g.op("Unsqueeze", x, g.ints(g.axis(x.rank + 1)))


def depth_to_space(g: GraphBuilder) -> None:
    """DepthToSpace, in both orders."""
    block = g.one_of(2, 2, 3)
    x = g.pick(rank=(4,), where=lambda shape: shape[1] % block**2 == 0)
    g.op("DepthToSpace", x, blocksize=block, mode=g.one_of("DCR", "CRD"))


def space_to_depth(g: GraphBuilder) -> None:
    """SpaceToDepth."""
    block = g.one_of(2, 2, 3)
    x = g.pick(rank=(4,), where=lambda shape: shape[2] % block == shape[3] % block == 0)
    g.op("SpaceToDepth", x, blocksize=block)


def channel_shuffle(g: GraphBuilder) -> None:
    """The channels of ShuffleNet: reshape, transpose, reshape."""
    x = g.pick(rank=(4,), where=lambda shape: shape[1] % 2 == 0)
    n, c, h, w = x.shape
    y = g.op("Reshape", x, g.ints(n, 2, c // 2, h, w))
    y = g.op("Transpose", y, perm=[0, 2, 1, 3, 4])
    g.op("Reshape", y, g.ints(n, c, h, w))


OPERATORS = {
    "reshape": (4, reshape),
    "flatten": (1, flatten),
    "transpose": (4, transpose),
    "slice": (4, slice),
    "concat": (4, concat),
    "split": (3, split),
    "pad": (3, pad),
    "expand": (2, expand),
    "tile": (2, tile),
    "squeeze": (1, squeeze),
    "unsqueeze": (1, unsqueeze),
    "depth_to_space": (1, depth_to_space),
    "space_to_depth": (1, space_to_depth),
    "channel_shuffle": (1, channel_shuffle),
}
