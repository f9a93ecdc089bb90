"""Move operations that CLML can compute into CLML graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import explanations_of, weights_of
from ...dialects import cl, nn
from ...dialects.cl.target import CLML_CHOICES
from ...errors import CloptError
from .clml.partition import partition
from .clml.report import partition_table


@dataclass(frozen=True)
class NNPartitionCLMLPass(ModulePass):
    """Moves operations that CLML can compute into CLML graphs, each with one `clml.call`.

    `prefer` moves every operation that CLML computes exactly as nn says, `auto` those that cost
    less there by the target's figures, `off` none. A graph is as large as possible without a path
    that leaves it and enters it again. Plain tensors enter and leave graphs.
    """

    name: ClassVar[str] = "nn-partition-clml"
    mode: str = ""
    """By default the target's `clml`."""
    version: int = 0
    """The version of CLML; by default the target's."""
    minimum: int = 1
    """The fewest operations of a graph, not counting copies and reshapes. The default suits both
    modes: `prefer` asks for all that is possible, `auto` weighs the copies of small graphs."""
    explain: bool = False
    """Explain the graph of each operation, or the reason why it is in none."""

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
        explanations = explanations_of(ctx) if self.explain else None
        for function in nn.networks_of(op):
            found = partition(op, function, target, weights_of(ctx), self.minimum, explanations)
            if explanations is not None:
                explanations.append(partition_table(function.sym_name.data, found))
