"""The language of schedules: the name, arguments and effect of each step.

A step consists of a primitive's name and its arguments; `-> names` names its results:

    split out.j 8 -> jo ji
    reorder out.jo out.i out.ji
    compute_at mm out.i
    set_scope t private

`names.py` defines the names of loops and buffers. `STEPS` lists the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import BlockOp, ForOp, LoopKind, Scope
from .analysis import memref_of
from .errors import refuse
from .names import block_of, buffer_of, loop_named
from .schedule import Schedule


def apply_step(schedule: Schedule, text: str) -> None:
    """Run one step, such as `split out.j 8 -> jo ji`."""
    words = text.split()
    names: list[str] | None = None
    if "->" in words:
        arrow = words.index("->")
        words, names = words[:arrow], words[arrow + 1 :]
    step = STEPS.get(words[0]) if words else None
    if step is None:
        raise refuse(schedule.func, f"unknown step '{text}'; the steps are {', '.join(STEPS)}")
    call = _Call(schedule, text, words[1:], names)
    if not step.least <= len(call.words) <= step.most:
        raise refuse(schedule.func, f"'{text}' must have the form '{step.usage}'")
    if names is not None:
        results = step.makes if isinstance(step.makes, int) else step.makes(call)
        if len(names) != results:
            raise refuse(schedule.func, f"'{text}' names {len(names)} results, but has {results}")
    step.run(call)


@dataclass(frozen=True)
class _Call:
    """The arguments of a step, and their meaning in the kernel."""

    schedule: Schedule
    text: str
    words: Sequence[str]
    names: Sequence[str] | None

    def block(self, position: int) -> BlockOp:
        return block_of(self.schedule.func, self.words[position])

    def loop(self, position: int) -> ForOp:
        label, _, name = self.words[position].partition(".")
        if not name:
            word = self.words[position]
            raise refuse(self.schedule.func, f"'{word}' in '{self.text}' is not block.loop")
        return loop_named(block_of(self.schedule.func, label), name)

    def loops(self) -> list[ForOp]:
        return [self.loop(i) for i in range(len(self.words))]

    def buffer(self, position: int) -> SSAValue:
        return buffer_of(self.schedule.func, self.words[position])

    def integer(self, position: int) -> int:
        word = self.words[position]
        if not word.isdecimal():
            raise refuse(self.schedule.func, f"'{word}' in '{self.text}' is not an integer")
        return int(word)

    def integers(self, start: int) -> list[int]:
        return [self.integer(i) for i in range(start, len(self.words))]

    def kind(self, position: int) -> LoopKind:
        return LoopKind(self.choice(position, [kind.value for kind in LoopKind]))

    def scope(self, position: int) -> Scope:
        return Scope(self.choice(position, [scope.value for scope in Scope]))

    def choice(self, position: int, values: Sequence[str]) -> str:
        word = self.words[position]
        if word not in values:
            known = ", ".join(values)
            raise refuse(self.schedule.func, f"'{word}' in '{self.text}' must be one of {known}")
        return word

    @property
    def name(self) -> str | None:
        return self.names[0] if self.names else None

    @property
    def pair(self) -> tuple[str, str] | None:
        return None if self.names is None else (self.names[0], self.names[1])


def _cache_gather(call: _Call) -> None:
    positions = [_variable(call, word) for word in call.words[3:]]
    block, buffer, scope = call.block(0), call.buffer(1), call.scope(2)
    call.schedule.cache_gather(block, buffer, scope, positions, call.name)


def _variable(call: _Call, word: str) -> int:
    if not re.fullmatch(r"d\d+", word):
        raise refuse(call.schedule.func, f"'{word}' in '{call.text}' is not a variable such as d0")
    return int(word[1:])


def _prefetch(call: _Call) -> None:
    block = block_of(call.schedule.func, call.words[0].partition(".")[0])
    call.schedule.prefetch(block, call.loop(0), call.integer(1))


def _rfactor_tree(call: _Call) -> None:
    axis = call.integer(2) if len(call.words) > 2 else None
    call.schedule.rfactor_tree(call.loop(0), call.integer(1), axis)


_PART = re.compile(r"d(?P<dim>\d+)(?:(?P<kind>[/%])(?P<block>[1-9]\d*))?")


def _transform_layout(call: _Call) -> None:
    """Apply `w d0/8 d1 d0%8`: store buffer w in blocks of 8 along its first dimension."""
    func = call.schedule.func
    buffer = call.buffer(0)
    rank = memref_of(buffer).get_num_dims()
    layout: list[AffineExpr] = []
    for word in call.words[1:]:
        part = _PART.fullmatch(word)
        if part is None or int(part["dim"]) >= rank:
            raise refuse(func, f"'{word}' in '{call.text}' is not a part such as d0, d0/4, d0%4")
        dim, block = AffineExpr.dimension(int(part["dim"])), int(part["block"] or 1)
        layout.append(dim % block if part["kind"] == "%" else dim // block if block > 1 else dim)
    call.schedule.transform_layout(buffer, layout)


@dataclass(frozen=True)
class _StepForm:
    usage: str
    run: Callable[[_Call], object]
    least: int
    most: int
    makes: int | Callable[[_Call], int] = 0
    """The number of names that may follow the arrow."""


_MANY = 64


def _of_loop(name: str, run: Callable[[Schedule, ForOp], object]) -> _StepForm:
    return _StepForm(f"{name} block.loop", lambda call: run(call.schedule, call.loop(0)), 1, 1)


STEPS: dict[str, _StepForm] = {
    "split": _StepForm(
        "split block.loop factor [factor ...] [-> outer inner ...]",
        lambda call: call.schedule.split_many(call.loop(0), call.integers(1), call.names),
        2,
        9,
        lambda call: len(call.words),
    ),
    "split_overlap": _StepForm(
        "split_overlap block.loop factor [-> outer inner]",
        lambda call: call.schedule.split(call.loop(0), call.integer(1), call.pair, overlap=True),
        2,
        2,
        2,
    ),
    "fuse": _StepForm(
        "fuse block.outer block.inner ... [-> name]",
        lambda call: call.schedule.fuse(*call.loops(), name=call.name),
        2,
        _MANY,
        1,
    ),
    "reorder": _StepForm(
        "reorder block.loop block.loop ...",
        lambda call: call.schedule.reorder(*call.loops()),
        2,
        _MANY,
    ),
    "bind": _StepForm(
        "bind block.loop kind",
        lambda call: call.schedule.bind(call.loop(0), call.kind(1)),
        2,
        2,
    ),
    "vectorize": _of_loop("vectorize", Schedule.vectorize),
    "unroll": _of_loop("unroll", Schedule.unroll),
    "roll": _of_loop("roll", Schedule.roll),
    "parallel": _of_loop("parallel", Schedule.parallel),
    "compute_at": _StepForm(
        "compute_at block consumer.loop [-> loop ...]",
        lambda call: call.schedule.compute_at(call.block(0), call.loop(1), call.names),
        2,
        2,
        lambda call: len(call.block(0).iter_vars),
    ),
    "cache_read": _StepForm(
        "cache_read block buffer scope [-> label]",
        lambda call: call.schedule.cache_read(
            call.block(0), call.buffer(1), call.scope(2), call.name
        ),
        3,
        3,
        1,
    ),
    "cache_gather": _StepForm(
        "cache_gather block buffer scope variable [variable ...] [-> label]",
        _cache_gather,
        4,
        _MANY,
        1,
    ),
    "fetch_ahead": _StepForm(
        "fetch_ahead block buffer bytes",
        lambda call: call.schedule.fetch_ahead(call.block(0), call.buffer(1), call.integer(2)),
        3,
        3,
    ),
    "prefetch": _StepForm("prefetch block.loop copies", _prefetch, 2, 2),
    "cache_write": _StepForm(
        "cache_write block scope [-> label]",
        lambda call: call.schedule.cache_write(call.block(0), call.scope(1), call.name),
        2,
        2,
        1,
    ),
    "rfactor": _StepForm(
        "rfactor block.loop [-> label]",
        lambda call: call.schedule.rfactor(call.loop(0), call.name),
        1,
        1,
        1,
    ),
    "rfactor_tree": _StepForm("rfactor_tree block.loop fan_in [axis]", _rfactor_tree, 2, 3),
    "set_scope": _StepForm(
        "set_scope buffer scope",
        lambda call: call.schedule.set_scope(call.buffer(0), call.scope(1)),
        2,
        2,
    ),
    "transform_layout": _StepForm(
        "transform_layout buffer part [part ...]", _transform_layout, 2, _MANY
    ),
    "local_size": _StepForm(
        "local_size x [y [z]]", lambda call: call.schedule.local_size(*call.integers(0)), 1, 3
    ),
}
"""The steps, with their syntax."""
