"""xDSL's own clean-up passes, for the networks of a module alone."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from ..dialects import nn


class CanonicalizeNetworks(CanonicalizePass):
    """`canonicalize`, which leaves functions that are no networks as they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _on_networks(super().apply, ctx, op)


class CSEOfNetworks(CommonSubexpressionElimination):
    """`cse`, which leaves functions that are no networks as they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _on_networks(super().apply, ctx, op)


class DCEOfNetworks(DeadCodeElimination):
    """`dce`, which leaves functions that are no networks as they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _on_networks(super().apply, ctx, op)


def _on_networks(run: Callable[[Context, ModuleOp], None], ctx: Context, module: ModuleOp) -> None:
    """Move each network into a module of its own, which xDSL's passes take, and back again."""
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
