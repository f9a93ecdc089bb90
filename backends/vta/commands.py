"""Execution of VTA graphs: one launch of a core per graph, on tensors of the queue program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects import vta
from ...dialects.cl import target_of
from ...dialects.offload import OffloadGraphOp
from ...dialects.vta.stream_file import write_stream
from ...errors import CloptError
from ...weights import Array, Weights
from ..offload import CommandKernels, KernelLaunch
from .binaries import read_binary, stream_of
from .boards import board_arrays, board_launch
from .core import schedule_core
from .graph_source import GRAPH_KERNEL, TENSOR_SHIFT, graph_source
from .implementation import Implementation, implementation_of


class VTAKernels(CommandKernels):
    """The core as a kernel whose arguments are the arrays and the tensors of a graph.

    For a target with a program binary, it is the kernel of that program (`boards.py`).
    """

    def source(self, graphs: Sequence[OffloadGraphOp]) -> str:
        """Return the core's source; raise CloptError for graphs of two configurations."""
        binaries = [_binary(graph) for graph in graphs]
        configs = dict.fromkeys(graph.config for graph in binaries)
        if len(configs) > 1:
            names = " and ".join(config.name for config in configs)
            raise CloptError(
                f"The model has graphs for the VTA configurations {names}, but a device has only "
                "one core; choose one configuration."
            )
        implementation = _implementation(graphs[0])
        if implementation.program is not None:
            return ""  # the kernel is in the binary
        return graph_source(next(iter(configs)), implementation.form, _most_tensors(binaries))

    def launch(self, graph: OffloadGraphOp, command: Operation) -> KernelLaunch:
        binary, implementation = _binary(graph), _implementation(graph)
        if implementation.program is not None:
            return board_launch(binary, implementation)
        code = binary.code
        instructions = code.instructions.key
        # A memory or tensor that the graph does not have is never accessed, so any array can stand
        # in.
        memories = (code.uops, code.weights, code.biases)
        tensors = range(len(binary.all_tensors))
        missing = _most_tensors(_neighbours(binary)) - len(tensors)
        lanes = implementation.form.lanes
        return KernelLaunch(
            GRAPH_KERNEL,
            [
                instructions,
                _hints(binary),
                *(instructions if array is None else array.key for array in memories),
                *tensors,
                *[instructions] * missing,
                len(tensors),
            ],
            (lanes,),
            (lanes,),
        )

    def arrays(self, graph: OffloadGraphOp, weights: Weights) -> Mapping[str, Array]:
        """Return how the lanes share each instruction, and the number of its tensor."""
        binary, implementation = _binary(graph), _implementation(graph)
        if implementation.program is not None:
            return board_arrays(binary, weights, implementation)
        read, form = read_binary(binary, weights), implementation.form
        shares = schedule_core(read.instructions, read.uops, binary.config, form)
        return {_hints(binary): shares | read.relocations << TENSOR_SHIFT}

    def files(self, graph: OffloadGraphOp, weights: Weights) -> Mapping[str, bytes]:
        """Return its stream, and its weights and biases as in DRAM, little-endian."""
        binary, name = _binary(graph), graph.sym_name.data
        constants = {"weights": binary.code.weights, "biases": binary.code.biases}
        arrays = {key: weights.get(array.key) for key, array in constants.items() if array}
        return {f"{name}.vta": write_stream(stream_of(binary, weights))} | {
            f"{name}.{key}.bin": array.astype(array.dtype.newbyteorder("<")).tobytes()
            for key, array in arrays.items()
        }


def _implementation(graph: OffloadGraphOp) -> Implementation:
    return implementation_of(target_of(_module(graph)))


def _module(graph: Operation) -> ModuleOp:
    module = graph.get_toplevel_object()
    assert isinstance(module, ModuleOp), "a graph is part of a module"
    return module


def _binary(graph: OffloadGraphOp) -> vta.BinaryOp:
    if not isinstance(graph, vta.BinaryOp):
        raise CloptError(
            f"@{graph.sym_name.data} is not lowered to VTA instructions; run the pipeline first."
        )
    return graph


def _neighbours(graph: vta.BinaryOp) -> list[vta.BinaryOp]:
    return [op for op in _module(graph).body.block.ops if isinstance(op, vta.BinaryOp)]


def _most_tensors(graphs: Sequence[vta.BinaryOp]) -> int:
    return max(len(graph.all_tensors) for graph in graphs)


def _hints(graph: vta.BinaryOp) -> str:
    return f"{graph.sym_name.data}_hints"
