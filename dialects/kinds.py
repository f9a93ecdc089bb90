"""Enumerations of functions that operations of several dialects compute.

A dialect that supports only some of them rejects the others in its verifiers.
"""

from __future__ import annotations

from xdsl.utils.str_enum import StrEnum


class BinaryKind(StrEnum):
    """An elementwise function of two tensors; integer `div` truncates toward zero."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    POW = "pow"
    MOD = "mod"
    FMOD = "fmod"
    MIN = "min"
    MAX = "max"
    AND = "and"
    OR = "or"
    XOR = "xor"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"
    SHL = "shl"
    SHR = "shr"
    PRELU = "prelu"


class PoolKind(StrEnum):
    """The function of a pooling window."""

    MAX = "max"
    AVERAGE = "average"
    LP = "lp"
