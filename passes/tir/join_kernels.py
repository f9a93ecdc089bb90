"""`tir-join-kernels`: merges small kernels so that they share a launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...decisions import Choices, SiteKind, deciding
from ...dialects import cl, tir
from ...messages.explanations import Reason, Why
from ..free_names import free_name
from .join.bodies import Member, Signature, in_sequence, side_by_side
from .join.launches import Cost, ProgramCommands, cost_of, is_eligible
from .kernel_key import kernel_key
from .schedule.analysis import memref_of

_MOST_MICROSECONDS = 40.0
"""Upper limit of the time on one core for kernels that run in sequence in one work-item."""
_LEAST_GAIN = 0.25
"""The ratio of launch time to the time of kernels side by side, from which joining pays off.

Alternating work-items evict each other's weights from the caches, which costs some 13 microseconds
in SqueezeNet's fire modules.
"""
_MOST_ARGUMENTS = 64
"""Half of the arguments that OpenCL 1.2 guarantees (table 4.3); loop bounds are arguments, too."""
_REACH = 6
"""Maximum number of commands that a launch may overtake to run beside another launch."""

_SHARED, _OWN = "shared", "own"
_Form = Callable[[Sequence[Member], Signature], tir.FuncOp]


@dataclass(frozen=True)
class TIRJoinKernelsPass(ModulePass):
    """Join launches on CPUs, where starting the cores takes as long as a small kernel runs.

    A kernel with a single work-item is joined with its neighbours in the queue, if the saved
    launches outweigh the idle cores. A single work-item then computes them in sequence. Tiny
    independent kernels run side by side if they need no more memory than the rest of the program.
    """

    name: ClassVar[str] = "tir-join-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        if target.device.device_type != "cpu":
            return
        with deciding(op, ctx) as choices:
            joiner = _Joiner(op, target, choices)
            for program in op.ops:
                if isinstance(program, cl.ProgramOp):
                    _join_sequences(program, joiner)
                    _join_neighbours(program, joiner)
            joiner.erase_unused()


class _Joiner:
    """The kernels of a module, including the joint kernels created so far."""

    def __init__(self, module: ModuleOp, target: cl.Target, choices: Choices | None) -> None:
        self.module, self.target, self._choices = module, target, choices
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
        self._kernels = cl.kernels_of(module)
        self._costs: dict[str, Cost | None] = {}
        self._joint: dict[object, str] = {}
        self._members: set[str] = set()

    def cost(self, op: Operation) -> Cost | None:
        """Return the cost of a launch that can be joined; None for other commands."""
        if not isinstance(op, cl.EnqueueKernelOp) or op.kernel_name not in self.functions:
            return None
        name = op.kernel_name
        kernel = self.functions[name]
        if cl.repeat_of(op) is not None or kernel.rows is not None or kernel.runs_if is not None:
            return None
        if name not in self._costs:
            self._costs[name] = cost_of(kernel, self.target) if is_eligible(kernel) else None
        return self._costs[name]

    def considers(self, pays: bool) -> bool:
        """Return whether joining two launches is worth a closer look, or may be demanded."""
        return pays or self._choices is not None

    def is_shared(self, first: cl.EnqueueKernelOp, second: cl.EnqueueKernelOp, usual: bool) -> bool:
        """Return whether two kernels share a launch, as demanded or else as usual; note it."""
        if self._choices is None:
            return usual
        site = self._choices.next_site(SiteKind.LAUNCH, self._digest(first, second))
        nodes = f"@{first.kernel_name}, @{second.kernel_name}"
        word, words = _SHARED if usual else _OWN, (_SHARED, _OWN)
        reason = partial(self._reason, first, second)
        return self._choices.decide(site, word, words, nodes, reason) == _SHARED

    def _reason(self, *launches: cl.EnqueueKernelOp) -> Reason:
        costs = (self._costs[each.kernel_name] for each in launches)
        alone = " and ".join(f"{cost.microseconds:.1f}" for cost in costs if cost is not None)
        return Reason(Why.ESTIMATED, remark=f"{alone} us on one core")

    def _digest(self, *launches: cl.EnqueueKernelOp) -> str:
        keys = (kernel_key(self.functions[each.kernel_name]) for each in launches)
        return sha256(" ".join(keys).encode()).hexdigest()[:16]

    def launches(self, program: cl.ProgramOp) -> ProgramCommands:
        """Return the current commands of a program."""
        return ProgramCommands(program, self._kernels)

    def join(
        self, ops: Sequence[cl.EnqueueKernelOp], binding: _Binding, form: _Form, word: str
    ) -> cl.EnqueueKernelOp:
        """Return a launch of the joint kernel of `ops`; equal combinations share the kernel."""
        members = [
            Member(self.functions[op.kernel_name], places)
            for op, places in zip(ops, binding.places, strict=True)
        ]
        names = tuple(op.kernel_name for op in ops)
        types = tuple(value.type for value in binding.values)
        key = (form, names, tuple(binding.places), types)
        if key not in self._joint:
            self._joint[key] = self._make(members, names, types, form, word)
            self._members |= set(names)
        launch = cl.EnqueueKernelOp(self._joint[key], binding.values)
        launch.location = ops[-1].location
        return launch

    def _make(
        self,
        members: Sequence[Member],
        names: Sequence[str],
        types: Sequence[Attribute],
        form: _Form,
        word: str,
    ) -> str:
        """Insert the joint kernel of `members` into the module and return its name."""
        # For joint kernels, use only the outer names: runtimes name files after kernels, and file
        # names || are limited to 255 bytes.
        first, last = names[0].split(f"_{word}_")[0], names[-1].split(f"_{word}_")[-1]
        stem = f"{first}_{word}_{last}"
        name = free_name(stem, self.functions)
        outputs = {m.places[i] for m in members for i in m.kernel.output_indices}
        constants = {m.places[i] for m in members for i in m.kernel.constant_indices}
        function = form(members, Signature(name, types, sorted(outputs), sorted(constants)))
        Rewriter.insert_op(function, InsertPoint.before(members[0].kernel))
        self.functions[name], self._kernels[name] = function, cl.Kernel.of(function)
        return name

    def erase_unused(self) -> None:
        """Erase the joined kernels that have no remaining launch."""
        used = {op.kernel_name for op in self.module.walk() if isinstance(op, cl.EnqueueKernelOp)}
        for name in self._members - used:
            Rewriter.erase_op(self.functions.pop(name))


@dataclass
class _Binding:
    """The arguments of a joint launch, and for each member the indices of its arguments."""

    values: list[SSAValue] = field(default_factory=list[SSAValue])
    places: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])


def _bind(ops: Sequence[cl.EnqueueKernelOp], launches: ProgramCommands) -> _Binding | None:
    """Return the arguments of a joint launch, each memory once, since pointers are `restrict`.

    The result is None if a written argument partially overlaps another one, or if there are more
    than `_MOST_ARGUMENTS`.
    """
    binding, written = _Binding(), set[int]()
    for op in ops:
        places: list[int] = []
        writes = set(cl.access(op, launches.kernels).writes)
        for i, value in enumerate(op.args):
            place = _find(binding.values, value, launches)
            if place is None:
                place = len(binding.values)
                binding.values.append(value)
            if i in writes:
                written.add(place)
            places.append(place)
        binding.places.append(tuple(places))
    if len(binding.values) > _MOST_ARGUMENTS:
        return None
    extents = [launches.place(value) for value in binding.values]
    for a in written:
        if any(a != b and extents[a].overlaps(other) for b, other in enumerate(extents)):
            return None
    return binding


def _find(values: Sequence[SSAValue], value: SSAValue, launches: ProgramCommands) -> int | None:
    """Return the index of the value with the same bytes and element type, or None."""
    place = launches.place(value)
    for i, other in enumerate(values):
        if other is value:
            return i
        same = memref_of(other).element_type == memref_of(value).element_type
        if same and not launches.is_constant(value) and launches.place(other) == place:
            return i
    return None


def _join_sequences(program: cl.ProgramOp, joiner: _Joiner) -> None:
    """Join runs of small launches in which of any two neighbors one has a single work-item."""
    launches = joiner.launches(program)
    run: list[cl.EnqueueKernelOp] = []
    cost: Cost | None = None

    def finish() -> None:
        if len(run) > 1 and (binding := _bind(run, launches)) is not None:
            launch = joiner.join(run, binding, in_sequence, "to")
            Rewriter.insert_op(launch, InsertPoint.before(run[-1]))
            for op in run:
                Rewriter.erase_op(op)
        run.clear()

    for op in launches.commands:
        own_cost = joiner.cost(op)
        if own_cost is None or not isinstance(op, cl.EnqueueKernelOp):
            finish()
            cost = None
            continue
        if cost is not None and 1 in (cost.items, own_cost.items):
            pays = _pays_in_sequence(cost, own_cost, joiner.target)
            if joiner.considers(pays) and _bind([*run, op], launches) is not None:
                if joiner.is_shared(run[-1], op, pays):
                    run.append(op)
                    cost = Cost(cost.microseconds + own_cost.microseconds, 1)
                    continue
        finish()
        run.append(op)
        cost = own_cost
    finish()


def _pays_in_sequence(first: Cost, second: Cost, target: cl.Target) -> bool:
    """Return whether one work-item that runs both kernels is faster than two launches.

    One of them has a single work-item.
    """
    both = Cost(first.microseconds + second.microseconds, 1)
    apart = first.elapsed(target.device.compute_units) + second.elapsed(target.device.compute_units)
    return (
        both.microseconds <= _MOST_MICROSECONDS
        and both.microseconds - apart <= target.machine.launch_microseconds
    )


def _join_neighbours(program: cl.ProgramOp, joiner: _Joiner) -> None:
    """Join launches with later launches that depend neither on them nor on the commands between."""
    launches, time = joiner.launches(program), 0
    while time < len(launches.commands):
        partner = _partner(launches, time, joiner)
        if partner is None:
            time += 1
            continue
        first, second, binding = partner
        for op in _needed_before(first, second):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(first))
        launch = joiner.join([first, second], binding, side_by_side, "beside")
        Rewriter.insert_op(launch, InsertPoint.before(first))
        Rewriter.erase_op(first)
        Rewriter.erase_op(second)
        launches = joiner.launches(program)


def _partner(
    launches: ProgramCommands, time: int, joiner: _Joiner
) -> tuple[cl.EnqueueKernelOp, cl.EnqueueKernelOp, _Binding] | None:
    """Return the launch at `time` and a launch that may run beside it, with their arguments."""
    first = launches.commands[time]
    cost = joiner.cost(first)
    if cost is None:
        return None
    assert isinstance(first, cl.EnqueueKernelOp)
    for later in range(time + 1, min(time + 1 + _REACH, len(launches.commands))):
        second = launches.commands[later]
        second_cost = joiner.cost(second)
        if second_cost is None or not _pays_beside(cost, second_cost, joiner.target):
            continue
        assert isinstance(second, cl.EnqueueKernelOp)
        if any(launches.conflict(op, second) for op in launches.commands[time:later]):
            continue
        binding = _bind([first, second], launches)
        if binding is not None and launches.has_room(time, later):
            if joiner.is_shared(first, second, usual=True):
                return first, second, binding
    return None


def _pays_beside(first: Cost, second: Cost, target: cl.Target) -> bool:
    """Return whether a saved launch outweighs the loss of running both kernels side by side."""
    both = (first.microseconds + second.microseconds) / target.device.compute_units
    return target.machine.launch_microseconds >= _LEAST_GAIN * both


def _needed_before(first: Operation, second: Operation) -> list[Operation]:
    """Return the operations after `first` that define the arguments of `second`, in order."""
    block = first.parent_block()
    assert block is not None
    needed: set[Operation] = set()
    pending = [second]
    while pending:
        for operand in pending.pop().operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner not in needed:
                needed.add(owner)
                pending.append(owner)
    ops = list(block.ops)
    return [op for op in ops[ops.index(first) + 1 :] if op in needed]
