"""Execution of accelerator commands: as kernels, through a C library, or by calls on the host.

An accelerator of the first kind provides the source of its kernels, and for each command a launch
of one of them. Its commands then run wherever kernels run, in Python and in a C package, instead of
`cl.enqueue_offload`. `host_calls.py` has the last kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, i8
from xdsl.ir import Operation, SSAValue

from ..accelerators import accelerators
from ..dialects import cl
from ..dialects.cl import target_of
from ..dialects.crossings import Fence, MemorySpace
from ..dialects.offload import OffloadGraphOp
from ..errors import CloptError
from ..weights import Array, Weights
from .host_calls import CommandCalls


class Number(NamedTuple):
    """A scalar argument between the buffers of a launch."""

    value: int
    bytes: int
    """4 or 8."""


@dataclass(frozen=True)
class BoundaryCopy:
    """A copy of a tensor into bytes of an operand before a launch, or out of them after it."""

    tensor: int | str
    """The number of an operand, or the key of an array."""
    memory: int
    """The number of the operand that contains the bytes."""
    offset: int
    """The offset of the first byte."""


@dataclass(frozen=True)
class KernelLaunch:
    """The launch of a kernel that runs a command."""

    kernel: str
    """The kernel's name in the source."""
    arguments: Sequence[int | str | Number]
    """For each parameter that is a buffer, the number of an operand of the `cl.enqueue_offload`, or
    the key of an array: one of the graph's `weight_keys`, or one that `arrays` returns."""
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    scalars: tuple[int, ...] = ()
    """32-bit integers, which are the parameters after the buffers."""
    program: str = ""
    """The key of an array that is a program binary with the kernel; then the source does not
    contain it."""
    copies_in: Sequence[BoundaryCopy] = ()
    """Copies on the queue before the launch."""
    copies_out: Sequence[BoundaryCopy] = ()
    """Copies on the queue after the launch."""


class CommandKernels(ABC):
    """An accelerator whose commands are launches of its own kernels."""

    @abstractmethod
    def source(self, graphs: Sequence[OffloadGraphOp]) -> str:
        """Return the OpenCL C of the kernels that run these graphs.

        The names of its kernels and functions begin with the accelerator's name.
        """

    @abstractmethod
    def launch(self, graph: OffloadGraphOp, command: Operation) -> KernelLaunch:
        """Return the launch that runs a command of a graph."""

    def arrays(self, graph: OffloadGraphOp, weights: Weights) -> Mapping[str, Array]:
        """Return additional arrays that launches need, by keys that are unique in the program.

        Raises CloptError for a graph whose arrays do not encode commands of the accelerator.
        """
        del graph, weights
        return {}

    def files(self, graph: OffloadGraphOp, weights: Weights) -> Mapping[str, bytes]:
        """Return the graph as files for other programs, by file name; by default there are none.

        Raises CloptError in the same cases as `arrays`.
        """
        del graph, weights
        return {}


class CommandLibrary(ABC):
    """The graphs of one program whose commands a C library runs, as parts of a C package.

    The library's functions are in a `struct clopt_offload` (`host_c/runtime/clopt_internal.h`).
    Commands are operations, numbered over all graphs in queue order.
    """

    symbol: ClassVar[str]
    """Name of the `clopt_offload`, prefix of the type of its tables (`_tables`), folder of its
    sources, and its CMake target."""
    library: ClassVar[str]
    """Name of its plan; in lower case, the suffix of its files and tables."""
    texts: ClassVar[Mapping[str, Mapping[str, str]]]
    """Texts of its templates about devices without it: `only` for packages with this plan alone,
    `both` for packages that also have a plan of kernels."""

    @abstractmethod
    def __init__(self, graphs: Mapping[str, OffloadGraphOp], weights: Weights) -> None:
        """Take the graphs in queue order; raise CloptError if the weights are not theirs."""

    @property
    @abstractmethod
    def keys(self) -> list[str]:
        """The arrays of the weights file that its constants need."""

    @abstractmethod
    def tables(self, offsets: Mapping[str, int], name: str, optional: bool) -> str:
        """Return the C source `<name>_<suffix>.c`; `offsets` are byte offsets in the weights file.

        If `optional`, it compiles to nothing where `CLOPT_WITHOUT_<SUFFIX>` is defined.
        """

    @abstractmethod
    def files(self) -> dict[str, str]:
        """Return the files that are the same for every model, by their paths in the package."""

    @abstractmethod
    def template(self, name: str) -> str:
        """Return its part of the package's `CMakeLists.txt` or `README.md`, with `@names@`."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Return its entry in the package's description."""


def accelerator_of(graph: OffloadGraphOp) -> str:
    """Return the name of a graph's accelerator, which is the name of its dialect."""
    return graph.name.partition(".")[0]


def source_of(module: ModuleOp) -> str:
    """Return the OpenCL C of a module: of its own kernels, then of its accelerators' kernels."""
    from .opencl_c import emit

    texts = [emit(module, target_of(module))]
    graphs: dict[str, list[OffloadGraphOp]] = {}
    for graph in cl.graphs_of(module).values():
        graphs.setdefault(accelerator_of(graph), []).append(graph)
    for name, group in graphs.items():
        kernels = _kernels(name)
        if kernels is not None:
            texts.append(kernels.source(group))
    return "\n".join(text for text in texts if text)


def needs_library(program: cl.ProgramOp) -> bool:
    """Return whether a C library runs some of a program's commands."""
    return bool(_library_graphs(program))


def library_name(program: cl.ProgramOp) -> str:
    """Return the accelerator whose library runs commands of a program; empty without one."""
    return next(map(accelerator_of, _library_graphs(program).values()), "")


def optional_accelerators(program: cl.ProgramOp) -> list[str]:
    """Return the accelerators of a program that a machine may lack: all that are not kernels."""
    names = dict.fromkeys(map(accelerator_of, cl.graphs_in(program).values()))
    return [name for name in names if _kernels(name) is None]


def refuse_calls(program: cl.ProgramOp) -> None:
    """Raise CloptError if a program that must run without Python calls Python functions."""
    for graph in cl.graphs_in(program).values():
        name = accelerator_of(graph)
        if isinstance(commands_of(name), CommandCalls):
            raise CloptError(
                f"@{program.sym_name.data} has parts for {graph.ACCELERATOR}, whose functions are "
                f"in Python, but this program must run as C; compile the model with {name}=off."
            )


def library_of(program: cl.ProgramOp, weights: Weights) -> CommandLibrary | None:
    """Return the library that runs commands of a program, or None if all are launches.

    Raises CloptError for a program that needs two libraries.
    """
    graphs = _library_graphs(program)
    names = {accelerator_of(graph): graph.ACCELERATOR for graph in graphs.values()}
    if not graphs:
        return None
    if len(names) > 1:
        raise CloptError(
            f"@{program.sym_name.data} has parts for {' and '.join(names.values())}, but a package "
            "can contain the library of only one; compile the model for one of them."
        )
    return accelerators()[next(iter(names))].load("commands")(graphs, weights)


def _library_graphs(program: cl.ProgramOp) -> dict[str, OffloadGraphOp]:
    graphs = cl.graphs_in(program).items()
    return {name: graph for name, graph in graphs if commands_of(accelerator_of(graph)) is None}


def with_launches(module: ModuleOp, weights: Weights) -> ModuleOp:
    """Return `module`, or a copy in which launches replace commands that are launches.

    The copy also has the constants that calls on the host need.
    """
    names = {accelerator_of(graph) for graph in cl.graphs_of(module).values()}
    if not any(map(commands_of, names)):
        return module
    module = module.clone()
    for program in [op for op in module.body.block.ops if isinstance(op, cl.ProgramOp)]:
        _Launches(module, program, weights).replace()
    return module


def graph_files(module: ModuleOp, weights: Weights) -> dict[str, dict[str, bytes]]:
    """Return the files of each graph of a compiled module: contents by file name, by graph name."""
    files_of: dict[str, dict[str, bytes]] = {}
    for name, graph in cl.graphs_of(module).items():
        kernels = _kernels(accelerator_of(graph))
        if kernels is not None and (files := kernels.files(graph, weights)):
            files_of[name] = dict(files)
    return files_of


def commands_of(name: str) -> CommandKernels | CommandCalls | None:
    """Return the commands of an accelerator, or None if a library runs them."""
    commands = accelerators()[name].load("commands")
    return commands() if issubclass(commands, CommandKernels | CommandCalls) else None


def _kernels(name: str) -> CommandKernels | None:
    commands = commands_of(name)
    return commands if isinstance(commands, CommandKernels) else None


class _Launches:
    """The replacement of one program's commands by launches, and the constants of its calls."""

    def __init__(self, module: ModuleOp, program: cl.ProgramOp, weights: Weights) -> None:
        self.module = module
        self.program = program
        self.weights = weights
        self.graphs = cl.graphs_in(program)
        self.constants: dict[str, SSAValue] = {}
        """The constant of each array that a launch or a call needs."""
        self.made: dict[str, Mapping[str, Array]] = {}
        """The result of `arrays` for each graph."""

    def replace(self) -> None:
        for op in list(self.program.body.block.ops):
            if isinstance(op, cl.EnqueueOffloadOp):
                graph = self.graphs[op.graph_name]
                commands = commands_of(accelerator_of(graph))
                _check_crossing(graph, commands)
                if commands is None:
                    continue
                if op.graph_name not in self.made:
                    self.made[op.graph_name] = commands.arrays(graph, self.weights)
                command = graph.commands[op.index]
                if isinstance(commands, CommandKernels):
                    self._replace(op, commands.launch(graph, command))
                    continue
                for argument in commands.call(graph, command).arguments:
                    if graph.MEMORY is MemorySpace.BUFFERS:
                        self._value(op, argument)
                    elif isinstance(argument, str):
                        self._stored(argument, self.made[op.graph_name])

    def _replace(self, op: cl.EnqueueOffloadOp, launch: KernelLaunch) -> None:
        numbers = [arg for arg in launch.arguments if isinstance(arg, Number)]
        buffers = [arg for arg in launch.arguments if not isinstance(arg, Number)]
        args = [self._value(op, buffer) for buffer in buffers]
        reads = len(op.reads)
        positions = [i for i, arg in enumerate(launch.arguments) if isinstance(arg, Number)]
        kernel = cl.KernelOp(
            f"{op.graph_name}_{op.index}",
            [arg.type for arg in args],
            [i for i, buffer in enumerate(buffers) if _is_written(buffer, reads)],
            launch.global_size,
            launch.local_size,
            launch.scalars,
            function=launch.kernel,
            scalars=[(at, n.bytes, n.value) for at, n in zip(positions, numbers, strict=True)],
            program=launch.program and self._stored(launch.program, self.made[op.graph_name]),
        )
        self.module.body.block.add_op(kernel)
        commands: list[Operation] = []
        for part in launch.copies_in:
            commands += self._copy(op, part, is_in=True)
        commands.append(cl.EnqueueKernelOp(kernel.sym_name.data, args))
        for part in launch.copies_out:
            commands += self._copy(op, part, is_in=False)
        for command in commands:
            command.location = op.location
            if len(commands) > 1:
                command.attributes[cl.ONE_COMMAND] = StringAttr(kernel.sym_name.data)
        self.program.body.block.insert_ops_before(commands, op)
        op.detach()
        op.erase()

    def _value(self, op: cl.EnqueueOffloadOp, argument: int | str) -> SSAValue:
        if isinstance(argument, int):
            return op.operands[argument]
        return self._constant(self._stored(argument, self.made[op.graph_name]))

    def _copy(self, op: cl.EnqueueOffloadOp, part: BoundaryCopy, *, is_in: bool) -> list[Operation]:
        tensor = self._value(op, part.tensor)
        view = cl.ViewOp(op.operands[part.memory], tensor.type, part.offset)
        ends = (tensor, view.result) if is_in else (view.result, tensor)
        return [view, cl.EnqueueCopyOp(*ends)]

    def _stored(self, key: str, made: Mapping[str, Array]) -> str:
        return self.weights.add(made[key], key) if key in made else key

    def _constant(self, key: str) -> SSAValue:
        if key not in self.constants:
            type_ = MemRefType(i8, [self.weights.get(key).nbytes])
            constant = cl.ConstantOp(key, type_)
            constant.result.name_hint = self.weights.hint(key) or None
            block = self.program.body.block
            assert block.first_op is not None, "a program ends with cl.return"
            block.insert_op_before(constant, block.first_op)
            self.constants[key] = constant.result
        return self.constants[key]


def _check_crossing(graph: OffloadGraphOp, commands: object) -> None:
    """Check that commands of this kind support the fence and the memory that the graph states."""
    if graph.MEMORY is MemorySpace.HOST and graph.FENCE is not Fence.FINISH:
        raise CloptError(
            f"Graphs of {graph.ACCELERATOR} use host memory, so their fence must be FINISH, "
            f"not {graph.FENCE.name}."
        )
    if graph.FENCE is not Fence.QUEUE and not isinstance(commands, CommandCalls):
        raise CloptError(
            f"Graphs of {graph.ACCELERATOR} have the fence {graph.FENCE.name}, which only calls on "
            "the host may have; kernels and C libraries need the fence QUEUE."
        )


def _is_written(argument: int | str, reads: int) -> bool:
    return isinstance(argument, int) and argument >= reads
