"""Binaries are checked before they reach a device; they join saved models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from clopt.backends.offload import source_of, with_launches
from clopt.backends.saved_model import load_model, save_model
from clopt.backends.vta.binaries import read_binary
from clopt.backends.vta.core import CoreForm
from clopt.backends.vta.graph_source import graph_source
from clopt.dialects.cl import EnqueueKernelOp, KernelOp, ProgramOp
from clopt.dialects.vta import BATCH_2, BLOCK_16, BinaryOp, VTAStreamError
from clopt.dialects.vta.isa import AluOpcode, Gemm, Instruction, Memory, Uop
from clopt.errors import CloptError
from clopt.passes.vta.assembling import GraphTensors, Listing, assemble
from clopt.weights import Weights
from support.vta.queue_programs import COUNT, listing, product, program
from support.vta.streams import each, load, serial, store

DEPTH = BLOCK_16.depth(Memory.ACC)
UOPS = load(Memory.UOP, 1)


def relu(
    *steps: tuple[Instruction, int], weights: Weights, uops: tuple[Uop, ...] = (Uop(),)
) -> BinaryOp:
    """@relu of x and y, whose last steps are `steps`."""
    code = listing([(UOPS, 0), *steps], uops)
    return assemble("relu", BLOCK_16, GraphTensors({"x": COUNT}, {"y": 2}), code, weights)


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ((load(Memory.ACC_8BIT, COUNT, dram_base=1), 0), "reaches element 4 of ACC_8BIT in DRAM"),
        ((load(Memory.INP, 1, y_size=3, x_stride=1), 0), None),
        ((load(Memory.INP, 1, y_size=3, x_stride=1), 1), "reaches element 2 of tensor 1, which"),
        ((load(Memory.INP, 1), 2), "names tensor 2, but there are 2"),
        ((store(1), 0), "writes tensor 0, an input"),
        ((load(Memory.WGT, 1), 0), "reaches element 0 of WGT in DRAM, of 0"),
        ((load(Memory.UOP, 1, dram_base=1), 0), "reaches element 1 of UOP in DRAM, of 1"),
        ((each(AluOpcode.ADD, DEPTH + 1), 0), "Instruction 1 "),
        ((Gemm(uop_end=1, iter_in=3, wgt_factor_in=1023), 0), "Instruction 1 "),
    ],
)
def test_indices(step: tuple[Instruction, int], sentence: str | None) -> None:
    weights = Weights()
    op = relu(step, weights=weights)
    if sentence is None:
        read_binary(op, weights)
        return
    with pytest.raises(VTAStreamError, match=f"@relu is malformed. .*{sentence}"):
        read_binary(op, weights)


def test_words() -> None:
    """An unknown opcode, and arrays of other types than the graph's."""
    weights, random = Weights(), np.random.default_rng(0)
    op = product(BLOCK_16, weights, random)
    code = op.code
    words = weights.get(code.instructions.key).copy()
    words[3, 0] |= np.uint64(7)
    wrong = replace(code.instructions, key=weights.add(words))
    types = op.tensor_types
    changed = BinaryOp("g", BLOCK_16, types, op.counts, replace(code, instructions=wrong))
    with pytest.raises(VTAStreamError, match="Instruction 3 has the unknown opcode 7"):
        read_binary(changed, weights)
    changed = BinaryOp("g", BLOCK_16, types, op.counts, replace(code, weights=code.biases))
    with pytest.raises(
        VTAStreamError, match=r"The weights of @g are int32\[1, 1, 16\], but must be int8"
    ):
        read_binary(changed, weights)


def test_launches() -> None:
    """Commands become launches of one kernel; the module stays as it is."""
    model = program(BLOCK_16)
    before = str(model.module)
    launched = with_launches(model.module, model.weights)
    assert str(model.module) == before
    kernels = [op for op in launched.body.block.ops if isinstance(op, KernelOp)]
    (main,) = (op for op in launched.body.block.ops if isinstance(op, ProgramOp))
    launches = [op for op in main.body.block.ops if isinstance(op, EnqueueKernelOp)]
    assert [op.kernel_name for op in launches if op.kernel_name != "negate"] == [
        kernel.sym_name.data for kernel in kernels
    ]
    assert {kernel.function.data for kernel in kernels if kernel.function} == {"vta_graph"}
    assert {len(op.args) for op in launches} == {2, 10}


def test_two_configurations() -> None:
    weights = Weights()
    steps, tensors = serial([UOPS]), GraphTensors({"x": 1}, {"y": 1})
    graphs = [
        assemble(f"vta_{n}", config, tensors, Listing(steps, [0] * len(steps), (Uop(),)), weights)
        for n, config in enumerate([BLOCK_16, BATCH_2])
    ]
    with pytest.raises(
        CloptError, match=r"VTA configurations 1x16_.* and 2x16_.*, but a device has only"
    ):
        source_of(ModuleOp([*graphs]))


def test_names_begin_with_the_accelerator() -> None:
    """The text stands behind other kernels, whose names are those of nodes."""
    text = graph_source(BLOCK_16, CoreForm(lanes=32, vector=1), 2)
    for name in ("load", "compute", "walk", "scratchpads", "BATCH", "WAIT_BEFORE"):
        prefix = "VTA_" if name.isupper() else "vta_"
        assert f"{prefix}{name}" in text
        code = [line.partition("//")[0] for line in text.splitlines()]
        assert not any(f" {name}(" in line or f" {name} " in line for line in code)


def test_saved_model(tmp_path: Path) -> None:
    model = program(BLOCK_16)
    source = source_of(model.module)
    folder = tmp_path / "model"
    save_model(folder, [(model.module, source)], model.weights)
    (plan,), weights = load_model(folder)
    graphs = [op for op in plan.module.body.block.ops if isinstance(op, BinaryOp)]
    known = [op for op in model.module.body.block.ops if isinstance(op, BinaryOp)]
    assert list(map(str, graphs)) == list(map(str, known))
    assert plan.source == source
    for graph in graphs:
        read_binary(graph, weights)
