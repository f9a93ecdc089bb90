"""The nn passes keep the meaning of the programs in their lit tests and of random ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.conv_to_matmul import NNConvToMatmulPass
from clopt.passes.nn.flatten_products import NNFlattenProductsPass
from clopt.passes.nn.fold_batch_norm import NNFoldBatchNormPass
from clopt.passes.nn.fold_constants import NNFoldConstantsPass
from clopt.passes.nn.join_attention import NNJoinAttentionPass
from clopt.targets import load_target
from clopt.weights import Weights
from support import effort
from support.drawing import pick

Array = np.ndarray[Any, np.dtype[Any]]
_LIT = Path(__file__).parents[3] / "lit_tests" / "passes" / "nn"
_CASES: list[tuple[Path, ModulePass]] = [
    *((path, CanonicalizePass()) for path in sorted((_LIT / "canonicalize").iterdir())),
    (_LIT / "fold_constants.mlir", NNFoldConstantsPass()),
    (_LIT / "fold_batch_norm.mlir", NNFoldBatchNormPass()),
    (_LIT / "conv_to_matmul.mlir", NNConvToMatmulPass()),
    (_LIT / "flatten_products.mlir", NNFlattenProductsPass()),
    (_LIT / "join_attention.mlir", NNJoinAttentionPass()),
]


def _inputs(function: func.FuncOp) -> list[Array]:
    rng = np.random.default_rng(3)
    arrays: list[Array] = []
    for argument in function.args:
        type = nn.tensor_type(argument)
        values = rng.normal(size=type.get_shape()) * 3 + 0.1
        arrays.append(np.abs(values).astype(nn.numpy_dtype(type.element_type)))
    return arrays


def _check_users(module: ModuleOp) -> None:
    """An operation that a pattern made but did not insert still uses its operands."""
    for op in module.walk():
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        for use in (use for value in values for use in value.uses):
            assert use.operation.parent is not None, f"{use.operation.name} is in no block"


def _check(module: ModuleOp, passes: list[ModulePass], weights: Weights) -> None:
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    inputs = _inputs(function)
    before = interpret(function, inputs, weights)
    ctx = CloptContext(weights=weights)
    for step in passes:
        step.apply(ctx, module)
        module.verify()
        _check_users(module)
        function = next(op for op in module.ops if isinstance(op, func.FuncOp))
        after = interpret(function, inputs, weights)
        for a, b in zip(before, after, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-4, err_msg=f"{step.name}")


@pytest.mark.parametrize(("path", "step"), _CASES, ids=lambda v: getattr(v, "stem", None))
def test_lit_tests_keep_their_meaning(path: Path, step: ModulePass) -> None:
    for text in path.read_text().split("// -----"):
        if "#nn.weight" not in text:
            module = Parser(CloptContext(), text).parse_module()
            # A target on which each of these passes acts.
            cl.set_target(module, load_target("nvidia"))
            _check(module, [step], Weights())


class _Program:
    """A random program: each step applies one operation to a value made before."""

    def __init__(self, data: st.DataObject):
        self.data = data
        self.draw = draw = data.draw
        self.rng = np.random.default_rng(draw(st.integers(0, 1000)))
        self.weights = Weights()
        shape = (draw(st.integers(1, 2)), draw(st.sampled_from([2, 4])), 4, 5)
        self.function = func.FuncOp("main", ([TensorType(f32, shape)], []))
        self.values: list[SSAValue] = [*self.function.args]

    def add(self, op: Operation) -> SSAValue:
        self.function.body.block.add_op(op)
        return op.results[0]

    def constant(self, *shape: int) -> SSAValue:
        array = np.round(self.rng.normal(size=shape), 2).astype(np.float32)
        return self.add(nn.ConstantOp.from_array(array, self.weights))

    def splat(self, *values: float) -> SSAValue:
        value = np.float32(self.draw(st.sampled_from(values)))
        return self.add(nn.ConstantOp.from_array(np.full((), value)))

    def step(self) -> None:
        x = pick(self.data, self.values[-3:])
        step = pick(self.data, _STEPS)
        self.values.append(self.add(step(self, x)))

    def finish(self) -> ModuleOp:
        results = self.values[-2:]
        self.add_return(results)
        return ModuleOp([self.function])

    def add_return(self, results: list[SSAValue]) -> None:
        self.function.body.block.add_op(func.ReturnOp(*results))
        types = [v.type for v in results]
        self.function.update_function_type()
        assert [*self.function.function_type.outputs] == types


def _unary(p: _Program, x: SSAValue) -> Operation:
    kinds = ("relu", "neg", "abs", "sigmoid", "tanh", "silu", "floor", "softplus")
    return nn.UnaryOp(x, p.draw(st.sampled_from(kinds)))


def _clip(p: _Program, x: SSAValue) -> Operation:
    bounds = st.none() | st.sampled_from([-1.0, 0.0, 0.5, 6.0])
    return nn.ClipOp(x, p.draw(bounds), p.draw(bounds))


def _scalar(p: _Program, x: SSAValue) -> Operation:
    kind = p.draw(st.sampled_from(["add", "sub", "mul", "div", "min", "max", "pow"]))
    if kind == "pow":
        return nn.BinaryOp(x, p.splat(1, 2), kind)
    if kind != "div" and p.draw(st.booleans()):
        return nn.BinaryOp(p.splat(0, 1, 2), x, kind)
    return nn.BinaryOp(x, p.splat(1, 2, -0.5), kind)


def _channels(p: _Program, x: SSAValue) -> Operation:
    shape = nn.shape_of(x)
    c = shape[1] if len(shape) > 1 else 1
    kind = p.draw(st.sampled_from(["add", "mul", "sub"]))
    return nn.BinaryOp(x, p.constant(c, *(1,) * (len(shape) - 2)), kind)


def _pair(p: _Program, x: SSAValue) -> Operation:
    same = [v for v in p.values if v.type == x.type]
    other = pick(p.data, same)
    return nn.BinaryOp(x, other, p.draw(st.sampled_from(["add", "mul", "sub", "max"])))


def _reshape(p: _Program, x: SSAValue) -> Operation:
    shape = nn.shape_of(x)
    first, *rest = shape or (1,)
    shapes = [(nn.count(shape),), (1, *shape), shape, (first, nn.count(rest), 1)]
    return nn.ReshapeOp(x, p.draw(st.sampled_from(shapes)))


def _transpose(p: _Program, x: SSAValue) -> Operation:
    return nn.TransposeOp(x, p.draw(st.permutations(range(len(nn.shape_of(x))))))


def _slice(p: _Program, x: SSAValue) -> Operation:
    def part(n: int) -> range:
        starts = st.sampled_from(
            [range(n), range(n)[::-1], range(n)[1:] or range(n), range(n)[::2]]
        )
        return p.draw(starts)

    parts = [part(n) for n in nn.shape_of(x)]
    return nn.SliceOp(x, [r.start for r in parts], [len(r) for r in parts], [r.step for r in parts])


def _pad(p: _Program, x: SSAValue) -> Operation:
    rank = len(nn.shape_of(x))
    amounts = st.lists(st.sampled_from([0, 0, 1]), min_size=rank, max_size=rank)
    value = p.draw(st.sampled_from([0.0, 0.0, 1.0, -np.inf]))
    low, high = p.draw(amounts), p.draw(amounts)
    return nn.PadOp(x, low, high, value=max(value, -1e3))


def _concat(p: _Program, x: SSAValue) -> Operation:
    same = [v for v in p.values if v.type == x.type]
    return nn.ConcatOp([x, pick(p.data, same)], 0)


def _expand(p: _Program, x: SSAValue) -> Operation:
    shape = nn.shape_of(x)
    wide = tuple(2 if n == 1 else n for n in shape)
    return nn.ExpandOp(x, p.draw(st.sampled_from([shape, wide, (1, *shape)])))


def _gather(p: _Program, x: SSAValue) -> Operation:
    size = nn.shape_of(x)[0]
    at = p.draw(st.lists(st.integers(-size, size - 1), min_size=1, max_size=3))
    return nn.GatherOp(x, p.add(nn.ConstantOp.from_array(np.array(at))), 0)


def _conv(p: _Program, x: SSAValue) -> Operation:
    c, rank = nn.shape_of(x)[1], len(nn.shape_of(x)) - 2
    groups = p.draw(st.sampled_from([1, c]))
    k = p.draw(st.sampled_from([1, 1, 3]))
    shape = (4 * (c if groups > 1 else 1), c // groups, *(k,) * rank)
    bias = p.constant(shape[0]) if p.draw(st.booleans()) else None
    return nn.ConvOp(x, p.constant(*shape), bias, pads=[k // 2] * 2 * rank, groups=groups)


def _conv_transpose(p: _Program, x: SSAValue) -> Operation:
    c, rank = nn.shape_of(x)[1], len(nn.shape_of(x)) - 2
    groups = p.draw(st.sampled_from([1, c]))
    w = p.constant(c, 2, *(2,) * rank)
    return nn.ConvTransposeOp(x, w, strides=[2] * rank, groups=groups)


def _batch_norm(p: _Program, x: SSAValue) -> Operation:
    c = nn.shape_of(x)[1]
    scale, bias, mean = (p.constant(c) for _ in range(3))
    var = p.add(nn.ConstantOp.from_array(_positive(p, c), p.weights))
    return nn.BatchNormOp(x, scale, bias, mean, var)


def _positive(p: _Program, c: int) -> Array:
    return (p.rng.random(c) + 0.5).astype(np.float32)


def _pool(p: _Program, x: SSAValue) -> Operation:
    rank = len(nn.shape_of(x)) - 2
    k = p.draw(st.sampled_from([1, 2, 3]))
    kind = p.draw(st.sampled_from(["max", "average"]))
    include = p.draw(st.booleans())
    return nn.PoolOp(x, kind, [k] * rank, pads=[k // 2] * 2 * rank, count_include_pad=include)


def _matmul(p: _Program, x: SSAValue) -> Operation:
    *_, m, k = nn.shape_of(x)
    left = p.draw(st.booleans())
    return nn.MatmulOp(x, p.constant(m if left else k, 3), transpose_a=left)


def _reduce(p: _Program, x: SSAValue) -> Operation:
    axis = p.draw(st.integers(0, len(nn.shape_of(x)) - 1))
    return nn.ReduceOp(x, p.draw(st.sampled_from(["sum", "max", "mean"])), [axis], keepdims=True)


Step = Callable[[_Program, SSAValue], Operation]


def _spatial(step: Step) -> Step:
    """Steps for tensors with spatial dimensions; others get an identity of some kind."""

    def guarded(p: _Program, x: SSAValue) -> Operation:
        shape = nn.shape_of(x)
        return step(p, x) if 3 <= len(shape) <= 4 and nn.count(shape) < 5000 else _clip(p, x)

    return guarded


def _small(step: Step) -> Step:
    """Steps that grow a tensor or need two dimensions."""

    def guarded(p: _Program, x: SSAValue) -> Operation:
        shape = nn.shape_of(x)
        return step(p, x) if 2 <= len(shape) <= 5 and nn.count(shape) < 5000 else _clip(p, x)

    return guarded


_STEPS: list[Step] = [
    _unary,
    _clip,
    _scalar,
    _channels,
    _pair,
    _reshape,
    _transpose,
    _slice,
    _small(_pad),
    _small(_concat),
    _small(_expand),
    _small(_gather),
    _small(_matmul),
    _reduce,
    *(_spatial(step) for step in (_conv, _conv, _conv_transpose, _batch_norm, _batch_norm, _pool)),
]


@settings(max_examples=effort.examples(60, long=1500))
@given(st.data(), st.integers(1, 14))
@pytest.mark.by_default(cases=1)
def test_random_programs_keep_their_meaning(data: st.DataObject, length: int) -> None:
    program = _Program(data)
    for _ in range(length):
        program.step()
    steps: list[ModulePass] = [
        NNFoldConstantsPass(),
        CanonicalizePass(),
        NNFoldBatchNormPass(),
        NNConvToMatmulPass(),
        CanonicalizePass(),
        NNFoldConstantsPass(),
        CommonSubexpressionElimination(),
    ]
    _check(program.finish(), steps, program.weights)
