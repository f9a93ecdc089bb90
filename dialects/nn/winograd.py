"""Winograd's minimal filtering: the transforms around the products of a 3x3 convolution.

A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015 (arXiv 1509.09308):
F(m x m, 3 x 3) computes a tile of m x m results from T x T inputs, T = m + 2, as `A^T [(G g G^T) *
(B^T d B)] A`, with T^2 products instead of 9 m^2. Summed over channels, the products of all tiles
are T^2 matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import Float16Type, TensorType, UnitAttr, f16
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, flag, int_array, integer, ints
from .base import (
    NNOp,
    require_accumulator,
    require_float,
    require_lengths,
    require_same_element,
)
from .interfaces import HalfRule, Role, Zeros
from .types import Tensor, count, shape_of, with_shape

Matrix: TypeAlias = tuple[tuple[float, ...], ...]

KERNEL = 3
"""The number of rows, and of columns, of the filter."""


@dataclass(frozen=True)
class Transform:
    """The matrices of F(m x m, 3 x 3)."""

    input: Matrix
    """B^T, [T, T]"""
    weight: Matrix
    """G, [T, 3]"""
    output: Matrix
    """A^T, [m, T]"""
    input_steps: Sequence[Matrix]
    """Matrices whose product is B^T; the rows of the first share the sums in the second."""
    output_steps: Sequence[Matrix]
    """Matrices whose product is A^T."""


_A, _B = sqrt(0.5), sqrt(2)
TRANSFORMS: dict[int, Transform] = {
    # Section 4.1, "F(2x2, 3x3)".
    2: Transform(
        input=((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
        weight=((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)),
        output=((1, 1, 1, 0), (0, 1, -1, -1)),
        input_steps=(((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),),
        output_steps=(((1, 1, 1, 0), (0, 1, -1, -1)),),
    ),
    # Points 0, a, -a, 1/a, -1/a and infinity with a = sqrt(1/2). Their largest error is a fifth of
    # the error of 0, 1, -1, 2, -2 (section 4.3): 3.6e-6 instead of 1.7e-5 of the largest result
    # with 512 channels (Intel's runtime, Zen 5). 0, 1, -1, 1/2, -2 halve it, but share no sums. Of
    # twelve sets with signs in pairs, none was much better, and the others take more products. See
    # B. Barabasz, A. Anderson, K. Soodhalter, D. Gregg, "Error Analysis and Improving the Accuracy
    # of Winograd Convolution for Deep Neural Networks", 2020.
    4: Transform(
        input=(
            (1, 0, -2.5, 0, 1, 0),
            (0, -_B, -2, _A, 1, 0),
            (0, _B, -2, -_A, 1, 0),
            (0, -_A, -0.5, _B, 1, 0),
            (0, _A, -0.5, -_B, 1, 0),
            (0, 1, 0, -2.5, 0, 1),
        ),
        weight=(
            (1, 0, 0),
            (-1 / 3, -_A / 3, -1 / 6),
            (-1 / 3, _A / 3, -1 / 6),
            (1 / 6, _B / 6, 1 / 3),
            (1 / 6, -_B / 6, 1 / 3),
            (0, 0, 1),
        ),
        output=(
            (1, 2, 2, 1, 1, 0),
            (0, _B, -_B, _B, -_B, 0),
            (0, 1, 1, 2, 2, 0),
            (0, _A, -_A, 2 * _B, -2 * _B, 1),
        ),
        # Sums of even and of odd elements; their sum and difference are rows 1 and 2, and 3 and 4.
        input_steps=(
            (
                (1, 0, 0, 0, 0, 0),
                (0, 1, _A, 0, 0, 0),
                (0, 1, -_A, 0, 0, 0),
                (0, 0, 0, 1, _B, 0),
                (0, 0, 0, 1, -_B, 0),
                (0, 0, 0, 0, 0, 1),
            ),
            (
                (1, 0, -2.5, 0, 1, 0),
                (0, 0, -2, 0, 1, 0),
                (0, -2, 0, 1, 0, 0),
                (0, 0, -0.5, 0, 1, 0),
                (0, -0.5, 0, 1, 0, 0),
                (0, 1, 0, -2.5, 0, 1),
            ),
        ),
        # Sums and differences of elements 1 and 2, and of 3 and 4.
        output_steps=(
            (
                (1, 2, 0, 1, 0, 0),
                (0, 0, _B, 0, _B, 0),
                (0, 1, 0, 2, 0, 0),
                (0, 0, _A, 0, 2 * _B, 1),
            ),
            (
                (1, 0, 0, 0, 0, 0),
                (0, 1, 1, 0, 0, 0),
                (0, 1, -1, 0, 0, 0),
                (0, 0, 0, 1, 1, 0),
                (0, 0, 0, 1, -1, 0),
                (0, 0, 0, 0, 0, 1),
            ),
        ),
    ),
}
"""The matrices by m."""


def tile_counts(sizes: Sequence[int], tile: int) -> tuple[int, ...]:
    """Return the number of tiles that cover each dimension; the last tile may extend beyond it."""
    return tuple(-(-size // tile) for size in sizes)


def _tile(properties: Properties) -> int:
    (tile,) = ints(properties["tile"])
    require(tile in TRANSFORMS, f"tile must be {' or '.join(map(str, TRANSFORMS))} but is {tile}")
    return tile


def _sizes(x: Tensor, properties: Properties) -> tuple[int, int]:
    """Return the rows and columns of a 3x3 convolution of x with `pads`."""
    pads = ints(properties["pads"])
    require_float(x)
    require(len(x.get_shape()) == 4, f"input must have rank 4 but has {len(x.get_shape())}")
    require_lengths(4, pads=pads)
    require(min(pads) >= 0, f"pads {list(pads)} must not be negative")
    h, w = x.get_shape()[2:]
    sizes = (h + pads[0] + pads[2] - KERNEL + 1, w + pads[1] + pads[3] - KERNEL + 1)
    require(min(sizes) >= 1, "the padded input is smaller than the 3x3 window")
    return sizes


@irdl_op_definition
class WinogradConvOp(NNOp):
    """Convolution of x [N, C, H, W] by transformed 3x3 filters w [O, T * T, C]: [N, O, H, W].

    It is `A^T [w * (B^T d B)] A` for every tile d of x, summed over channels, plus b [O].

    A kernel computes a few tiles at a time, so that the values between the transforms stay in the
    cache. `nn.winograd_input` and `nn.winograd_output` are the alternative: separate kernels with a
    product between them, an `nn.matmul` or an `nn.winograd_product`.
    """

    name = "nn.winograd_conv"
    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    HALF: ClassVar[HalfRule] = HalfRule.ROUNDS
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    b = opt_operand_def(TensorType)
    tile = prop_def(I64)
    pads = prop_def(I64_ARRAY)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None,
        tile: int,
        pads: Sequence[int] = (0, 0, 0, 0),
    ):
        super().__init__([x, w, b], {"tile": integer(tile), "pads": int_array(pads)})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, w = operand_types[:2]
        tile = _tile(properties)
        sizes = _sizes(x, properties)
        require_same_element(operand_types)
        elements, n = (tile + KERNEL - 1) ** 2, x.get_shape()[0]
        expected = (*w.get_shape()[:1], elements, x.get_shape()[1])
        if w.get_shape() != expected:
            require(
                False, f"weights must have shape {list(expected)} but have {list(w.get_shape())}"
            )
        outputs = expected[0]
        if len(operand_types) > 2:
            bias = operand_types[2].get_shape()
            require(bias == (outputs,), f"bias must have shape [{outputs}] but has {list(bias)}")
        return [with_shape(x, (n, outputs, *sizes))]

    def has_border(self) -> bool:
        return any(ints(self.pads))


@irdl_op_definition
class WinogradInputOp(NNOp):
    """`B^T d B` for every tile d of x [N, C, H, W]: [T * T, C, N * tiles], tiles row by row.

    Tiles start `tile` elements apart and cover the results of a 3x3 convolution of x with `pads`
    (begins, then ends); their elements outside x are zero. With `in_steps`, kernels compute sums
    shared by rows of B^T once, and other rows separately: a whole tile needs more registers than
    work-items of a small GPU have.
    """

    name = "nn.winograd_input"
    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    tile = prop_def(I64)
    pads = prop_def(I64_ARRAY)
    in_steps = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        tile: int,
        pads: Sequence[int] = (0, 0, 0, 0),
        *,
        in_steps: bool = False,
    ):
        properties = {"tile": integer(tile), "pads": int_array(pads), "in_steps": flag(in_steps)}
        super().__init__([x], properties)

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        tile = _tile(properties)
        rows, cols = tile_counts(_sizes(x, properties), tile)
        n, c = x.get_shape()[:2]
        return [with_shape(x, ((tile + KERNEL - 1) ** 2, c, n * rows * cols))]


@irdl_op_definition
class WinogradProductOp(NNOp):
    """The transformed filters w [T * T, O, C] times tiles x [T * T, C, P]: [T * T, O, P].

    One matrix product per element of the tiles. Like a convolution it is computed along channels,
    so that operands and result can be texels of four channels. Products of f16 are accumulated in
    f32, or in f16 if `accumulate` is f16.
    """

    name = "nn.winograd_product"
    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    HALF: ClassVar[HalfRule] = HalfRule.ROUNDS
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    accumulate = opt_prop_def(Float16Type)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, w: SSAValue, *, accumulate_half: bool = False):
        super().__init__([x, w], {"accumulate": f16 if accumulate_half else None})

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        x, w = operand_types
        require_same_element(operand_types)
        require_accumulator(operand_types, properties)
        require_float(x)
        ranks = [len(t.get_shape()) for t in operand_types]
        require(ranks == [3, 3], f"operands must have rank 3 but have {ranks}")
        elements, channels, tiles = x.get_shape()
        if (w.get_shape()[0], w.get_shape()[2]) != (elements, channels):
            expected = f"[{elements}, O, {channels}]"
            require(False, f"weights must have shape {expected} but have {list(w.get_shape())}")
        return [with_shape(x, (elements, w.get_shape()[1], tiles))]

    def visits(self) -> int:
        return max(super().visits(), count(shape_of(self.result)) * shape_of(self.x)[1])

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        return any(zeros.linked_zero(self, axis, value) for value in (self.x, self.w))


@irdl_op_definition
class WinogradOutputOp(NNOp):
    """`A^T m A` for every tile m of x [T * T, O, N * tiles]: [N, O, H, W] with `sizes` [N, H, W].

    Rows and columns of the last tiles beyond `sizes` are dropped. With `in_steps`, kernels compute
    sums shared by rows of A^T once.
    """

    name = "nn.winograd_output"
    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    tile = prop_def(I64)
    sizes = prop_def(I64_ARRAY)
    in_steps = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(self, x: SSAValue, tile: int, sizes: Sequence[int], *, in_steps: bool = False):
        properties = {"tile": integer(tile), "sizes": int_array(sizes), "in_steps": flag(in_steps)}
        super().__init__([x], properties)

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        tile, sizes = _tile(properties), ints(properties["sizes"])
        require_float(x)
        require(len(x.get_shape()) == 3, f"input must have rank 3 but has {len(x.get_shape())}")
        require_lengths(3, sizes=sizes)
        require(min(sizes) >= 1, f"sizes {list(sizes)} must be positive")
        n, h, w = sizes
        elements, channels, tiles = x.get_shape()
        rows, cols = tile_counts((h, w), tile)
        expected = ((tile + KERNEL - 1) ** 2, n * rows * cols)
        if (elements, tiles) != expected:
            require(
                False,
                f"sizes {list(sizes)} require {expected[0]} elements of {expected[1]} tiles but "
                f"got {elements} of {tiles}",
            )
        return [with_shape(x, (n, channels, h, w))]
