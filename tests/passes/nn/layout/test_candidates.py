"""Which memory a value may have within the limits of a device, and the remarks about it."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    MemRefType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute

from clopt.dialects import nn, tir
from clopt.dialects.nn import LayoutAttr
from clopt.dialects.remarks import remarks_of
from clopt.passes.nn.layout.candidates import Candidate, candidates, texture_for
from clopt.passes.nn.layout.explain import layout_text, layout_transforms
from support.nn.layout_graphs import AUTO, PREFER, Graph, layouts, regions, tensor


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
        limits = (
            AUTO.device.max_image_width,
            AUTO.device.max_image_height,
            AUTO.device.max_image_layers,
        )
        if image.kind is tir.ImageKind.Buffer:
            limits = (AUTO.device.max_image_buffer_texels,)
        assert all(n <= limit for n, limit in zip(image.extents, limits, strict=False))


def test_a_limit_is_inclusive():
    target = AUTO.with_facts({"max_image_width": 20, "max_image_height": 4})
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


def test_a_kernel_reads_no_more_images_than_it_may():
    """The kernels before it write the other values in buffers: none is copied."""
    target = PREFER.with_facts({"max_read_images": 3})
    graph = Graph((1, 16, 8, 8))
    y = graph.relu(graph.concat(*(graph.conv(graph.x, 8) for _ in range(5))))
    module = graph.chosen(graph.conv(y, 8), target=target)
    for op in regions(module):
        images = [v for v in op.inputs if "image" in layout_text(nn.layout_of(v))]
        assert len(images) <= 3
    assert [each.shape for each in layout_transforms(module)] == [(1, 16, 8, 8)]
    assert any("can read 3 images: buffer" in text for text in remarks_of(module))


def test_weights_beyond_the_limit_are_in_buffers():
    target = PREFER.with_facts({"max_read_images": 1})
    graph = Graph((1, 16, 8, 8))
    (kernel,) = regions(graph.chosen(graph.conv(graph.x, 8), target=target))
    stored = [layout_text(nn.layout_of(value)) for value in kernel.inputs]
    assert stored == ["1 by 4, image2d [3]", "1 by 4 and 0 by 4, buffer", "0 by 4, buffer"]
