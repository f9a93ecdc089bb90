"""Kernels of packed tensors compute the same as those of plain ones, in any layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import Block, Operation

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate
from clopt.passes.nn.lowering import LOWERINGS, KernelBuilder
from clopt.passes.nn.program.constants import packed_array
from support.tir import interpreter
from support.tir.harness import examples

Build = Callable[..., Operation | Sequence[Operation]]
Layouts = Sequence[nn.LayoutAttr | None]


def unpacked(array: np.ndarray, layout: nn.LayoutAttr | None, shape: Sequence[int]) -> np.ndarray:
    """The inverse of `packed_array`; the tails must be zero."""
    if layout is None:
        return array
    found = np.empty(layout.padded_shape(shape), array.dtype)
    blocks = dict(layout.blocks)
    for index in np.ndindex(*found.shape):
        outer = [i // blocks.get(axis, 1) for axis, i in enumerate(index)]
        found[index] = array[*outer, *(index[axis] % size for axis, size in layout.blocks)]
    inside = tuple(slice(size) for size in shape)
    values = found[inside].copy()
    found[inside] = 0
    np.testing.assert_array_equal(found, 0, "tails hold zeros")
    return values


def check(build: Build, arrays: Sequence[np.ndarray], layouts: Layouts) -> str:
    """Run a kernel on packed operands and compare with the plain evaluation. Returns its text."""
    block = Block(arg_types=[nn.array_type(a) for a in arrays])
    made = build(*block.args)
    ops = [made] if isinstance(made, Operation) else list(made)
    block.add_ops(ops)
    values = dict(zip(block.args, arrays, strict=True))
    outputs = ops[-1].results
    kernel = KernelBuilder("kernel", block.args, outputs, layouts)
    for op in ops:
        op.verify()
        if isinstance(op, nn.ConstantOp):
            values[op.result] = nn.constant_value(op.result)
        else:
            values |= zip(op.results, evaluate(op, [values[v] for v in op.operands]), strict=True)
        LOWERINGS[type(op)](kernel, op)
    function = kernel.finish()
    function.verify()
    inner = layouts[: len(arrays)]
    packed = [packed_array(a, layout) for a, layout in zip(arrays, inner, strict=True)]
    results: list[np.ndarray] = []
    for param in function.params[len(arrays) :]:
        dtype = nn.numpy_dtype(param.type.element_type)
        rubbish = np.nan if dtype.kind == "f" else True if dtype.kind == "b" else 86
        results.append(np.full(param.type.get_shape(), rubbish, dtype))
    interpreter.run(function, [*(np.array(a, order="C") for a in packed), *results])
    for value, result, layout in zip(outputs, results, layouts[len(arrays) :], strict=True):
        found = unpacked(result, layout, nn.shape_of(value))
        expected = values[value]
        np.testing.assert_allclose(
            found.view(expected.dtype), expected, rtol=2e-5, atol=2e-5, err_msg=f"{layouts}"
        )
    return str(function)


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("f4")


def integers(*shape: int, high: int = 9) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(1, high, shape).astype("i4")


def conv(x: Sequence[int], w: Sequence[int], **attributes: object) -> tuple[Build, list]:
    return (
        lambda x, w, b: nn.ConvOp(x, w, b, **attributes),
        [noise(*x), noise(*w), noise(w[0])],
    )


def of(build: Build, *arrays: np.ndarray) -> tuple[Build, list]:
    return build, list(arrays)


def epilogue(x, w, b, y):
    product = nn.ConvOp(x, w, b, pads=(1, 1, 1, 1))
    total = nn.BinaryOp(product.result, y, "add")
    return product, total, nn.UnaryOp(total.result, "relu")


def unfinished(x, w, scale):
    """A sigmoid makes the zeros of the tail nonzero, and the product with a scale keeps them so."""
    product = nn.ConvOp(x, w)
    gate = nn.UnaryOp(product.result, "sigmoid")
    return product, gate, nn.BinaryOp(gate.result, scale, "mul")


def chained(x, y):
    """Elementwise operations before a reduction over channels."""
    total = nn.BinaryOp(x, y, "add")
    shifted = nn.UnaryOp(total.result, "exp")
    return total, shifted, nn.ReduceOp(shifted.result, "sum", [1], keepdims=True)


def placed(x, w):
    product = nn.ConvOp(x, w)
    return product, nn.PadOp(product.result, [0, 0, 1, 1], [0, 0, 1, 2])


def shuffled(x, w):
    product = nn.ConvOp(x, w)
    return product, nn.DepthToSpaceOp(product.result, 2)


def heads(a, b):
    product = nn.MatmulOp(a, b)
    split = nn.ReshapeOp(product.result, (1, 5, 2, 3))
    return product, split, nn.TransposeOp(split.result, (0, 2, 1, 3))


CASES: dict[str, tuple[Build, list]] = {
    "conv": conv((2, 3, 5, 4), (5, 3, 3, 3), pads=(1, 1, 1, 1)),
    "conv 1x1 to one channel": conv((1, 5, 3, 3), (1, 5, 1, 1)),
    "conv to 255 channels": conv((1, 6, 1, 2), (255, 6, 1, 1)),
    "depthwise conv of 63 channels": conv((1, 63, 2, 2), (63, 1, 2, 2), groups=63),
    "conv of one channel": conv((1, 1, 5, 5), (6, 1, 3, 3), pads=(0, 1, 1, 0)),
    "conv with stride and dilation": conv(
        (1, 6, 7, 6), (7, 6, 3, 2), strides=(2, 1), dilations=(1, 2), pads=(3, 3, 0, 0)
    ),
    "products of tiles": of(nn.WinogradProductOp, noise(4, 5, 6), noise(4, 7, 5)),
    "conv of a line": conv((1, 3, 9), (5, 3, 4), pads=(1, 2)),
    "conv of a volume": conv((1, 3, 3, 4, 3), (2, 3, 2, 2, 2), pads=(0, 1, 0, 1, 0, 1)),
    "grouped conv": conv((1, 6, 4, 4), (10, 3, 2, 2), groups=2, pads=(0, 0, 1, 1)),
    "depthwise conv": conv((1, 7, 5, 4), (7, 1, 3, 3), groups=7, pads=(1, 1, 1, 1)),
    "depthwise conv that multiplies": conv((1, 3, 4, 4), (6, 1, 3, 3), groups=3),
    "conv transpose": of(
        lambda x, w, b: nn.ConvTransposeOp(x, w, b, strides=(2, 2), pads=(1, 0, 1, 0)),
        noise(1, 5, 3, 3),
        noise(5, 3, 4, 3),
        noise(3),
    ),
    "grouped conv transpose": of(
        lambda x, w: nn.ConvTransposeOp(x, w, strides=(2, 3), dilations=(2, 1), groups=2),
        noise(1, 6, 3, 2),
        noise(6, 3, 2, 2),
    ),
    "conv and what follows": of(
        epilogue, noise(1, 3, 4, 4), noise(6, 3, 3, 3), noise(6), noise(1, 6, 4, 4)
    ),
    "conv and a gate": of(unfinished, noise(1, 3, 4, 4), noise(6, 3, 1, 1), noise(1, 6, 1, 1)),
    "conv and padding": of(placed, noise(1, 3, 3, 3), noise(5, 3, 1, 1)),
    "conv and depth to space": of(shuffled, noise(1, 3, 3, 3), noise(20, 3, 1, 1)),
    "matmul": of(nn.MatmulOp, noise(3, 6), noise(6, 5)),
    "matmul of stacks": of(
        lambda a, b: nn.MatmulOp(a, b, transpose_b=True), noise(2, 1, 3, 5), noise(3, 7, 5)
    ),
    "matmul of transposed": of(
        lambda a, b: nn.MatmulOp(a, b, transpose_a=True), noise(6, 3), noise(2, 6, 7)
    ),
    "matmul into heads": of(heads, noise(1, 5, 4), noise(4, 6)),
    "max pool": of(
        lambda x: nn.PoolOp(x, "max", (3, 2), strides=(2, 1), pads=(1, 0, 1, 1)), noise(1, 6, 5, 4)
    ),
    "max pool of windows around the input": of(
        lambda x: nn.PoolOp(x, "max", (2, 2), dilations=(3, 3), pads=(1, 1, 1, 1)),
        noise(1, 3, 2, 2),
    ),
    "average pool": of(
        lambda x: nn.PoolOp(x, "average", (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)),
        noise(1, 5, 5, 5),
    ),
    "average pool with its padding": of(
        lambda x: nn.PoolOp(x, "average", (2, 2), pads=(1, 1, 0, 0), count_include_pad=True),
        noise(2, 7, 3, 3),
    ),
    "lp pool": of(lambda x: nn.PoolOp(x, "lp", (2, 2)), noise(1, 3, 4, 3)),
    "max pool indices": of(lambda x: nn.MaxPoolIndicesOp(x, (2, 2)), noise(1, 3, 4, 4)),
    **{
        f"{kind} over {axes}": of(
            lambda x, kind=kind, axes=axes: nn.ReduceOp(x, kind, axes, keepdims=len(axes) == 2),
            noise(1, 6, 3, 5) ** 2,
        )
        for kind in ("sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "sum_square")
        for axes in ([1], [2, 3], [1, 2])
    },
    "log_sum_exp": of(lambda x: nn.ReduceOp(x, "log_sum_exp", [1]), noise(1, 6, 3, 2)),
    "reduction of a chain": of(chained, noise(1, 6, 2, 3), noise(1, 6, 1, 1)),
    "argmax over channels": of(lambda x: nn.ArgReduceOp(x, "max", 1), -(noise(1, 5, 3, 3) ** 2)),
    "argmin of channels": of(
        lambda x: nn.ArgReduceOp(x, "min", 3, keepdims=True), noise(1, 5, 3, 3)
    ),
    "cumsum": of(lambda x: nn.CumsumOp(x, 1), noise(2, 6, 2)),
    "reverse cumsum": of(lambda x: nn.CumsumOp(x, 1, True, True), noise(2, 6, 2)),
    "top_k": of(lambda x: nn.TopKOp(x, 3, 1), noise(2, 6, 3)),
    "softmax over channels": of(lambda x: nn.SoftmaxOp(x, 1), noise(1, 5, 3, 2)),
    "log softmax of channels": of(lambda x: nn.SoftmaxOp(x, 3, log=True), noise(1, 5, 3, 6)),
    "layer norm": of(
        lambda x, s, b: nn.LayerNormOp(x, s, b, 2, 1e-5),
        noise(1, 6, 3, 5),
        noise(3, 5),
        noise(3, 5),
    ),
    "layer norm of rows": of(
        lambda x, s: nn.LayerNormOp(x, s, None, 2, 1e-5), noise(1, 3, 6), noise(6)
    ),
    "rms norm": of(lambda x, s: nn.RmsNormOp(x, s, 1, 1e-5), noise(2, 6), noise(6)),
    "group norm": of(
        lambda x, s, b: nn.GroupNormOp(x, s, b, 2, 1e-5), noise(1, 6, 3, 2), noise(6), noise(6)
    ),
    "batch norm": of(
        lambda x, s, b, m, v: nn.BatchNormOp(x, s, b, m, v, 1e-5),
        noise(2, 5, 3, 2),
        noise(5),
        noise(5),
        noise(5),
        noise(5) ** 2,
    ),
    "add of a row": of(lambda a, b: nn.BinaryOp(a, b, "add"), noise(2, 5, 1, 4), noise(1, 3, 4)),
    "division": of(lambda a, b: nn.BinaryOp(a, b, "div"), noise(1, 5, 3), noise(5, 1)),
    "integer division": of(
        lambda a, b: nn.BinaryOp(a, b, "div"), integers(1, 5, 3, high=99), integers(5, 1)
    ),
    "integer remainder": of(
        lambda a, b: nn.BinaryOp(a, b, "mod"), integers(1, 5, 3, high=99), integers(1, 5, 3)
    ),
    "cosine": of(lambda x: nn.UnaryOp(x, "cos"), noise(1, 6, 2, 3)),
    "clip to positive": of(lambda x: nn.ClipOp(x, 0.5, 2.0), noise(1, 6, 2, 3)),
    "where": of(
        lambda c, a, b: nn.WhereOp(c, a, b), noise(1, 6, 2) > 0, noise(6, 1), noise(1, 6, 2)
    ),
    "compare": of(lambda a, b: nn.CompareOp(a, b, "le"), integers(1, 6, 2), integers(1, 1, 2)),
    "cast of a reciprocal": of(
        lambda x: (r := nn.UnaryOp(x, "reciprocal"), nn.CastOp(r.result, nn.element_type("i4"))),
        noise(1, 6, 2),
    ),
    "cast to half": of(lambda x: nn.CastOp(x, nn.element_type("f2")), noise(1, 5, 2)),
    "quantize": of(
        lambda x, s, z: nn.QuantizeOp(x, s, z, "half_up"),
        np.arange(-21, 21, dtype="f4").reshape(1, 6, 7) / 2,
        np.full((), 0.5, "f4"),
        np.full((), 3, "u1"),
    ),
    "quantize by channel": of(
        nn.QuantizeOp, 9 * noise(1, 6, 2), noise(6, 1) ** 2, integers(6, 1).astype("i2")
    ),
    "dequantize by channel": of(
        nn.DequantizeOp,
        integers(1, 6, 2, high=99).astype("i1"),
        noise(6, 1),
        integers(6, 1).astype("i1"),
    ),
    "transpose": of(lambda x: nn.TransposeOp(x, (0, 2, 3, 1)), noise(2, 5, 3, 6)),
    "reshape that flattens": of(lambda x: nn.ReshapeOp(x, (2, 30)), noise(2, 5, 3, 2)),
    "reshape of rows": of(lambda x: nn.ReshapeOp(x, (1, 5, 6)), noise(1, 5, 3, 2)),
    "reshape with a unit": of(lambda x: nn.ReshapeOp(x, (5, 1, 7)), noise(1, 5, 7, 1)),
    "channel shuffle": of(
        lambda x: (
            a := nn.ReshapeOp(x, (1, 2, 3, 4)),
            b := nn.TransposeOp(a.result, (0, 2, 1, 3)),
            nn.ReshapeOp(b.result, (1, 6, 4)),
        ),
        noise(1, 6, 4),
    ),
    "concat at 5": of(
        lambda a, b, c: nn.ConcatOp([a, b, c], 1),
        noise(1, 5, 2, 3),
        noise(1, 4, 2, 3),
        noise(1, 3, 2, 3),
    ),
    "concat at 4 and 12": of(
        lambda a, b, c: nn.ConcatOp([a, b, c], 1),
        noise(1, 4, 2, 2),
        noise(1, 8, 2, 2),
        noise(1, 3, 2, 2),
    ),
    "concat of rows": of(lambda a, b: nn.ConcatOp([a, b], 2), noise(1, 5, 2, 3), noise(1, 5, 3, 3)),
    "slice of every second channel": of(
        lambda x: nn.SliceOp(x, (0, 1, 0), (1, 5, 2), (1, 2, 1)), noise(1, 11, 3)
    ),
    "slice from the end": of(
        lambda x: nn.SliceOp(x, (0, 6, 0), (1, 5, 2), (1, -1, 1)), noise(1, 7, 3)
    ),
    "pad of channels": of(lambda x: nn.PadOp(x, (0, 1, 0), (0, 2, 1)), noise(1, 6, 3)),
    "pad with a number": of(lambda x: nn.PadOp(x, (0, 4, 1), (0, 2, 1), value=3.0), noise(1, 4, 3)),
    **{
        f"{mode} pad": of(
            lambda x, mode=mode: nn.PadOp(x, (0, 1, 1), (0, 2, 1), mode), noise(1, 5, 3)
        )
        for mode in ("reflect", "edge", "wrap")
    },
    "wrap pad of rows": of(lambda x: nn.PadOp(x, (0, 0, 1), (0, 0, 1), "wrap"), noise(1, 5, 3)),
    "expand": of(lambda x: nn.ExpandOp(x, (2, 6, 5)), noise(6, 1)),
    "tile": of(lambda x: nn.TileOp(x, (1, 2, 1)), noise(2, 3, 5)),
    "depth to space": of(lambda x: nn.DepthToSpaceOp(x, 2), noise(1, 12, 2, 3)),
    "space to depth": of(lambda x: nn.SpaceToDepthOp(x, 2, "crd"), noise(1, 3, 4, 2)),
    "nearest resize": of(lambda x: nn.ResizeOp(x, (1, 5, 4, 6)), noise(1, 5, 2, 3)),
    "linear resize": of(lambda x: nn.ResizeOp(x, (1, 3, 5, 4), "linear"), noise(1, 3, 3, 3)),
    "gather of rows": of(
        lambda x, i: nn.GatherOp(x, i, 2), noise(1, 5, 3), np.array([[2, 0], [-1, 1]], "i8")
    ),
    "gather of channels": of(
        lambda x, i: nn.GatherOp(x, i, 1), noise(1, 6, 3), np.array([5, 0, -2, 1, 3], "i4")
    ),
    "gather of elements": of(
        lambda x, i: nn.GatherElementsOp(x, i, 1), noise(1, 6, 3), integers(1, 5, 3, high=6)
    ),
    "gather_nd": of(nn.GatherNDOp, noise(3, 5, 6), integers(5, 2, high=3)),
    "scatter of elements": of(
        lambda x, i, u: nn.ScatterElementsOp(x, i, u, 1),
        noise(1, 6, 3),
        np.array([[[1, 0, 5], [3, 2, 1]]], "i8"),
        noise(1, 2, 3),
    ),
    "added scatter": of(
        lambda x, i, u: nn.ScatterNDOp(x, i, u, "add"),
        noise(6, 5),
        np.array([[1], [1], [5]], "i8"),
        noise(3, 5),
    ),
}


@st.composite
def layouts(draw: st.DrawFn, shapes: Sequence[Sequence[int]]) -> Layouts:
    """Any layout for each shape: plain, or up to two axes in blocks, mostly of four."""
    drawn: list[nn.LayoutAttr | None] = []
    for shape in shapes:
        axes = draw(st.lists(st.integers(0, max(len(shape) - 1, 0)), max_size=2, unique=True))
        sizes = [draw(st.sampled_from((4, 4, 4, 2, 3))) for _ in axes]
        packed = bool(shape) and bool(axes)
        drawn.append(nn.LayoutAttr(list(zip(axes, sizes, strict=True))) if packed else None)
    return drawn


def result_shapes(build: Build, arrays: Sequence[np.ndarray]) -> list[tuple[int, ...]]:
    made = build(*Block(arg_types=[nn.array_type(a) for a in arrays]).args)
    last = made if isinstance(made, Operation) else made[-1]
    return [nn.shape_of(result) for result in last.results]


@pytest.mark.parametrize("name", CASES)
def test_channels_are_packed(name: str) -> None:
    """Axis 1 of every operand and result, as in a network whose activations are textures."""
    build, arrays = CASES[name]
    shapes = [a.shape for a in arrays] + result_shapes(build, arrays)
    check(
        build,
        arrays,
        [nn.LayoutAttr([(1, 4)] if len(s) > 1 else [(0, 4)]) if s else None for s in shapes],
    )


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
@examples(4)
def test_any_layout(name: str, data: st.DataObject) -> None:
    build, arrays = CASES[name]
    shapes = [a.shape for a in arrays] + result_shapes(build, arrays)
    check(build, arrays, data.draw(layouts(shapes)))
