"""The tiles that the cost model picks for the shapes of real networks, on PoCL's target."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import DenseArrayBase, TensorType, f32, i64
from xdsl.ir import Block, Operation

from clopt.dialects import cl, nn, tir
from clopt.passes.nn.lowering import LOWERINGS, KernelBuilder
from clopt.passes.tir.rules.cpu import register_tile_model
from clopt.passes.tir.rules.cpu.register_tile_model import (
    RegisterTile,
    RegisterTileModel,
    candidates,
)
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import default_plan
from clopt.passes.tir.rules.shared.contraction import is_packed
from clopt.targets import load_target
from support import effort
from support.tir.plans import schedule_kernel

POCL = load_target("pocl")


def kernel(
    build: Callable[..., Operation], *shapes: Sequence[int], constants: Sequence[int] = (1,)
) -> tir.FuncOp:
    """The naive kernel of one operation; by default its second operand holds weights."""
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    op = build(*block.args)
    block.add_op(op)
    builder = KernelBuilder("kernel", block.args, op.results)
    LOWERINGS[type(op)](builder, op)
    func = builder.finish()
    func.properties["constants"] = DenseArrayBase.from_list(i64, constants)
    return func


def problem(func: tir.FuncOp, target: cl.Target = POCL) -> RegisterTileModel | None:
    contraction = NaiveKernel(func).contraction
    return None if contraction is None else RegisterTileModel(contraction, target)


def tile_of(func: tir.FuncOp, target: cl.Target = POCL) -> tuple[RegisterTileModel, RegisterTile]:
    found = problem(func, target)
    assert found is not None
    assert found.best is not None
    return found, found.best


def conv(**attributes: object) -> Callable[..., Operation]:
    return lambda x, w: nn.ConvOp(x, w, **attributes)


def large_conv() -> tir.FuncOp:
    """The last stage of a ResNet: weights of 9 MB, images of 49 points."""
    return kernel(conv(), (1, 512, 9, 9), (512, 512, 3, 3))


def grid(func: tir.FuncOp) -> list[str]:
    """The loops of the launch, outermost first, by the name of the output's loop they come from."""
    loops = [op for op in func.walk() if isinstance(op, tir.ForOp)]
    bound = [loop for loop in loops if loop.kind.data.is_bound]
    return [str(loop.var.name_hint)[:2] for loop in bound]


def test_a_pointwise_convolution_walks_positions_and_packs_its_weights():
    product = kernel(lambda x, w: nn.MatmulOp(w, x), (32, 784), (64, 32))
    found, tile = tile_of(product)
    assert (tile.row, tile.col) == (0, 1)
    assert tile.rows * tile.vectors == 12  # all registers but those of the operands
    assert not tile.gathers
    weights, image = found.contraction.loads
    assert is_packed(found.contraction, weights, tile, tile.row)
    assert not is_packed(found.contraction, image, tile, tile.col)


def test_a_convolution_reads_no_vector_lane_by_lane():
    found, tile = tile_of(kernel(conv(), (1, 64, 58, 58), (64, 64, 3, 3)))
    assert not tile.gathers
    assert tile.rows * tile.vectors >= 8
    weights = found.contraction.loads[1]
    assert any(is_packed(found.contraction, weights, tile, dim) for dim in (tile.row, tile.col))


def strided_conv() -> tir.FuncOp:
    return kernel(conv(strides=[2, 2]), (1, 64, 57, 57), (128, 64, 3, 3))


def test_a_strided_convolution_makes_vectors_of_channels():
    _, tile = tile_of(strided_conv())
    assert tile.col == 1
    assert not tile.gathers


def test_a_core_that_loads_single_lanes_at_no_cost_gathers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(register_tile_model, "LANE_CYCLES", 0.001)
    monkeypatch.setattr(register_tile_model, "mad_cycles", lambda target, sums, shared: 0.0)
    monkeypatch.setattr(register_tile_model, "l2_bytes_per_cycle", lambda machine: 1e6)
    monkeypatch.setattr(register_tile_model, "mads_per_cycle", lambda machine: 100.0)
    _, tile = tile_of(strided_conv())
    assert tile.gathers


@pytest.mark.parametrize(("cycles", "chunk"), [(5e3, 1), (1e6, 7)])
def test_work_items_are_larger_where_they_are_dear_to_start(
    cycles: float, chunk: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(register_tile_model, "ITEM_CYCLES", cycles)
    plan = default_plan(strided_conv(), POCL)
    assert plan.data.parameters["chunk"] == chunk


def test_a_depthwise_convolution_makes_vectors_of_positions():
    _, tile = tile_of(kernel(conv(groups=32), (1, 32, 114, 114), (32, 1, 3, 3)))
    assert tile.col == 3
    assert not tile.gathers


@pytest.mark.parametrize("lanes", [8, 16])
def test_every_other_position_is_half_of_a_vector_that_is_loaded(lanes: int):
    """OpenCL has vectors of 16 elements at the most."""
    facts = {"vector_width": lanes, "vector_registers": 32}
    halving = kernel(conv(groups=96, strides=[2, 2]), (1, 96, 114, 114), (96, 1, 3, 3))
    _, tile = tile_of(halving, POCL.with_facts(facts))
    assert (tile.col, tile.width) == (3, 8)
    assert not tile.gathers


def test_a_few_positions_are_still_a_tile():
    _, tile = tile_of(large_conv())
    assert tile.col == 1
    assert tile.rows == 7
    assert not tile.gathers


def test_large_weights_are_read_once():
    func = large_conv()
    schedule_kernel(func, POCL)
    assert grid(func)[0] == "i1"


def test_small_weights_are_read_for_every_position():
    func = kernel(conv(), (1, 64, 58, 58), (64, 64, 3, 3))
    schedule_kernel(func, POCL)
    assert grid(func)[-1] == "i1"


def test_one_row_uses_many_vectors():
    """A fully connected layer: nothing to share between rows, so vectors hide the latency."""
    _, tile = tile_of(kernel(lambda a, b: nn.MatmulOp(a, b, False, True), (1, 512), (1000, 512)))
    assert (tile.rows, tile.col) == (1, 1)
    assert tile.vectors >= 4
    assert not tile.gathers  # the weights are packed for it


def product(
    rows: int, depth: int, cols: int, transposed: bool = False, batch: tuple[int, ...] = ()
) -> tir.FuncOp:
    """A product of two matrices that are computed."""
    right = (cols, depth) if transposed else (depth, cols)
    shapes = ((*batch, rows, depth), (*batch, *right))
    return kernel(lambda a, b: nn.MatmulOp(a, b, False, transposed), *shapes, constants=())


def test_a_large_matrix_is_copied_panel_by_panel():
    plan = default_plan(product(1024, 1024, 1024), POCL).data.parameters
    assert plan["panel"] == "packed"
    assert plan["chunk"] == -(-1024 // plan["rows"])  # all rows use the copy


def test_a_matrix_that_stays_in_the_cache_is_not():
    assert default_plan(product(197, 64, 197), POCL).data.parameters["panel"] == "plain"
    batch = product(197, 64, 197, batch=(64,))  # large only all together
    assert default_plan(batch, POCL).data.parameters["panel"] == "plain"


def test_a_transposed_matrix_is_transposed_by_the_panel():
    func = product(128, 64, 128, transposed=True)
    _, tile = tile_of(func)
    assert tile.panel
    assert not tile.gathers
    steps = schedule_kernel(func, POCL)
    assert [step.split()[2:] for step in steps if step.startswith("transform")] == [["d1", "d0"]]


def test_one_row_is_multiplied_along_memory():
    assert default_plan(product(1, 1024, 1024, transposed=True), POCL).data.rule == "rows"


def test_a_panel_takes_no_more_than_half_a_cache():
    most = POCL.machine.l2_cache_bytes // 2 // 4
    found = problem(product(64, most // 8, 64))
    assert found is not None
    assert {tile.cols for tile in candidates(found) if tile.panel and tile.parts == 1} == {8}


def parts_of(func: tir.FuncOp) -> int:
    parts = default_plan(func, POCL).data.parameters["parts"]
    assert isinstance(parts, int)
    return parts


def transposed_product(rows: int, depth: int, cols: int) -> tir.FuncOp:
    """A product whose first operand is walked a row of memory each step."""
    shapes = ((depth, rows), (depth, cols))
    return kernel(lambda a, b: nn.MatmulOp(a, b, True, False), *shapes, constants=())


def test_rows_a_page_apart_stay_in_the_cache_from_tile_to_tile():
    """512 KiB hold 128 lines of which each lies in a page of its own."""
    parts = parts_of(transposed_product(1024, 1024, 1024))
    assert 1024 // parts <= 128
    assert parts_of(product(1024, 1024, 1024)) == 1
    assert parts_of(transposed_product(1024, 64, 1024)) == 1


def test_a_panel_that_is_too_large_is_copied_in_parts():
    plan = default_plan(product(512, 16384, 512), POCL).data.parameters
    assert plan["panel"] == "packed"
    assert parts_of(product(512, 16384, 512)) > 1


def test_constants_have_a_layout_and_no_parts():
    weights = kernel(lambda a, b: nn.MatmulOp(a, b), (512, 16384), (16384, 512))
    assert parts_of(weights) == 1


def test_rows_whose_lines_share_a_set_of_the_cache_are_few():
    """32 KiB have room for eight lines at a distance of 4 KiB, and for twice as many at half."""
    wide = POCL.with_facts({"vector_width": 16, "vector_registers": 32})
    assert tile_of(product(1024, 1024, 8), wide)[1].rows == 8
    assert 8 < tile_of(product(1024, 512, 8), wide)[1].rows <= 16
    assert tile_of(product(1024, 1000, 8), wide)[1].rows > 16


@pytest.mark.parametrize(
    "build",
    [
        lambda x: nn.SoftmaxOp(x, 1),
        lambda x: nn.ArgReduceOp(x, "max", 1),
        lambda x: nn.TransposeOp(x, (1, 0)),
    ],
)
def test_other_kernels_are_no_tiling_problem(build: Callable[..., Operation]):
    assert problem(kernel(build, (8, 16), constants=())) is None


def test_a_single_result_has_no_tile():
    found = problem(kernel(lambda a, b: nn.MatmulOp(a, b), (1, 9), (9, 1)))
    assert found is not None
    assert found.best is None


@settings(max_examples=effort.examples(40))
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 40),
    k=st.integers(1, 600),
    registers=st.sampled_from([6, 16, 32]),
    width=st.sampled_from([4, 8, 16]),
)
def test_tiles_fit(m: int, n: int, k: int, registers: int, width: int):
    target = cl.Target.from_facts("generic", {"vector_registers": registers, "vector_width": width})
    found = problem(kernel(lambda a, b: nn.MatmulOp(a, b), (m, k), (k, n)), target)
    assert found is not None
    for tile in candidates(found):
        assert tile.rows <= found.extents[tile.row]
        assert tile.cols <= found.extents[tile.col]
        assert tile.rows * tile.vectors <= registers - 4
        assert tile.width in (2, 4, 8, 16)
        assert tile.cycles > 0


@pytest.mark.parametrize("depth", [256, 1024])
def test_a_single_row_copies_no_panel(depth: int):
    """It reads each element once, wherever the columns lie."""
    plan = default_plan(product(1, depth, 1024), POCL).data.parameters
    assert (plan["panel"], plan["parts"]) == ("plain", 1)


AVX512 = POCL.with_facts({"vector_width": 16, "vector_registers": 32, "l1_cache_bytes": 49152})


@pytest.mark.parametrize(
    ("depth", "constants", "target", "distance"),
    [
        (2048, [1], AVX512, 8192),
        (2048, [1], POCL, 0),  # 8 lanes would fetch a line twice
        (2048, [], AVX512, 0),  # an operand that was just computed is in the caches
        (64, [1], AVX512, 0),  # weights of 128 KB stay in L2
    ],
)
def test_weights_that_leave_the_caches_are_fetched_ahead(
    depth: int, constants: list[int], target: cl.Target, distance: int
):
    product = kernel(nn.MatmulOp, (128, depth), (depth, 512), constants=constants)
    plan = default_plan(product, target).data
    assert plan.rule == "register-tile"
    assert plan.parameters["ahead"] == distance
