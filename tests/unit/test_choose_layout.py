"""Which layouts values get, what that costs, and how few transforms are left."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from clopt.backends.targets import load_target
from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.dialects.nn import LayoutAttr
from clopt.passes.nn.choose_layout import NNChooseLayoutPass
from clopt.passes.nn.fold_relayouts import NNFoldRelayoutsPass
from clopt.passes.nn.fuse import form_groups
from clopt.passes.nn.layout.candidates import Candidate, candidates, texture_for
from clopt.passes.nn.layout.cost import CostModel
from clopt.passes.nn.layout.explain import layout_text, layout_transforms
from clopt.passes.nn.layout.grouping import TEXELS
from clopt.passes.nn.layout.kernels import Work, works_of_group
from clopt.passes.pipelines import run_pipeline
from clopt.passes.remarks import remarks_of

AUTO = load_target("adreno-740")
PREFER = replace(AUTO, texture="prefer")
ROWS = LayoutAttr([(1, 4)], tir.ScopeAttr(tir.Scope.Texture, [3]))
"""NCHW4c in an image whose columns are w."""
PACKED = LayoutAttr([(1, 4)])


class Graph:
    """A function under construction."""

    def __init__(self, *shapes: tuple[int, ...], type_: Attribute = f32):
        self.function = func.FuncOp("main", ([TensorType(type_, s) for s in shapes], []))
        self.random = np.random.default_rng(1)

    @property
    def x(self) -> SSAValue:
        return self.function.args[0]

    def add(self, op: Operation) -> SSAValue:
        self.function.body.block.add_op(op)
        return op.results[0]

    def constant(self, *shape: int) -> SSAValue:
        array = self.random.standard_normal(shape).astype(np.float32)
        return self.add(nn.ConstantOp.from_array(array))

    def conv(self, x: SSAValue, outputs: int, kernel: int = 3, groups: int = 1) -> SSAValue:
        inputs = nn.shape_of(x)[1] // groups
        w, b = self.constant(outputs, inputs, kernel, kernel), self.constant(outputs)
        pads = [kernel // 2] * 4
        return self.add(nn.ConvOp(x, w, b, pads=pads, groups=groups))

    def relu(self, x: SSAValue) -> SSAValue:
        return self.add(nn.UnaryOp(x, "relu"))

    def pool(self, x: SSAValue, kind: str = "max", pads: tuple[int, ...] = ()) -> SSAValue:
        return self.add(nn.PoolOp(x, kind, [2, 2], strides=[2, 2], pads=pads or None))

    def mean(self, x: SSAValue) -> SSAValue:
        return self.add(nn.ReduceOp(x, "mean", [2, 3], keepdims=True))

    def binary(self, a: SSAValue, b: SSAValue, kind: str = "add") -> SSAValue:
        return self.add(nn.BinaryOp(a, b, kind))

    def concat(self, *values: SSAValue) -> SSAValue:
        return self.add(nn.ConcatOp(values, 1))

    def module(self, *results: SSAValue, target: cl.Target = AUTO) -> ModuleOp:
        self.function.body.block.add_op(func.ReturnOp(*results))
        self.function.update_function_type()
        module = ModuleOp([self.function])
        cl.set_target(module, target)
        return module

    def chosen(self, *results: SSAValue, target: cl.Target = AUTO) -> ModuleOp:
        """The module with its layouts."""
        module = self.module(*results, target=target)
        for pass_ in (NNChooseLayoutPass(), NNFoldRelayoutsPass()):
            pass_.apply(CloptContext(), module)
            module.verify()
        return module


def regions(module: ModuleOp) -> list[nn.FusedOp]:
    return [op for op in module.walk() if isinstance(op, nn.FusedOp)]


def layouts(module: ModuleOp) -> list[str]:
    """The layouts of the results of all regions."""
    return [layout_text(nn.layout_of(v)) for op in regions(module) for v in op.outputs]


# Graphs that others get wrong.


def residual(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 32))
    scale = graph.add(nn.ReduceOp(y, "mean", [0, 1, 2, 3], keepdims=False))
    return graph.binary(graph.binary(graph.conv(y, 32), scale, "mul"), y)


def two_readers(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 24))
    return graph.concat(graph.conv(y, 8), graph.conv(y, 5, 1))


def pool_feeds_three(graph: Graph) -> SSAValue:
    y = graph.pool(graph.conv(graph.x, 16))
    return graph.concat(graph.conv(y, 8, 1), graph.conv(y, 8, 3), graph.conv(y, 8, 5))


def mean_first(graph: Graph) -> SSAValue:
    y = graph.conv(graph.x, 24)
    return graph.conv(graph.binary(graph.mean(y), y), 12, 1)


def mean_last(graph: Graph) -> SSAValue:
    y = graph.conv(graph.x, 24)
    return graph.conv(graph.binary(y, graph.mean(y)), 12, 1)


def concat_split_transpose(graph: Graph) -> SSAValue:
    y = graph.relu(graph.conv(graph.x, 12))
    joined = graph.concat(y, graph.conv(graph.x, 8))
    n, _, h, w = nn.shape_of(joined)
    a = graph.add(nn.SliceOp(joined, (0, 0, 0, 0), (n, 10, h, w)))
    b = graph.add(nn.SliceOp(joined, (0, 10, 0, 0), (n, 10, h, w)))
    return graph.concat(graph.add(nn.TransposeOp(a, (0, 1, 3, 2))), b)


def strided_slice(graph: Graph) -> SSAValue:
    y = graph.conv(graph.x, 24)
    _, _, h, w = nn.shape_of(y)
    return graph.conv(graph.add(nn.SliceOp(y, (0, 1, 0, 0), (1, 11, h, w), (1, 2, 1, 1))), 8)


def rank_6(graph: Graph) -> SSAValue:
    y = graph.conv(graph.x, 12)
    _, c, h, w = nn.shape_of(y)
    return graph.add(nn.UnaryOp(graph.add(nn.ReshapeOp(y, (1, c, 1, h, 1, w))), "exp"))


def squeezed_batch(graph: Graph) -> SSAValue:
    y = graph.conv(graph.x, 12)
    return graph.add(nn.UnaryOp(graph.add(nn.ReshapeOp(y, nn.shape_of(y)[1:])), "exp"))


HARD = {
    f.__name__: f
    for f in (
        residual,
        two_readers,
        pool_feeds_three,
        mean_first,
        mean_last,
        concat_split_transpose,
        strided_slice,
        rank_6,
        squeezed_batch,
    )
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("target", [AUTO, PREFER], ids=["auto", "prefer"])
def test_at_most_the_input_is_transformed(name: str, target: cl.Target):
    graph = Graph((1, 16, 20, 20))
    module = graph.chosen(HARD[name](graph), target=target)
    transforms = layout_transforms(module)
    assert len(transforms) <= 1
    assert all(t.source == "plain" and t.shape == (1, 16, 20, 20) for t in transforms)
    between = [v for op in regions(module)[:-1] for v in op.outputs if nn.shape_of(v)]
    if target is PREFER:
        assert all("image" in layout_text(nn.layout_of(v)) for v in between)


# Modes.


def test_without_textures_nothing_changes():
    for target in (replace(AUTO, texture="off"), cl.Target(), replace(AUTO, image_cost=2.0)):
        graph = Graph((1, 16, 8, 8))
        module = graph.module(graph.relu(graph.conv(graph.x, 16)), target=target)
        before = str(module)
        NNChooseLayoutPass().apply(CloptContext(), module)
        NNFoldRelayoutsPass().apply(CloptContext(), module)
        assert str(module) == before


def test_prefer_reads_images_where_costs_are_against_it():
    target = replace(PREFER, image_cost=50.0)
    graph = Graph((1, 16, 20, 20))
    module = graph.chosen(graph.conv(graph.conv(graph.x, 16), 16), target=target)
    assert layouts(module) == ["1 by 4, image2d [3]", "plain"]


def test_auto_weighs_images_against_buffers():
    def first(image_cost: float) -> str:
        graph = Graph((1, 32, 40, 40))
        y = graph.conv(graph.conv(graph.conv(graph.x, 32), 32), 32)
        target = replace(AUTO, image_cost=image_cost)
        return layouts(graph.chosen(y, target=target))[0]

    assert first(0.65) == "1 by 4, image2d [3]"
    # The guard of a border costs as much.
    assert first(1.2) == "1 by 4, image2d [3]"
    pointwise = Graph((1, 32, 40, 40))
    y = pointwise.conv(pointwise.conv(pointwise.x, 32, 1), 32, 1)
    module = pointwise.chosen(y, target=replace(AUTO, image_cost=1.2))
    assert layouts(module)[0] == "1 by 4, buffer"


def test_what_stays_plain_stays_operations():
    graph = Graph((4, 6), type_=i64)
    y = graph.binary(graph.x, graph.x)
    module = graph.chosen(y, target=PREFER)
    assert not regions(module)
    assert isinstance(y.owner, nn.BinaryOp)


def test_operations_that_stay_plain_find_plain_operands():
    """A region writes texels; what reads it and is bare gets a transform or a plain result."""
    graph = Graph((1, 16, 8, 8))
    y = graph.conv(graph.x, 16)
    index = graph.add(nn.ArgReduceOp(y, "max", 2))
    module = graph.chosen(y, graph.binary(index, index), target=PREFER)
    for op in module.walk():
        if isinstance(op, nn.NNOp | func.ReturnOp) and not isinstance(op.parent_op(), nn.FusedOp):
            assert all(nn.layout_of(v) is None for v in op.operands)


def test_choosing_twice_changes_nothing():
    graph = Graph((1, 16, 20, 20))
    module = graph.chosen(two_readers(graph))
    before = str(module)
    NNChooseLayoutPass().apply(CloptContext(), module)
    assert str(module) == before


def test_the_same_module_gets_the_same_layouts():
    def text() -> str:
        graph = Graph((1, 16, 20, 20))
        return str(graph.chosen(pool_feeds_three(graph)))

    assert text() == text()


# Constants.


def constants(graph: Graph, y: SSAValue, target: cl.Target = AUTO) -> list[str]:
    module = graph.chosen(y, target=target)
    return [
        layout_text(nn.layout_of(op.result))
        for op in module.walk()
        if isinstance(op, nn.RelayoutOp) and isinstance(op.x.owner, nn.ConstantOp)
    ]


def test_weights_are_texels_of_outputs_after_those_of_inputs():
    graph = Graph((1, 16, 20, 20))
    first = "1 by 4 and 0 by 4, image2d [1]"
    found = constants(graph, graph.conv(graph.x, 24), PREFER)
    assert found == [first, "0 by 4, buffer"]


def test_weights_over_plain_colours_are_texels_of_outputs():
    graph = Graph((1, 3, 20, 20))
    y = graph.conv(graph.conv(graph.x, 16), 16)
    assert constants(graph, y)[:2] == ["0 by 4, image2d [1]", "0 by 4, buffer"]


def test_depthwise_and_unaligned_groups():
    graph = Graph((1, 24, 20, 20))
    y = graph.conv(graph.conv(graph.x, 24, 1), 24, 3, groups=24)
    assert constants(graph, y)[2:] == ["0 by 4, image2d [1]", "0 by 4, buffer"]
    graph = Graph((1, 21, 20, 20))
    y = graph.conv(graph.conv(graph.x, 21, 1), 42, 3, groups=7)
    assert "image2d" not in constants(graph, y)[-1]


def test_matrices_are_texels_of_columns_after_those_of_rows():
    graph = Graph((17, 24))
    y = graph.add(nn.MatmulOp(graph.x, graph.constant(24, 40)))
    y = graph.relu(graph.binary(y, graph.constant(40)))
    found = constants(graph, graph.add(nn.MatmulOp(y, graph.constant(40, 24))), PREFER)
    assert found == ["0 by 4 and 1 by 4, image2d [1]", "0 by 4, buffer", *found[:1]]


def test_an_operand_for_each_channel_is_packed():
    graph = Graph((1, 16, 20, 20))
    y = graph.conv(graph.x, 16)
    y = graph.binary(graph.mean(y), y, "mul")
    found = constants(graph, graph.conv(graph.binary(y, graph.constant(1, 16, 1, 1)), 16))
    assert "1 by 4, buffer" in found


# Limits.


def tensor(*shape: int, element: Attribute = f32) -> nn.Tensor:
    return TensorType(element, shape)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((1, 64, 56, 56), "1 by 4, image2d [3]"),
        ((1, 8, 9000, 1), "1 by 4, image2d [2]"),
        ((8, 64, 1100, 30), "1 by 4, image2d_array [2, 3]"),
        ((1, 8, 1, 20000), "1 by 4, image1d_buffer []"),
        ((1, 2048, 600, 600), "1 by 4, image2d_array [2, 3]"),
        ((512, 512, 3, 40000), "1 by 4, buffer"),
    ],
)
def test_the_first_image_that_fits(shape: tuple[int, ...], expected: str):
    found = texture_for(tensor(*shape), [(1, 4)], 3, AUTO)
    assert layout_text(found.layout) == expected
    assert bool(found.remark) == (expected != "1 by 4, image2d [3]")
    if found.is_texture:
        memory = LayoutAttr([(1, 4)]).physical_shape(shape)
        assert found.layout is not None
        image = tir.image_of(MemRefType(f32, memory, memory_space=found.layout.memory))
        limits = (AUTO.max_image_width, AUTO.max_image_height, AUTO.max_image_layers)
        if image.kind is tir.ImageKind.Buffer:
            limits = (AUTO.max_image_buffer_texels,)
        assert all(n <= limit for n, limit in zip(image.extents, limits, strict=False))


def test_a_limit_is_inclusive():
    target = replace(AUTO, max_image_width=20, max_image_height=4)
    assert texture_for(tensor(1, 16, 1, 20), [(1, 4)], 3, target).remark == ""
    assert texture_for(tensor(1, 16, 1, 21), [(1, 4)], 3, target).remark
    assert texture_for(tensor(1, 17, 1, 20), [(1, 4)], 3, target).remark


@pytest.mark.parametrize(("extent", "kind"), [(20000, "image1d_buffer"), (200, "image2d")])
def test_a_wide_activation_falls_back_and_says_so(extent: int, kind: str):
    graph = Graph((1, 4, 1, extent))
    y = graph.conv(graph.conv(graph.x, 8, 1), 8, 1)
    module = graph.chosen(y, target=PREFER)
    assert kind in layouts(module)[0]
    said = [text for text in remarks_of(module) if "20000" in text]
    assert bool(said) == (extent == 20000)
    for text in said:
        assert "more than 16384 columns: image1d_buffer" in text


@pytest.mark.parametrize(
    ("element", "has_images"),
    [(f32, True), (f16, True), (i8, True), (f64, False), (i64, False), (i1, False)],
)
def test_types_without_image_formats_stay_plain(element: Attribute, has_images: bool):
    found = candidates(tensor(1, 8, 4, 4, element=element), AUTO)
    assert any(c.is_texture for c in found) == has_images
    assert has_images or found == [Candidate(None)]


def test_devices_without_half_images():
    found = candidates(tensor(1, 8, 4, 4, element=f16), replace(AUTO, half_images=False))
    assert not any(c.is_texture for c in found)


def test_a_kernel_reads_no_more_images_than_it_may():
    target = replace(PREFER, max_read_images=3)
    graph = Graph((1, 16, 8, 8))
    module = graph.chosen(
        graph.relu(graph.concat(*(graph.conv(graph.x, 8) for _ in range(5)))), target=target
    )
    for op in regions(module):
        images = [v for v in op.inputs if "image" in layout_text(nn.layout_of(v))]
        assert len(images) <= 3
    assert any("more than the 3 that a kernel can read" in text for text in remarks_of(module))


# Costs.


def work_of(graph: Graph, y: SSAValue) -> Work:
    graph.function.body.block.add_op(func.ReturnOp(y))
    groups = form_groups(graph.function.body.block.ops, TEXELS)
    return next(w for g in groups for w in works_of_group(g) if w.result is y)


def test_more_work_costs_more():
    def cost(channels: int, extent: int, kernel: int) -> float:
        graph = Graph((1, channels, extent, extent))
        work = work_of(graph, graph.conv(graph.x, channels, kernel))
        return CostModel(AUTO).read(work, graph.x, ROWS, ROWS)

    for costs in (
        [cost(c, 16, 3) for c in (8, 16, 64)],
        [cost(16, n, 3) for n in (8, 9, 32)],
        [cost(16, 16, k) for k in (1, 3, 5)],
    ):
        assert all(a < b for a, b in pairwise(costs))


def test_packing_pays_for_convolutions_and_tails_are_not_free():
    model = CostModel(AUTO)
    graph = Graph((1, 64, 32, 32))
    work = work_of(graph, graph.conv(graph.x, 64))
    by_layout = [model.read(work, graph.x, layout, ROWS) for layout in (ROWS, PACKED, None)]
    assert all(a < b for a, b in pairwise(by_layout))

    def per_channel(channels: int) -> float:
        return model.write(tensor(1, channels, 32, 32), ROWS) / channels

    assert per_channel(1) == pytest.approx(4 * per_channel(4))
    assert per_channel(255) > per_channel(256)


def test_gathering_lanes_costs_four_loads():
    model = CostModel(replace(AUTO, image_cost=1.0))
    graph = Graph((1, 16, 32, 32))
    work = work_of(graph, graph.relu(graph.x))
    along = LayoutAttr([(3, 4)])
    moved = model.traffic(tensor(1, 16, 32, 32), PACKED)
    aligned = model.read(work, graph.x, PACKED, PACKED) - moved
    apart = model.read(work, graph.x, along, PACKED) - moved
    assert apart == pytest.approx(4 * aligned)


def test_a_transform_is_a_launch_and_the_bytes():
    model = CostModel(AUTO)
    small, large = tensor(1, 4, 4, 4), tensor(1, 64, 256, 256)
    assert model.transform(small, None, None) == 0
    assert model.transform(small, None, ROWS) > AUTO.launch_microseconds
    assert model.transform(large, None, ROWS) > AUTO.launch_microseconds + 2 * 64 * 65536 * 4 / 50e3


# What is said.


def test_explain_tells_values_costs_and_what_is_left(capsys: pytest.CaptureFixture[str]):
    graph = Graph((1, 16, 20, 20))
    y = graph.conv(graph.x, 16)
    y.name_hint = "features"
    z = graph.conv(y, 8)
    z.name_hint = "result"
    module = graph.module(z, target=PREFER)
    NNChooseLayoutPass(explain=True).apply(CloptContext(), module)
    NNFoldRelayoutsPass(explain=True).apply(CloptContext(), module)
    out, text = capsys.readouterr()
    assert not out
    lines = [line.split("  ") for line in text.splitlines()]
    rows = {
        cells[1].strip(): [c.strip() for c in cells if c.strip()] for cells in lines if cells[1:]
    }
    assert rows["features"][1:3] == ["1x16x20x20", "1 by 4, image2d [3]"]
    assert rows["result"][2] == "plain"
    assert "1 by 4, image2d [3]" in rows["result"][4]
    assert float(rows["result"][3]) < float(rows["result"][5])
    assert "1 layout transforms are left" in text
    moved = 1 * 16 * 20 * 20 * 4 * 2
    assert f"{moved:,}" in text


def test_the_whole_pipeline_leaves_kernels_only():
    graph = Graph((1, 3, 24, 24))
    y = graph.pool(graph.relu(graph.conv(graph.x, 12)))
    flat = graph.add(nn.ReshapeOp(graph.mean(y), (1, 12)))
    module = graph.module(graph.add(nn.MatmulOp(flat, graph.constant(12, 10))))
    run_pipeline(CloptContext(), module, "fuse")
    outside = {op.name for op in module.walk() if isinstance(op.parent_op(), func.FuncOp)}
    assert outside <= {"nn.fused", "nn.relayout", "nn.constant", "nn.reshape", "func.return"}
