"""Convolutions over one to three spatial dimensions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float16Type, TensorType, f16
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ..inferred import FORMAT, Properties, require
from ..properties import I64, I64_ARRAY, int_array, integer, ints
from ..windows import positions, spread
from .base import NNOp, require_accumulator, require_lengths, sum_element
from .interfaces import HalfRule, Role, Zeros
from .limits import check_size
from .types import Tensor, count, is_bool, shape_of, tensor_type, with_shape


def check_window(
    strides: Sequence[int], dilations: Sequence[int], pads: Sequence[int], rank: int
) -> None:
    """Verify window attributes for `rank` spatial dimensions."""
    require_lengths(rank, strides=strides, dilations=dilations)
    require_lengths(2 * rank, pads=pads)
    require(min(strides) >= 1, f"strides {list(strides)} must be positive")
    require(min(dilations) >= 1, f"dilations {list(dilations)} must be positive")
    require(min(pads) >= 0, f"pads {list(pads)} must not be negative")


def padded_shape(image: Sequence[int], pads: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of an image [N, C, D1..] after padding."""
    n, c, *spatial = image
    rank = len(spatial)
    return n, c, *(n + pads[i] + pads[i + rank] for i, n in enumerate(spatial))


def check_padded(image: Tensor, pads: Sequence[int]) -> None:
    """Verify the size of an image [N, C, D1..] after padding, since it may be padded in memory."""
    check_size(with_shape(image, padded_shape(image.get_shape(), pads)))


def window(
    rank: int,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
) -> Mapping[str, Attribute]:
    """Return the properties of a window in `rank` spatial dimensions, with defaults filled in."""
    return {
        "strides": int_array(strides or [1] * rank),
        "dilations": int_array(dilations or [1] * rank),
        "pads": int_array(pads or [0] * 2 * rank),
    }


class ConvolutionOp(NNOp):
    """The properties and rules shared by both convolutions."""

    ROLE: ClassVar[Role | None] = Role.CONTRACTION
    HALF: ClassVar[HalfRule] = HalfRule.ROUNDS
    BY_CHANNEL: ClassVar[bool] = True
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    b = opt_operand_def(TensorType)
    strides = prop_def(I64_ARRAY)
    dilations = prop_def(I64_ARRAY)
    pads = prop_def(I64_ARRAY)
    groups = prop_def(I64, default_value=integer(1))
    accumulate = opt_prop_def(Float16Type)
    result = result_def(TensorType)

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
        more: Mapping[str, Attribute] | None = None,
    ):
        """Create the operation; `more` are the properties specific to one kind of convolution."""
        rank = len(shape_of(x)) - 2
        super().__init__(
            [x, w, b],
            {
                **window(rank, strides, dilations, pads),
                **(more or {}),
                "groups": integer(groups),
                "accumulate": f16 if accumulate_half else None,
            },
        )

    @classmethod
    def infer(cls, operand_types: Sequence[Tensor], properties: Properties) -> Sequence[Tensor]:
        (groups,) = ints(properties["groups"])
        x, w = operand_types[0].get_shape(), operand_types[1].get_shape()
        element = sum_element(operand_types)
        require_accumulator(operand_types, properties)
        is_number = not is_bool(operand_types[0].element_type)
        require(is_number, "convolution of i1 elements is not defined")
        require(3 <= len(x) <= 5, f"input must have rank 3 to 5 but has rank {len(x)}")
        require(len(w) == len(x), f"weight has rank {len(w)} but the input has rank {len(x)}")
        require(groups >= 1, f"groups must be positive but is {groups}")
        require(x[1] % groups == 0, f"{x[1]} input channels do not divide into {groups} groups")
        channels = cls.output_channels(x, w, groups)
        if len(operand_types) == 3 and operand_types[2].get_shape() != (channels,):
            shape = list(operand_types[2].get_shape())
            raise VerifyException(f"bias must have shape [{channels}] but has {shape}")
        strides, dilations, pads = cls._window(properties)
        check_window(strides, dilations, pads, len(w) - 2)
        sizes = cls.output_sizes(x[2:], w[2:], properties)
        result = TensorType(element, (x[0], channels, *sizes))
        check_padded(cls.padded_image(operand_types[0], result), pads)
        return [result]

    @staticmethod
    def _window(properties: Properties) -> tuple[tuple[int, ...], ...]:
        return tuple(ints(properties[name]) for name in ("strides", "dilations", "pads"))

    def visits(self) -> int:
        x, result = tensor_type(self.x), tensor_type(self.result)
        larger = self.padded_image(x, result)
        smaller = result if larger is x else x
        taps = count(shape_of(self.w)[1:])
        padded = padded_shape(larger.get_shape(), ints(self.pads))
        return max(super().visits(), count(padded), count(smaller.get_shape()) * taps)

    def is_zero_beyond(self, axis: int, zeros: Zeros) -> bool:
        """Return whether the weights and bias of channels beyond the last are zero."""
        parameters = [self.w] if self.b is None else [self.w, self.b]
        return axis == 1 and all(zeros.linked_zero(self, axis, value) for value in parameters)

    @classmethod
    @abstractmethod
    def output_channels(cls, x: Sequence[int], w: Sequence[int], groups: int) -> int:
        """Return the channels of the result; raise VerifyException if x and w do not match."""

    @classmethod
    @abstractmethod
    def output_sizes(
        cls, sizes: Sequence[int], kernel: Sequence[int], properties: Properties
    ) -> Sequence[int]:
        """Return the spatial shape of the result; raise VerifyException if it would be empty."""

    @classmethod
    @abstractmethod
    def padded_image(cls, x: Tensor, result: Tensor) -> Tensor:
        """Return the type of the padded tensor: the larger of the two."""


@irdl_op_definition
class ConvOp(ConvolutionOp):
    """Convolution of x [N, C, D1..] with w [O, C/groups, K1..] and an optional bias [O].

    `pads` lists the begins of all spatial dimensions, then the ends. Products of f16 are
    accumulated in f32, or in f16 if `accumulate` is f16. Products of 8-bit integers, signed or not,
    are accumulated in i32, and their bias is i32.
    """

    name = "nn.conv"
    assembly_format = FORMAT

    @classmethod
    def output_channels(cls, x: Sequence[int], w: Sequence[int], groups: int) -> int:
        if w[1] * groups != x[1]:
            raise VerifyException(
                f"weight has {w[1]} channels in each of {groups} groups but the input has {x[1]}"
            )
        require(w[0] % groups == 0, f"{w[0]} output channels do not divide into {groups} groups")
        return w[0]

    @classmethod
    def output_sizes(
        cls, sizes: Sequence[int], kernel: Sequence[int], properties: Properties
    ) -> Sequence[int]:
        strides, dilations, pads = cls._window(properties)
        spatial: list[int] = []
        for i, n in enumerate(sizes):
            padded = n + pads[i] + pads[i + len(sizes)]
            spatial.append(positions(padded, kernel[i], strides[i], dilations[i]))
            fits = spatial[i] >= 1
            require(fits, f"kernel extent in dimension {i + 2} exceeds the padded input")
        return spatial

    @classmethod
    def padded_image(cls, x: Tensor, result: Tensor) -> Tensor:
        return x

    def has_value_of_nothing(self) -> bool:
        return True


@irdl_op_definition
class ConvTransposeOp(ConvolutionOp):
    """Transposed convolution of x [N, C, D1..] with w [C, O/groups, K1..] (ONNX ConvTranspose)."""

    name = "nn.conv_transpose"
    output_padding = prop_def(I64_ARRAY)
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
        super().__init__(
            x,
            w,
            b,
            strides=strides,
            dilations=dilations,
            pads=pads,
            groups=groups,
            accumulate_half=accumulate_half,
            more={"output_padding": int_array(output_padding or [0] * (len(shape_of(x)) - 2))},
        )

    @classmethod
    def output_channels(cls, x: Sequence[int], w: Sequence[int], groups: int) -> int:
        require(w[0] == x[1], f"weight has {w[0]} input channels but the input has {x[1]}")
        return w[1] * groups

    @classmethod
    def output_sizes(
        cls, sizes: Sequence[int], kernel: Sequence[int], properties: Properties
    ) -> Sequence[int]:
        strides, dilations, pads = cls._window(properties)
        extra, rank = ints(properties["output_padding"]), len(sizes)
        require_lengths(rank, output_padding=extra)
        require(min(extra) >= 0, f"output_padding {list(extra)} must not be negative")
        spatial: list[int] = []
        for i, n in enumerate(sizes):
            full = spread(n, kernel[i], strides[i], dilations[i]) + extra[i]
            spatial.append(full - pads[i] - pads[i + rank])
            require(spatial[i] >= 1, f"pads crop dimension {i + 2} to nothing")
        return spatial

    @classmethod
    def padded_image(cls, x: Tensor, result: Tensor) -> Tensor:
        return result
