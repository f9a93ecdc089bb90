"""The layouts that values get, and how few transforms are left."""

from __future__ import annotations

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    i64,
)
from xdsl.ir import SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.messages.explanations import Explanation, Why, tables
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.layout.explain import layout_text, layout_transforms
from clopt.passes.pipelines import run_pipeline
from support.nn.layout_graphs import AUTO, PREFER, Graph, layouts, regions

# Graphs that other compilers get wrong.


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
    for target in (
        AUTO.with_facts({"texture": "off"}),
        cl.Target(),
        AUTO.with_facts({"image_cost": 2.0}),
    ):
        graph = Graph((1, 16, 8, 8))
        module = graph.module(graph.relu(graph.conv(graph.x, 16)), target=target)
        before = str(module)
        NNChoosePass().apply(CloptContext(), module)
        assert str(module) == before


def test_prefer_reads_images_where_costs_are_against_it():
    target = PREFER.with_facts({"image_cost": 50.0})
    graph = Graph((1, 16, 20, 20))
    module = graph.chosen(graph.conv(graph.conv(graph.x, 16), 16), target=target)
    assert layouts(module) == ["1 by 4, image2d [3]", "plain"]


def test_auto_weighs_images_against_buffers():
    def first(image_cost: float) -> str:
        graph = Graph((1, 32, 40, 40))
        y = graph.conv(graph.conv(graph.conv(graph.x, 32), 32), 32)
        target = AUTO.with_facts({"image_cost": image_cost})
        return layouts(graph.chosen(y, target=target))[0]

    assert first(0.65) == "1 by 4, image2d [3]"
    # The guard of a border costs as much.
    assert first(1.2) == "1 by 4, image2d [3]"
    pointwise = Graph((1, 32, 40, 40))
    y = pointwise.conv(pointwise.conv(pointwise.x, 32, 1), 32, 1)
    module = pointwise.chosen(y, target=AUTO.with_facts({"image_cost": 1.2}))
    assert layouts(module)[0] == "1 by 4, buffer"


def test_what_stays_plain_stays_operations():
    graph = Graph((4, 6), type_=i64)
    y = graph.binary(graph.x, graph.x)
    module = graph.chosen(y, target=PREFER)
    assert not regions(module)
    assert isinstance(y.owner, nn.BinaryOp)


def test_operations_that_stay_plain_find_plain_operands():
    """A region writes texels; an operation outside reads a transform or a plain result."""
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
    NNChoosePass().apply(CloptContext(), module)
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


def test_only_a_layout_pads_the_weights_of_small_groups():
    """Two groups lie in a block of 16 channels; schedules pack whole blocks themselves."""
    target = cl.Target.from_facts("pocl", {"blocks": "prefer", "vector_width": 16})

    def blocks(channels: int) -> list[str]:
        graph = Graph((1, channels, 20, 20))
        y = graph.conv(graph.conv(graph.x, channels, 1), channels, 3, groups=channels // 8)
        return constants(graph, y, target)

    # The weights of the first convolution, and the biases of both, are blocks in any case.
    assert blocks(48) == 3 * ["0 by 16, buffer"]
    assert blocks(40) == 4 * ["0 by 16, buffer"]


def test_dilated_transposed_filters_have_the_same_blocks_as_others():
    graph = Graph((1, 16, 20, 20))
    y = graph.add(nn.ConvTransposeOp(graph.x, graph.constant(16, 24, 3, 3), dilations=[2, 2]))
    assert constants(graph, y, PREFER) == ["0 by 4 and 1 by 4, image2d [2]"]


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


# Remarks and explanations.


def test_explain_tells_values_costs_and_what_is_left():
    graph = Graph((1, 16, 20, 20))
    y = graph.conv(graph.x, 16)
    module = graph.module(graph.conv(y, 8), target=PREFER)
    ctx = CloptContext(explanations=[])
    NNChoosePass().apply(ctx, module)
    assert ctx.explanations is not None
    assert "cl.choices" not in module.attributes
    rows = [e for e in ctx.explanations if isinstance(e, Explanation) and e.kind == "layout"]
    features, result, copy = rows
    assert (features.choice, features.reason.why) == ("1 by 4, image2d [3]", Why.RULE)
    assert features.reason.remark == "1x16x20x20"
    # It can be demanded plain, which the costs do not weigh where images are preferred.
    assert features.site
    assert features.alternatives == []
    assert (result.choice, result.reason.why) == ("plain", Why.ESTIMATED)
    assert result.site
    (name, cost), *_ = result.alternatives
    assert name == "1 by 4, image2d [3]"
    assert result.microseconds is not None
    assert cost is not None
    assert result.microseconds < cost
    moved = f"{1 * 16 * 20 * 20 * 4 * 2:,} bytes"
    assert copy.reason.remark.endswith(f"copied from plain, {moved}")
    (table,) = (each for each in tables(ctx.explanations) if each.kind == "layout")
    assert f"1 layout transforms remain, which move {moved}" in table.summaries


def test_the_whole_pipeline_leaves_kernels_only():
    graph = Graph((1, 3, 24, 24))
    y = graph.pool(graph.relu(graph.conv(graph.x, 12)))
    flat = graph.add(nn.ReshapeOp(graph.mean(y), (1, 12)))
    module = graph.module(graph.add(nn.MatmulOp(flat, graph.constant(12, 10))))
    run_pipeline(CloptContext(), module, "fuse")
    outside = {op.name for op in module.walk() if isinstance(op.parent_op(), func.FuncOp)}
    assert outside <= {"nn.fused", "nn.relayout", "nn.constant", "nn.reshape", "func.return"}
