"""A network of one kernel in given layouts, to measure it apart from its neighbours."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr, UnknownLoc
from xdsl.ir import Block, Region, SSAValue

from ....dialects import cl, nn, tir
from ..fuse import Group, is_literal
from .candidates import Candidate
from .carry_out import GroupKernels, KernelLayouts, carry_out, is_packed
from .measured import Variant

_BORDER = "the border of a kernel alone"
"""The node name of kernels that convert plain inputs to their layouts, and results back."""


def network_of(variant: Variant, target: cl.Target) -> ModuleOp:
    """Return a module with a network that computes a kernel in its layouts, between plain values.

    The passes after `nn-choose` and `nn-fold-relayouts` keep the layouts. Inputs of the kernel
    become arguments, except for constants, which stay those of the kernel's own network.
    """
    work = variant.work
    function = _function(variant)
    block = function.body.block
    ops = [op for op in block.ops if not isinstance(op, nn.ConstantOp | func.ReturnOp)]
    kernel = KernelLayouts(
        Candidate(variant.result),
        list(variant.operands),
        is_packed(target, work, [*variant.operands, variant.result]),
    )
    module = ModuleOp([function])
    cl.set_target(module, target)
    carry_out(function, [GroupKernels(Group(ops), [kernel])], target)
    mark_borders(function)
    nn.name_parameters(function)
    return module


def mark_borders(function: func.FuncOp) -> None:
    """Name the layout transforms of arguments and results, so that `is_border` finds them."""
    end = function.body.block.last_op
    for op in function.body.block.ops:
        if isinstance(op, nn.RelayoutOp):
            is_result = {use.operation for use in op.result.uses} == {end}
            if is_result or isinstance(op.x.owner, Block):
                op.location = NameLoc(StringAttr(_BORDER), UnknownLoc())


def is_border(kernel: tir.FuncOp) -> bool:
    """Return whether a kernel of such a network only converts an argument or a result."""
    return kernel.comment is not None and kernel.comment.data.endswith(_BORDER)


def _function(variant: Variant) -> func.FuncOp:
    """Return the operations of a kernel as a function of plain values."""
    work, result = variant.work, variant.work.result
    block = Block()
    mapping: dict[SSAValue, SSAValue] = {}
    read = dict.fromkeys(value for op in work.ops for value in op.operands)
    for value in (*work.inputs, *(value for value in read if is_literal(value))):
        constant = nn.constant_of(value)
        if constant is None:
            mapping[value] = block.insert_arg(nn.plain_type(value.type), len(block.args))
        else:
            block.add_op(clone := constant.clone())
            mapping[value] = clone.result
    for op in work.ops:
        block.add_op(op.clone(mapping))
    block.add_op(func.ReturnOp(mapping[result]))
    types = [arg.type for arg in block.args], [mapping[result].type]
    return func.FuncOp("main", types, Region(block))
