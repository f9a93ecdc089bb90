"""Random functions of nn operations, one family for each kind of kernel, and random targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Operation, SSAValue

from clopt.dialects import cl, nn
from clopt.weights import Weights
from support.drawing import pick, pick_some, shuffle

TARGETS = st.one_of(
    st.builds(
        cl.Target,
        vector_width=st.sampled_from([2, 4, 8]),
        vector_registers=st.sampled_from([6, 8, 16]),
        compute_units=st.sampled_from([1, 4]),
        l1_cache_bytes=st.sampled_from([64, 32768]),
        l2_cache_bytes=st.sampled_from([64, 524288]),
    ),
    st.builds(
        cl.Target,
        device_type=st.just("gpu"),
        vector_width=st.just(4),
        register_rows=st.sampled_from([1, 2, 4]),
        register_cols=st.sampled_from([1, 2, 4]),
        compute_units=st.sampled_from([1, 16]),
        max_work_group_size=st.just(256),
    ),
)


class Network:
    """A function under construction, of values drawn by hypothesis."""

    def __init__(self, data: st.DataObject):
        self.data = data
        self.random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
        self.weights = Weights()
        self.function = func.FuncOp("main", ([], []))
        self.inputs: list[np.ndarray] = []

    def draw(self, strategy: st.SearchStrategy, label: str | None = None):
        return self.data.draw(strategy, label=label)

    def pick(self, *values):
        return pick(self.data, values)

    def size(self, most: int) -> int:
        return self.draw(st.integers(1, most))

    def array(self, shape: Sequence[int]) -> np.ndarray:
        """Small integers, whose sums and products are exact in any order."""
        return self.random.integers(-4, 5, shape).astype(np.float32)

    def input(self, *shape: int) -> SSAValue:
        block = self.function.body.block
        self.inputs.append(self.array(shape))
        return block.insert_arg(TensorType(f32, shape), len(block.args))

    def constant(self, *shape: int) -> SSAValue:
        return self.add(nn.ConstantOp.from_array(self.array(shape), self.weights))

    def operand(self, *shape: int) -> SSAValue:
        """Weights, or activations."""
        return self.input(*shape) if self.draw(st.booleans()) else self.constant(*shape)

    def add(self, op: Operation) -> SSAValue:
        self.function.body.block.add_op(op)
        return op.results[0]

    def maybe(self, x: SSAValue, *steps: Callable[[Network, SSAValue], SSAValue]) -> SSAValue:
        """Up to three of the steps, one after the other."""
        for step in pick_some(self.data, steps, 0, 3):
            x = step(self, x)
        return x

    def finish(self, *results: SSAValue) -> ModuleOp:
        self.function.body.block.add_op(func.ReturnOp(*results))
        self.function.update_function_type()
        # Names mark a network that becomes an identity, as they do after an import.
        names = [DictionaryAttr({"nn.name": StringAttr(f"y{i}")}) for i in range(len(results))]
        self.function.res_attrs = ArrayAttr(names)
        return ModuleOp([self.function])


def relu(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.UnaryOp(x, "relu"))


def clip(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.ClipOp(x, -20.0, 60.0))


def per_channel(net: Network, x: SSAValue) -> SSAValue:
    shape = nn.shape_of(x)
    position = net.draw(st.integers(0, len(shape) - 1))
    array = net.operand(*(n if i == position else 1 for i, n in enumerate(shape)))
    return net.add(nn.BinaryOp(x, array, net.pick("add", "sub")))


def residual(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.BinaryOp(net.operand(*nn.shape_of(x)), x, net.pick("add", "max")))


def pad(net: Network, x: SSAValue) -> SSAValue:
    amounts = st.lists(st.integers(0, 2), min_size=len(x.type.shape), max_size=len(x.type.shape))
    low, high = net.draw(amounts), net.draw(amounts)
    return net.add(nn.PadOp(x, low, high, value=net.pick(0.0, 3.0)))


def transpose(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.TransposeOp(x, net.draw(st.permutations(range(len(nn.shape_of(x)))))))


def reshape(net: Network, x: SSAValue) -> SSAValue:
    shape = nn.shape_of(x)
    half = [*shape[:-1], shape[-1] // 2, 2] if shape[-1] % 2 == 0 else [1, *shape]
    merged = [*shape[:-2], shape[-2] * shape[-1]] if len(shape) > 1 else [*shape, 1]
    return net.add(nn.ReshapeOp(x, net.pick(half, merged)))


def backwards(net: Network, x: SSAValue) -> SSAValue:
    shape = nn.shape_of(x)
    return net.add(nn.SliceOp(x, [n - 1 for n in shape], shape, [-1] * len(shape)))


BEFORE = (relu, per_channel, pad, backwards)
AFTER = (relu, clip, per_channel, residual)
MOVES = (*AFTER, pad, transpose, reshape)


def convolution(net: Network) -> ModuleOp:
    rank = net.pick(1, 2, 2)
    groups, per_group, outputs = net.pick(1, 1, 2, 5), net.pick(1, 2), net.pick(1, 3, 4, 6)
    kernel = [net.size(3) for _ in range(rank)]
    dilations = [net.pick(1, 1, 2) for _ in range(rank)]
    sizes = [net.size(11) + (k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    x = net.maybe(net.input(net.size(2), groups * per_group, *sizes), relu, per_channel)
    conv = nn.ConvOp(
        x,
        net.operand(groups * outputs, per_group, *kernel),
        net.constant(groups * outputs) if net.draw(st.booleans()) else None,
        strides=[net.pick(1, 1, 2) for _ in range(rank)],
        dilations=dilations,
        pads=[net.pick(0, 1, 2) for _ in range(2 * rank)],
        groups=groups,
    )
    return net.finish(net.maybe(net.add(conv), *MOVES))


def transposed_convolution(net: Network) -> ModuleOp:
    groups, per_group = net.pick(1, 1, 3), net.pick(1, 4)
    x = net.input(net.size(2), groups * 2, net.size(6), net.size(6))
    strides = [net.pick(1, 2), net.pick(1, 3)]
    conv = nn.ConvTransposeOp(
        x,
        net.operand(groups * 2, per_group, 3, 2),
        strides=strides,
        pads=[0, 1, 1, 0],
        groups=groups,
    )
    return net.finish(net.maybe(net.add(conv), *AFTER))


def matmul(net: Network) -> ModuleOp:
    m, n, k = net.size(14), net.size(19), net.size(6)
    batch = [net.size(2) for _ in range(net.pick(0, 0, 1, 2))]
    transpose_a, transpose_b = net.draw(st.booleans()), net.draw(st.booleans())

    def operand(rows: int, cols: int, transposed: bool) -> SSAValue:
        lead = net.pick(batch, [1] * len(batch), batch[1:])
        return net.operand(*lead, *((cols, rows) if transposed else (rows, cols)))

    a = net.maybe(operand(m, k, transpose_a), relu, per_channel)
    b = net.maybe(operand(k, n, transpose_b), relu)
    return net.finish(net.maybe(net.add(nn.MatmulOp(a, b, transpose_a, transpose_b)), *MOVES))


def large_matmul(net: Network) -> ModuleOp:
    """Large enough for the GPU's panels in local memory."""
    a, b = net.operand(net.pick(16, 17, 20), net.pick(32, 35)), net.operand(35, net.pick(16, 23))
    if nn.shape_of(a)[1] != 35:
        b = net.operand(32, 18)
    return net.finish(net.maybe(net.add(nn.MatmulOp(a, b)), *AFTER))


def pool(net: Network) -> ModuleOp:
    x = net.maybe(net.input(net.size(2), net.size(3), net.size(9) + 2, net.size(11) + 2), *BEFORE)
    kernel = [net.size(3), net.size(3)]
    window = {
        "strides": [net.size(2), net.size(2)],
        "pads": [net.draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)],
        "ceil_mode": net.draw(st.booleans()),
    }
    if net.pick("pool", "pool", "indices") == "indices":
        return net.finish(net.add(nn.MaxPoolIndicesOp(x, kernel, **window)))
    kind, counted = net.pick("max", "average"), net.draw(st.booleans())
    y = net.add(nn.PoolOp(x, kind, kernel, count_include_pad=counted, **window))
    return net.finish(net.maybe(y, *AFTER))


def reduction(net: Network) -> ModuleOp:
    shape = [net.size(4), net.size(5), net.size(19)]
    axes = net.draw(st.sets(st.integers(0, 2), min_size=1))
    x = net.maybe(net.input(*shape), relu, per_channel)
    kind = net.pick("sum", "mean", "max", "min", "l1", "sum_square")
    y = net.add(nn.ReduceOp(x, kind, sorted(axes), net.draw(st.booleans())))
    return net.finish(net.maybe(y, relu, clip))


def arg_reduction(net: Network) -> ModuleOp:
    x = net.input(net.size(4), net.size(5), net.size(19))
    last = net.draw(st.booleans())
    op = nn.ArgReduceOp(x, net.pick("max", "min"), net.pick(0, 1, 2), True, last)
    return net.finish(net.add(op))


def normalization(net: Network) -> ModuleOp:
    shape = [net.size(3), net.pick(2, 4), net.size(19)]
    x = net.maybe(net.input(*shape), relu, per_channel)
    axis = net.pick(1, 2)
    scale, bias = (net.constant(*shape[axis:]) for _ in range(2))
    channels = [net.constant(shape[1]) for _ in range(2)]
    make = net.pick(
        lambda: nn.SoftmaxOp(x, net.pick(0, 1, 2), net.draw(st.booleans())),
        lambda: nn.LayerNormOp(x, scale, net.pick(bias, None), axis),
        lambda: nn.RmsNormOp(x, scale, axis),
        lambda: nn.GroupNormOp(x, *channels, net.pick(1, 2)),
    )
    return net.finish(net.maybe(net.add(make()), relu, per_channel))


def movement(net: Network) -> ModuleOp:
    x = net.input(*(net.size(5) for _ in range(3)))
    y = net.maybe(x, *BEFORE, transpose, reshape, residual)
    z = net.maybe(x, *BEFORE)
    flat = [net.add(nn.ReshapeOp(v, [nn.count(nn.shape_of(v))])) for v in (y, z, x)]
    return net.finish(net.maybe(net.add(nn.ConcatOp(flat, 0)), relu, per_channel), y)


def several_results(net: Network) -> ModuleOp:
    x = net.maybe(net.input(net.size(3), net.size(7)), relu)
    axis = net.pick(0, 1)
    k = net.draw(st.integers(0, nn.shape_of(x)[axis]))
    op = nn.TopKOp(x, k, axis, net.draw(st.booleans()))
    net.add(op)
    results = shuffle(net.data, op.results)[: net.size(2)]
    return net.finish(*results)


def _same_conv(net: Network, x: SSAValue) -> SSAValue:
    channels = nn.shape_of(x)[1]
    groups, k = net.pick(1, channels), net.pick(1, 3)
    w = net.constant(channels, channels // groups, k, k)
    return net.add(nn.ConvOp(x, w, pads=[k // 2] * 4, groups=groups))


def _squeeze_excite(net: Network, x: SSAValue) -> SSAValue:
    mean = net.add(nn.ReduceOp(x, "mean", [2, 3], True))
    return net.add(nn.BinaryOp(x, net.add(nn.UnaryOp(mean, "sigmoid")), "mul"))


def _softmax(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.SoftmaxOp(x, net.pick(1, 2, 3)))


def _layer_norm(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.LayerNormOp(x, net.constant(nn.shape_of(x)[-1])))


def _small_pool(net: Network, x: SSAValue) -> SSAValue:
    window = {"strides": [net.pick(1, 2)] * 2, "pads": [1, 1, 1, 1]}
    return net.add(nn.PoolOp(x, net.pick("max", "average"), [3, 3], **window))


def _swap(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.TransposeOp(x, net.pick([0, 2, 3, 1], [0, 1, 3, 2], [0, 3, 1, 2])))


def _join(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.ConcatOp([x, relu(net, x)], net.pick(1, 3)))


def _fold(net: Network, x: SSAValue) -> SSAValue:
    n, c, h, w = nn.shape_of(x)
    return net.add(nn.ReshapeOp(x, net.pick([n, c, w, h], [n, c * h, 1, w], [n, 1, c, h * w])))


def _attend(net: Network, x: SSAValue) -> SSAValue:
    scores = net.add(nn.MatmulOp(x, x, False, True))
    return net.add(nn.MatmulOp(net.add(nn.SoftmaxOp(scores, 3)), x))


def _part(net: Network, x: SSAValue) -> SSAValue:
    sizes = [max(1, n - net.pick(0, 1)) for n in nn.shape_of(x)]
    starts = [n - size for n, size in zip(nn.shape_of(x), sizes, strict=True)]
    return net.add(nn.SliceOp(x, starts, sizes))


LAYERS = (
    *(_same_conv, _same_conv, relu, clip, per_channel, residual, pad, _squeeze_excite, _softmax),
    *(_layer_norm, _small_pool, _swap, _join, _fold, _attend, _part),
)


def graph(net: Network) -> ModuleOp:
    """A few layers of any kind, each on one of the values before it."""
    values = [net.input(net.size(2), net.pick(1, 3, 4), net.size(6), net.size(9))]
    for _ in range(net.size(5)):
        x = net.pick(*values[-2:])
        same = [v for v in values if v.type == x.type and v is not x]
        if same and net.draw(st.booleans()):
            values.append(net.add(nn.BinaryOp(x, net.pick(*same), "add")))
        elif nn.count(nn.shape_of(x)) <= 400:
            values.append(net.pick(*LAYERS)(net, x))
    return net.finish(values[-1], net.pick(*values[-3:]))


def concat(net: Network, values: list[SSAValue]) -> SSAValue:
    """Joins some values, one of them perhaps twice."""
    x = net.pick(*values)
    rank = len(nn.shape_of(x))
    axis = net.draw(st.integers(0, rank - 1))
    fitting = [
        v
        for v in values
        if len(nn.shape_of(v)) == rank
        and all(a == b for d, (a, b) in enumerate(zip(nn.shape_of(v), nn.shape_of(x))) if d != axis)
    ]
    chosen = pick_some(net.data, fitting, 1, 4)
    return net.add(nn.ConcatOp(chosen, axis))


def part(net: Network, values: list[SSAValue]) -> SSAValue:
    """A slice of one axis, or one that keeps all of it."""
    x = net.pick(*values)
    shape = list(nn.shape_of(x))
    axis = net.draw(st.integers(0, len(shape) - 1))
    starts = [0] * len(shape)
    starts[axis] = net.draw(st.integers(0, shape[axis] - 1))
    shape[axis] = net.draw(st.integers(1, shape[axis] - starts[axis]))
    return net.add(nn.SliceOp(x, starts, shape))


def halves(net: Network, values: list[SSAValue]) -> list[SSAValue]:
    """A value cut in two."""
    x = net.pick(*values)
    shape = nn.shape_of(x)
    axis = next((d for d, n in enumerate(shape) if n > 1), 0)
    cut = net.draw(st.integers(1, max(1, shape[axis] - 1)))
    ends = [(0, cut), (cut, shape[axis])]
    return [
        net.add(
            nn.SliceOp(
                x,
                [a if d == axis else 0 for d in range(len(shape))],
                [b - a if d == axis else n for d, n in enumerate(shape)],
            )
        )
        for a, b in ends
        if b > a
    ]


def reshaped(net: Network, values: list[SSAValue]) -> SSAValue:
    x = net.pick(*values)
    n = nn.count(nn.shape_of(x))
    return net.add(nn.ReshapeOp(x, net.pick([1, n, 1], [1, 1, n], [1, n // 4, 4])))


def computed(net: Network, values: list[SSAValue]) -> SSAValue:
    x = net.pick(*values)
    if net.draw(st.booleans()):
        return net.add(nn.UnaryOp(x, "relu"))
    return net.add(nn.BinaryOp(x, x, "add"))


def parts_of_others(net: Network) -> ModuleOp:
    """Several results, each of which may also be a part of another."""
    values = [net.input(1, 4 * net.size(3), 4 * net.size(2)) for _ in range(net.size(2))]
    for _ in range(net.size(8)):
        if sum(nn.count(nn.shape_of(v)) for v in values) > 2000:
            break
        made = net.pick(concat, concat, part, halves, reshaped, computed, computed)(net, values)
        values += made if isinstance(made, list) else [made]
    return net.finish(*(net.pick(*values) for _ in range(net.size(3))), values[-1])


FAMILIES = [
    convolution,
    transposed_convolution,
    matmul,
    large_matmul,
    pool,
    reduction,
    arg_reduction,
    normalization,
    movement,
    several_results,
    graph,
]


def assert_same(ours: Sequence[np.ndarray], expected: Sequence[np.ndarray], step: str) -> None:
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=step)
