"""Work-groups of a GPU that reduce rows together: their results, and when they do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.pipelines import run_pipeline
from clopt.weights import Weights
from support.tir.program import run_program

ADRENO = cl.Target.from_facts(
    "generic", {"device_type": "gpu", "vector_width": 4, "compute_units": 4}
)
WIDE = cl.Target.from_facts(
    "generic", {"device_type": "gpu", "vector_width": 4, "compute_units": 132}
)
NARROW = cl.Target.from_facts(
    "generic",
    {"device_type": "gpu", "vector_width": 4, "compute_units": 8, "max_work_group_size": 64},
)

Build = Callable[[SSAValue], Operation]


def compiled(
    build: Build, shape: Sequence[int], target: cl.Target, after: Sequence[Build] = ()
) -> tuple[ModuleOp, func.FuncOp, Weights]:
    """The lowered program of one operation and what follows it, and the function it comes from."""
    weights = Weights()
    function = func.FuncOp("main", ([TensorType(f32, shape)], []))
    value: SSAValue = function.body.block.args[0]
    for make in (build, *after):
        op = make(value)
        function.body.block.add_op(op)
        value = op.results[0]
    function.body.block.add_op(func.ReturnOp(value))
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    cl.set_target(module, target)
    original = function.clone()
    run_pipeline(CloptContext(weights=weights), module, "opencl")
    return module, original, weights


def check(
    build: Build,
    x: np.ndarray,
    target: cl.Target = ADRENO,
    after: Sequence[Build] = (),
) -> ModuleOp:
    """Interpret the kernels work-item by work-item and compare with what nn defines."""
    module, function, weights = compiled(build, x.shape, target, after)
    expected = interpret(function, [x], weights)
    for ours, theirs in zip(run_program(module, weights, [x]), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    return module


def kernel_of(module: ModuleOp) -> tir.FuncOp:
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return kernel


def local_size(module: ModuleOp) -> list[int]:
    size = kernel_of(module).local_size
    return [] if size is None else [int(n) for n in size.iter_values()]


def cooperates(module: ModuleOp) -> bool:
    """Whether the work-items of a group meet."""
    return any(isinstance(op, tir.BarrierOp) for op in kernel_of(module).walk())


def integers(*shape: int) -> np.ndarray:
    """Small numbers whose sums are exact in any order, with many ties."""
    return np.random.default_rng(3).integers(-4, 5, shape).astype(np.float32)


def reduce(kind: str, *axes: int, keep: bool = True) -> Build:
    return lambda x: nn.ReduceOp(x, kind, list(axes), keep)


KINDS = ["sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum_exp", "sum_square"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(2, 70), (1, 130)])
def test_kinds(kind: str, shape: tuple[int, int]) -> None:
    x = integers(*shape) if kind != "prod" else np.where(integers(*shape) > 0, 1.0, -1.0)
    assert cooperates(check(reduce(kind, 1), x.astype(np.float32)))


@pytest.mark.parametrize("length", [2, 5, 100, 1000, 4097])
@pytest.mark.parametrize("rows", [1, 3])
def test_row_lengths(length: int, rows: int) -> None:
    module = check(reduce("sum", 1), integers(rows, length))
    assert cooperates(module) == (length >= 100)


@pytest.mark.parametrize("target", [ADRENO, WIDE, NARROW])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((64, 65), [1]),
        ((65, 9), [0]),
        ((3, 9, 40), [0, 1]),
        ((3, 9, 40), [0, 2]),
        ((3, 9, 40), [1, 2]),
        ((2, 3, 4, 50), [1, 3]),
        ((5, 2, 33), [0, 1, 2]),
        ((1, 3, 1, 70), [3]),
    ],
)
def test_axes(shape: tuple[int, ...], axes: list[int], target: cl.Target) -> None:
    check(reduce("sum", *axes), integers(*shape), target)


@pytest.mark.parametrize("keep", [False, True])
def test_whole_tensor_takes_a_full_group(keep: bool) -> None:
    module = check(reduce("sum", 0, 1, 2, keep=keep), integers(7, 11, 10))
    assert np.prod(local_size(module)) == 256


def test_work_groups_stay_below_what_the_device_allows() -> None:
    module = check(reduce("sum", 0, 1), integers(40, 50), NARROW)
    assert np.prod(local_size(module)) == 64


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((2, 133), 1), ((70, 5), 0), ((2, 37, 3), 1)])
def test_positions(kind: str, last: bool, shape: tuple[int, ...], axis: int) -> None:
    """Of the many equal elements, the first or the last."""

    def build(x: SSAValue) -> Operation:
        return nn.ArgReduceOp(x, kind, axis, True, last)

    assert cooperates(check(build, integers(*shape)))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("fill", [np.inf, -np.inf, np.nan])
def test_positions_of_what_is_no_number(fill: float, last: bool) -> None:
    for places in ([], [17], [17, 93], range(133)):
        x = integers(1, 133)
        x[0, list(places)] = fill
        check(lambda v: nn.ArgReduceOp(v, "max", 1, True, last), x)


def softmax(axis: int, log: bool = False) -> Build:
    return lambda x: nn.SoftmaxOp(x, axis, log)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1, 21, 3, 33), 1), ((4, 100), 1), ((1, 1000), 1), ((100,), 0), ((2, 40, 5), 1), ((3, 2), 1)],
)
def test_softmax(shape: tuple[int, ...], axis: int, log: bool) -> None:
    check(softmax(axis, log), integers(*shape), WIDE)


def test_softmax_of_infinities() -> None:
    x = integers(3, 70)
    x[1, 5] = -np.inf
    x[2, :] = -np.inf
    check(softmax(1), x)


def test_epilogue_on_every_element() -> None:
    module = check(
        softmax(1), integers(3, 100), after=[lambda x: nn.UnaryOp(x, "relu"), softmax_scale]
    )
    assert cooperates(module)


def softmax_scale(x: SSAValue) -> Operation:
    return nn.BinaryOp(x, x, "add")


def test_epilogue_of_a_mean() -> None:
    module = check(
        reduce("mean", 2, 3), integers(1, 8, 9, 11), after=[lambda x: nn.UnaryOp(x, "sigmoid")]
    )
    assert cooperates(module)


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("batch", [1, 2])
def test_group_norm(groups: int, batch: int) -> None:
    """The groups of channels are rows, and each is reduced once."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((batch, 4, 7, 5)).astype(np.float32)
    weights = Weights()
    function = func.FuncOp("main", ([TensorType(f32, x.shape)], []))
    block = function.body.block
    constants = [
        nn.ConstantOp.from_array(rng.standard_normal(4).astype(np.float32), weights)
        for _ in range(2)
    ]
    op = nn.GroupNormOp(block.args[0], *(c.results[0] for c in constants), groups)
    block.add_ops([*constants, op, func.ReturnOp(op.results[0])])
    function.update_function_type()
    module = ModuleOp([function])
    cl.set_target(module, ADRENO)
    expected = interpret(function, [x], weights)
    run_pipeline(CloptContext(weights=weights), module, "opencl")
    (ours,) = run_program(module, weights, [x])
    np.testing.assert_allclose(ours, expected[0], rtol=1e-4, atol=1e-5)
    assert cooperates(module)
    assert kernel_of(module).global_size is not None
    groups_run = np.prod([int(n) for n in kernel_of(module).global_size.iter_values()])
    assert groups_run // np.prod(local_size(module)) <= batch * groups


def test_neighbours_take_neighbouring_results_where_there_are_many() -> None:
    """A mean over few channels has work for the whole device without any cooperation."""
    module = check(reduce("mean", 1), integers(1, 3, 72, 128))
    assert not cooperates(module)


def test_columns_are_neighbours() -> None:
    """Reduced across memory, the first index of a group runs along memory, the second across."""
    module = check(reduce("sum", 0), integers(300, 32))
    assert cooperates(module)
    kernel = kernel_of(module)
    kinds = {op.kind.data for op in kernel.walk() if isinstance(op, tir.ForOp)}
    assert {tir.LoopKind.LocalX, tir.LoopKind.LocalY} <= kinds


def test_large_windows_are_rows() -> None:
    """(1, 3, 729, 729) -> (1, 3, 27, 27), made smaller."""
    module = check(
        lambda x: nn.PoolOp(x, "average", [9, 9], strides=[9, 9]), integers(1, 3, 27, 27), WIDE
    )
    assert cooperates(module)


def test_local_memory_fits() -> None:
    for shape, axes in (((1, 4096), [1]), ((4096, 32), [0])):
        module = check(softmax(axes[0]), integers(*shape), WIDE)
        total = sum(
            4 * int(np.prod(op.memref.type.get_shape()))
            for op in kernel_of(module).walk()
            if isinstance(op, memref.AllocaOp)
            and op.memref.type.memory_space == tir.ScopeAttr(tir.Scope.Local)
        )
        assert 0 < total <= WIDE.device.local_memory_bytes // 4
