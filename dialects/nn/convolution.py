"""Convolutions over one to three spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float16Type, TensorType, f16
from xdsl.ir import SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ..properties import I64, I64_ARRAY, int_array, integer, ints
from .base import (
    FORMAT,
    NNOp,
    Properties,
    require,
    require_accumulator,
    require_lengths,
    require_same_element,
)
from .limits import check_size
from .types import Tensor, is_bool, shape_of, with_shape


def _check_operands(types: Sequence[Tensor], groups: int) -> tuple[int, ...]:
    """Verify the rules that both convolutions share; return the spatial shape of the kernel."""
    x, w = types[0].get_shape(), types[1].get_shape()
    require_same_element(types)
    require(not is_bool(types[0].element_type), "convolution of i1 elements is not defined")
    require(3 <= len(x) <= 5, f"input must have rank 3 to 5 but has rank {len(x)}")
    require(len(w) == len(x), f"weight has rank {len(w)} but the input has rank {len(x)}")
    require(groups >= 1, f"groups must be positive but is {groups}")
    require(x[1] % groups == 0, f"{x[1]} input channels do not divide into {groups} groups")
    return w[2:]


def _check_bias(types: Sequence[Tensor], channels: int) -> None:
    if len(types) == 3 and types[2].get_shape() != (channels,):
        raise VerifyException(
            f"bias must have shape [{channels}] but has {list(types[2].get_shape())}"
        )


def check_window(
    strides: Sequence[int], dilations: Sequence[int], pads: Sequence[int], rank: int
) -> None:
    """Verify window attributes for `rank` spatial dimensions."""
    require_lengths(rank, strides=strides, dilations=dilations)
    require_lengths(2 * rank, pads=pads)
    require(min(strides) >= 1, f"strides {list(strides)} must be positive")
    require(min(dilations) >= 1, f"dilations {list(dilations)} must be positive")
    require(min(pads) >= 0, f"pads {list(pads)} must not be negative")


def check_padded(image: Tensor, pads: Sequence[int]) -> None:
    """Verify the size of an image [N, C, D1..] with padding, since it may be padded in memory."""
    outer, spatial = image.get_shape()[:2], image.get_shape()[2:]
    rank = len(spatial)
    padded = [n + pads[i] + pads[i + rank] for i, n in enumerate(spatial)]
    check_size(with_shape(image, (*outer, *padded)))


def extent(kernel: int, dilation: int) -> int:
    """The number of input elements that a dilated window spans."""
    return (kernel - 1) * dilation + 1


@irdl_op_definition
class ConvOp(NNOp):
    """Convolution of x [N, C, D1..] with w [O, C/groups, K1..] and an optional bias [O].

    `pads` are all begins, then all ends. Halves are multiplied and added up in float, or in half if
    `accumulate` is f16.
    """

    name = "nn.conv"
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    b = opt_operand_def(TensorType)
    strides = prop_def(I64_ARRAY)
    dilations = prop_def(I64_ARRAY)
    pads = prop_def(I64_ARRAY)
    groups = prop_def(I64, default_value=integer(1))
    accumulate = opt_prop_def(Float16Type)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None = None,
        *,
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        groups: int = 1,
        accumulate_half: bool = False,
    ):
        rank = len(shape_of(x)) - 2
        super().__init__(
            [x, w, b],
            {
                "strides": int_array(strides or [1] * rank),
                "dilations": int_array(dilations or [1] * rank),
                "pads": int_array(pads or [0] * 2 * rank),
                "groups": integer(groups),
                "accumulate": f16 if accumulate_half else None,
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (groups,) = ints(properties["groups"])
        kernel = _check_operands(operand_types, groups)
        require_accumulator(operand_types, properties)
        x, w = (t.get_shape() for t in operand_types[:2])
        if w[1] * groups != x[1]:
            raise VerifyException(
                f"weight has {w[1]} channels in each of {groups} groups, input has {x[1]}"
            )
        require(w[0] % groups == 0, f"{w[0]} output channels do not divide into {groups} groups")
        _check_bias(operand_types, w[0])
        strides, dilations, pads = (
            ints(properties[name]) for name in ("strides", "dilations", "pads")
        )
        rank = len(kernel)
        check_window(strides, dilations, pads, rank)
        check_padded(operand_types[0], pads)
        spatial: list[int] = []
        for i, n in enumerate(x[2:]):
            slack = n + pads[i] + pads[i + rank] - extent(kernel[i], dilations[i])
            require(slack >= 0, f"kernel extent in dimension {i + 2} exceeds the padded input")
            spatial.append(slack // strides[i] + 1)
        return [with_shape(operand_types[0], (x[0], w[0], *spatial))]


@irdl_op_definition
class ConvTransposeOp(NNOp):
    """Transposed convolution of x [N, C, D1..] with w [C, O/groups, K1..] (ONNX ConvTranspose)."""

    name = "nn.conv_transpose"
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    b = opt_operand_def(TensorType)
    strides = prop_def(I64_ARRAY)
    dilations = prop_def(I64_ARRAY)
    pads = prop_def(I64_ARRAY)
    output_padding = prop_def(I64_ARRAY)
    groups = prop_def(I64, default_value=integer(1))
    accumulate = opt_prop_def(Float16Type)
    result = result_def(TensorType)
    assembly_format = FORMAT

    def __init__(
        self,
        x: SSAValue,
        w: SSAValue,
        b: SSAValue | None = None,
        *,
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        output_padding: Sequence[int] | None = None,
        groups: int = 1,
        accumulate_half: bool = False,
    ):
        rank = len(shape_of(x)) - 2
        super().__init__(
            [x, w, b],
            {
                "strides": int_array(strides or [1] * rank),
                "dilations": int_array(dilations or [1] * rank),
                "pads": int_array(pads or [0] * 2 * rank),
                "output_padding": int_array(output_padding or [0] * rank),
                "groups": integer(groups),
                "accumulate": f16 if accumulate_half else None,
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (groups,) = ints(properties["groups"])
        kernel = _check_operands(operand_types, groups)
        require_accumulator(operand_types, properties)
        x, w = (t.get_shape() for t in operand_types[:2])
        require(w[0] == x[1], f"weight takes {w[0]} input channels but the input has {x[1]}")
        _check_bias(operand_types, w[1] * groups)
        strides, dilations, pads, extra = (
            ints(properties[name]) for name in ("strides", "dilations", "pads", "output_padding")
        )
        rank = len(kernel)
        check_window(strides, dilations, pads, rank)
        require_lengths(rank, output_padding=extra)
        require(min(extra) >= 0, f"output_padding {list(extra)} must not be negative")
        spatial: list[int] = []
        for i, n in enumerate(x[2:]):
            full = strides[i] * (n - 1) + extra[i] + extent(kernel[i], dilations[i])
            spatial.append(full - pads[i] - pads[i + rank])
            require(spatial[i] >= 1, f"pads crop dimension {i + 2} to nothing")
        result = with_shape(operand_types[0], (x[0], w[1] * groups, *spatial))
        check_padded(result, pads)
        return [result]
