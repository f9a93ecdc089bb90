"""Partitioned functions compute the same, and their graphs are legal, convex and maximal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

import clopt
from clopt import CloptError
from clopt.context import CloptContext
from clopt.dialects import clml, nn
from clopt.dialects.cl import Target
from clopt.dialects.clml.facts import CLMLFacts
from clopt.dialects.nn.evaluation import evaluate, interpret
from clopt.passes.nn.choose import NNChoosePass
from clopt.targets import with_facts
from clopt.weights import Weights
from support import effort
from support.clml.graph_oracle import Array, run_module

SIZE = 6
CHANNELS = 4


class _Random:
    """A function of random operations on planes of one size, most of them CLML's."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.weights = Weights()
        self.type = TensorType(f32, [1, CHANNELS, SIZE, SIZE])
        self.block = Block(arg_types=[self.type, self.type])
        self.values: list[SSAValue] = list(self.block.args)

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, *shape: int) -> SSAValue:
        array = self.random.normal(size=shape).astype(np.float32)
        return self.add(nn.ConstantOp.from_array(array, self.weights))

    def value(self) -> SSAValue:
        """One of the latest values, or seldom an older one."""
        back = min(len(self.values), 1 + int(self.random.geometric(0.4)))
        return self.values[-back]

    def step(self) -> None:
        x = self.value()
        y = next(v for v in (self.value(), *self.values) if v is not x)
        match self.random.integers(9):
            case 0:
                w, b = self.constant(CHANNELS, CHANNELS, 3, 3), self.constant(CHANNELS)
                result = self.add(nn.ConvOp(x, w, b, pads=[1, 1, 1, 1]))
            case 1:
                w = self.constant(CHANNELS, 1, 3, 3)
                result = self.add(nn.ConvOp(x, w, pads=[1, 1, 1, 1], groups=CHANNELS))
            case 2:
                result = self.add(nn.UnaryOp(x, "relu"))
            case 3:
                result = self.add(nn.UnaryOp(x, "softsign"))
            case 4:
                result = self.add(nn.BinaryOp(x, y, "add"))
            case 5:
                both = self.add(nn.ConcatOp([x, y], 1))
                w = self.constant(CHANNELS, 2 * CHANNELS, 1, 1)
                result = self.add(nn.ConvOp(both, w))
            case 6:
                flat = self.add(nn.ReshapeOp(x, (1, CHANNELS, SIZE * SIZE)))
                flat = self.add(nn.UnaryOp(flat, "tanh"))
                result = self.add(nn.ReshapeOp(flat, (1, CHANNELS, SIZE, SIZE)))
            case 7:
                pads = [1, 1, 1, 1]
                result = self.add(
                    nn.PoolOp(x, "average", [3, 3], pads=pads, count_include_pad=True)
                )
            case _:
                result = self.add(nn.BinaryOp(x, self.constant(CHANNELS, 1, 1), "mul"))
        self.values.append(result)

    def module(self) -> ModuleOp:
        for _ in range(14):
            self.step()
        returned = self.values[-3:]
        self.add_return(returned)
        types = FunctionType.from_lists(list(self.block.arg_types), [v.type for v in returned])
        return ModuleOp([func.FuncOp("main", types, Region(self.block))])

    def add_return(self, values: Sequence[SSAValue]) -> None:
        self.block.add_op(func.ReturnOp(*values))


def _function(module: ModuleOp) -> func.FuncOp:
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return function


def _inputs(module: ModuleOp) -> list[Array]:
    random = np.random.default_rng(7)
    return [
        random.normal(size=nn.shape_of(value)).astype(
            nn.numpy_dtype(nn.tensor_type(value).element_type)
        )
        for value in _function(module).body.block.args
    ]


def _joined_by_others(source: Operation, sink: Operation) -> bool:
    """Whether a path leads from one operation to another that is not an edge between them."""
    stack = [use.operation for r in source.results for use in r.uses if use.operation is not sink]
    seen: set[Operation] = set()
    while stack:
        op = stack.pop()
        if op is sink:
            return True
        if op not in seen:
            seen.add(op)
            stack += [use.operation for result in op.results for use in result.uses]
    return False


@pytest.mark.parametrize("seed", effort.seeds(12))
def test_random_functions(seed: int) -> None:
    random = _Random(seed)
    module = random.module()
    DeadCodeElimination().apply(CloptContext(), module)
    inputs = _inputs(module)
    expected = interpret(_function(module), inputs, random.weights)
    ctx = CloptContext(weights=random.weights)
    NNChoosePass(facts="clml=prefer clml_version=3").apply(ctx, module)
    module.verify()
    calls = [op for op in _function(module).body.block.ops if isinstance(op, clml.CallOp)]
    assert calls
    for op in _function(module).body.block.ops:
        match op:
            case nn.PoolOp():
                # A padding needs what it pads in its graph.
                assert not isinstance(op.x.owner, clml.CallOp)
            case nn.UnaryOp():
                assert op.kind.data is nn.UnaryKind.SOFTSIGN
            case _:
                allowed = nn.ReshapeOp | nn.ConstantOp | clml.CallOp | func.ReturnOp
                assert isinstance(op, allowed)
    for source in calls:
        for sink in {use.operation for result in source.results for use in result.uses}:
            if isinstance(sink, clml.CallOp):
                assert _joined_by_others(source, sink), "two graphs could be one"
    for ours, right in zip(run_module(module, inputs, random.weights), expected, strict=True):
        np.testing.assert_allclose(ours, right, rtol=1e-4, atol=1e-4)


def _module(ops: Sequence[Operation], block: Block) -> ModuleOp:
    """A function of `ops` that returns the last one's result."""
    block.add_ops(ops)
    result = ops[-1].results[0]
    block.add_op(func.ReturnOp(result))
    types = FunctionType.from_lists(list(block.arg_types), [result.type])
    return ModuleOp([func.FuncOp("main", types, Region(block))])


def _check(module: ModuleOp, weights: Weights, offloaded: bool = True) -> ModuleOp:
    """Partition a module, and compare its results with those before."""
    inputs = _inputs(module)
    expected = interpret(_function(module), inputs, weights)
    NNChoosePass(facts="clml=prefer clml_version=3").apply(CloptContext(weights=weights), module)
    module.verify()
    assert any(isinstance(op, clml.GraphOp) for op in module.ops) is offloaded
    for ours, right in zip(run_module(module, inputs, weights), expected, strict=True):
        np.testing.assert_allclose(ours, right, rtol=1e-4, atol=1e-5)
    return module


def _commands(module: ModuleOp) -> list[str]:
    graphs = [op for op in module.ops if isinstance(op, clml.GraphOp)]
    commands = [command for graph in graphs for command in graph.commands]
    return [op.name for op in commands if not isinstance(op, clml.CopyOp)]


def _block(*shapes: Sequence[int]) -> Block:
    return Block(arg_types=[TensorType(f32, shape) for shape in shapes])


def _random(*shape: int) -> nn.ConstantOp:
    array = np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)
    return nn.ConstantOp.from_array(array)


# Mistakes in the sources of the only other public partitioner, and a rule of its planner.


@pytest.mark.parametrize(
    ("bounds", "commands"),
    [
        ((0.0, 6.0), ["clml.conv_activation"]),
        ((0.0, None), ["clml.conv_activation"]),
        ((0.0, 1.0), ["clml.conv", "clml.clip"]),
        ((-0.5, 6.0), ["clml.conv", "clml.clip"]),
    ],
)
def test_bounds_of_a_clip_behind_a_convolution(
    bounds: tuple[float, float | None], commands: list[str]
) -> None:
    """Defects 1 and 2: any bounds were taken for an activation, and then lost; a clip alone had no
    command.
    """
    block = _block([1, 3, 6, 6])
    w = _random(4, 3, 3, 3)
    conv = nn.ConvOp(block.args[0], w.result)
    module = _check(_module([w, conv, nn.ClipOp(conv.result, *bounds)], block), Weights())
    assert _commands(module) == commands


@pytest.mark.parametrize(
    ("channels", "groups", "offloaded"), [(4, 4, True), (8, 4, False), (4, 2, False)]
)
def test_groups(channels: int, groups: int, offloaded: bool) -> None:
    """Defect 3: groups were matched and then not computed; only depthwise is a mode of CLML."""
    block = _block([1, 4, 6, 6])
    w = _random(channels, 4 // groups, 3, 3)
    conv = nn.ConvOp(block.args[0], w.result, groups=groups)
    module = _check(_module([w, conv], block), Weights(), offloaded)
    assert _commands(module) == (["clml.conv"] if offloaded else [])


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_sizes_of_products(transpose_a: bool, transpose_b: bool) -> None:
    """Defect 4: n and k were swapped unless b was transposed."""
    block = _block([1, 5, 3] if transpose_a else [1, 3, 5], [1, 7, 5] if transpose_b else [1, 5, 7])
    product = nn.MatmulOp(*block.args, transpose_a, transpose_b)
    module = _check(_module([product], block), Weights())
    assert _commands(module) == ["clml.gemm"]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("has_bias", [False, True])
def test_dense_layers(rows: int, has_bias: bool) -> None:
    """Defect 5: a bias was one of a product of matrices, whose tensor may not exist."""
    block = _block([rows, 5])
    w, b = _random(7, 5), _random(7)
    ops: list[Operation] = [w, b, nn.MatmulOp(block.args[0], w.result, transpose_b=True)]
    if has_bias:
        ops.append(nn.BinaryOp(ops[-1].results[0], b.result, "add"))
    module = _check(_module(ops, block), Weights())
    assert _commands(module) == (["clml.fully_connected"] if rows == 1 else ["clml.gemm"])


def test_two_results_of_a_graph() -> None:
    """Defect 6: all results of a graph were read from the first one."""
    block = _block([1, 4, 6, 6])
    relu = nn.UnaryOp(block.args[0], "relu")
    tanh = nn.UnaryOp(relu.result, "tanh")
    outside = nn.UnaryOp(relu.result, "softsign"), nn.UnaryOp(tanh.result, "erf")
    last = nn.BinaryOp(outside[0].result, outside[1].result, "sub")
    _check(_module([relu, tanh, *outside, last], block), Weights())


def test_values_that_no_command_reads() -> None:
    """Defect 7, a rule: every tensor of a graph is one that a command reads or writes."""
    block = _block([1, 4, 6, 6])
    relu = nn.UnaryOp(block.args[0], "relu")
    unused = _random(4)
    pad = nn.PadOp(relu.result, (0, 0, 1, 1), (0, 0, 1, 1))
    module = _check(_module([relu, unused, pad], block), Weights())
    for graph in (op for op in module.ops if isinstance(op, clml.GraphOp)):
        for value in (*graph.inputs, *(r for op in graph.body.block.ops for r in op.results)):
            assert value.first_use is not None


def test_windows_of_global_pools_have_h_first() -> None:
    """Defect 8: windows of w by h are right for square planes alone."""
    block = _block([1, 4, 3, 8])
    module = _check(_module([nn.ReduceOp(block.args[0], "mean", [2, 3], True)], block), Weights())
    (graph,) = (op for op in module.ops if isinstance(op, clml.GraphOp))
    (pool,) = (op for op in graph.commands if isinstance(op, clml.PoolOp))
    assert _ints(pool.kernel) == (3, 8)


def _ints(attr: object) -> tuple[int, ...]:
    return nn.ints(attr)  # pyright: ignore[reportArgumentType]


POOLS = [
    {"kernel": [3, 2], "strides": [2, 2], "pads": [1, 0, 0, 1]},
    {"kernel": [3, 3], "strides": [2, 2], "ceil_mode": True},
    {"kernel": [3, 3], "strides": [2, 3], "pads": [1, 1, 1, 1], "ceil_mode": True},
    {"kernel": [2, 2], "strides": [2, 2], "ceil_mode": True},
]


@pytest.mark.parametrize("window", POOLS)
@pytest.mark.parametrize("kind", ["max", "average", "average with padding"])
def test_pools(window: dict[str, object], kind: str) -> None:
    """ceil_mode and count_include_pad, which other partitioners ignore."""
    block = _block([1, 4, 7, 8])
    relu = nn.UnaryOp(block.args[0], "sigmoid")
    counts = kind == "average with padding"
    pool = nn.PoolOp(relu.result, kind.split()[0], **window, count_include_pad=counts)  # type: ignore[arg-type]
    module = _check(_module([relu, pool], block), Weights())
    assert _commands(module)[-1] == "clml.pool"
    assert not any(isinstance(op, nn.PoolOp) for op in _function(module).body.block.ops)


@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (1, 0, 2, 1)])
@pytest.mark.parametrize("extra", [(0, 0), (1, 1)])
def test_transposed_convolutions(pads: tuple[int, ...], extra: tuple[int, int]) -> None:
    block = _block([1, 3, 5, 6])
    w, b = _random(3, 4, 3, 3), _random(4)
    conv = nn.ConvTransposeOp(
        block.args[0], w.result, b.result, strides=[2, 2], pads=pads, output_padding=extra
    )
    module = _check(_module([w, b, conv], block), Weights())
    assert _commands(module) == ["clml.conv"]


@pytest.mark.parametrize(
    ("coordinates", "sizes"),
    [("align_corners", (1, 4, 9, 5)), ("asymmetric", (1, 4, 14, 16)), ("asymmetric", (1, 4, 5, 4))],
)
def test_resize(coordinates: str, sizes: tuple[int, ...]) -> None:
    block = _block([1, 4, 7, 8])
    resize = nn.ResizeOp(block.args[0], sizes, "linear", coordinate_mode=coordinates)
    module = _check(_module([resize], block), Weights())
    assert _commands(module) == ["clml.resize_bilinear"]


@pytest.mark.parametrize("coordinates", ["asymmetric", "half_pixel", "align_corners"])
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor"])
@pytest.mark.parametrize("sizes", [(1, 3, 14, 16), (1, 3, 21, 24), (1, 3, 14, 24), (1, 3, 9, 10)])
def test_nearest_resize(coordinates: str, rounding: str, sizes: tuple[int, ...]) -> None:
    """A resize that repeats each element in a square becomes a concatenation and depth to space."""
    block = _block([1, 3, 7, 8])
    resize = nn.ResizeOp(
        block.args[0],
        sizes,
        "nearest",
        coordinate_mode=coordinates,
        nearest_mode=rounding,
    )
    x = np.arange(7 * 8, dtype=np.float32).reshape(1, 1, 7, 8).repeat(3, 1)
    n = sizes[2] // 7
    (resized,) = evaluate(resize, [x]) or ()
    repeats = np.array_equal(resized, x.repeat(n, 2).repeat(n, 3))
    # Whether it is one of those is known where there is one rounding only.
    if coordinates == "asymmetric" and rounding == "floor":
        assert repeats == (sizes in ((1, 3, 14, 16), (1, 3, 21, 24)))
    module = _check(_module([resize], block), Weights(), repeats)
    assert _commands(module) == (["clml.concat", "clml.depth_to_space"] if repeats else [])


def test_silu() -> None:
    block = _block([1, 4, 7, 8])
    w = _random(4, 4, 1, 1)
    conv = nn.ConvOp(block.args[0], w.result)
    silu = nn.UnaryOp(conv.result, "silu")
    last = nn.ConvOp(silu.result, w.result)
    module = _check(_module([w, conv, silu, last], block), Weights())
    names = ["clml.conv", "clml.activation", "clml.binary", "clml.conv"]
    assert _commands(module) == names


@pytest.mark.parametrize("kind", ["add", "sub", "mul", "div", "min", "max"])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(), (4, 1, 1), (8,), (1, 4, 7, 8)])
def test_constants_are_broadcast(kind: str, first: bool, shape: tuple[int, ...]) -> None:
    block = _block([1, 4, 7, 8])
    constant, x = _random(*shape), block.args[0]
    operands = (constant.result, x) if first else (x, constant.result)
    _check(_module([constant, nn.BinaryOp(*operands, kind)], block), Weights())


def test_from_python() -> None:
    """The module that was given stays as it is."""
    block = _block([1, 4, 6, 6])
    module = _module([nn.UnaryOp(block.args[0], "relu")], block)
    before = str(module)
    partitioned = clopt.partition_for("clml", module, "adreno-740")
    assert str(module) == before
    assert _commands(partitioned) == ["clml.activation"]
    with pytest.raises(CloptError, match="a device with CLML, and pocl has none; name another"):
        clopt.partition_for("clml", module, "pocl")
    with pytest.raises(CloptError, match='"clml=prefer" does not name a target'):
        clopt.partition_for("clml", module, "clml=prefer")
    assert CLMLFacts.of(with_facts(Target(), {"clml_version": 3})).mode == "off"


def test_same_module_same_text() -> None:
    texts: set[str] = set()
    for _ in range(2):
        random = _Random(3)
        module = random.module()
        pass_ = NNChoosePass(facts="clml=prefer clml_version=3")
        pass_.apply(CloptContext(weights=random.weights), module)
        texts.add(str(module))
    assert len(texts) == 1
