"""A queue program with graphs of VTA between kernels, and the numpy simulator's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt.backends.vta.binaries import ACTIVATIONS
from clopt.backends.vta.simulator import Dram, Simulator, make_dram
from clopt.context import CloptContext
from clopt.dialects.cl import set_target
from clopt.dialects.vta import BinaryOp, Config, StreamOp
from clopt.dialects.vta.binary import scratchpad_bytes
from clopt.dialects.vta.encoding import decode
from clopt.dialects.vta.isa import (
    Alu,
    AluOpcode,
    Finish,
    Gemm,
    Instruction,
    Load,
    Memory,
    Stage,
    Store,
    Uop,
    nop,
)
from clopt.passes.vta.assembling import GraphTensors, Listing, assemble
from clopt.passes.vta.emit_binaries import VTAEmitBinariesPass
from clopt.targets import load_target, with_facts
from clopt.weights import Weights
from support.vta.streams import each, load, serial, store

COUNT = 4
"""Elements of each tensor."""


@dataclass
class Program:
    """A program of kernels and graphs, and its constants."""

    module: ModuleOp
    weights: Weights
    config: Config

    @property
    def size(self) -> int:
        """The bytes of each tensor."""
        return COUNT * self.config.element_bytes(Memory.OUT)

    def input(self, seed: int = 0) -> np.ndarray:
        """A value for x."""
        return np.random.default_rng(seed).integers(-128, 128, self.size).astype(np.int8)

    def expected(self, x: np.ndarray) -> np.ndarray:
        """What the simulator computes, with numpy in place of the kernels."""
        first, second = (op for op in self.module.body.block.ops if isinstance(op, BinaryOp))
        y = simulate(first, self.weights, {0: -x}, 1)
        return -simulate(second, self.weights, {0: -y, 1: x}, 2)


def simulate(
    op: BinaryOp, weights: Weights, inputs: Mapping[int, np.ndarray], output: int
) -> np.ndarray:
    """The tensor `output` that the numpy simulator stores, as bytes; tensors start with garbage."""
    config = op.config
    arrays = {name: weights.get(array.key) for name, array in op.code.arrays.items()}
    tensors = [
        inputs[n].copy() if n in inputs else np.full(COUNT * config.element_bytes(Memory.OUT), 99)
        for n in range(len(op.all_tensors))
    ]
    constants = {Memory.UOP: "uops", Memory.WGT: "weights", Memory.ACC: "biases"}
    known = {memory: arrays[name] for memory, name in constants.items() if name in arrays}
    drams: list[Dram] = [
        make_dram(config, {**known, **dict.fromkeys(ACTIVATIONS, each.astype(np.int8))})
        for each in tensors
    ]
    simulator = Simulator(config)
    for instruction, n in zip(
        decode(arrays["instructions"], config), arrays["relocations"], strict=True
    ):
        simulator.execute(instruction, drams[n])
    return drams[output][Memory.OUT].reshape(-1)


def program(config: Config, **facts: int) -> Program:
    """y = -residual(-product(-x), x): a kernel negates before, between and behind two graphs."""
    weights, rng = Weights(), np.random.default_rng(5)
    graphs = [product(config, weights, rng), residual(config, weights)]
    size, pads = COUNT * config.element_bytes(Memory.OUT), scratchpad_bytes(config)
    buffer = f"memref<{size}xi8>"
    module = parse(
        "\n".join(map(str, graphs))
        + f"""
tir.func @negate(%a: {buffer}, %b: {buffer}) attributes {{
  outputs = array<i64: 1>, global_size = array<i64: {size}>, local_size = array<i64: 1>
}} {{
  %zero = arith.constant 0 : i8
  tir.for global_x %i = 0 to {size} {{
    %v = memref.load %a[%i] : {buffer}
    %w = arith.subi %zero, %v : i8
    memref.store %w, %b[%i] : {buffer}
  }}
}}
cl.program @main(%x: {buffer} {{cl.name = "x"}}, %y: {buffer} {{cl.name = "y"}}) inputs 1 {{
  %arena = cl.arena : memref<{4096 + pads}xi8>
  %a = cl.buffer_view %arena[0] : {buffer}
  %b = cl.buffer_view %arena[1024] : {buffer}
  %t = cl.buffer_view %arena[2048] : {buffer}
  %pads = cl.buffer_view %arena[4096] : memref<{pads}xi8>
  cl.enqueue_kernel @negate(%x, %a) : {buffer}, {buffer}
  cl.enqueue_offload @vta_0[0] (%a) -> (%b, %pads) : {buffer}, {buffer}, memref<{pads}xi8>
  cl.enqueue_kernel @negate(%b, %a) : {buffer}, {buffer}
  cl.enqueue_offload @vta_1[0] (%a, %x) -> (%b, %t, %pads)
    : {buffer}, {buffer}, {buffer}, {buffer}, memref<{pads}xi8>
  cl.enqueue_kernel @negate(%b, %y) : {buffer}, {buffer}
  cl.return
}}
""",
        weights,
    )
    set_target(module, with_facts(load_target("pocl"), facts))
    return Program(module, weights, config)


def queue_program(stream: StreamOp, context: CloptContext) -> tuple[ModuleOp, Weights]:
    """A program of one command, which runs `stream`, and its constants.

    Input and output are rows of bytes, in the order of DRAM.
    """
    module = stream.parent_op()
    assert isinstance(module, ModuleOp)
    VTAEmitBinariesPass().apply(context, module)
    module.verify()
    graph = module.body.block.first_op
    assert isinstance(graph, BinaryOp)
    types = [graph.memory_type(tensor) for tensor in (*graph.inputs, *graph.outputs)]
    x, y = (f"memref<{type_.element_count()}xi8>" for type_ in types)
    pads = [str(type_) for type_ in graph.scratch(graph)]
    names = [f"%s{n}" for n in range(len(pads))]
    scratch = "\n".join(f"{n} = cl.alloc : {t}" for n, t in zip(names, pads, strict=True))
    text = f"""{graph!s}
cl.program @main(%x: {x} {{cl.name = "x"}}, %y: {y} {{cl.name = "y"}}) inputs 1 {{
  {scratch}
  cl.enqueue_offload @{graph.sym_name.data}[0] (%x) -> ({", ".join(["%y", *names])})
    : {", ".join([x, y, *pads])}
  cl.return
}}"""
    whole = parse(text, context.weights)
    set_target(whole, load_target("pocl"))
    return whole, context.weights


def parse(text: str, weights: Weights) -> ModuleOp:
    """A verified module."""
    module = Parser(CloptContext(weights=weights), text).parse_module()
    module.verify()
    return module


def product(config: Config, weights: Weights, rng: np.random.Generator) -> BinaryOp:
    """@vta_0: a product of each element with one tile of weights, a bias, a shift and relu."""
    wgt = rng.integers(-128, 128, (1, *config.element_shape(Memory.WGT))).astype(np.int8)
    bias = rng.integers(-999, 999, (1, *config.element_shape(Memory.ACC))).astype(np.int32)
    loop = {"uop_end": 1, "iter_out": COUNT, "dst_factor_out": 1}
    spread = Alu(opcode=AluOpcode.ADD, uop_bgn=1, uop_end=2, iter_out=COUNT, dst_factor_out=1)
    steps: list[tuple[Instruction, int]] = [
        (load(Memory.UOP, 2), 0),
        (load(Memory.WGT, 1), 0),
        (load(Memory.INP, COUNT), 0),
        (load(Memory.ACC, 1, sram_base=COUNT), 0),
        (Gemm(reset=True, **loop), 0),
        (Gemm(src_factor_out=1, **loop), 0),
        (spread, 0),
        (each(AluOpcode.SHR, COUNT, 8), 0),
        (each(AluOpcode.MAX, COUNT, 0), 0),
        (each(AluOpcode.MIN, COUNT, 127), 0),
        (store(COUNT), 1),
    ]
    uops = (Uop(), Uop(0, COUNT))
    tensors = GraphTensors({"x": COUNT}, {"y": COUNT})
    return assemble("vta_0", config, tensors, listing(steps, uops, wgt, bias), weights)


def residual(config: Config, weights: Weights) -> BinaryOp:
    """@vta_1, two layers: t = a + b with saturation, then y = the elements of t backwards."""
    uops = (Uop(), Uop(0, COUNT))
    both = Alu(opcode=AluOpcode.ADD, uop_bgn=1, uop_end=2, iter_out=COUNT, dst_factor_out=1,
               src_factor_out=1)  # fmt: skip
    steps: list[tuple[Instruction, int]] = [
        (load(Memory.UOP, 2), 0),
        (load(Memory.ACC_8BIT, COUNT), 0),
        (load(Memory.ACC_8BIT, COUNT, sram_base=COUNT), 1),
        (both, 0),
        (each(AluOpcode.MAX, COUNT, -128), 0),
        (each(AluOpcode.MIN, COUNT, 127), 0),
        (store(COUNT), 3),
        *(
            (load(Memory.ACC_8BIT, 1, sram_base=n, dram_base=COUNT - 1 - n), 3)
            for n in range(COUNT)
        ),
        (each(AluOpcode.SHR, COUNT, 0), 0),
        (store(COUNT), 2),
    ]
    tensors = GraphTensors({"a": COUNT, "b": COUNT}, {"y": COUNT}, {"t": COUNT})
    return assemble("vta_1", config, tensors, listing(steps, uops), weights)


def listing(
    steps: Sequence[tuple[Instruction, int]],
    uops: Sequence[Uop],
    wgt: np.ndarray | None = None,
    bias: np.ndarray | None = None,
) -> Listing:
    """Instructions with their tensors, put in order by tokens."""
    *ordered, end = serial(step for step, _ in steps)
    # FINISH itself carries no tokens.
    ordered += [replace(nop(Stage.COMPUTE), pop_prev=end.pop_prev, pop_next=end.pop_next), Finish()]
    left = iter(tensor for step, tensor in steps if _moves(step))
    tensors = [next(left) if _moves(step) else 0 for step in ordered]
    return Listing(ordered, tensors, uops, wgt, bias)


def _moves(step: Instruction) -> bool:
    return isinstance(step, Load | Store) and step.memory in ACTIVATIONS and step.x_size > 0
