"""The cost of tuning texture kernels with buffers in place of images.

    python benchmarks/tuning_textures.py [networks] [--device nvidia] [--time 60] [--folder FOLDER]

Tuners that measure a kernel apart from its network tend to give it buffers. Here the same search
runs twice, once with the images that kernels have in the program, once with buffers of the same
texels (`buffer_instrument.py`). Then the default plans and both choices are timed on images, in
turns. It writes `results/tuning_textures.md`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import models
from buffer_instrument import BufferInstrument
from provenance import measured

from clopt.backends.pyopencl_runtime.devices import find_device
from clopt.dialects import tir
from clopt.tuning.measure import OpenCLInstrument
from clopt.tuning.networks import TunedModel
from clopt.tuning.session import Budget, Outcome, Session
from clopt.tuning.trial import Result, Task, Trial
from clopt.tuning.turns import Turns
from clopt.tuning.workers import LocalMachines

HERE = Path(__file__).resolve().parent
NETWORKS = ("mobilenet_v2", "resnet18", "vit_tiny")
ROUNDS = 3
HEAD = """# Tuning textures with buffers in their place

{origin}.
Times are those of all kernels of an inference on images, in milliseconds: with default plans, with
those of a search on images, and with those of the same search on buffers; medians of {rounds}
rounds in turns. `other plans` are the kernels for which the two searches chose differently, `worst`
the kernel that loses most by the buffers: its time over that with the plan of the images' search.

| network | target | plans tried | default | on images | on buffers | lost | other plans | worst |
|---|---|---|---|---|---|---|---|---|
"""


class Nothing:
    """A journal that stores nothing."""

    def known(self, task: Task) -> Sequence[Result]:
        return []

    def note(self, task: Task, result: Result, is_default: bool) -> None: ...


def searched(
    tasks: Sequence[Task], instrument: OpenCLInstrument, seconds: float, workers: int
) -> tuple[dict[str, Outcome], int]:
    """Return a search's best plan of each kernel, and the plans that it tried."""
    machines = LocalMachines(instrument, workers)
    try:
        session = Session(tasks, machines, Nothing(), Budget(seconds=seconds))
        return {each.task.kernel: each for each in session.run()}, session.trials
    finally:
        machines.close()


class Timer:
    """Times plans on images."""

    def __init__(self, device: str) -> None:
        self._instrument, self._turns = OpenCLInstrument(device), Turns()

    def times(self, task: Task, plans: Sequence[tir.Plan]) -> list[float]:
        """Return the microseconds of all launches in an inference, for each plan."""
        found: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for plan in {str(plan): plan for plan in plans}.values():
                with self._turns.beside_others():
                    result = self._instrument.measure(Trial(task, plan), self._turns)
                if result.microseconds is not None:
                    found.setdefault(str(plan), []).append(task.launches * result.microseconds)
        # The compiler would refuse a plan that fails on images, so the default stays.
        default = str(plans[0])
        return [statistics.median(found.get(str(plan), found[default])) for plan in plans]


def line(name: str, model: TunedModel, args: argparse.Namespace) -> str:
    """Return the row of a network."""
    tasks = [task for task in model.tasks() if "#tir.scope<texture" in task.program]
    instruments = OpenCLInstrument(args.device), BufferInstrument(args.device)
    (images, tried), (buffers, _) = (
        searched(tasks, each, args.time, args.workers) for each in instruments
    )
    timer, sums, worst = Timer(args.device), [0.0, 0.0, 0.0], 1.0
    others = 0
    for task in tasks:
        if task.kernel not in images or task.kernel not in buffers:
            continue
        chosen = [images[task.kernel], buffers[task.kernel]]
        plans = [chosen[0].default.plan, *(each.chosen for each in chosen)]
        times = timer.times(task, plans)
        sums = [total + time for total, time in zip(sums, times, strict=True)]
        others += str(plans[1]) != str(plans[2])
        worst = max(worst, times[2] / times[1])
    cells = (
        name,
        args.target,
        f"{tried}",
        *(f"{each / 1e3:.3f}" for each in sums),
        f"{sums[2] / sums[1] - 1:+.1%}",
        f"{others} of {len(tasks)}",
        f"{worst:.2f}",
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="network")
    parser.add_argument("--device", default="nvidia")
    parser.add_argument("--target", default="adreno-740 texture=prefer")
    parser.add_argument("--time", type=float, default=60, help="seconds of each search")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--folder", type=Path, default=models.CACHE, help="of exported networks")
    args = parser.parse_args()
    # Workers import the instrument from here.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *sys.path])
    text = HEAD.format(origin=measured(str(find_device(args.device))), rounds=ROUNDS)
    for name in args.networks:
        is_file = name.endswith(".onnx")
        path = Path(name) if is_file else models.export(name, folder=args.folder)
        text += line(path.stem, TunedModel(path, args.device, args.target), args)
        print(text.splitlines()[-1], flush=True)
        (HERE / "results" / "tuning_textures.md").write_text(text)


if __name__ == "__main__":
    main()
