"""Programs of compiled models on their device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .backends.pyopencl_runtime import Runnable
    from .backends.saved_model import SavedPlan
    from .backends.stored_program import StoredProgram
    from .compiled_model import CompiledModel
    from .model_contents import Contents
    from .options import Place
    from .weights import Weights


def planned(module: ModuleOp) -> ModuleOp:
    """Return `module` if its memory is planned, or else a copy with planned memory."""
    from .dialects.cl import ArenaOp

    if any(isinstance(op, ArenaOp) for op in module.walk()):
        return module
    from .context import CloptContext
    from .passes.pipelines import run_pipeline

    module = module.clone()
    run_pipeline(CloptContext(), module, "memory")
    return module


def executable_of(
    plan: SavedPlan,
    weights: Weights,
    libraries: Mapping[str, str],
    place: Place,
    use_cache: bool,
) -> Runnable:
    """Return the program on its device; a program that needs a C library is compiled to C."""
    from .backends.offload import needs_library
    from .backends.programs import program_of
    from .backends.pyopencl_runtime import CExecutable, Executable

    settings: dict[str, Any] = {"source": plan.source, "use_cache": use_cache, **vars(place)}
    if needs_library(program_of(plan.module)):
        return CExecutable(planned(plan.module), weights, stand_ins=libraries, **settings)
    return Executable(plan.module, weights, **settings)


def replay_of(
    stored: StoredProgram,
    weights: Weights,
    contents: Contents | CompiledModel,
    place: Place,
    use_cache: bool = True,
) -> Runnable:
    """Return a stored program on its device, launched from its stored launch data."""
    from .backends.pyopencl_runtime.replay import Replay

    assert stored.launches is not None
    arrays = {key: weights.get(key) for key in weights.keys()}
    settings: dict[str, Any] = {"use_cache": use_cache, **vars(place)}
    return Replay(stored.launches, stored.source, arrays, contents, **settings)
