"""The tensors and constants of a `vta.binary` by name, as its stream counts addresses from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .attributes import DramKind
from .stream_file import UOPS_SYMBOL, Symbol

if TYPE_CHECKING:
    from .binary import BinaryOp

WEIGHTS = "weights"
BIASES = "biases"
UOPS = UOPS_SYMBOL
_KINDS = {WEIGHTS: DramKind.WGT, BIASES: DramKind.ACC, UOPS: DramKind.UOP}


def tensor_names(op: BinaryOp) -> list[str]:
    """`input0`, ..., `output0`, ..., `scratch0`, ...: the names of its tensors in their order."""
    counts = vars(op.counts)
    roles = {"inputs": "input", "outputs": "output", "scratch": "scratch"}
    return [f"{roles[key]}{n}" for key, count in counts.items() for n in range(count)]


def symbols_of(op: BinaryOp) -> tuple[Symbol, ...]:
    """Its tensors, then its constants."""
    tensors = zip(tensor_names(op), op.tensor_types, strict=True)
    constants = op.code.arrays.items()
    return (
        *(Symbol(name, DramKind.ACT, type_.elements) for name, type_ in tensors),
        *(Symbol(name, _KINDS[name], array.count) for name, array in constants if name in _KINDS),
    )
