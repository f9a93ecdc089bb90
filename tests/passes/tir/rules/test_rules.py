"""The rules keep the results of kernels, for random networks, shapes and targets.

Each example goes through the pipeline from nn to lowered kernels; after every step its programs are
interpreted and compared with the meaning of nn.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.cl.pack_constants import CLPackConstantsPass
from clopt.passes.nn.conv_to_matmul import NNConvToMatmulPass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.join_attention import NNJoinAttentionPass
from clopt.passes.nn.sink_reshapes import NNSinkReshapesPass
from clopt.passes.nn.split_padding import NNSplitPaddingPass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from support import effort
from support.nn.random_network import Network
from support.nn.random_networks import FAMILIES, TARGETS, assert_same
from support.tir.program import run_program


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=effort.examples(8, long=150))
@given(data=st.data())
def test_scheduled_kernels_compute_what_nn_defines(
    family: Callable[[Network], ModuleOp], data: st.DataObject
) -> None:
    net = Network(data)
    module = family(net)
    module.verify()
    cl.set_target(module, data.draw(TARGETS, label="target"))
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    optional = (
        NNJoinAttentionPass(),
        NNConvToMatmulPass(),
        NNSplitPaddingPass(),
        NNSinkReshapesPass(),
    )
    chosen = [step for step in optional if data.draw(st.booleans(), label=step.name)]
    stages = (
        [*chosen, NNFusePass(), NNToCLPass(), NNToTIRPass()],
        [TIRChoosePlanPass(), TIRApplyPlanPass(), CLPackConstantsPass()],
        [TIRLowerBlocksPass()],
    )
    for stage in stages:
        for step in stage:
            step.apply(ctx, module)
        module.verify()
        found = run_program(module, net.weights, net.inputs)
        assert_same(found, expected, f"after {stage[-1].name}")
