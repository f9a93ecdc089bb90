"""Graphs that run on a program binary, whose kernel has a pointer for each memory in DRAM.

The activations of a graph share one buffer, so that one pointer reaches all of them: inputs are
copied into it before the launch, and outputs are copied out of it afterwards. With the placement
ARENA, constants are in that buffer, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...dialects import vta
from ...dialects.vta.arguments import ARENA, MEMORIES, SCALARS
from ...dialects.vta.encoding import encode, encode_uops
from ...dialects.vta.isa import Instruction, Load, Store, is_nop
from ...dialects.vta.memory_layout import layout_of, tensor_names
from ...errors import CloptError
from ...files.reading import read_file
from ...weights import Array, Weights
from ..offload import BoundaryCopy, KernelLaunch, Number
from .binaries import ACTIVATIONS, stream_of
from .core import schedule_core
from .implementation import Implementation
from .streams import split_launches


def board_launch(graph: vta.BinaryOp, board: Implementation) -> KernelLaunch:
    """Return the launch of the board's kernel, with the copies around it."""
    layout = layout_of(graph, board.memory)
    inputs, memory = len(graph.inputs), len(graph.inputs) + len(graph.outputs)
    tensors = [
        BoundaryCopy(n, memory, layout.offsets[name]) for n, name in enumerate(tensor_names(graph))
    ]
    constants = [
        BoundaryCopy(array.key, memory, layout.offsets[name])
        for name, array in graph.code.arrays.items()
        if name in layout.offsets
    ]
    return KernelLaunch(
        board.kernel,
        [_argument(name, graph, board, memory) for name in board.arguments],
        (board.form.lanes,),
        (board.form.lanes,),
        program=str(board.program),
        copies_in=[*constants, *tensors[:inputs]],
        copies_out=tensors[inputs:memory],
    )


def board_arrays(graph: vta.BinaryOp, weights: Weights, board: Implementation) -> dict[str, Array]:
    """Return the linked instructions, their schedule for the lanes, and the program binary.

    Raises CloptError for a binary that cannot be read, and for a graph of another configuration.
    The same holds if the kernel lacks a parameter for a memory that a graph accesses.
    """
    if graph.config != board.config:
        raise CloptError(
            f"@{graph.sym_name.data} is for a VTA {graph.config.name}, but the program "
            f"{board.program} implements {board.config.name}; compile the model for it."
        )
    file = stream_of(graph, weights)
    instructions = file.linked(layout_of(graph, board.memory).places)
    _check_memories(instructions, board)
    uops = encode_uops(file.uops, graph.config)
    arrays: Mapping[str, Array] = {
        "instructions": encode(instructions, graph.config),
        "schedule": schedule_core(instructions, uops, graph.config, board.form),
        "ranges": split_launches([len(instructions)], 0),
    }
    used = {_key(graph, name): array for name, array in arrays.items() if name in board.arguments}
    assert board.program is not None
    return used | {str(board.program): _read_program(board.program)}


def _argument(
    name: str, graph: vta.BinaryOp, board: Implementation, memory: int
) -> int | str | Number:
    code = graph.code
    constants = {"uop": code.uops, "wgt": code.weights, "acc": code.biases}
    if name in SCALARS:
        value = code.instructions.count if name == "instruction_count" else 0
        return Number(value, SCALARS[name])
    if name == "scratch":
        return memory + 1
    if name not in MEMORIES:
        return _key(graph, name)
    if board.memory == ARENA or MEMORIES[name] in ACTIVATIONS:
        return memory
    array = constants[name]
    return _key(graph, "instructions") if array is None else array.key  # unused, so any array


def _check_memories(instructions: tuple[Instruction, ...], board: Implementation) -> None:
    if board.memory == ARENA:
        return  # one pointer reaches all memories
    moves = (i for i in instructions if isinstance(i, Load | Store) and not is_nop(i))
    moved = {move.memory for move in moves}
    for name, memory in MEMORIES.items():
        if memory in moved and name not in board.arguments:
            raise CloptError(
                f"A graph accesses the memory {memory.name}, but the kernel {board.kernel} of the "
                f"program {board.program} has no parameter {name}."
            )


def _read_program(path: Path) -> Array:
    try:
        content = read_file(path)
    except OSError as error:
        raise CloptError(f"{path}: cannot read the VTA program: {error.strerror}.") from error
    if not content:
        raise CloptError(f"{path}: the VTA program is empty.")
    return np.frombuffer(content, np.uint8)


def _key(graph: vta.BinaryOp, name: str) -> str:
    return f"{graph.sym_name.data}_{name}"
