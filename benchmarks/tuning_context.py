"""Compare kernels timed alone by `clopt-tune` with the same kernels inside their network.

    python benchmarks/tuning_context.py [networks] [--device pocl] [--target TARGET]

Each round times every kernel alone, as a trial of its default plan. It times the network before and
after each of them, so that both see the machine in the same state. Kernels that share a launch with
others have no time of their own in the network; the share of those that have one stands in the
report, `results/tuning_context-DEVICE.md`.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from pathlib import Path

import models
import numpy as np
from provenance import measured

from clopt.backends.pyopencl_runtime.devices import find_device
from clopt.compiled_model import CompiledModel
from clopt.dialects import cl, tir
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.networks import TunedModel
from clopt.tuning.places import OFF
from clopt.tuning.programs import Programs
from clopt.tuning.spaces import PlanSpace
from clopt.tuning.trial import Task, Trial
from clopt.tuning.turns import Turns

RESULTS = Path(__file__).resolve().parent / "results"
NETWORKS = ("mobilenet_v2", "resnet18", "vit_tiny")
RUNS = 5
HEAD = """# Kernels alone and in their network

{origin}.
`alone` is what the kernels take by themselves, as `clopt-tune` times them, over what the same
launches take in the network just before and after, medians of {rounds} rounds, weighted by the time
in the network; `error` is the distance of the two, kernel by kernel, weighted alike; `within 10 %`
is the share of the time in kernels that are less than 10 % apart.

| network | target | kernels | their share of the network | alone | error | within 10 % |
|---|---|---|---|---|---|---|
"""


def kernels_of(model: CompiledModel) -> list[str]:
    """Return, for each command of an inference, the kernel whose plan it runs."""
    funcs = {op.sym_name.data: op for op in model.module.ops if isinstance(op, tir.FuncOp)}
    names: list[str] = []
    for command in cl.enqueued(model.executable.program):
        name = command.kernel_name if isinstance(command, cl.EnqueueKernelOp) else ""
        func = funcs.get(name)
        names.append(name if func is None or func.part_of is None else func.part_of.data)
    return names


def in_network(model: CompiledModel, inputs: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the microseconds of all launches of each kernel in an inference."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    names = kernels_of(model)
    for run in model.executable.profile(inputs, RUNS):
        times: defaultdict[str, float] = defaultdict(float)
        for name, command in zip(names, run, strict=True):
            times[name] += command.nanoseconds / 1e3
        for name, time in times.items():
            found[name].append(time)
    return {name: statistics.median(times) for name, times in found.items()}


class Alone:
    """Times kernels alone."""

    def __init__(self, device: str) -> None:
        self._instrument = OpenCLInstrument(device)
        self._turns = Turns()

    def time(self, task: Task) -> float | None:
        """Return the microseconds of all launches of a kernel in an inference."""
        plan = PlanSpace(Programs(task).kernel, task.target).default.plan
        with self._turns.beside_others():
            result = self._instrument.measure(Trial(task, plan), self._turns)
        if result.microseconds is None:
            raise SystemExit(f"@{task.name}: {result.reason}")
        return task.launches * result.microseconds


def line(name: str, model: TunedModel, device: str, rounds: int, verbose: bool) -> str:
    """Return the row of a network."""
    compiled, alone = model.compiled(OFF), Alone(device)
    inputs = models.sample_inputs(model.path)
    inside: defaultdict[str, list[float]] = defaultdict(list)
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    tasks = [task for task in model.tasks() if task.name in kernels_of(compiled)]
    for _ in range(rounds):
        before = in_network(compiled, inputs)
        for task in tasks:
            time = alone.time(task)
            after = in_network(compiled, inputs)
            ratios[task.name].append(2 * time / (before[task.name] + after[task.name]))
            before = after
            for kernel, time in after.items():
                inside[kernel].append(time)
    times = {kernel: statistics.median(found) for kernel, found in inside.items()}
    apart = {kernel: statistics.median(found) - 1 for kernel, found in ratios.items()}
    if verbose:
        for kernel in sorted(apart, key=lambda each: -times[each]):
            print(f"{times[kernel]:10.1f} us {apart[kernel]:+6.1%} @{kernel}")
    known = sum(times[kernel] for kernel in apart)
    cells = (
        name,
        tasks[0].target.name,
        f"{len(apart)}",
        f"{known / sum(times.values()):.1%}",
        f"{1 + sum(each * times[kernel] for kernel, each in apart.items()) / known:.3f}",
        f"{sum(abs(each) * times[kernel] for kernel, each in apart.items()) / known:.1%}",
        f"{sum(times[kernel] for kernel, each in apart.items() if abs(each) < 0.1) / known:.1%}",
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="network")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--target", help="tune for this target instead of the device's own")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=models.CACHE, help="of exported networks")
    parser.add_argument("--verbose", action="store_true", help="a line for each kernel")
    args = parser.parse_args()
    text = HEAD.format(origin=measured(str(find_device(args.device))), rounds=args.rounds)
    for name in args.networks:
        model = TunedModel(models.export(name, folder=args.folder), args.device, args.target)
        text += line(name, model, args.device, args.rounds, args.verbose)
        print(text.splitlines()[-1], flush=True)
    (RESULTS / f"tuning_context-{args.device}.md").write_text(text)


if __name__ == "__main__":
    main()
