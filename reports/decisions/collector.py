"""Collects the choices of a compilation between its passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import cl, nn
from ...messages.explanations import Explained
from ...passes.locations import node_name
from ...passes.nn.layout.candidates import is_texture
from ...passes.nn.layout.explain import layout_text
from ...passes.nn.offload.partition import operation_text
from ...passes.nn.to_cl import NNToCLPass
from ...passes.tir.join_kernels import TIRJoinKernelsPass
from .values import Decisions, ReportedNode, ReportedRegion, ReportedTensor


class Collector:
    """A callback for the pipeline `opencl`, which sees the module between two passes.

    Where passes run again, as for a limit on memory, the last run counts.
    """

    def __init__(self, module: ModuleOp) -> None:
        """Start from `module`, the network as imported."""
        self._nodes = tuple(map(_node, _operations(module)))
        self._pending: list[_PendingRegion] = []
        self._regions: list[ReportedRegion] = []
        self._writers: dict[SSAValue, int] = {}
        self._readers: defaultdict[int, list[int]] = defaultdict(list)
        self._commands: dict[cl.Command, tuple[int, ...]] = {}

    def __call__(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        if isinstance(following, NNToCLPass):
            self._pending = list(map(_PendingRegion, _groups(module)))
        match previous:
            case NNToCLPass():
                self._match(module)
            case TIRJoinKernelsPass():
                self._note_commands(module)
            case _:
                pass

    def decisions(self, module: ModuleOp, explanations: Sequence[Explained]) -> Decisions:
        """Return the choices for the finished `module`."""
        programs = [op for op in module.ops if isinstance(op, cl.ProgramOp)]
        commands = [self._commands.get(op, ()) for each in programs for op in cl.enqueued(each)]
        regions = tuple(self._regions)
        return Decisions(self._nodes, regions, tuple(commands), explanations)

    def _match(self, module: ModuleOp) -> None:
        """Match regions with launches, which have the same order; some regions have no launch."""
        self._regions, self._writers = [each.region for each in self._pending], {}
        self._readers.clear()
        first = 0
        for launch in _launches(module):
            rest = range(first, len(self._pending))
            number = next((i for i in rest if self._pending[i].is_computed_by(launch)), None)
            if number is not None:
                first, region = number + 1, self._regions[number]
                self._regions[number] = replace(region, kernel=launch.kernel_name)
                count = len(region.results)
                for value in list(launch.args)[:-count]:
                    if value in self._writers:
                        self._readers[self._writers[value]].append(number)
                self._writers |= dict.fromkeys(list(launch.args)[-count:], number)

    def _note_commands(self, module: ModuleOp) -> None:
        """Record what each launch computes by the memory that it writes, before it is planned."""
        kernels = cl.kernels_of(module)
        self._commands = {}
        for launch in _launches(module):
            args = list(launch.args)
            written = (args[i] for i in sorted(kernels[launch.kernel_name].outputs))
            numbers = (self._writers[value] for value in written if value in self._writers)
            self._commands[launch] = tuple(dict.fromkeys(numbers))
        self._note_handed_over()

    def _note_handed_over(self) -> None:
        """Assign a region whose result is no longer in memory to the launches of its readers."""
        known = {number for numbers in self._commands.values() for number in numbers}
        for number, region in reversed([*enumerate(self._regions)]):
            if region.kernel and number not in known:
                for launch, numbers in self._commands.items():
                    if not set(self._readers[number]).isdisjoint(numbers):
                        self._commands[launch] = (number, *numbers)


class _PendingRegion:
    """A region of the network whose kernel is not known yet."""

    def __init__(self, op: nn.FusedOp | nn.RelayoutOp) -> None:
        self.location = op.location
        self.types = [nn.buffer_type(nn.tensor_type(value)) for value in op.results]
        nodes = [op] if isinstance(op, nn.RelayoutOp) else _inner(op)
        self.region = ReportedRegion(tuple(map(_node, nodes)), tuple(map(_tensor, op.results)))

    def is_computed_by(self, launch: cl.EnqueueKernelOp) -> bool:
        """Return whether a launch has the node and writes the types of this region."""
        written = [value.type for value in launch.args][-len(self.types) :]
        return launch.location == self.location and written == self.types


def _operations(module: ModuleOp) -> Iterator[Operation]:
    """Yield the operations of networks that compute something."""
    for network in nn.networks_of(module):
        for op in network.body.block.ops:
            if not isinstance(op, nn.ConstantOp | func.ReturnOp):
                yield op


def _groups(module: ModuleOp) -> Iterator[nn.FusedOp | nn.RelayoutOp]:
    """Yield what `nn-to-cl` may turn into kernels: regions, and copies of values to a layout."""
    for op in _operations(module):
        if isinstance(op, nn.FusedOp):
            yield op
        elif isinstance(op, nn.RelayoutOp) and not isinstance(op.x.owner, nn.ConstantOp):
            yield op


def _inner(fused: nn.FusedOp) -> list[Operation]:
    return [op for op in fused.body.block.ops if not isinstance(op, nn.YieldOp | nn.ConstantOp)]


def _launches(module: ModuleOp) -> Iterator[cl.EnqueueKernelOp]:
    for program in (op for op in module.ops if isinstance(op, cl.ProgramOp)):
        for op in cl.enqueued(program):
            if isinstance(op, cl.EnqueueKernelOp):
                yield op


def _node(op: Operation) -> ReportedNode:
    return ReportedNode(node_name(op), operation_text(op))


def _tensor(value: SSAValue) -> ReportedTensor:
    type_, layout = nn.tensor_type(value), nn.layout_of(value)
    physical = nn.buffer_type(type_).get_shape()
    return ReportedTensor(
        tuple(nn.shape_of(value)),
        str(type_.element_type),
        layout_text(layout),
        is_texture(layout),
        tuple(physical),
    )
