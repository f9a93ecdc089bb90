"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import I64, boolean, integer, is_true, number
from .attributes import Layout
from .base import ArithmeticOp, Unit, require_vectors
from .types import MLTensorType, Shape, ml_tensor, sizes_text


@irdl_op_definition
class FullyConnectedOp(ArithmeticOp):
    """The weight times x, plus the bias: `1 x K x 1 x 1` to `1 x N x 1 x 1`.

    The weight is `1 x 1 x N x K`, without `transpose` `1 x 1 x K x N`; the bias is `1 x N x 1 x 1`.
    """

    name = "clml.fully_connected"
    x = operand_def(MLTensorType)
    w = operand_def(MLTensorType)
    b = opt_operand_def(MLTensorType)
    transpose = prop_def(BoolAttr, default_value=boolean(True))
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    CONSTANT_TAIL: ClassVar[bool] = True

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None,
        result_type: MLTensorType,
        *,
        transpose: bool = True,
    ):
        super().__init__([x, w, b], {"transpose": boolean(transpose)}, result_type)

    @property
    def adds_up(self) -> bool:
        return True

    @property
    def unit(self) -> Unit:
        return Unit.MATMUL

    @property
    def multiply_adds(self) -> int:
        return prod(ml_tensor(self.w).get_shape())

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        x, w = (type_.get_shape() for type_ in operand_types[:2])
        transposed = is_true(properties["transpose"])
        n, k = (w[2], w[3]) if transposed else (w[3], w[2])
        require(
            x[2:] == (1, 1),
            f"a fully connected layer requires a vector 1xKx1x1, not {sizes_text(x)}: reshape it",
        )
        require(
            w[:2] == (1, 1) and k == x[1],
            f"the weight for a vector of {x[1]} must have the sizes "
            f"{f'1x1xNx{x[1]}' if transposed else f'1x1x{x[1]}xN'}, not {sizes_text(w)}",
        )
        require_vectors(operand_types[2:], n)
        return 1, n, 1, 1


@irdl_op_definition
class GemmOp(ArithmeticOp):
    """The matrix product of a and b: `m x k` by `k x n`.

    The tensors are row-major matrices in the NCHW layout. The first is `m x k x 1 x 1`, or with
    `transpose_a` `k x m x 1 x 1`; the second is `1 x 1 x k x n`, or with `transpose_b`
    `1 x 1 x n x k`. The result is `m x n x 1 x 1`.
    """

    name = "clml.gemm"
    a = operand_def(MLTensorType)
    b = operand_def(MLTensorType)
    m = prop_def(I64)
    n = prop_def(I64)
    k = prop_def(I64)
    transpose_a = prop_def(BoolAttr, default_value=boolean(False))
    transpose_b = prop_def(BoolAttr, default_value=boolean(False))
    result = result_def(MLTensorType)
    assembly_format = FORMAT

    LAYOUTS: ClassVar[tuple[Layout, ...]] = (Layout.NCHW,)
    ONE_IMAGE: ClassVar[bool] = False

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        result_type: MLTensorType,
        *,
        m: int,
        n: int,
        k: int,
        transpose_a: bool = False,
        transpose_b: bool = False,
    ):
        super().__init__(
            [a, b],
            {
                "m": integer(m),
                "n": integer(n),
                "k": integer(k),
                "transpose_a": boolean(transpose_a),
                "transpose_b": boolean(transpose_b),
            },
            result_type,
        )

    @property
    def adds_up(self) -> bool:
        return True

    @property
    def unit(self) -> Unit:
        return Unit.MATMUL

    @property
    def multiply_adds(self) -> int:
        return self.m.value.data * self.n.value.data * self.k.value.data

    @classmethod
    def infer(
        cls, operand_types: Sequence[MLTensorType], properties: Properties, asked: Shape
    ) -> Shape:
        m, n, k = (int(number(properties[name])) for name in "mnk")
        turned_a, turned_b = (is_true(properties[f"transpose_{name}"]) for name in "ab")
        a = (k, m, 1, 1) if turned_a else (m, k, 1, 1)
        b = (1, 1, n, k) if turned_b else (1, 1, k, n)
        for name, type_, sizes in zip("ab", operand_types, (a, b), strict=True):
            require(
                type_.get_shape() == sizes,
                f"{name} must have the sizes {sizes_text(sizes)} for m = {m}, n = {n}, k = {k}, "
                f"not {sizes_text(type_.get_shape())}",
            )
        return m, n, 1, 1
