"""`tir-apply-schedule`: schedules a kernel by the steps in its `schedule`.

A step is a primitive's name and its arguments; `-> names` names its results. A loop is written
`block.name`, for the loop called `name` around the block labelled `block`:

    schedule = ["split out.j 8 -> jo ji", "reorder out.jo out.i out.ji", "vectorize out.ji",
                "compute_at mm out.i", "set_scope t private"]

`STEPS` lists them all. An engineer or a tuning database replaces a rule's choice this way, and a
test shows one primitive at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass

from ...dialects.tir import BlockOp, ForOp, FuncOp, LoopKind, Scope
from . import schedule as tir
from .schedule.analysis import memref_of
from .schedule.errors import refuse
from .schedule.stage import free_label


@dataclass(frozen=True)
class TIRApplySchedulePass(ModulePass):
    """Run the steps of each kernel that has a `schedule`, and drop it."""

    name: ClassVar[str] = "tir-apply-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp):
                apply_schedule(func)


def apply_schedule(func: FuncOp) -> None:
    """Run the steps of `func`'s `schedule`, and drop it."""
    if func.schedule is not None:
        for step in func.schedule.data:
            apply_step(func, step.data)
        func.schedule = None


def apply_step(func: FuncOp, text: str) -> None:
    """Run one step of a schedule, such as `split out.j 8 -> jo ji`."""
    words = text.split()
    names: list[str] | None = None
    if "->" in words:
        arrow = words.index("->")
        words, names = words[:arrow], words[arrow + 1 :]
    step = STEPS.get(words[0]) if words else None
    if step is None:
        raise refuse(func, f"'{text}' is no schedule step; those are {', '.join(STEPS)}")
    arguments = words[1:]
    if not step.least <= len(arguments) <= step.most:
        raise refuse(func, f"'{text}' should read '{step.usage}'")
    results = step.results(len(arguments))
    if names is not None and len(names) != results:
        raise refuse(func, f"'{text}' names {len(names)} things and makes {results}")
    step.run(_Call(func, text, arguments, names))


@dataclass(frozen=True)
class _Call:
    """The arguments of a step, and their interpretation in the kernel."""

    func: FuncOp
    text: str
    words: Sequence[str]
    names: Sequence[str] | None

    def block(self, position: int) -> BlockOp:
        return tir.block_of(self.func, self.words[position])

    def loop(self, position: int) -> ForOp:
        label, _, name = self.words[position].partition(".")
        if not name:
            raise refuse(self.func, f"'{self.words[position]}' in '{self.text}' is not block.loop")
        return tir.loop_named(tir.block_of(self.func, label), name)

    def loops(self) -> list[ForOp]:
        return [self.loop(i) for i in range(len(self.words))]

    def buffer(self, position: int) -> SSAValue:
        for param in self.func.params:
            if param.name_hint == self.words[position]:
                return param
        return tir.buffer_of(self.func, self.words[position]).memref

    def integer(self, position: int) -> int:
        word = self.words[position]
        if not word.isdecimal():
            raise refuse(self.func, f"'{word}' in '{self.text}' is no integer")
        return int(word)

    def kind(self, position: int) -> LoopKind:
        return LoopKind(self.choice(position, [kind.value for kind in LoopKind]))

    def scope(self, position: int) -> Scope:
        return Scope(self.choice(position, [scope.value for scope in Scope]))

    def choice(self, position: int, values: Sequence[str]) -> str:
        word = self.words[position]
        if word not in values:
            raise refuse(self.func, f"'{word}' in '{self.text}' is none of {', '.join(values)}")
        return word

    @property
    def name(self) -> str | None:
        return self.names[0] if self.names else None


@dataclass(frozen=True)
class _Step:
    usage: str
    run: Callable[[_Call], object]
    least: int
    most: int
    makes: int | None = 0
    """The number of names that may follow the arrow; None for as many as arguments."""

    def results(self, arguments: int) -> int:
        return arguments if self.makes is None else self.makes


def _split(call: _Call) -> None:
    factors = [call.integer(i) for i in range(1, len(call.words))]
    tir.split_many(call.loop(0), factors, call.names)


def _split_overlap(call: _Call) -> None:
    names = None if call.names is None else (call.names[0], call.names[1])
    tir.split(call.loop(0), call.integer(1), names, overlap=True)


_PART = re.compile(r"d(?P<dim>\d+)(?:(?P<kind>[/%])(?P<block>[1-9]\d*))?")


def _transform_layout(call: _Call) -> None:
    """`w d0/8 d1 d0%8`: parameter w in blocks of 8 of its first dimension."""
    params = {param.name_hint: i for i, param in enumerate(call.func.params)}
    position = params.get(call.words[0])
    if position is None:
        raise refuse(call.func, f"no parameter is called '{call.words[0]}'")
    rank = memref_of(call.func.params[position]).get_num_dims()
    layout: list[AffineExpr] = []
    for word in call.words[1:]:
        part = _PART.fullmatch(word)
        if part is None or int(part["dim"]) >= rank:
            raise refuse(call.func, f"'{word}' in '{call.text}' is no part such as d0, d0/4, d0%4")
        dim, block = AffineExpr.dimension(int(part["dim"])), int(part["block"] or 1)
        layout.append(dim % block if part["kind"] == "%" else dim // block if block > 1 else dim)
    tir.transform_layout(call.func, position, layout)


def _label(call: _Call, block: BlockOp) -> None:
    if call.name is None:
        return
    if free_label(call.func, call.name) != call.name:
        raise refuse(call.func, f"'{call.text}': a block is called '{call.name}' already")
    block.label = StringAttr(call.name)


_MANY = 64

STEPS: dict[str, _Step] = {
    "split": _Step("split block.loop factor [factor ...] [-> outer inner ...]", _split, 2, 9, None),
    "fuse": _Step(
        "fuse block.outer block.inner [-> name]",
        lambda call: tir.fuse(call.loop(0), call.loop(1), call.name),
        2,
        2,
        1,
    ),
    "reorder": _Step(
        "reorder block.loop block.loop ...", lambda call: tir.reorder(*call.loops()), 2, _MANY
    ),
    "bind": _Step("bind block.loop kind", lambda call: tir.bind(call.loop(0), call.kind(1)), 2, 2),
    "vectorize": _Step("vectorize block.loop", lambda call: tir.vectorize(call.loop(0)), 1, 1),
    "unroll": _Step("unroll block.loop", lambda call: tir.unroll(call.loop(0)), 1, 1),
    "roll": _Step("roll block.loop", lambda call: tir.roll(call.loop(0)), 1, 1),
    "parallel": _Step("parallel block.loop", lambda call: tir.parallel(call.loop(0)), 1, 1),
    "compute_at": _Step(
        "compute_at block consumer.loop",
        lambda call: tir.compute_at(call.block(0), call.loop(1)),
        2,
        2,
    ),
    "cache_read": _Step(
        "cache_read block buffer scope [-> label]",
        lambda call: _label(call, tir.cache_read(call.block(0), call.buffer(1), call.scope(2))),
        3,
        3,
        1,
    ),
    "cache_write": _Step(
        "cache_write block scope [-> label]",
        lambda call: _label(call, tir.cache_write(call.block(0), call.scope(1))),
        2,
        2,
        1,
    ),
    "rfactor": _Step(
        "rfactor block.loop [-> label]",
        lambda call: _label(call, tir.rfactor(call.loop(0))),
        1,
        1,
        1,
    ),
    "rfactor_tree": _Step(
        "rfactor_tree block.loop fan_in",
        lambda call: tir.rfactor_tree(call.loop(0), call.integer(1)),
        2,
        2,
    ),
    "set_scope": _Step(
        "set_scope buffer scope",
        lambda call: tir.set_scope(tir.buffer_of(call.func, call.words[0]), call.scope(1)),
        2,
        2,
    ),
    "split_overlap": _Step(
        "split_overlap block.loop factor [-> outer inner]", _split_overlap, 2, 2, 2
    ),
    "transform_layout": _Step(
        "transform_layout parameter part [part ...]", _transform_layout, 2, _MANY
    ),
}
"""The steps, each with how it is written."""
