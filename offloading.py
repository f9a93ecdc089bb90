"""Accelerators by name, from Python: query a device for one, or partition a model for it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from .accelerators import Row, accelerators
from .backends.host_calls import CommandCalls, host_function
from .context import CloptContext, explaining
from .dialects.cl import Target, set_target
from .errors import CloptError
from .messages.explanations import tables
from .messages.sentences import did_you_mean
from .targets import TargetChoice, with_facts
from .weights import Weights

if TYPE_CHECKING:
    from .backends.pyopencl_runtime.library_runtime import LibraryRuntime
    from .options import DeviceChoice
    from .passes.nn.offload.accelerator import Accelerator


def has_accelerator(
    name: str, device: DeviceChoice | None = None, library: str | None = None
) -> bool:
    """Return whether `device`, by default the first listed, can run the graphs of an accelerator.

    The library on the device must work in this process, or `library` in its place, as with
    `clopt.compile(..., accelerators={name: library})`. An accelerator of calls needs the modules of
    its functions. An accelerator of kernels runs on every device. Raises CloptError for an unknown
    accelerator or device.
    """
    from .backends.pyopencl_runtime.devices import find_device, list_devices

    row = _row(name)
    if device is None and not list_devices():
        return False
    found = find_device(device)
    commands = row.load("commands")
    try:
        if issubclass(commands, CommandCalls):
            for function in commands.functions:
                host_function(name, function)
        elif row.runtime:
            runtime: LibraryRuntime = row.load("runtime")()
            runtime.open(found, library)
    except CloptError:
        return False
    return True


def partition_for(
    accelerator: str,
    module: ModuleOp,
    target: str | Target,
    weights: Weights | None = None,
    *,
    explain: bool = False,
) -> ModuleOp:
    """Return a copy of `module` (of nn operations) with an accelerator's graphs.

    `clopt.compile` accepts the copy. The module is first simplified as in `clopt.compile`. Graphs
    take every operation that the accelerator supports (mode `prefer`), unless the target says
    `auto`. `weights` are the module's; constants that the accelerator needs in another order are
    added to them. With `explain`, a table on stderr shows the graph of each operation, or the
    reason why it has none. Raises CloptError if the target lacks the accelerator.
    """
    from .passes.nn.choose import NNChoosePass
    from .passes.on_networks import DCEOfNetworks
    from .passes.pipelines import run_pipeline

    row = _row(accelerator)
    described = target if isinstance(target, Target) else TargetChoice.parse(target).load()
    if described is None:
        raise CloptError(f'"{target}" does not name a target; write for example adreno-740.')
    offers: Accelerator = row.load("offers")()
    if absence := offers.absence(described):
        raise CloptError(absence)
    if dict(described.accelerators).get(accelerator, "off") == "off":
        described = with_facts(described, {accelerator: "prefer"})
    module = module.clone()
    set_target(module, described)
    ctx = CloptContext(weights=Weights() if weights is None else weights)
    run_pipeline(ctx, module, "simplify")
    with explaining(ctx, tables) if explain else nullcontext():
        NNChoosePass(graphs_only=True).apply(ctx, module)
    # Graphs hold copies of their constants, so constants that only the accelerator reads are dead.
    DCEOfNetworks().apply(ctx, module)
    module.verify()
    return module


def _row(name: str) -> Row:
    rows = accelerators()
    if name not in rows:
        there = f"there are {', '.join(rows)}, and those of other packages."
        raise CloptError(f'No accelerator is called "{name}"; {did_you_mean(name, rows, there)}')
    return rows[name]
