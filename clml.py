"""Partitioning a model for CLML from Python: `clopt.partition_for_clml`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from .backends.targets import TargetChoice
from .context import CloptContext, explaining
from .dialects.cl import Target, set_target
from .dialects.clml.facts import CLMLFacts
from .errors import CloptError
from .weights import Weights


def partition_for_clml(
    module: ModuleOp,
    target: str | Target,
    weights: Weights | None = None,
    *,
    explain: bool = False,
) -> ModuleOp:
    """A copy of `module` (of nn operations) with graphs of CLML, for `clopt.compile`.

    Simplifies the copy first, as `clopt.compile` does. Graphs take every operation that they can,
    as with clml=prefer, unless the target says clml=auto. `weights` are those of the module, and
    also get constants that CLML needs in another order. With `explain` a table on stderr says which
    graph each operation is in, or why it is in none. Raises CloptError for a target without CLML.
    """
    from .passes.nn.choose import NNChoosePass
    from .passes.on_networks import DCEOfNetworks
    from .passes.pipelines import run_pipeline

    described = target if isinstance(target, Target) else TargetChoice.parse(target).load()
    if described is None:
        raise CloptError(f'"{target}" names no target; write for example adreno-740.')
    facts = CLMLFacts.of(described)
    if not facts.clml_version:
        raise CloptError(
            f"{described.name} has no CLML; name another target, for example adreno-740, or say "
            "which version there is: clml_version=3."
        )
    if facts.clml == "off":
        described = described.with_facts({"clml": "prefer"})
    module = module.clone()
    set_target(module, described)
    ctx = CloptContext(weights=Weights() if weights is None else weights)
    run_pipeline(ctx, module, "simplify")
    with explaining(ctx):
        NNChoosePass(graphs_only=True, explain=explain).apply(ctx, module)
    # Graphs hold their own constants, so those that only CLML reads are dead.
    DCEOfNetworks().apply(ctx, module)
    module.verify()
    return module
