"""Graphs on a program binary, whose kernel has a pointer for each memory of DRAM.

The activations of a graph share one buffer there, so that one pointer reaches all of them: what the
graph takes is copied in before the launch, what it returns is copied out after it. In an arena
constants lie in that buffer, too.
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
from ..offload import KernelLaunch, Number, Part
from .binaries import ACTIVATIONS, stream_of
from .core import schedule_core
from .implementation import Implementation
from .streams import split_launches


def board_launch(graph: vta.BinaryOp, board: Implementation) -> KernelLaunch:
    """The launch of the board's kernel, and the copies around it."""
    layout = layout_of(graph, board.memory)
    inputs, memory = len(graph.inputs), len(graph.inputs) + len(graph.outputs)
    tensors = [Part(n, memory, layout.offsets[name]) for n, name in enumerate(tensor_names(graph))]
    constants = [
        Part(array.key, memory, layout.offsets[name])
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
    """The linked instructions, how lanes share them, and the program binary.

    Raises CloptError for a binary that cannot be read, for a graph of another configuration, and
    for one that moves a memory for which the kernel has no parameter.
    """
    if graph.config != board.config:
        raise CloptError(
            f"@{graph.sym_name.data} is for a VTA {graph.config.name}, and the program "
            f"{board.program} is one {board.config.name}; compile the model for it."
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
    return _key(graph, "instructions") if array is None else array.key  # any will do


def _check_memories(instructions: tuple[Instruction, ...], board: Implementation) -> None:
    if board.memory == ARENA:
        return  # one pointer reaches all
    moves = (each for each in instructions if isinstance(each, Load | Store) and not is_nop(each))
    moved = {each.memory for each in moves}
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
