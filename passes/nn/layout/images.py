"""The layout of inputs and outputs that the application passes as images."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import SSAValue

from ....dialects import nn, tir
from ....dialects.nn import LayoutAttr
from .candidates import PLAIN, Candidate

_CHANNELS, _WIDTH = 1, 3


def image_layout(type_: nn.Tensor, is_input: bool = True) -> LayoutAttr:
    """Return the layout of an image of RGBA texels that holds N x C x H x W.

    Blocks of four channels are texels, W is the width, and N, the blocks and H are the height. The
    application fills the tail of the last block of an input, for example with a camera's alpha.
    """
    scope = tir.ScopeAttr(tir.Scope.Texture, [_WIDTH])
    has_tail = type_.get_shape()[_CHANNELS] % tir.TEXEL != 0
    return LayoutAttr([(_CHANNELS, tir.TEXEL)], scope, undefined_tails=is_input and has_tail)


def argument_layouts(function: func.FuncOp) -> dict[SSAValue, Candidate]:
    """Return the layouts of a function's arguments: plain, except for images."""
    marks = nn.images_of(function.arg_attrs)
    return {
        arg: Candidate(image_layout(nn.tensor_type(arg))) if i in marks else PLAIN
        for i, arg in enumerate(function.body.block.args)
    }


def result_layouts(function: func.FuncOp) -> list[Candidate]:
    """Return the layouts that the caller expects of a function's results: plain or images."""
    marks, end = nn.images_of(function.res_attrs), function.body.block.last_op
    return [
        Candidate(image_layout(nn.tensor_type(value), is_input=False)) if i in marks else PLAIN
        for i, value in enumerate(() if end is None else end.operands)
    ]
