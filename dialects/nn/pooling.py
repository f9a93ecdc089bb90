"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar, cast

from xdsl.dialects.builtin import TensorType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, flag, int_array, integer, ints
from ..windows import extent, positions
from .attributes import PoolKind, PoolKindAttr
from .base import KIND_FORMAT, NNOp, require_float, require_lengths
from .convolution import check_padded, check_window, padded_shape, window
from .interfaces import HalfRule, Role, Zeros
from .types import Tensor, count, is_bool, shape_of, with_shape


def pooled_shape(x: Sequence[int], properties: Properties) -> tuple[int, ...]:
    """Return the shape of a pooling; ceil_mode drops a window that starts past the input."""
    require(3 <= len(x) <= 5, f"input must have rank 3 to 5 but has rank {len(x)}")
    rank = len(x) - 2
    kernel, strides, dilations, pads = (
        ints(properties[name]) for name in ("kernel", "strides", "dilations", "pads")
    )
    require_lengths(rank, kernel=kernel)
    require(min(kernel) >= 1, f"kernel {list(kernel)} must be positive")
    check_window(strides, dilations, pads, rank)
    spatial: list[int] = []
    for i, n in enumerate(x[2:]):
        span = extent(kernel[i], dilations[i])
        require(
            max(pads[i], pads[i + rank]) < span, f"padding of dimension {i + 2} exceeds the window"
        )
        padded = n + pads[i] + pads[i + rank]
        size = positions(padded, kernel[i], strides[i], dilations[i])
        if "ceil_mode" in properties:
            # A window that extends beyond the end counts if it starts before it.
            size = -(-(padded - span) // strides[i]) + 1
            if (size - 1) * strides[i] >= n + pads[i]:
                size -= 1
        require(size >= 1, f"window in dimension {i + 2} exceeds the padded input")
        spatial.append(size)
    return (x[0], x[1], *spatial)


class WindowOp(NNOp):
    """The properties shared by all poolings of x [N, C, D1..]."""

    ROLE: ClassVar[Role | None] = Role.WINDOW
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    kernel = prop_def(I64_ARRAY)
    strides = prop_def(I64_ARRAY)
    dilations = prop_def(I64_ARRAY)
    pads = prop_def(I64_ARRAY)
    ceil_mode = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    def __init__(
        self,
        x: SSAValue,
        kernel: Sequence[int],
        strides: Sequence[int] | None,
        dilations: Sequence[int] | None,
        pads: Sequence[int] | None,
        ceil_mode: bool,
        more: Mapping[str, Attribute | None],
    ):
        """Create the operation; `more` are the properties specific to one kind of pooling."""
        properties = {"kernel": int_array(kernel), **window(len(kernel), strides, dilations, pads)}
        super().__init__([x], {**properties, "ceil_mode": flag(ceil_mode), **more})

    @classmethod
    def result_shape(cls, x: Tensor, properties: Properties) -> tuple[int, ...]:
        """Return the shape of the result; raise VerifyException if the window exceeds the input."""
        require(not is_bool(x.element_type), "pooling of i1 elements is not defined")
        shape = pooled_shape(x.get_shape(), properties)
        check_padded(x, ints(properties["pads"]))
        return shape

    def visits(self) -> int:
        shape, strides = padded_shape(shape_of(self.x), ints(self.pads)), ints(self.strides)
        # With ceil_mode the last window may need one more stride of padding.
        room = (n + stride for n, stride in zip(shape[2:], strides, strict=True))
        taps = count(shape_of(self.result)) * prod(ints(self.kernel))
        return max(super().visits(), count(shape[:2]) * prod(room), taps)

    def overlap(self) -> float:
        return prod(ints(self.kernel)) / prod(ints(self.strides))


@irdl_op_definition
class PoolOp(WindowOp):
    """Maximum, average or p-norm over windows of x [N, C, D1..].

    An average divides by the number of elements inside the input, or with `count_include_pad` by
    the number inside the padded input.
    """

    name = "nn.pool"
    HALF: ClassVar[HalfRule] = HalfRule.FOLLOWS
    kind = prop_def(PoolKindAttr)
    count_include_pad = opt_prop_def(UnitAttr)
    p = prop_def(I64, default_value=integer(2))
    assembly_format = KIND_FORMAT

    def __init__(
        self,
        x: SSAValue,
        kind: PoolKind | str,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = False,
        p: int = 2,
    ):
        super().__init__(
            x,
            kernel,
            strides,
            dilations,
            pads,
            ceil_mode,
            {
                "kind": PoolKindAttr(PoolKind(kind)),
                "count_include_pad": flag(count_include_pad),
                "p": integer(p),
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        if cast(PoolKindAttr, properties["kind"]).data is not PoolKind.MAX:
            require_float(x)
        require(ints(properties["p"])[0] >= 1, "p must be positive")
        return [with_shape(x, cls.result_shape(x, properties))]

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        if axis > 1 or not zeros.is_zero(self.x, axis):
            return False
        return self.kind.data is not PoolKind.MAX or self._every_window_meets()

    def _every_window_meets(self) -> bool:
        """Return whether each window has a tap inside the input.

        The maximum of a window without one is the lowest number.
        """
        columns = (
            ints(self.kernel),
            ints(self.strides),
            ints(self.dilations),
            ints(self.pads),
            shape_of(self.x)[2:],
            shape_of(self.result)[2:],
        )
        return all(
            dilation == 1 and pad < kernel and (positions - 1) * stride - pad < size
            for kernel, stride, dilation, pad, size, positions in zip(*columns, strict=False)
        )


@irdl_op_definition
class MaxPoolIndicesOp(WindowOp):
    """The flat index in the whole input of each window's maximum (ONNX MaxPool's Indices)."""

    name = "nn.max_pool_indices"
    storage_order = prop_def(I64, default_value=integer(0))
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        ceil_mode: bool = False,
        storage_order: int = 0,
    ):
        super().__init__(
            x,
            kernel,
            strides,
            dilations,
            pads,
            ceil_mode,
            {"storage_order": integer(storage_order)},
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (x,) = operand_types
        require(ints(properties["storage_order"])[0] in (0, 1), "storage_order must be 0 or 1")
        return [TensorType(i64, cls.result_shape(x, properties))]
