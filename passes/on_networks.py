"""xDSL's clean-up passes, restricted to the networks of a module."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from ..dialects import nn
from .nn.inline_calls import remove_unused


class CanonicalizeNetworks(CanonicalizePass):
    """`canonicalize`, applied only to functions that are networks."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _on_networks(super().apply, ctx, op)


class CSEOfNetworks(CommonSubexpressionElimination):
    """`cse`, applied only to functions that are networks."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _on_networks(super().apply, ctx, op)


class DCEOfNetworks(DeadCodeElimination):
    """`dce`, applied only to functions that are networks; removes the bodies of dead loops, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _on_networks(super().apply, ctx, op)
        remove_unused(op, nn.networks_of(op))


def _on_networks(run: Callable[[Context, ModuleOp], None], ctx: Context, module: ModuleOp) -> None:
    """Run `run` on each network in a module of its own, then move the network back.

    xDSL's passes work on whole modules and would rewrite an embedder's functions.
    """
    for function in nn.networks_of(module):
        block, following = module.body.block, function.next_op
        function.detach()
        alone = ModuleOp([function])
        try:
            run(ctx, alone)
        finally:
            function.detach()
            if following is None:
                block.add_op(function)
            else:
                block.insert_op_before(function, following)
