"""A network of one convolution in a given form, to measure it apart from its neighbours."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.pattern_rewriter import PatternRewriteWalker

from ....dialects import cl, nn
from ....weights import Weights
from ..fuse import form_groups
from ..tuned_forms import ConvolutionSite
from .alone import mark_borders
from .carry_out import carry_out, kernels_of_layouts
from .grouping import TEXELS
from .problem import LayoutProblem


def network_in_form(
    convolution: ConvolutionSite, form: str, target: cl.Target, weights: Weights
) -> ModuleOp:
    """Return a module with a network that computes a convolution in a form, between plain values.

    The passes after `nn-choose` and `nn-fold-relayouts` keep the form and the layouts, which the
    cost model chooses. Kernels that convert values from and to plain layouts are borders. There is
    no bias. `weights` holds the weights of the convolution's network and receives those of the
    form.
    """
    function = _function(convolution.op)
    (op,) = (op for op in function.body.block.ops if isinstance(op, nn.ConvOp))
    chosen = {op: convolution.tiles[form]}
    transforms = replace(convolution.transforms, weights=weights, budget=None, chosen=chosen)
    PatternRewriteWalker(transforms, apply_recursively=False).rewrite_region(function.body)
    module = ModuleOp([function])
    cl.set_target(module, target)
    if target.lanes:
        groups = form_groups(function.body.block.ops, TEXELS)
        problem = LayoutProblem(function, groups, target, is_alone=True)
        carry_out(function, kernels_of_layouts(problem, problem.solve()), target)
        mark_borders(function)
    nn.name_parameters(function)
    return module


def _function(op: nn.ConvOp) -> func.FuncOp:
    """Return the convolution of a plain value, without its bias, as a function."""
    constant = nn.constant_of(op.w)
    assert constant is not None
    x = nn.plain_type(op.x.type)
    block = Block(arg_types=[x])
    block.add_op(weights := constant.clone())
    half = op.accumulate is not None
    conv = nn.ConvOp(block.args[0], weights.result, pads=nn.ints(op.pads), accumulate_half=half)
    conv.location = op.location
    block.add_ops([conv, func.ReturnOp(conv.result)])
    return func.FuncOp("main", ([x], [conv.result.type]), Region(block))
