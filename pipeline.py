"""Running passes from Python: pipelines by name, on a module or its text, for any target."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipelineCallbackType
from xdsl.utils.exceptions import VerifyException

from .context import CloptContext, weights_of
from .dialects.cl import Target, set_target, target_of
from .dialects.nn import set_module_weights
from .errors import CloptError
from .messages.arguments import check_type, type_name
from .messages.source import Source, SourceModule
from .passes.pipeline_text import parse_passes
from .passes.pipelines import apply_within
from .targets import TargetChoice
from .universe import with_all_packages
from .weights import Weights


def run_pipeline(
    module: ModuleOp | str,
    pipeline: str | ModulePass | Sequence[ModulePass],
    target: str | Path | Target | None = None,
    *,
    weights: Weights | None = None,
    memory_limit: int | None = None,
    callback: PassPipelineCallbackType | None = None,
) -> ModuleOp:
    """Return the module that passes make of a module or of MLIR text; the input stays unchanged.

    `pipeline` is text as for `clopt -p`: passes of clopt, xDSL and other installed packages with
    their options, and named pipelines, as in "simplify,nn-fuse". It can also be passes as objects:
    frozen dataclasses whose fields are their options. `target` is a name and facts, the path of a
    .toml file or a Target. Without it, the module's own target is used.

    The module's arrays are its resource `nn.weights`, or else in `weights`. The result has these
    arrays and those that passes made as a resource, so that `clopt.compile` accepts it directly.
    `memory_limit` is the same as for `compile`; xDSL's `callback` is called between passes. Raises
    CloptError for a mistake in the arguments or in the module.
    """
    check_type("target", target, (str, PathLike, Target), "a name and facts, or a Target")
    check_type("weights", weights, (Weights,), "a clopt.weights.Weights")
    ctx = CloptContext.with_all_packages()
    ctx.weights.adopt(weights or Weights())
    passes = _passes(pipeline)
    result = _read(module, ctx)
    if target is not None:
        _set_target(result, target)
    weights_of(ctx, result)
    apply_within(ctx, result, passes, memory_limit, callback)
    _verify(result)
    set_module_weights(result, ctx.weights if len(ctx.weights) else None)
    return result


def _passes(pipeline: object) -> tuple[ModulePass, ...]:
    if isinstance(pipeline, str):
        return parse_passes(pipeline, with_all_packages().all_passes, "pipeline")
    is_list = isinstance(pipeline, Sequence)
    given = cast("Sequence[object]", pipeline) if is_list else (pipeline,)
    passes = tuple(each for each in given if isinstance(each, ModulePass))
    if len(passes) != len(given):
        wrong = next(each for each in given if not isinstance(each, ModulePass))
        raise CloptError(
            'pipeline must be text such as "simplify,fuse", or passes such as NNFusePass(), '
            f"not {type_name(wrong)}."
        )
    return passes


def _read(module: object, ctx: CloptContext) -> ModuleOp:
    """Return a verified module that passes may change."""
    if isinstance(module, str):
        source = SourceModule.parse(ctx, Source("the text", module))
        source.verify()
        return source.module
    if not isinstance(module, ModuleOp):
        raise CloptError(f"module must be a ModuleOp or MLIR text, not {type_name(module)}.")
    _verify(module)
    return module.clone()


def _verify(module: ModuleOp) -> None:
    try:
        module.verify()
    except VerifyException as error:
        raise CloptError(f"{str(error).splitlines()[0]}.") from error


def _set_target(module: ModuleOp, target: str | Path | Target) -> None:
    if isinstance(target, Target):
        set_target(module, target)
    else:
        choice = TargetChoice.parse(str(target))
        set_target(module, choice.load() or choice.change(target_of(module)))
