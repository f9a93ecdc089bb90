"""The configuration of a VTA core: sizes of its tiles and scratchpads, and derived sizes.

Names have the form that other VTA projects use: `1x16_i8w8a32_15_15_18_17` is a batch of 1, blocks
of 16, int8 inputs and weights, int32 sums, and the log2 of the bytes of the scratchpads for
micro-ops, inputs, weights and sums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ...errors import CloptError
from .isa import Memory

UOP_BYTES = 4
"""Bytes of a micro-op."""

INSTRUCTION_BYTES = 16
"""Bytes of an instruction."""

_NAME = re.compile(r"(\d+)x(\d+)_i(\d+)w(\d+)a(\d+)_(\d+)_(\d+)_(\d+)_(\d+)")


class VTAConfigError(CloptError):
    """Raised for a configuration that the instruction set cannot express."""


@dataclass(frozen=True)
class Config:
    """The sizes of a core. The default is the configuration of the published cores.

    Raises VTAConfigError if an instruction or micro-op has too few bits for these sizes.
    """

    batch: int = 1
    block_in: int = 16
    block_out: int = 16
    log_inp_width: int = 3
    log_wgt_width: int = 3
    log_acc_width: int = 5
    log_uop_buffer: int = 15
    log_inp_buffer: int = 15
    log_wgt_buffer: int = 18
    log_acc_buffer: int = 17

    def __post_init__(self) -> None:
        for holds, sentence in (*self._shape_rules(), *self._encodability_rules()):
            if not holds:
                raise VTAConfigError(sentence)

    def _shape_rules(self) -> Sequence[tuple[bool, str]]:
        sizes = {"batch": self.batch, "block_in": self.block_in, "block_out": self.block_out}
        widths = (self.log_inp_width, self.log_wgt_width, self.log_acc_width)
        return (
            *(
                (_is_power_of_two(size), f"The {name} of VTA must be a power of two, not {size}.")
                for name, size in sizes.items()
            ),
            (
                self.block_in == self.block_out,
                f"The blocks of VTA must be equal, since one layer loads what another stores, not "
                f"{self.block_in} and {self.block_out}.",
            ),
            (
                widths == (3, 3, 5),
                "VTA requires int8 inputs and weights and int32 sums, not widths of "
                f"{', '.join(str(1 << width) for width in widths)} bits.",
            ),
        )

    def _encodability_rules(self) -> Sequence[tuple[bool, str]]:
        logs = {m: self._log_elements(m) for m in (Memory.UOP, Memory.INP, Memory.WGT, Memory.ACC)}
        uop, inp, wgt, acc = logs.values()
        return (
            *(
                (
                    0 <= log <= 16,
                    f"The scratchpad {memory.name} must have 1 to 65536 elements, since an "
                    "instruction "
                    f"has 16 bits for an index, not 2^{log}.",
                )
                for memory, log in logs.items()
            ),
            _fits("The indices of micro-ops in GEMM and ALU", 37 + 2 * uop, "scratchpad UOP"),
            _fits("The factors of GEMM", 2 * (acc + inp + wgt), "scratchpads ACC, INP or WGT"),
            _fits("The factors, opcode and immediate of ALU", 20 + 4 * acc, "scratchpad ACC"),
            _fits("A micro-op", acc + max(acc, inp) + wgt, "scratchpads ACC, INP or WGT", 32),
        )

    def _log_elements(self, memory: Memory) -> int:
        """Return log2 of the elements of a scratchpad; negative if it cannot hold one."""
        if memory is Memory.UOP:
            return self.log_uop_buffer - 2
        log_bytes, log_width = {
            Memory.INP: (self.log_inp_buffer, self.log_inp_width),
            Memory.WGT: (self.log_wgt_buffer, self.log_wgt_width),
        }.get(memory, (self.log_acc_buffer, self.log_acc_width))
        rows, columns = self.element_shape(memory)
        return log_bytes + 3 - log_width - _log2(rows * columns)

    def element_shape(self, memory: Memory) -> tuple[int, int]:
        """Return the rows and columns of one element, which is a tile; (1, 1) for a micro-op."""
        if memory is Memory.UOP:
            return 1, 1
        if memory is Memory.WGT:
            return self.block_out, self.block_in
        return self.batch, self.block_in if memory is Memory.INP else self.block_out

    def element_bytes(self, memory: Memory) -> int:
        """Return the bytes of one element in DRAM; except for ACC_8BIT also in the scratchpad."""
        if memory is Memory.UOP:
            return UOP_BYTES
        rows, columns = self.element_shape(memory)
        width = {Memory.WGT: self.log_wgt_width, Memory.ACC: self.log_acc_width}
        return rows * columns << width.get(memory, self.log_inp_width) - 3

    def log_depth(self, memory: Memory) -> int:
        """Return log2 of the elements of the scratchpad for loads and stores of the memory."""
        return self._log_elements(memory)

    def depth(self, memory: Memory) -> int:
        """Return the elements of the scratchpad for loads and stores of the memory."""
        return 1 << self.log_depth(memory)

    @property
    def name(self) -> str:
        """Return the name, such as `1x16_i8w8a32_15_15_18_17`, which `parse` reads."""
        widths = "i{}w{}a{}".format(
            *(1 << log for log in (self.log_inp_width, self.log_wgt_width, self.log_acc_width))
        )
        return (
            f"{self.batch}x{self.block_in}_{widths}_{self.log_uop_buffer}_{self.log_inp_buffer}_"
            f"{self.log_wgt_buffer}_{self.log_acc_buffer}"
        )

    @classmethod
    def parse(cls, name: str) -> Config:
        """Return the configuration of a name; raise VTAConfigError for an invalid name."""
        match = _NAME.fullmatch(name)
        if match is None:
            raise VTAConfigError(
                f'"{name}" is not a configuration of VTA: write one like {Config().name}, batch x '
                "block, widths, and log2 of the bytes for micro-ops, inputs, weights and sums."
            )
        batch, block, *rest = map(int, match.groups())
        widths = rest[:3]
        for width in widths:
            if not _is_power_of_two(width):
                raise VTAConfigError(f'A width in "{name}" is {width} bits, not a power of two.')
        return cls(batch, block, block, *map(_log2, widths), *rest[3:])


def _fits(what: str, bits: int, shrink: str, room: int = 64) -> tuple[bool, str]:
    return bits <= room, (
        f"{what} would take {bits} bits, but VTA has {room}: reduce the {shrink}."
    )


def _is_power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _log2(n: int) -> int:
    return n.bit_length() - 1


BLOCK_16 = Config()
"""The configuration of the published cores; deeper scratchpads would exceed its instructions."""

BLOCK_32 = Config(block_in=32, block_out=32)
"""A core with four times the multipliers."""

BATCH_2 = Config(batch=2)
"""A core that processes two images at a time."""


@irdl_attr_definition
class ConfigAttr(Data[Config]):
    """`#vta.config<1x16_i8w8a32_15_15_18_17>`: the configuration that a program is for."""

    name = "vta.config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Config:
        with parser.in_angle_brackets():
            start = parser.pos
            text = f"{parser.parse_integer()}{parser.parse_identifier()}"
            try:
                return Config.parse(text)
            except VTAConfigError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.name)
