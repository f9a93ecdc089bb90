"""The costs of layouts: more work costs more, whole texels and few transforms less."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.ir import SSAValue

from clopt.dialects import nn
from clopt.dialects.nn import LayoutAttr
from clopt.passes.nn.fuse import form_groups
from clopt.passes.nn.layout.cost import LayoutCostModel
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.kernels import Work, works_of_group
from clopt.targets import load_target
from support.nn.layout_graphs import AUTO, PACKED, ROWS, Graph, tensor


def work_of(graph: Graph, y: SSAValue) -> Work:
    graph.function.body.block.add_op(func.ReturnOp(y))
    groups = form_groups(graph.function.body.block.ops, TEXELS)
    return next(w for g in groups for w in works_of_group(g) if w.result is y)


def test_more_work_costs_more():
    def cost(channels: int, extent: int, kernel: int) -> float:
        graph = Graph((1, channels, extent, extent))
        work = work_of(graph, graph.conv(graph.x, channels, kernel))
        return LayoutCostModel(AUTO).read(work, graph.x, ROWS, ROWS)

    for costs in (
        [cost(c, 16, 3) for c in (8, 16, 64)],
        [cost(16, n, 3) for n in (8, 9, 32)],
        [cost(16, 16, k) for k in (1, 3, 5)],
    ):
        assert all(a < b for a, b in pairwise(costs))


def test_packing_pays_for_convolutions_and_tails_are_not_free():
    model = LayoutCostModel(AUTO)
    graph = Graph((1, 64, 32, 32))
    work = work_of(graph, graph.conv(graph.x, 64))
    by_layout = [model.read(work, graph.x, layout, ROWS) for layout in (ROWS, PACKED, None)]
    assert all(a < b for a, b in pairwise(by_layout))

    def per_channel(channels: int) -> float:
        return model.write(tensor(1, channels, 32, 32), ROWS) / channels

    assert per_channel(1) == pytest.approx(4 * per_channel(4))
    assert per_channel(255) > per_channel(256)


def test_a_plain_input_costs_less_where_its_rows_are_whole_texels():
    model = LayoutCostModel(AUTO)

    def per_pixel(width: int) -> float:
        graph = Graph((1, 3, 32, width))
        work = work_of(graph, graph.conv(graph.x, 32, 3))
        return model.read(work, graph.x, None, ROWS) / width

    assert per_pixel(32) < 0.9 * per_pixel(33)


@pytest.mark.parametrize("depthwise", [False, True])
def test_blocks_are_taken_apart_in_whole_vectors_or_not_at_all(depthwise: bool):
    """A depthwise convolution to 72 plain channels once took 20 times as long as in blocks."""
    model, blocks = LayoutCostModel(load_target("pocl")), LayoutAttr([(1, 8)])

    def apart(channels: int) -> float:
        graph = Graph((1, channels, 56, 56))
        work = work_of(graph, graph.conv(graph.x, channels, groups=channels if depthwise else 1))
        costs = [model.read(work, graph.x, blocks, result) for result in (None, blocks)]
        return costs[0] / costs[1]

    assert apart(76) > 2 * apart(80)


def test_a_copy_into_blocks_costs_less_than_weights_without_them():
    """A single convolution of 256 channels by tiles once took 7 times as long as a direct one."""
    model, blocks = LayoutCostModel(load_target("pocl")), LayoutAttr([(1, 8)])
    graph = Graph((1, 256, 14, 14))
    u = graph.constant(256, 36, 256)
    work = work_of(graph, graph.add(nn.WinogradConvOp(graph.x, u, None, 4, (1, 1, 1, 1))))
    plain, copied, written = (
        model.read(work, graph.x, *layouts)
        for layouts in ((None, None), (blocks, None), (None, blocks))
    )
    copy = model.transform(tensor(1, 256, 14, 14), None, blocks)
    assert plain > 5 * (copied + copy)
    assert plain > 5 * written


def test_gathering_lanes_costs_four_loads():
    model = LayoutCostModel(AUTO.with_facts({"image_cost": 1.0}))
    graph = Graph((1, 16, 32, 32))
    work = work_of(graph, graph.relu(graph.x))
    along = LayoutAttr([(3, 4)])
    moved = model.traffic(tensor(1, 16, 32, 32), PACKED)
    aligned = model.read(work, graph.x, PACKED, PACKED) - moved
    apart = model.read(work, graph.x, along, PACKED) - moved
    assert apart == pytest.approx(4 * aligned)


def test_a_transform_is_a_launch_and_the_bytes():
    model = LayoutCostModel(AUTO)
    small, large = tensor(1, 4, 4, 4), tensor(1, 64, 256, 256)
    assert model.transform(small, None, None) == 0
    assert model.transform(small, None, ROWS) > AUTO.machine.launch_microseconds
    assert (
        model.transform(large, None, ROWS)
        > AUTO.machine.launch_microseconds + 2 * 64 * 65536 * 4 / 50e3
    )


def test_large_plain_products_share_their_reads():
    """Where a group reads panels into local memory, plain operands are better than texels."""
    target = load_target("nvidia")

    def cost(size: int, prefetched: int) -> float:
        a, b = (nn.ConstantOp.from_array(np.zeros((size, size), np.float32)) for _ in range(2))
        product = nn.MatmulOp(a.result, b.result)
        work = Work([product], [a.result, b.result], product.result, product)
        model = LayoutCostModel(target.with_facts({"prefetched_panels": prefetched}))
        return model.read(work, b.result, None, None)

    assert cost(1024, 2) < cost(1024, 0) / 2
    assert cost(64, 2) < cost(64, 0)
    assert cost(32, 2) == cost(32, 0)


def test_rows_of_stacked_matrices_are_rows_of_one_product():
    """The matrices of a batch have 8 rows each, and 64 together."""
    target = load_target("nvidia")

    def cost(shape: tuple[int, ...], prefetched: int) -> float:
        arrays = (np.zeros(shape, np.float32), np.zeros((64, 64), np.float32))
        a, b = (nn.ConstantOp.from_array(each) for each in arrays)
        product = nn.MatmulOp(a.result, b.result)
        work = Work([product], [a.result, b.result], product.result, product)
        model = LayoutCostModel(target.with_facts({"prefetched_panels": prefetched}))
        return model.read(work, b.result, None, None)

    assert cost((8, 8, 64), 2) < cost((8, 8, 64), 0)
    assert cost((7, 8, 64), 2) == cost((7, 8, 64), 0)


def test_a_large_product_that_reads_something_packed_has_no_panels():
    """ViT's products with a packed residual once took five times as long as those without one."""
    model, graph = LayoutCostModel(load_target("nvidia")), Graph((1024, 1024))
    product = nn.MatmulOp(graph.constant(1024, 1024), graph.constant(1024, 1024))
    add = nn.BinaryOp(product.result, graph.x, nn.BinaryKind.ADD)
    inputs = [*product.operands, graph.x]
    work = Work([product, add], inputs, add.result, product)

    def cost(residual: LayoutAttr | None, result: LayoutAttr | None) -> float:
        reads = (model.read(work, value, None, result) for value in product.operands)
        return sum(reads) + model.read(work, graph.x, residual, result)

    packed = LayoutAttr([(1, 4)])
    assert cost(packed, None) > 1.1 * cost(None, None)
    assert cost(packed, packed) == pytest.approx(cost(None, packed), rel=0.02)


def test_a_plain_product_of_two_packed_rows_has_no_tiles():
    """Scores of queries and keys once took 7 slots a multiply-add of an Adreno, where 1.4 do."""
    model = LayoutCostModel(load_target("adreno-740"))
    q, k = (nn.ConstantOp.from_array(np.zeros((64, 64), np.float32)) for _ in range(2))
    keys = nn.TransposeOp(k.result, [1, 0])
    product = nn.MatmulOp(q.result, keys.result)
    work = Work([keys, product], [q.result, k.result], product.result, product)
    packed = LayoutAttr([(1, 4)])
    plain_result, along_results = (
        model.read(work, k.result, layout, None) for layout in (packed, LayoutAttr([(0, 4)]))
    )
    assert plain_result > 2 * model.read(work, k.result, packed, packed)
    assert plain_result > 2 * along_results
