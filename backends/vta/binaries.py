"""Reading and checking of the arrays of a `vta.binary`: no malformed stream reaches a device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...dialects import vta
from ...dialects.vta.encoding import UopWords, VTAStreamError, decode, decode_uops
from ...dialects.vta.isa import Instruction, Load, Memory, Store, is_nop
from ...dialects.vta.memory_layout import BIASES, UOPS, WEIGHTS, symbols_of, tensor_names
from ...dialects.vta.steps import dram_end
from ...dialects.vta.stream_check import check_stream
from ...dialects.vta.stream_file import StreamFile
from ...weights import Weights

ACTIVATIONS = (Memory.INP, Memory.ACC_8BIT, Memory.OUT)
"""The memories that hold tensors of a graph."""


@dataclass(frozen=True)
class Binary:
    """A stream that passed all checks."""

    instructions: tuple[Instruction, ...]
    relocations: npt.NDArray[np.uint8]
    uops: UopWords


def read_binary(op: vta.BinaryOp, weights: Weights) -> Binary:
    """Return the stream of a graph; raise VTAStreamError if it is malformed.

    In a well-formed stream every index is within its tensor, constant or scratchpad, inputs are not
    written, tokens never block the stream forever, and the stream ends.
    """
    arrays = {name: weights.get(array.key) for name, array in op.code.arrays.items()}
    name = op.sym_name.data
    for array, expected in _types(op).items():
        actual = arrays[array]
        if (actual.dtype, actual.shape) != expected:
            raise VTAStreamError(
                f"The {array} of @{name} are {actual.dtype}{list(actual.shape)}, but must be "
                f"{expected[0]}{list(expected[1])}; pass the weights that belong to this module."
            )
    try:
        instructions = decode(arrays["instructions"], op.config)
        uops = arrays.get("uops", np.empty(0, np.uint32))
        binary = Binary(instructions, arrays["relocations"], uops)
        check_stream(instructions, decode_uops(uops, op.config), op.config, _sizes(op))
        _check_tensors(op, binary)
    except VTAStreamError as error:
        raise VTAStreamError(f"@{name} is malformed. {error}") from error
    return binary


def stream_of(op: vta.BinaryOp, weights: Weights) -> StreamFile:
    """Return a graph as a stream whose addresses are relative to named tensors and constants.

    Raises VTAStreamError if it is malformed.
    """
    binary, symbols = read_binary(op, weights), symbols_of(op)
    numbers = {symbol.name: n for n, symbol in enumerate(symbols)}
    tensors = tensor_names(op)
    relocations = {
        n: numbers[_CONSTANTS.get(instruction.memory) or tensors[binary.relocations[n]]]
        for n, instruction in enumerate(binary.instructions)
        if isinstance(instruction, Load | Store) and not is_nop(instruction)
    }
    uops = decode_uops(binary.uops, op.config)
    return StreamFile(op.config, binary.instructions, uops, symbols, relocations)


_CONSTANTS = {Memory.WGT: WEIGHTS, Memory.ACC: BIASES, Memory.UOP: UOPS}


def _sizes(op: vta.BinaryOp) -> dict[Memory, int]:
    """Return the elements of each memory in DRAM; for activations, of the largest tensor."""
    counts = {name: array.count for name, array in op.code.arrays.items()}
    largest = max(type_.elements for type_ in op.tensor_types)
    return {
        Memory.WGT: counts.get("weights", 0),
        Memory.ACC: counts.get("biases", 0),
        **dict.fromkeys(ACTIVATIONS, largest),
    }


def _types(op: vta.BinaryOp) -> dict[str, tuple[np.dtype[np.generic], tuple[int, ...]]]:
    shapes = {
        "instructions": (np.dtype(np.uint64), (2,)),
        "relocations": (np.dtype(np.uint8), ()),
        "uops": (np.dtype(np.uint32), ()),
        "weights": (np.dtype(np.int8), op.config.element_shape(Memory.WGT)),
        "biases": (np.dtype(np.int32), op.config.element_shape(Memory.ACC)),
    }
    return {
        name: (shapes[name][0], (array.count, *shapes[name][1]))
        for name, array in op.code.arrays.items()
    }


def _check_tensors(op: vta.BinaryOp, binary: Binary) -> None:
    """Raise VTAStreamError for accesses beyond a tensor and for stores to inputs."""
    tensors = op.tensor_types
    for n, instruction in enumerate(binary.instructions):
        if not isinstance(instruction, Load | Store) or is_nop(instruction):
            continue
        if instruction.memory not in ACTIVATIONS:
            continue
        number, end = int(binary.relocations[n]), dram_end(instruction)
        if number >= len(tensors):
            raise VTAStreamError(
                f"Instruction {n} names tensor {number}, but there are {len(tensors)}."
            )
        if isinstance(instruction, Store) and number < op.counts.inputs:
            raise VTAStreamError(f"Instruction {n} writes tensor {number}, an input.")
        if end > tensors[number].elements:
            raise VTAStreamError(
                f"Instruction {n} reaches element {end - 1} of tensor {number}, which has only "
                f"{tensors[number].elements}."
            )
