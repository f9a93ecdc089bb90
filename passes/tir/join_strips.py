"""`tir-join-strips`: fuses a product with the kernel before it, if that saves time on a CPU.

A depthwise convolution writes a large result, which the following 1x1 convolution reads once. One
kernel that computes and multiplies it a strip at a time (`rules/cpu/strips.py`) keeps the strips in
the caches, needs no buffer for the intermediate result, and saves a launch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...decisions import Choices, Site, SiteKind, deciding
from ...dialects import cl, tir
from ...messages.explanations import Reason, Why
from ..free_names import free_name
from ..launch_comments import with_launches, without_launches
from .kernel_key import kernel_key
from .rules.cpu.strips import STRIPS
from .rules.cpu.strips_model import StripsModel, may_be_strips
from .rules.naive_kernel import NaiveKernel
from .rules.space import Space
from .rules.stages import is_naive
from .schedule.analysis import blocks_in, memref_of

_JOINED, _APART = "joined", "apart"


@dataclass(frozen=True)
class TIRJoinStripsPass(ModulePass):
    """Fuse pairs of kernels with consecutive launches, if the rule `strips` applies to the result.

    The second kernel multiplies the result of the first, which has no other readers. A cost
    model of the device decides whether the fusion saves time. Launches of the same two kernels
    share the new kernel. Kernels with a plan or a schedule are left unchanged, as is everything on
    targets without blocks of channels in buffers.

    A choice of the module (`decisions/choices.py`) comes before the model.
    """

    name: ClassVar[str] = "tir-join-strips"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with deciding(op, ctx) as choices:
            join_strips(op, lambda pair: _is_joined(pair, choices))


@dataclass(frozen=True, eq=False)
class Pair:
    """Two kernels launched one after the other, and the kernel that would replace both."""

    first: tir.FuncOp
    second: tir.FuncOp
    joined: tir.FuncOp
    model: StripsModel

    @cached_property
    def ratio(self) -> float:
        """The cost of the joined kernel by the model, relative to both kernels."""
        return self.model.cost(self.model.best) / self.model.apart()

    @property
    def pays(self) -> bool:
        """Whether the model joins the pair."""
        return self.ratio < 1

    @property
    def key(self) -> str:
        """A digest of the pair."""
        return sha256(f"fusion {kernel_key(self.joined)}".encode()).hexdigest()[:16]

    def reason(self) -> Reason:
        """Return why the model joins the pair, or not."""
        return Reason(
            Why.ESTIMATED, remark=f"joined takes {self.ratio:.2f} of the time by the model"
        )


def _is_joined(pair: Pair, choices: Choices | None) -> bool:
    """Return whether to join a pair, as chosen or else by the model; note it."""
    if choices is None:
        return pair.pays
    comment = pair.joined.comment
    site = Site(SiteKind.FUSION, pair.key)
    nodes = pair.joined.sym_name.data if comment is None else comment.data
    word = _JOINED if pair.pays else _APART
    return choices.decide(site, word, (_JOINED, _APART), nodes, pair.reason) == _JOINED


def join_strips(module: ModuleOp, is_joined: Callable[[Pair], bool]) -> None:
    """Join the pairs of kernels to which the rule applies and `is_joined` returns True."""
    target = cl.target_of(module)
    if target.device.device_type != "cpu" or target.uses_textures or not target.lanes:
        return
    joiner = _StripJoiner(module, target, is_joined)
    for program in list(module.ops):
        if isinstance(program, cl.ProgramOp):
            joiner.join(program)
    joiner.finish()


@dataclass
class _StripJoiner:
    """The kernels of a module, including the joined kernels created so far."""

    module: ModuleOp
    target: cl.Target
    is_joined: Callable[[Pair], bool]
    kernels: dict[str, tir.FuncOp] = field(init=False)
    joined: dict[tuple[str, str, int], tir.FuncOp | None] = field(
        default_factory=dict[tuple[str, str, int], "tir.FuncOp | None"]
    )
    """Keyed by the names of two kernels and the parameter of the second; None if not joined."""
    replaced: dict[str, None] = field(default_factory=dict[str, None])
    """The kernels with a replaced launch."""
    structures: dict[str, NaiveKernel | None] = field(
        default_factory=dict[str, "NaiveKernel | None"]
    )
    """The stages of kernels by name; None for kernels that are already planned or scheduled."""

    def __post_init__(self) -> None:
        funcs = (op for op in self.module.ops if isinstance(op, tir.FuncOp))
        self.kernels = {func.sym_name.data: func for func in funcs}

    def join(self, program: cl.ProgramOp) -> None:
        """Join consecutive launches of a program, in order."""
        before: cl.EnqueueKernelOp | None = None
        for command in cl.commands(program):
            launch = command if isinstance(command, cl.EnqueueKernelOp) else None
            if launch is not None and not self._may_join(launch):
                launch = None
            if before is not None and launch is not None and self._join(before, launch):
                launch = None
            before = launch

    def _may_join(self, launch: cl.EnqueueKernelOp) -> bool:
        """Return whether a launch always runs, once, and its kernel has no rows."""
        kernel = self.kernels.get(launch.kernel_name)
        is_plain = kernel is None or (kernel.rows is None and kernel.runs_if is None)
        return cl.repeat_of(launch) is None and is_plain

    def _join(self, first: cl.EnqueueKernelOp, second: cl.EnqueueKernelOp) -> bool:
        """Replace two launches by one of their joined kernel; return whether that was possible."""
        names = first.kernel_name, second.kernel_name
        if any(name not in self.kernels for name in names):
            return False
        output = _handed_over(self.kernels[names[0]], first, second)
        if output is None:
            return False
        value = first.args[output]
        at = list(second.args).index(value)
        kernel = self._kernel(*names, at)
        if kernel is None:
            return False
        arguments = [arg for arg in (*first.args, *second.args) if arg is not value]
        command = cl.EnqueueKernelOp(kernel.sym_name.data, arguments)
        command.location = second.location
        Rewriter.insert_op(command, InsertPoint.before(second))
        for launch in (first, second):
            self.replaced[launch.kernel_name] = None
            Rewriter.erase_op(launch)
        assert isinstance(value.owner, cl.AllocOp)
        Rewriter.erase_op(value.owner)
        return True

    def _kernel(self, first: str, second: str, at: int) -> tir.FuncOp | None:
        """Return the kernel that two kernels are joined into, or None if they are not joined."""
        key = first, second, at
        if key not in self.joined:
            a, b = self._structure(first), self._structure(second)
            self.joined[key] = None
            if a is not None and b is not None and may_be_strips(a, b, b.func.params[at]):
                self.joined[key] = self._create(a.func, b.func, at)
        return self.joined[key]

    def _structure(self, name: str) -> NaiveKernel | None:
        """Return the stages of a kernel, or None if it is already planned or scheduled."""
        if name not in self.structures:
            func = self.kernels[name]
            self.structures[name] = NaiveKernel(func) if _is_open(func) else None
        return self.structures[name]

    def _create(self, first: tir.FuncOp, second: tir.FuncOp, at: int) -> tir.FuncOp | None:
        """Create the joined kernel, or return None if the rule or `is_joined` rejects it."""
        name = free_name(f"{first.sym_name.data}_{second.sym_name.data}", self.kernels)
        func = _joined(first, second, at, name)
        space = STRIPS.space(NaiveKernel(func), self.target)
        if not isinstance(space, Space) or STRIPS.objection_to(space) is not None:
            return None
        if not self.is_joined(Pair(first, second, func, space.model(StripsModel))):
            return None
        Rewriter.insert_op(func, InsertPoint.before(second))
        self.kernels[func.sym_name.data] = func
        return func

    def finish(self) -> None:
        """Erase kernels without launches, and update the launch counts in other comments."""
        programs = (op for op in self.module.ops if isinstance(op, cl.ProgramOp))
        commands = (command for program in programs for command in cl.commands(program))
        launches = Counter(op.kernel_name for op in commands if isinstance(op, cl.EnqueueKernelOp))
        changed = [*self.replaced, *(k.sym_name.data for k in self.joined.values() if k)]
        for name in changed:
            func = self.kernels[name]
            if not launches[name]:
                Rewriter.erase_op(func)
            elif func.comment is not None:
                text = without_launches(func.comment.data)
                func.comment = StringAttr(with_launches(text, launches[name]))


def _is_open(func: tir.FuncOp) -> bool:
    """Return whether a kernel is naive, and not yet planned, scheduled or split."""
    decided = (func.global_size, func.schedule, func.plan, func.part_of)
    return all(attribute is None for attribute in decided) and is_naive(func)


def _handed_over(
    kernel: tir.FuncOp, first: cl.EnqueueKernelOp, second: cl.EnqueueKernelOp
) -> int | None:
    """Return the only output of the first kernel if only the second launch reads it, or None."""
    if len(kernel.output_indices) != 1:
        return None
    (output,) = kernel.output_indices
    value = first.args[output]
    users = [use.operation for use in value.uses]
    is_private = isinstance(value.owner, cl.AllocOp) and len(users) == 2
    return output if is_private and set(users) == {first, second} else None


def _joined(first: tir.FuncOp, second: tir.FuncOp, at: int, name: str) -> tir.FuncOp:
    """Return a kernel with the stages of both, where the output of the first is a temporary.

    Its parameters are the parameters of both kernels except for that value.
    """
    (output,) = first.output_indices
    kept = [
        *((first, i) for i in range(len(first.params)) if i != output),
        *((second, i) for i in range(len(second.params)) if i != at),
    ]
    params = [func.params[i] for func, i in kept]
    body = Block(arg_types=[param.type for param in params])
    mapper: dict[SSAValue, SSAValue] = dict(zip(params, body.args, strict=True))
    for param, arg in zip(params, body.args, strict=True):
        arg.name_hint = param.name_hint
    value = second.params[at]
    type_ = memref_of(value)
    memory = memref.AllocaOp.get(type_.element_type, shape=type_.get_shape())
    memory.memref.name_hint = value.name_hint
    mapper[first.params[output]] = mapper[value] = memory.memref
    stages = [op for func in (first, second) for op in func.body.block.ops]
    allocas = [op for op in stages if isinstance(op, memref.AllocaOp)]
    body.add_ops([op.clone(mapper) for op in allocas])
    body.add_op(memory)
    body.add_ops([op.clone(mapper) for op in stages if op not in allocas])
    places = {pair: i for i, pair in enumerate(kept)}
    func = tir.FuncOp(
        name,
        Region(body),
        [places[second, i] for i in second.output_indices],
        constants=[places[func, i] for func in (first, second) for i in func.constant_indices]
        or None,
        comment="; ".join(_comments(first, second)) or None,
    )
    _name_blocks(func, value.name_hint or "strip")
    return func


def _comments(*kernels: tir.FuncOp) -> Iterator[str]:
    """Return the comments of the kernels without their launch counts."""
    texts = (kernel.comment.data for kernel in kernels if kernel.comment is not None)
    return map(without_launches, texts)


def _name_blocks(func: tir.FuncOp, strip: str) -> None:
    """Give each block a unique label; a first "out" now names the strip."""
    blocks = [block for op in func.body.block.ops for block in blocks_in(op)]
    taken: set[str] = set()
    last = blocks[-1]
    for block in blocks:
        label = block.label.data
        if label == last.label.data and block is not last:
            label = strip
        numbered = (f"{label}_{i}" for i in count(2))
        label = next(n for n in chain([label], numbered) if n not in taken)
        taken.add(label)
        block.label = StringAttr(label)
