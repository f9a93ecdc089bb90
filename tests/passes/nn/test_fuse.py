"""Operations that share a kernel: meaning and order stay, values are computed once, one anchor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue

from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.fuse import NNFusePass, Role, role_of
from support.drawing import pick

STARTS_KERNEL = (Role.WINDOW, Role.CONTRACTION, Role.PIECES)


class Graph:
    """A function under construction."""

    def __init__(self, *shapes: tuple[int, ...]):
        self.function = func.FuncOp("main", ([TensorType(f32, s) for s in shapes], []))
        self.random = np.random.default_rng(1)

    @property
    def args(self) -> tuple[SSAValue, ...]:
        return tuple(self.function.args)

    def add(self, op: Operation) -> SSAValue:
        self.function.body.block.add_op(op)
        return op.results[0]

    def constant(self, *shape: int) -> SSAValue:
        array = self.random.integers(-3, 4, shape).astype(np.float32)
        return self.add(nn.ConstantOp.from_array(array))

    def relu(self, x: SSAValue) -> SSAValue:
        return self.add(nn.UnaryOp(x, "relu"))

    def exp(self, x: SSAValue) -> SSAValue:
        return self.add(nn.UnaryOp(x, "exp"))

    def conv(self, x: SSAValue, outputs: int) -> SSAValue:
        return self.add(nn.ConvOp(x, self.constant(outputs, nn.shape_of(x)[1], 1)))

    def binary(self, a: SSAValue, b: SSAValue, kind: str = "add") -> SSAValue:
        return self.add(nn.BinaryOp(a, b, kind))

    def fused(self, *results: SSAValue) -> list[list[str]]:
        """The names of the operations of each kernel, in order."""
        self.function.body.block.add_op(func.ReturnOp(*results))
        self.function.update_function_type()
        module = ModuleOp([self.function])
        NNFusePass().apply(CloptContext(), module)
        module.verify()
        return [names(op) for op in self.function.body.block.ops if isinstance(op, nn.FusedOp)]


def computed(fused: nn.FusedOp) -> list[Operation]:
    return [op for op in fused.body.block.ops if not isinstance(op, nn.ConstantOp | nn.YieldOp)]


def names(fused: nn.FusedOp) -> list[str]:
    return [
        op.kind.data.value if isinstance(op, nn.UnaryOp | nn.BinaryOp) else op.name[3:]
        for op in computed(fused)
    ]


def test_a_residual_block_is_two_kernels():
    graph = Graph((1, 4, 6))
    (x,) = graph.args
    y = graph.relu(graph.conv(x, 4))
    z = graph.relu(graph.binary(graph.conv(y, 4), x))
    assert graph.fused(z) == [["conv", "relu"], ["conv", "add", "relu"]]


def test_of_two_convolutions_that_are_added_one_keeps_its_kernel():
    graph = Graph((1, 4, 6))
    (x,) = graph.args
    y = graph.relu(graph.binary(graph.conv(x, 4), graph.conv(x, 4)))
    assert graph.fused(y) == [["conv"], ["conv", "add", "relu"]]


def test_a_value_with_two_uses_stays_in_memory():
    graph = Graph((5,))
    a = graph.relu(graph.args[0])
    b, c = graph.relu(a), graph.exp(a)
    assert graph.fused(b, c) == [["relu"], ["relu"], ["exp"]]


def test_a_returned_value_stays_in_memory():
    graph = Graph((5,))
    a = graph.relu(graph.args[0])
    assert graph.fused(graph.relu(a), a) == [["relu"], ["relu"]]


def test_a_diamond_is_no_cycle():
    graph = Graph((5,))
    a = graph.relu(graph.args[0])
    b = graph.binary(a, graph.relu(a))
    assert graph.fused(b) == [["relu"], ["relu", "add"]]


def test_kernels_have_a_limit():
    graph = Graph((5,))
    x = graph.args[0]
    for _ in range(100):
        x = graph.relu(x)
    assert [len(kernel) for kernel in graph.fused(x)] == [48, 48, 4]


def test_costly_functions_are_not_computed_for_every_copy():
    graph = Graph((5, 1), (1, 7))
    a, b = graph.args
    y = graph.binary(graph.relu(a), graph.exp(b))
    assert graph.fused(y) == [["exp"], ["relu", "add"]]


def test_matrices_are_read_from_memory():
    graph = Graph((4, 3), (3, 5))
    a, b = graph.args
    y = graph.relu(graph.add(nn.MatmulOp(graph.relu(a), b)))
    assert graph.fused(y) == [["relu"], ["matmul", "relu"]]


def test_an_epilogue_has_the_shape_of_its_anchor():
    graph = Graph((4, 3), (2, 4, 1))
    total = graph.add(nn.ReduceOp(graph.args[0], "sum", [1], True))
    assert graph.fused(graph.binary(total, graph.args[1])) == [["reduce"], ["add"]]


def test_pieces_of_a_concat_are_computed_in_place():
    graph = Graph((4, 3), (4, 3))
    a, b = graph.args
    y = graph.add(nn.ConcatOp([graph.relu(a), graph.exp(b)], 1))
    assert graph.fused(graph.relu(y)) == [["relu", "exp", "concat"], ["relu"]]


@pytest.mark.parametrize(
    ("size", "stride", "kernels"), [(3, 1, [["pad", "pool"]]), (5, 1, [["pad"], ["pool"]])]
)
def test_a_border_that_is_read_often_is_in_memory(size: int, stride: int, kernels: list[list[str]]):
    graph = Graph((1, 2, 9, 9))
    padded = graph.add(nn.PadOp(graph.args[0], [0, 0, 2, 2], [0, 0, 2, 2]))
    pool = nn.PoolOp(padded, "max", [size, size], strides=[stride, stride])
    assert graph.fused(graph.add(pool)) == kernels


def test_literals_are_held_by_the_kernel_and_arrays_are_read():
    graph = Graph((4,))
    (x,) = graph.args
    one = graph.add(nn.ConstantOp.from_array(np.float32(1).reshape(())))
    y = graph.binary(graph.binary(x, one), graph.constant(4), "mul")
    assert graph.fused(y) == [["add", "mul"]]
    (fused,) = (op for op in graph.function.body.block.ops if isinstance(op, nn.FusedOp))
    assert len(fused.inputs) == 2


@pytest.mark.parametrize("used", [[0], [1], [0, 1]])
def test_each_used_result_has_a_kernel(used: list[int]):
    graph = Graph((4, 6))
    top = nn.TopKOp(graph.relu(graph.args[0]), 2)
    graph.add(top)
    kernels = graph.fused(*(top.results[i] for i in used))
    assert kernels == [["relu", "top_k"]] * len(used)
    assert all(
        len(op.outputs) == 1 for op in graph.function.body.block.ops if isinstance(op, nn.FusedOp)
    )


def test_a_product_is_stored_where_it_moves():
    graph = Graph((6, 4))
    y = graph.relu(graph.add(nn.MatmulOp(graph.args[0], graph.constant(4, 8))))
    heads = graph.add(nn.ReshapeOp(y, [3, 2, 8]))
    z = graph.add(nn.TransposeOp(heads, [1, 0, 2]))
    assert graph.fused(z) == [["matmul", "relu", "reshape", "transpose"]]


def test_a_convolution_writes_the_border_of_the_next():
    graph = Graph((1, 3, 8))
    y = graph.add(nn.PadOp(graph.relu(graph.conv(graph.args[0], 4)), [0, 0, 1], [0, 0, 1]))
    assert graph.fused(graph.conv(y, 2)) == [["conv", "relu", "pad"], ["conv"]]


def test_columns_are_not_stored_one_by_one():
    graph = Graph((6, 4))
    y = graph.add(nn.MatmulOp(graph.args[0], graph.constant(4, 8)))
    assert graph.fused(graph.add(nn.TransposeOp(y, [1, 0]))) == [["matmul"], ["transpose"]]


def test_reshapes_alone_have_no_kernel():
    graph = Graph((4, 6))
    y = graph.add(nn.ReshapeOp(graph.relu(graph.args[0]), [24]))
    assert graph.fused(graph.relu(y)) == [["relu"], ["relu"]]


def _rows(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.add(nn.SoftmaxOp(x, 1))


def _product(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.add(nn.MatmulOp(x, graph.constant(nn.shape_of(x)[1], 4)))


def _moved(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.add(nn.TransposeOp(x, (1, 0)))


def _wider(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.add(nn.PadOp(x, [0, 1], [1, 0]))


def _shifted(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.binary(x, graph.constant(1, nn.shape_of(x)[1]))


def _joined(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.add(nn.ConcatOp([x, graph.relu(x)], 1))


def _flat_and_back(graph: Graph, x: SSAValue) -> SSAValue:
    rows, cols = nn.shape_of(x)
    flat = graph.add(nn.ReshapeOp(x, [rows * cols]))
    return graph.add(nn.ReshapeOp(flat, [cols, rows]))


def _gated(graph: Graph, x: SSAValue) -> SSAValue:
    return graph.binary(x, graph.add(nn.UnaryOp(x, "sigmoid")), "mul")


STEPS: list[Callable[[Graph, SSAValue], SSAValue]] = [
    Graph.relu,
    _rows,
    _product,
    _moved,
    _wider,
    _shifted,
    _joined,
    _flat_and_back,
    _gated,
]


@pytest.mark.by_default(cases=1)
@given(st.data())
def test_random_graphs(data: st.DataObject):
    graph = Graph((3, 4))
    values = list(graph.args)
    for _ in range(data.draw(st.integers(1, 12))):
        x = pick(data, values[-3:])
        same = [v for v in values if v.type == x.type and v is not x]
        if same and data.draw(st.booleans()):
            values.append(graph.binary(x, pick(data, same)))
        elif max(nn.shape_of(x)) < 20:
            values.append(pick(data, STEPS)(graph, x))
    results = values[-2:]
    graph.function.body.block.add_op(func.ReturnOp(*results))
    graph.function.update_function_type()
    module, function = ModuleOp([graph.function]), graph.function
    inputs = [np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)]
    before = interpret(function, inputs)
    ops = Counter(op.name for op in function.walk() if role_of(op) is not None)
    NNFusePass().apply(CloptContext(), module)
    module.verify()
    for old, new in zip(before, interpret(function, inputs), strict=True):
        np.testing.assert_array_equal(new, old)
    kernels = [op for op in function.body.block.ops if isinstance(op, nn.FusedOp)]
    assert ops == Counter(op.name for k in kernels for op in computed(k) if role_of(op) is not None)
    for kernel in kernels:
        assert sum(role_of(op) in STARTS_KERNEL for op in computed(kernel)) <= 1
    outside = {type(op) for op in function.body.block.ops}
    assert outside <= {nn.FusedOp, nn.ConstantOp, nn.ReshapeOp, func.ReturnOp}
