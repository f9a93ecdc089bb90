"""Stand-ins for boards: program binaries that are cores, and targets that name them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import clopt
from clopt.backends.pyopencl_runtime import find_device
from clopt.backends.pyopencl_runtime.compiler import binary_of, from_source
from clopt.backends.vta.core import CoreForm, build_options, core_source
from clopt.dialects import nn
from clopt.dialects.vta import BLOCK_16
from support.nn.quantized import Quantized

KERNEL = """
__kernel void board(const uint count, const uint first, __global const ulong2 *instructions,
                    __global const char *uop, __global const char *acc, __global const char *inp,
                    __global const char *wgt, __global const char *acc8, __global char *out,
                    __global char *scratch) {
    drams dram;
    dram.uop = uop;
    dram.wgt = wgt;
    dram.acc = acc;
    dram.inp = inp;
    dram.acc8 = acc8;
    dram.out = out;
    const scratchpads pads = scratchpads_at(scratch);
    for (uint n = first; n < first + count; ++n) {
        const ulong2 word = instructions[n];
        if (bits(word.x, 0, 3) == FINISH) break;
        execute(pads, dram, word, 0, 0);
    }
}
"""
ARGUMENTS = "instruction_count first_instruction instructions uop acc inp wgt acc8 out scratch"
"""Numbers come first, as in published cores."""

ROWS = {
    "config": BLOCK_16.name,
    "program": "board.bin",
    "kernel": "board",
    "arguments": ARGUMENTS.split(),
}


@cache
def binary(device: str, *, negates: bool = False) -> bytes:
    """A core whose kernel is `board`; one that negates stores the negative of each element."""
    text = core_source()
    text = text[: text.rindex("\n}\n", 0, text.index("__kernel")) + len("\n}\n")] + KERNEL
    if negates:
        stored = "STORE_BYTES(value, place, pads.out);"
        assert stored in text
        text = text.replace(stored, stored.replace("value", "-value"))
    return build(device, text)


def build(device: str, text: str) -> bytes:
    """The binary of a program for a device."""
    found = find_device(device)
    options = " ".join(build_options(BLOCK_16, CoreForm()))
    return binary_of(from_source(cl.Context([found.handle]), found, text, options), found)


def write_board(folder: Path, program: bytes | None, **rows: str | list[str]) -> Path:
    """A target's file with the table of a board in `folder`, and the board's program."""
    if program is not None:
        (folder / "board.bin").write_bytes(program)
    table = "".join(f"{key} = {toml(value)}\n" for key, value in {**ROWS, **rows}.items())
    path = folder / "board.toml"
    path.write_text(f'base = "pocl"\n\n[vta]\nmode = "prefer"\n{table}')
    return path


def toml(value: str | list[str]) -> str:
    return f'"{value}"' if isinstance(value, str) else f"[{', '.join(map(toml, value))}]"


def compiled(net: Quantized, device: str, target: Path | None = None) -> clopt.CompiledModel:
    """A network for a board, or for our core."""
    module, weights = ModuleOp([net.function().clone()]), net.context.weights
    chosen, facts = (str(target), {}) if target else ("pocl", {"vta": "prefer"})
    return clopt.compile(module, chosen, weights=weights, device=device, **facts)


X = np.random.default_rng(9).integers(-128, 128, (1, 16, 4, 4)).astype(np.int8)


def layer(net: Quantized, x: SSAValue, seed: int) -> SSAValue:
    """A convolution with a bias and relu, so that all its results are from 0 to 127."""
    random = np.random.default_rng(seed)
    w = random.integers(-90, 91, (16, 16, 1, 1)).astype(np.float32) / 256
    b = random.integers(-90, 91, 16).astype(np.float32) / 16
    return net.round(net.relu(net.conv(net.back(x, -4), w, b)), -4)


def one_graph() -> Quantized:
    net = Quantized()
    net.result(layer(net, net.input(1, 16, 4, 4), 8))
    return net


def two_graphs() -> Quantized:
    """Two layers with a residual, around a kernel; the second graph reads two tensors."""
    net = Quantized()
    first = layer(net, layer(net, net.input(1, 16, 4, 4), 8), 9)
    gate = net.round(net.add(nn.UnaryOp(net.back(first, -4), "sigmoid")), -7)
    net.result(net.round(net.plus(net.back(first, -4), net.back(gate, -7)), -4))
    return net
