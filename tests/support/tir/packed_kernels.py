"""Naive kernels over packed tensors, for each family and each of its difficulties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from clopt.dialects import cl, nn, tir
from clopt.dialects.nn import LayoutAttr
from clopt.dialects.nn.evaluation import evaluate
from clopt.passes.nn.lowering import LOWERINGS, KernelBuilder
from clopt.passes.nn.program.constants import packed_array

Build = Callable[..., Operation | Sequence[Operation]]


@dataclass(frozen=True)
class Case:
    """A fused region of operations, what it reads, and how its operands and results are packed.

    A letter of `layouts` for each operand and each result: `c` channels, `l` the last axis, `f` the
    first, `w` weights of a convolution, `m` of a product, and `.` what is plain.
    """

    build: Build
    arrays: tuple[np.ndarray, ...]
    layouts: str


def _blocks(letter: str, rank: int) -> list[tuple[int, int]]:
    axes = {"c": [1], "l": [rank - 1], "f": [0], "w": [1, 0], "m": [rank - 2, rank - 1]}
    return [(axis, tir.TEXEL) for axis in axes[letter]]


def layout(letter: str, rank: int, memory: str) -> LayoutAttr | None:
    """The layout of a letter: in images, in buffers, or (`mixed`) images for activations only."""
    if letter == ".":
        return None
    blocks = _blocks(letter, rank)
    weights = letter in "fwm"
    if memory == "buffers" or rank == 1 or (memory == "mixed" and weights):
        return LayoutAttr(blocks)
    row = 1 if weights else rank - 1
    return LayoutAttr(blocks, tir.ScopeAttr(tir.Scope.Texture, (row,)))


class Example:
    """The naive kernel of a case, its arguments, and what they hold when it has run."""

    def __init__(self, case: Case, memory: str):
        block = Block(arg_types=[nn.array_type(a) for a in case.arrays])
        made = case.build(*block.args)
        ops = [made] if isinstance(made, Operation) else list(made)
        block.add_ops(ops)
        values: dict[SSAValue, np.ndarray] = dict(zip(block.args, case.arrays, strict=True))
        results = ops[-1].results
        tensors = [*block.args, *results]
        self.layouts = [
            layout(letter, len(nn.shape_of(value)), memory)
            for letter, value in zip(case.layouts, tensors, strict=True)
        ]
        kernel = KernelBuilder("naive", block.args, results, self.layouts)
        for op in ops:
            op.verify()
            values |= zip(op.results, evaluate(op, [values[v] for v in op.operands]), strict=True)
            LOWERINGS[type(op)](kernel, op)
        self.kernel = kernel.finish()
        self.kernel.verify()
        self.expected = [values[result] for result in results]
        self.inputs = [
            packed_array(a, layout) for a, layout in zip(case.arrays, self.layouts, strict=False)
        ]

    def arguments(self) -> list[np.ndarray]:
        """Operands, and results that hold rubbish."""
        results: list[np.ndarray] = []
        for param in self.kernel.params[len(self.inputs) :]:
            type_: Any = param.type
            dtype = nn.numpy_dtype(type_.element_type)
            rubbish = np.nan if dtype.kind == "f" else 86
            results.append(np.full(type_.get_shape(), rubbish, dtype))
        return [*(np.array(a, order="C") for a in self.inputs), *results]

    def module(self) -> ModuleOp:
        """The kernel, and a program that launches it, where all memory is buffers."""
        types: list[Any] = [param.type for param in self.kernel.params]
        ports = [cl.Port(f"{i}", t.element_type, t.get_shape()) for i, t in enumerate(types)]
        program = cl.ProgramOp("main", ports, len(self.inputs))
        body = program.body.block
        body.add_ops([cl.EnqueueKernelOp(self.kernel.sym_name.data, body.args), cl.ReturnOp()])
        return ModuleOp([self.kernel, program])

    def check(self, arguments: Sequence[np.ndarray]) -> None:
        """Compare the results, of which the tails are zero."""
        layouts = self.layouts[len(self.inputs) :]
        for found, value, layout_ in zip(
            arguments[len(self.inputs) :], self.expected, layouts, strict=True
        ):
            expected = packed_array(value, layout_)
            np.testing.assert_allclose(found.view(expected.dtype), expected, rtol=2e-5, atol=2e-5)


def integers(*shape: int) -> np.ndarray:
    """Small numbers whose sums are exact in any order, all different from the value of a border."""
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype("f4")


def conv(
    x: Sequence[int], outputs: int, kernel: int | tuple[int, int], layouts: str = "cwfc",
    activation: str = "relu", **attributes: Any,
) -> Case:  # fmt: skip
    """A convolution with bias and activation."""
    kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
    inputs = x[1] // attributes.get("groups", 1)

    def build(x: SSAValue, w: SSAValue, b: SSAValue) -> list[Operation]:
        product = nn.ConvOp(x, w, b, **attributes)
        return [product, nn.UnaryOp(product.result, activation)]

    arrays = (integers(*x), integers(outputs, inputs, kh, kw), integers(outputs))
    return Case(build, arrays, layouts)


def residual(x: Sequence[int], outputs: int) -> Case:
    """A 1x1 convolution and the sum with another packed tensor."""

    def build(x: SSAValue, w: SSAValue, y: SSAValue) -> list[Operation]:
        product = nn.ConvOp(x, w)
        return [product, nn.BinaryOp(product.result, y, "add")]

    n, c, h, w = x
    return Case(
        build, (integers(*x), integers(outputs, c, 1, 1), integers(n, outputs, h, w)), "cwcc"
    )


def one(build: Build, layouts: str, *arrays: np.ndarray) -> Case:
    return Case(build, arrays, layouts)


def pool(kind: str, x: Sequence[int], kernel: int, **attributes: Any) -> Case:
    window = [kernel, kernel]
    return one(lambda x: nn.PoolOp(x, kind, window, **attributes), "cc", integers(*x))


def reduce(kind: str, x: Sequence[int], axes: Sequence[int], layouts: str = "cc") -> Case:
    keep = layouts[1] != "."
    array = integers(*x) if kind != "prod" else np.sign(integers(*x) + 0.5)
    return one(lambda x: nn.ReduceOp(x, kind, list(axes), keep), layouts, array.astype("f4"))


def unary(kind: str, x: Sequence[int], layouts: str) -> Case:
    return one(lambda x: nn.UnaryOp(x, kind), layouts, integers(*x))


def _same(x: int) -> dict[str, Any]:
    return {"pads": (x, x, x, x)}


def _hard_swish(x: SSAValue, gate: SSAValue) -> list[Operation]:
    swish = nn.UnaryOp(x, "hard_swish")
    return [swish, nn.BinaryOp(swish.result, gate, "mul")]


def _attention(x: SSAValue, y: SSAValue) -> list[Operation]:
    scores = nn.MatmulOp(x, y, transpose_b=True)
    return [scores, nn.UnaryOp(scores.result, "relu")]


def _shuffled(x: SSAValue) -> list[Operation]:
    a = nn.ReshapeOp(x, (1, 2, 6, 3, 4))
    b = nn.TransposeOp(a.result, (0, 2, 1, 3, 4))
    return [a, b, nn.ReshapeOp(b.result, (1, 12, 3, 4))]


def _head(x: SSAValue) -> list[Operation]:
    """Five numbers of each of three anchors, as a detector lays them out."""
    _, channels, height, width = nn.shape_of(x)
    a = nn.ReshapeOp(x, (1, 3, channels // 3, height, width))
    b = nn.TransposeOp(a.result, (0, 1, 3, 4, 2))
    return [a, b, nn.ReshapeOp(b.result, (1, 3 * height * width, channels // 3))]


def _heads(x: SSAValue, y: SSAValue) -> list[Operation]:
    first, second = _head(x), _head(y)
    whole = nn.ConcatOp([first[-1].results[0], second[-1].results[0]], 1)
    return [*first, *second, whole]


CONVOLUTIONS = {
    "3x3": conv((1, 8, 6, 9), 8, 3, **_same(1)),
    "3x3 of a batch": conv((2, 8, 3, 5), 8, 3, **_same(1)),
    "3x3 stride 2": conv((1, 4, 9, 11), 4, 3, strides=(2, 2), **_same(1)),
    "3x3 dilated": conv((1, 4, 9, 7), 4, 3, dilations=(2, 2), **_same(2)),
    "5x5": conv((1, 4, 7, 7), 4, 5, **_same(2)),
    "7x7 stride 2 of colours": conv((1, 3, 9, 13), 4, 7, strides=(2, 2), **_same(3)),
    "of plain colours": conv((1, 3, 9, 9), 8, 3, ".ffc", strides=(2, 2), **_same(1)),
    "of rows by texels": conv((2, 3, 9, 8), 8, 3, ".ffc", strides=(2, 2), **_same(1)),
    "of long rows by texels": conv((1, 3, 4, 44), 4, 7, ".ffc", strides=(2, 2), **_same(3)),
    "of rows by texels, 5x3": conv((1, 2, 6, 12), 4, (5, 3), ".ffc", pads=(2, 1, 2, 0)),
    "of rows by texels, dilated": conv((1, 2, 7, 8), 4, 3, ".ffc", dilations=(2, 2), **_same(2)),
    "of patches": conv((2, 3, 16, 24), 8, 8, ".ffc", strides=(8, 8)),
    "of patches of a texel": conv((1, 3, 8, 20), 8, 4, ".ffc", strides=(4, 4)),
    "to plain colours": conv((1, 8, 5, 6), 3, 3, "cwf.", **_same(1)),
    "to 3 channels": conv((1, 8, 5, 6), 3, 1),
    "5 to 7 channels": conv((1, 5, 5, 6), 7, 3, activation="sigmoid", **_same(1)),
    "63 to 5 channels": conv((1, 63, 3, 2), 5, 1),
    "24 to 31 channels": conv((1, 24, 2, 3), 31, 1),
    "99 channels": conv((1, 99, 2, 2), 4, 3, **_same(1)),
    "1x1": conv((1, 16, 7, 7), 24, 1),
    "1x1 of one pixel": conv((1, 32, 1, 1), 40, 1),
    "1x1 stride 2": conv((1, 8, 9, 9), 8, 1, strides=(2, 2)),
    "1x1 and a sum": residual((1, 8, 7, 5), 8),
    "of a row": conv((1, 4, 1, 9), 4, (1, 3), pads=(0, 1, 0, 1)),
    "of a column": conv((1, 4, 9, 1), 4, (3, 1), pads=(1, 0, 1, 0)),
    "narrower than a tile": conv((1, 4, 5, 3), 4, 3, **_same(1)),
    "of 3x3 pixels": conv((1, 4, 3, 3), 4, 3, **_same(1)),
    "padded at the top": conv((1, 4, 6, 6), 4, 4, pads=(3, 3, 0, 0)),
    "padded crosswise": conv((1, 4, 6, 6), 4, 2, pads=(0, 1, 1, 0)),
    "in groups of 8": conv((1, 32, 4, 5), 32, 3, groups=4, **_same(1)),
    "in groups of 4, stride 2": conv((1, 16, 7, 9), 16, 3, groups=4, strides=(2, 2), **_same(1)),
    "in 7 groups": conv((1, 56, 3, 5), 56, (3, 1), groups=7, pads=(1, 0, 1, 0)),
    "in unaligned groups": conv((1, 21, 3, 3), 63, 3, "c.fc", groups=3, **_same(1)),
    "in unaligned groups of 3": conv((1, 6, 5, 5), 9, 3, "c.fc", groups=3, **_same(1)),
    "depthwise": conv((1, 8, 7, 9), 8, 3, "cffc", groups=8, **_same(1)),
    "depthwise 63": conv((1, 63, 4, 5), 63, 3, "cffc", groups=63, **_same(1)),
    "depthwise 7, stride 2": conv((1, 7, 9, 9), 7, 3, "cffc", groups=7, strides=(2, 2), **_same(1)),
    "depthwise 3": conv((1, 3, 9, 9), 3, 3, "cffc", groups=3, **_same(1)),
    "depthwise 5x5 of a batch": conv((2, 8, 5, 6), 8, 5, "cffc", groups=8, **_same(2)),
    "depthwise 1x1": conv((1, 8, 3, 6), 8, 1, "cffc", groups=8),
    "depthwise that doubles": conv((1, 3, 5, 5), 6, 3, "c.fc", groups=3, **_same(1)),
    "transposed": one(
        lambda x, w: nn.ConvTransposeOp(x, w, strides=(2, 2), pads=(1, 1, 1, 1)),
        "c.c",
        integers(1, 8, 4, 5),
        integers(8, 6, 4, 4),
    ),
}  # fmt: skip

POOLS = {
    "max pool": pool("max", (1, 8, 9, 11), 3, strides=(2, 2), **_same(1)),
    "max pool of 3 channels": pool("max", (1, 3, 7, 7), 3, strides=(2, 2), pads=(0, 0, 1, 1)),
    "max pool stride 1": pool("max", (1, 8, 5, 7), 3, **_same(1)),
    "average pool": pool("average", (1, 6, 9, 9), 3, strides=(2, 2), **_same(1)),
    "average pool with its border": pool(
        "average", (1, 8, 7, 7), 2, strides=(2, 2), pads=(1, 0, 0, 1), count_include_pad=True
    ),
    "average pool of a batch": pool("average", (4, 8, 3, 3), 3, **_same(1)),
    "max pool of 13x13": pool("max", (1, 8, 13, 13), 13),
    "global average": reduce("mean", (1, 24, 7, 7), (2, 3)),
    "global average of 7 channels": reduce("mean", (1, 7, 9, 9), (2, 3)),
    "global average of a batch": reduce("mean", (4, 8, 3, 3), (2, 3)),
    "global maximum": reduce("max", (1, 8, 15, 15), (2, 3)),
}  # fmt: skip

REDUCTIONS = {
    **{
        f"{kind} of {channels} channels": reduce(kind, (1, channels, 4, 5), (1,))
        for kind in ("max", "min", "mean", "prod", "l2")
        for channels in (6, 8)
    },
    "maximum of 96 channels": reduce("max", (1, 96, 2, 2), (1,)),
    "maximum of 97 channels": reduce("max", (1, 97, 2, 2), (1,)),
    "plain maximum of channels": reduce("max", (1, 10, 4, 5), (1,), "c."),
    "mean of rows": reduce("mean", (1, 8, 3, 40), (3,)),
    "mean of columns": reduce("mean", (1, 6, 40, 3), (2,)),
    "maximum of channels and rows": reduce("max", (1, 9, 8, 3), (1, 2)),
    "mean of everything": reduce("mean", (1, 12, 8, 9), (0, 1, 2, 3)),
    "mean of everything, 7 channels": reduce("mean", (2, 7, 8, 9), (0, 1, 2, 3)),
    "plain sum of everything": reduce("sum", (1, 7, 8, 9), (0, 1, 2, 3), "c."),
    "argmax of 21 channels": one(
        lambda x: nn.ArgReduceOp(x, "max", 1), "c.", integers(1, 21, 4, 5)
    ),
    "argmin of 8 channels": one(
        lambda x: nn.ArgReduceOp(x, "min", 1, True, True), "c.", integers(1, 8, 4, 5)
    ),
    "argmax of rows": one(lambda x: nn.ArgReduceOp(x, "max", 3), "c.", integers(1, 6, 3, 9)),
    "softmax of 6 channels": one(lambda x: nn.SoftmaxOp(x, 1), "cc", integers(1, 6, 4, 5)),
    "softmax of 64 channels": one(lambda x: nn.SoftmaxOp(x, 1), "cc", integers(1, 64, 2, 3)),
    "softmax of rows": one(lambda x: nn.SoftmaxOp(x, 3), "cc", integers(1, 6, 4, 35)),
    "softmax of packed rows": one(lambda x: nn.SoftmaxOp(x, 3), "ll", integers(1, 3, 5, 36)),
    "softmax of packed rows of 37": one(lambda x: nn.SoftmaxOp(x, 3), "ll", integers(1, 3, 5, 37)),
    "plain softmax of 1000": one(lambda x: nn.SoftmaxOp(x, 1), "l.", integers(1, 250)),
    "layer norm": one(
        lambda x, s, b: nn.LayerNormOp(x, s, b, 2), "lffl",
        integers(1, 5, 48), integers(48), integers(48),
    ),
    "layer norm of 50": one(
        lambda x, s: nn.LayerNormOp(x, s, None, 2), "lfl", integers(2, 5, 50), integers(50)
    ),
    "rms norm": one(lambda x, s: nn.RmsNormOp(x, s, 2), "lfl", integers(1, 7, 64), integers(64)),
    "instance norm": one(
        lambda x, s, b: nn.GroupNormOp(x, s, b, 8), "cffc",
        integers(1, 8, 6, 7), integers(8), integers(8),
    ),
    "group norm": one(
        lambda x, s, b: nn.GroupNormOp(x, s, b, 2), "cffc",
        integers(1, 16, 4, 5), integers(16), integers(16),
    ),
    "group norm of 6 channels": one(
        lambda x, s, b: nn.GroupNormOp(x, s, b, 3), "cffc",
        integers(1, 6, 4, 5), integers(6), integers(6),
    ),
}  # fmt: skip

ELEMENTWISE = {
    "relu": unary("relu", (1, 8, 5, 6), "cc"),
    "sigmoid of 7 channels": unary("sigmoid", (1, 7, 5, 6), "cc"),
    "exp of one texel": unary("exp", (1, 3, 1, 1), "cc"),
    "relu of a row": unary("relu", (2, 6, 1, 3), "cc"),
    "relu of tokens": unary("relu", (3, 5, 18), "ll"),
    "relu of a list": unary("relu", (3, 18), "ll"),
    "gated": one(_hard_swish, "ccc", integers(1, 10, 4, 5), integers(1, 10, 1, 1)),
    "sum of two layouts": one(
        lambda x, y: nn.BinaryOp(x, y, "add"), "c.c", integers(1, 6, 4, 5), integers(1, 6, 4, 5)
    ),
    "plain relu": unary("relu", (2, 3, 5, 8), ".."),
    "plain relu of odd rows": unary("relu", (2, 3, 5, 7), ".."),
    "plain sum": one(
        lambda x, y: nn.BinaryOp(x, y, "add"), "...", integers(1, 6, 4, 12), integers(6, 4, 1)
    ),
    "plain cast to half": one(
        lambda x: nn.CastOp(x, nn.element_type("f2")), "..", integers(1, 3, 5, 8)
    ),
    "pack": unary("relu", (1, 6, 5, 7), ".c"),
    "pack tokens": unary("relu", (1, 5, 18), ".l"),
    "unpack": unary("relu", (1, 6, 5, 7), "c."),
    "unpack tokens": unary("relu", (1, 5, 18), "l."),
    "unpack one pixel": unary("relu", (1, 30, 1, 1), "c."),
    "other texels": unary("relu", (1, 6, 5, 7), "cl"),
    "cast to half": one(
        lambda x: nn.CastOp(x, nn.element_type("f2")), "cc", integers(1, 5, 3, 4)
    ),
    "cast to int": one(lambda x: nn.CastOp(x, nn.element_type("i4")), "cc", integers(1, 5, 3, 4)),
    "compare": one(
        lambda x, y: nn.CompareOp(x, y, "lt"), "cc.", integers(1, 8, 3, 5), integers(1, 8, 3, 5)
    ),
}  # fmt: skip

MOVES = {
    "concat of texels": one(
        lambda a, b: nn.ConcatOp([a, b], 1), "ccc", integers(1, 8, 3, 4), integers(1, 6, 3, 4)
    ),
    "concat of parts of texels": one(
        lambda a, b, c: nn.ConcatOp([a, b, c], 1), "cccc",
        integers(1, 5, 3, 4), integers(1, 3, 3, 4), integers(1, 6, 3, 4),
    ),
    "concat of rows": one(
        lambda a, b: nn.ConcatOp([a, b], 3), "ccc", integers(1, 6, 3, 4), integers(1, 6, 3, 2)
    ),
    "every second channel": one(
        lambda x: nn.SliceOp(x, (0, 0, 0, 0), (1, 6, 3, 4), (1, 2, 1, 1)), "cc",
        integers(1, 12, 3, 4),
    ),
    "some channels": one(
        lambda x: nn.SliceOp(x, (0, 3, 1, 0), (1, 6, 2, 4)), "cc", integers(1, 12, 3, 4)
    ),
    "channels last": one(
        lambda x: nn.TransposeOp(x, (0, 2, 3, 1)), "c.", integers(1, 6, 3, 4)
    ),
    "channels first": one(
        lambda x: nn.TransposeOp(x, (0, 3, 1, 2)), ".c", integers(1, 3, 4, 6)
    ),
    "channels last in texels": one(
        lambda x: nn.TransposeOp(x, (0, 2, 3, 1)), "cl", integers(1, 6, 3, 4)
    ),
    "rows and columns": one(lambda x: nn.TransposeOp(x, (0, 1, 3, 2)), "cc", integers(1, 6, 3, 4)),
    "shuffled": one(_shuffled, "cc", integers(1, 12, 3, 4)),
    "padded": one(lambda x: nn.PadOp(x, (0, 0, 1, 2), (0, 0, 1, 0)), "cc", integers(1, 6, 3, 4)),
    "padded channels": one(
        lambda x: nn.PadOp(x, (0, 1, 0, 0), (0, 2, 0, 1)), "cc", integers(1, 6, 3, 4)
    ),
    "doubled": one(lambda x: nn.ResizeOp(x, (1, 6, 6, 8)), "cc", integers(1, 6, 3, 4)),
    "bilinear": one(lambda x: nn.ResizeOp(x, (1, 6, 5, 7), "linear"), "cc", integers(1, 6, 3, 4)),
    "depth to space": one(lambda x: nn.DepthToSpaceOp(x, 2), "cc", integers(1, 24, 3, 4)),
    "depth to plain space": one(lambda x: nn.DepthToSpaceOp(x, 2), "c.", integers(1, 12, 3, 4)),
    "space to depth": one(lambda x: nn.SpaceToDepthOp(x, 2), "cc", integers(1, 3, 6, 4)),
    "flattened": one(lambda x: nn.ReshapeOp(x, (1, 72)), "cl", integers(1, 6, 3, 4)),
    "flattened to plain": one(
        lambda x: nn.ReshapeOp(x, (1, 72)), "c.", integers(1, 6, 3, 4)
    ),
    "head": one(_head, "c.", integers(1, 15, 3, 4)),
    "heads": one(_heads, "cc.", integers(1, 15, 6, 4), integers(1, 15, 3, 2)),
    "head of whole texels": one(_head, "c.", integers(1, 24, 3, 4)),
    "tokens": one(
        lambda x: (a := nn.ReshapeOp(x, (1, 6, 12)), nn.TransposeOp(a.result, (0, 2, 1))),
        "cl", integers(1, 6, 3, 4),
    ),
    "gathered": one(
        lambda x, i: nn.GatherOp(x, i, 1), "l.l", integers(1, 6, 10), np.array([5, 0, -2], "i4")
    ),
}  # fmt: skip

PRODUCTS = {
    "product": one(nn.MatmulOp, "lml", integers(7, 16), integers(16, 24)),
    "product of tokens": one(nn.MatmulOp, "lml", integers(1, 13, 20), integers(20, 8)),
    "product of 18 and 10": one(nn.MatmulOp, "lml", integers(1, 5, 18), integers(18, 10)),
    "product to 1000": one(nn.MatmulOp, "lml", integers(1, 64), integers(64, 250)),
    "plain product": one(nn.MatmulOp, "lm.", integers(9, 16), integers(16, 12)),
    "product of plain": one(nn.MatmulOp, ".ml", integers(9, 16), integers(16, 12)),
    "scores": one(_attention, "lll", integers(2, 5, 8), integers(2, 6, 8)),
    "scores of plain": one(_attention, "...", integers(2, 5, 8), integers(2, 6, 8)),
    "plain scores": one(_attention, "ll.", integers(2, 5, 8), integers(2, 6, 8)),
    "weighted": one(nn.MatmulOp, "lll", integers(2, 5, 6), integers(2, 6, 8)),
    "weighted, heads in texels": one(
        nn.MatmulOp, "ccc", integers(1, 3, 5, 6), integers(1, 3, 6, 4)
    ),
}  # fmt: skip

CASES: dict[str, Case] = {
    **CONVOLUTIONS, **POOLS, **REDUCTIONS, **ELEMENTWISE, **MOVES, **PRODUCTS,
}  # fmt: skip
