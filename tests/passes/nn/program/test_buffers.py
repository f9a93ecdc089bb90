"""Values that lie in parts of others are what nn defines, and no kernel is left of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, f32
from xdsl.ir import SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.dialects.cl.ops import byte_count
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.program import buffers
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from support import effort
from support.nn.random_network import Network
from support.nn.random_parts import parts_of_others
from support.tir.program import run_program


@settings(max_examples=effort.examples(80))
@given(data=st.data())
def test_values_in_parts_of_others_are_what_nn_defines(data: st.DataObject) -> None:
    net = Network(data)
    module = parts_of_others(net)
    module.verify()
    alignment = data.draw(st.sampled_from([1, 16, 64]), label="alignment")
    cl.set_target(
        module, cl.Target.from_facts("generic", {"image_base_alignment_bytes": alignment})
    )
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    for step in (NNFusePass(), NNToCLPass(), NNToTIRPass()):
        step.apply(ctx, module)
    module.verify()
    for found, wanted in zip(run_program(module, net.weights, net.inputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def joined(count: int) -> func.FuncOp:
    """A function that computes the rows of its result one by one, as an unrolled LSTM does."""
    row = TensorType(f32, [1, 32])
    function = func.FuncOp("main", ([row], [TensorType(f32, [count, 32])]))
    block = function.body.block
    rows: list[SSAValue] = [function.args[0]]
    for _ in range(count):
        block.add_op(op := nn.UnaryOp(rows[-1], "relu"))
        rows.append(op.result)
    block.add_op(join := nn.ConcatOp(rows[1:], 0))
    block.add_op(func.ReturnOp(join.result))
    NNFusePass().apply(CloptContext(), ModuleOp([function]))
    return function


def test_bytes_are_counted_once_for_each_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the time that a concatenation takes grows with its operands, not their square."""
    calls = 0

    def counted(type_: MemRefType) -> int:
        nonlocal calls
        calls += 1
        return byte_count(type_)

    monkeypatch.setattr(buffers, "byte_count", counted)
    function = joined(100)
    assert len(buffers.assign_buffers(function, [], cl.Target("device")).parts) == 100
    assert calls <= 102
