"""Move what CLML can compute into graphs of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import weights_of
from ...dialects import cl
from ...dialects.cl.target import CLML_CHOICES
from ...errors import CloptError
from .clml.partition import partition
from .clml.report import print_partition


@dataclass(frozen=True)
class NNPartitionCLMLPass(ModulePass):
    """Moves operations that CLML can compute into graphs of it, each of which one `clml.call` uses.

    With `prefer` that is everything CLML computes exactly as nn says, with `auto` what then costs
    less by the target's figures, with `off` nothing. A region is as large as it can be without a
    path that leaves and enters it again. What leaves a graph or enters it is a plain tensor.
    """

    name: ClassVar[str] = "nn-partition-clml"
    mode: str = ""
    """As the target's `clml` unless given."""
    version: int = 0
    """The version of CLML; the target's unless given."""
    minimum: int = 1
    """The fewest operations of a graph, not counting copies and reshapes. One is enough for
    `prefer`, which asks for all that is possible; `auto` weighs the copies of small graphs."""
    explain: bool = False
    """Print which graph each operation is in, or why in none, to stderr."""

    def __post_init__(self) -> None:
        if self.mode not in ("", *CLML_CHOICES):
            raise ValueError(f"mode is one of {', '.join(CLML_CHOICES)}, not {self.mode}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        target = replace(
            target,
            clml=self.mode or target.clml,
            clml_version=self.version or target.clml_version,
        )
        if target.clml == "off":
            return
        if not target.clml_version:
            if target.clml == "auto":
                return
            raise CloptError(
                f"clml=prefer needs a device with CLML, and {target.name} has none; name another "
                "target, for example adreno-740, say which version there is (clml_version=3), or "
                "let our reference library serve (clopt-run --clml-library reference)."
            )
        for function in list(op.ops):
            if isinstance(function, func.FuncOp) and function.body.blocks:
                found = partition(op, function, target, weights_of(ctx), self.minimum, self.explain)
                if self.explain:
                    print_partition(function.sym_name.data, found)
