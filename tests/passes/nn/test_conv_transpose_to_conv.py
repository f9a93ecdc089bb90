"""nn-conv-transpose-to-conv computes what the transposed convolution computes, without one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.nn.conv_transpose_to_conv import NNConvTransposeToConvPass
from support import effort


@st.composite
def transposed(draw):
    rank = draw(st.integers(1, 3))
    strides = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    if draw(st.booleans()):
        strides = [strides[0]] * rank
    dims = st.lists(st.integers(1, 5), min_size=rank, max_size=rank)
    return {
        "strides": strides,
        "groups": draw(st.integers(1, 3)),
        "channels": draw(st.integers(1, 2)),
        "outputs": draw(st.integers(1, 3)),
        "taps": draw(dims),
        "size": draw(dims),
        "pads": draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank)),
        "output_padding": [draw(st.integers(0, s - 1)) for s in strides],
        "bias": draw(st.booleans()),
        "texture": draw(st.sampled_from(["off", "prefer"])),
    }


@pytest.mark.by_default(cases=1)
@settings(max_examples=effort.examples(150))
@given(case=transposed())
def test_same_result(case):
    ctx, rng = CloptContext(), np.random.default_rng(0)
    groups = case["groups"]
    x = TensorType(f32, [2, groups * case["channels"], *case["size"]])
    block = Block(arg_types=[x])

    def constant(*shape):
        array = rng.standard_normal(shape).astype(np.float32)
        op = nn.ConstantOp.from_array(array, ctx.weights)
        block.add_op(op)
        return op.result

    w = constant(groups * case["channels"], case["outputs"], *case["taps"])
    b = constant(groups * case["outputs"]) if case["bias"] else None
    try:
        op = nn.ConvTransposeOp(
            block.args[0],
            w,
            b,
            strides=case["strides"],
            pads=case["pads"],
            output_padding=case["output_padding"],
            groups=groups,
        )
    except VerifyException:
        return  # the pads crop everything: no such operation
    block.add_ops([op, func.ReturnOp(op.result)])
    function = func.FuncOp("main", ((x,), (op.result.type,)), Region(block))
    module = ModuleOp([function])
    cl.set_target(
        module, cl.Target.from_facts("generic", {"texture": case["texture"], "images": True})
    )
    value = rng.standard_normal(x.get_shape()).astype(np.float32)
    (before,) = interpret(function, [value], ctx.weights)
    NNConvTransposeToConvPass().apply(ctx, module)
    module.verify()
    (after,) = interpret(function, [value], ctx.weights)
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
    left = [op for op in module.walk() if isinstance(op, nn.ConvTransposeOp)]
    assert bool(left) == all(s == 1 for s in case["strides"])
