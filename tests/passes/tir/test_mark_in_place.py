"""No access that a kernel really makes contradicts a pair that `tir-mark-in-place` notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.passes.cl.pack_constants import CLPackConstantsPass
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass
from clopt.passes.tir.mark_in_place import TIRMarkInPlacePass
from clopt.weights import Weights
from support import effort
from support.nn import random_networks as nets
from support.tir.accesses import may_share, watch

PACKED = cl.Target.from_facts(
    "generic",
    {
        "device_type": "gpu",
        "vector_width": 4,
        "texture": "prefer",
        "images": True,
        "max_image_width": 4096,
        "max_image_height": 4096,
        "max_read_images": 8,
        "max_write_images": 8,
    },
)
PIPELINE = (
    NNChoosePass(),
    NNFusePass(),
    NNToCLPass(),
    NNToTIRPass(),
    TIRChoosePlanPass(),
    TIRApplyPlanPass(),
    CLPackConstantsPass(),
    TIRLowerBlocksPass(),
    TIRLowerTexturesPass(),
    TIRMarkInPlacePass(),
)


def kernels(module: ModuleOp, weights: Weights, target: cl.Target) -> list[tir.FuncOp]:
    """The lowered kernels of a module with their pairs."""
    cl.set_target(module, target)
    ctx = CloptContext(weights=weights)
    for step in PIPELINE:
        step.apply(ctx, module)
    module.verify()
    return [op for op in module.ops if isinstance(op, tir.FuncOp)]


def wrong_pairs(kernel: tir.FuncOp) -> Sequence[tuple[int, int]]:
    """The pairs of a kernel that its accesses contradict."""
    if not kernel.in_place_pairs:
        return []
    logs = watch(kernel)
    return [(i, o) for i, o in kernel.in_place_pairs if not may_share(logs[i], logs[o])]


@pytest.mark.parametrize(
    "family",
    [nets.convolution, nets.matmul, nets.reduction, nets.normalization, nets.movement, nets.graph],
)
@settings(max_examples=effort.examples(25))
@given(data=st.data())
def test_no_access_contradicts_a_pair(
    family: Callable[[nets.Network], ModuleOp], data: st.DataObject
) -> None:
    net = nets.Network(data)
    module = family(net)
    target = data.draw(st.one_of(nets.TARGETS, nets.TARGETS, st.just(PACKED)), label="target")
    for kernel in kernels(module, net.weights, target):
        assert wrong_pairs(kernel) == []
