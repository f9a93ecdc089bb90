"""One random schedule: draw it, run the kernel before and after, and say what is wrong."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.passes.cl.pack_constants import CLPackConstantsPass
from clopt.passes.packing import pack
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.schedule import Schedule, ScheduleError, set_scope
from clopt.passes.tir.schedule.analysis import memref_of
from clopt.passes.tir.schedule.steps import apply_step
from support.tir import interpreter

from .nests import random_nest
from .steps import random_step

STEPS = 14
"""How many steps a schedule has at the most; many are refused."""


@dataclass
class Outcome:
    """A kernel, the steps that were applied to it, and what came of them."""

    seed: int
    text: str
    accepted: list[str] = field(default_factory=list[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    changed: list[str] = field(default_factory=list[str])
    """Refused steps that left another text behind than they found."""
    fault: str = ""
    """What is wrong; empty where nothing is."""
    lowered: ModuleOp | None = None
    """The kernel in the end, where it could be lowered."""
    arrays: list[np.ndarray] = field(default_factory=list[np.ndarray])
    """Its arguments, packed."""
    expected: list[np.ndarray] = field(default_factory=list[np.ndarray])
    """Its results."""

    def __str__(self) -> str:
        steps = ", ".join(f'"{step}"' for step in self.accepted)
        return f"seed {self.seed}: {self.fault}\nschedule = [{steps}]\n{self.text}"


def check(seed: int, draw: Callable[[np.random.Generator], str] = random_nest) -> Outcome:
    """Draw kernel and schedule number `seed`, and run both."""
    rng = np.random.default_rng(seed)
    outcome = Outcome(seed, draw(rng))
    try:
        _draw_and_compare(outcome, rng)
    except Exception:
        outcome.fault = outcome.fault or traceback.format_exc(limit=-4)
    return outcome


def parse(text: str) -> tuple[ModuleOp, tir.FuncOp]:
    """A module of one kernel, verified, and the kernel."""
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    (func,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    return module, func


def arguments(func: tir.FuncOp) -> list[np.ndarray]:
    """Small integers, also in the outputs, which are overwritten."""
    rng = np.random.default_rng(1)
    arrays: list[np.ndarray] = []
    for param in func.params:
        dtype = "float32" if "f32" in str(param.type) else "int32"
        arrays.append(rng.integers(-4, 5, memref_of(param).get_shape()).astype(dtype))
    return arrays


def _draw_and_compare(outcome: Outcome, rng: np.random.Generator) -> None:
    module, func = parse(outcome.text)
    expected = arguments(func)
    interpreter.run(func, expected)
    outcome.expected = expected
    schedule = Schedule(func)
    for _ in range(int(rng.integers(1, STEPS + 1))):
        step, before = random_step(schedule.func, rng), str(schedule.func)
        try:
            apply_step(schedule, step)
        except ScheduleError:
            outcome.refused[step.split()[0]] += 1
            if str(schedule.func) != before:
                outcome.changed.append(step)
                outcome.accepted.append(step)
            schedule.func.verify()
            continue
        outcome.accepted.append(step)
        schedule.func.verify()
    schedule.commit()
    if not _compare(outcome, func, expected):
        return
    _lower(outcome, module, func, expected, rng)


def _lower(
    outcome: Outcome,
    module: ModuleOp,
    func: tir.FuncOp,
    expected: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> None:
    """Bring the kernel to where text is written, and compare again."""
    for op in [op for op in func.walk() if isinstance(op, memref.AllocaOp)]:
        if not isinstance(memref_of(op.memref).memory_space, tir.ScopeAttr):
            set_scope(op, tir.Scope.Private if rng.random() < 0.8 else tir.Scope.Local)
    layouts = {} if func.layouts is None else dict(func.layouts.data)
    CLPackConstantsPass().apply(CloptContext(), module)
    module.verify()
    arrays = arguments(func) if not layouts else None
    inputs = arguments(parse(outcome.text)[1])
    for key, layout in layouts.items():
        shape = memref_of(func.params[int(key)]).get_shape()
        assert isinstance(layout, AffineMapAttr)
        inputs[int(key)] = pack(inputs[int(key)], layout.data, shape)
    try:
        lower_blocks(func)
    except ScheduleError:
        outcome.refused["tir-lower-blocks"] += 1
        return
    module.verify()
    outcome.arrays = [a.copy() for a in inputs] if arrays is None else arguments(func)
    results = [a.copy() for a in outcome.arrays]
    interpreter.run(func, results)
    for i in func.output_indices:
        if not np.array_equal(results[i], expected[i]):
            outcome.fault = (
                f"after tir-lower-blocks, output {i} is\n{results[i]}, not\n{expected[i]}"
            )
            return
    outcome.expected = list(expected)
    outcome.lowered = module


def _compare(outcome: Outcome, func: tir.FuncOp, expected: Sequence[np.ndarray]) -> bool:
    arrays = arguments(func)
    interpreter.run(func, arrays)
    for i in func.output_indices:
        if not np.array_equal(arrays[i], expected[i]):
            outcome.fault = f"output {i} is\n{arrays[i]}, not\n{expected[i]}"
            return False
    return True
