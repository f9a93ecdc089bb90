"""Networks of nn operations and calls of CLML graphs, and a machine that tracks who wrote what."""

from __future__ import annotations

from itertools import groupby
from random import Random
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.cl.ops import byte_count

SHAPE = "1x8x4x4xf32"
TENSOR = f"tensor<{SHAPE}>"
PLAIN = f"!clml.tensor<{SHAPE}, nchw>"
OPTIMAL = f"!clml.tensor<{SHAPE}, optimal>"
FACTORS = f"!clml.tensor<{SHAPE}, optimal, parameter>"


def parse(text: str) -> ModuleOp:
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    return module


def random_graph(random: Random, name: str, inputs: int, outputs: int) -> str:
    """A graph of commands on optimal tensors, with copies at its boundary."""
    lines = ['%k = clml.constant "w_0123456789abcdef" : ' + FACTORS]
    tensors: list[str] = []
    for i in range(inputs):
        lines.append(f"%a{i} = clml.copy %x{i} : {PLAIN} -> {OPTIMAL}")
        tensors.append(f"%a{i}")
    for i in range(random.randint(inputs, 4)):
        # Each copy has a command that computes with it.
        x, y = f"%a{i}" if i < inputs else random.choice(tensors), random.choice(tensors)
        kind = random.choice(["add", "mul", "tanh", "scale"])
        if kind == "tanh" or (kind != "scale" and x == y):
            lines.append(f"%t{i} = clml.activation tanh {x} : ({OPTIMAL}) -> {OPTIMAL}")
        elif kind == "scale":
            lines.append(f"%t{i} = clml.binary mul {x}, %k : ({OPTIMAL}, {FACTORS}) -> {OPTIMAL}")
        else:
            lines.append(
                f"%t{i} = clml.binary {kind} {x}, {y} : ({OPTIMAL}, {OPTIMAL}) -> {OPTIMAL}"
            )
        tensors.append(f"%t{i}")
    for i in range(outputs):
        x = random.choice(tensors[inputs:])
        lines.append(f"%y{i} = clml.copy {x} : {OPTIMAL} -> {PLAIN}")
    taken = ", ".join(f"%x{i}: {PLAIN}" for i in range(inputs))
    values = ", ".join(f"%y{i}" for i in range(outputs))
    types = ", ".join([PLAIN] * outputs)
    lines.append(f"clml.return {values} : {types}")
    body = "\n".join(f"  {line}" for line in lines)
    return (
        f"clml.graph @{name}({taken}) -> ({types}) version 3 arithmetic fp32 {{\n{body}\n}}\n"
        if outputs > 1
        else f"clml.graph @{name}({taken}) -> {types} version 3 arithmetic fp32 {{\n{body}\n}}\n"
    )


def random_network(random: Random) -> ModuleOp:
    """Kernels and graphs in any order, with several readers, concatenations and slices."""
    graphs: list[str] = []
    lines: list[str] = []
    values = ["%x"]
    for i in range(random.randint(2, 7)):
        match random.choice(["call", "call", "softmax", "add", "join"]):
            case "call":
                inputs = [random.choice(values) for _ in range(random.randint(1, 2))]
                outputs = random.randint(1, 2)
                graphs.append(random_graph(random, f"g{i}", len(inputs), outputs))
                results = [f"%v{i}_{j}" for j in range(outputs)]
                types = ", ".join([TENSOR] * len(inputs))
                given = ", ".join(inputs)
                made = ", ".join([TENSOR] * outputs)
                lines.append(
                    f"{', '.join(results)} = clml.call @g{i}({given}) : ({types}) -> ({made})"
                )
                values += results
            case "softmax":
                x = random.choice(values)
                lines.append(f"%v{i} = nn.softmax {x} {{axis = 1 : i64}} : ({TENSOR}) -> {TENSOR}")
                values.append(f"%v{i}")
            case "add":
                x, y = random.choice(values), random.choice(values)
                lines.append(f"%v{i} = nn.binary add {x}, {y} : ({TENSOR}, {TENSOR}) -> {TENSOR}")
                values.append(f"%v{i}")
            case _:
                x, y = random.choice(values), random.choice(values)
                joined, start = "tensor<1x16x4x4xf32>", random.choice([0, 3, 8])
                lines += [
                    f"%j{i} = nn.concat {x}, {y} {{axis = 1 : i64}} : ({TENSOR}, {TENSOR})"
                    f" -> {joined}",
                    f"%v{i} = nn.slice %j{i} {{starts = array<i64: 0, {start}, 0, 0>, "
                    "steps = array<i64: 1, 1, 1, 1>, sizes = array<i64: 1, 8, 4, 4>} : "
                    f"({joined}) -> {TENSOR}",
                ]
                values.append(f"%v{i}")
    last = values[-2:]
    body = "\n".join(f"  {line}" for line in lines)
    types = ", ".join([TENSOR] * len(last))
    return parse(
        "".join(graphs) + f"func.func @main(%x: {TENSOR}) -> ({types}) {{\n{body}\n"
        f"  func.return {', '.join(last)} : {types}\n}}\n"
    )


Seen: TypeAlias = tuple[tuple[int, int], ...]
"""What a command reads: (number of what was written, bytes of it), one behind the other."""


class Machine:
    """Runs a program on bytes that know which computation wrote them.

    The same computations on the same operands have the same number wherever their results lie.
    Bytes that nobody wrote have numbers of their own.
    """

    def __init__(self, module: ModuleOp, numbers: dict[Any, int]):
        self.module = module
        self.program = next(op for op in module.ops if isinstance(op, cl.ProgramOp))
        self.kernels = cl.kernels_of(module)
        self.graphs = cl.graphs_of(module)
        self.numbers = numbers
        """Shared by the machines whose results are to be compared."""
        self.parts = cl.parts(self.program)
        self.memory: dict[SSAValue, np.ndarray] = {}
        self.tensors: dict[SSAValue, Seen] = {}

    def run(self) -> list[Seen]:
        """The outputs at the end."""
        args = self.program.body.block.args
        for i, arg in enumerate(args[: self.program.input_count]):
            self.write(arg, self.number("input", i))
        for op in self.program.body.block.ops:
            if isinstance(op, cl.ConstantOp):
                self.write(op.result, self.number("constant", op.key.data))
        for op in cl.commands(self.program):
            self.step(op)
        return [self.read(arg) for arg in args[self.program.input_count :]]

    def number(self, *what: Any) -> int:
        return self.numbers.setdefault(what, len(self.numbers))

    def bytes(self, value: SSAValue) -> np.ndarray:
        at = cl.extent(value, self.parts[value])
        if at.memory not in self.memory:
            unwritten = -1 - np.arange(byte_count(at.memory.type), dtype=np.int64)
            self.memory[at.memory] = unwritten
        return self.memory[at.memory][at.begin : at.end]

    def read(self, value: SSAValue) -> Seen:
        runs = groupby(self.bytes(value).tolist())
        return tuple((number, len(list(run))) for number, run in runs)

    def write(self, value: SSAValue, number: int) -> None:
        self.bytes(value)[:] = number

    def step(self, op: Operation) -> None:
        match op:
            case cl.EnqueueCopyOp():
                self.bytes(op.destination)[:] = self.bytes(op.source)
            case cl.EnqueueKernelOp():
                outputs = self.kernels[op.kernel_name].outputs
                seen = [self.read(v) for i, v in enumerate(op.args) if i not in outputs]
                for i in outputs:
                    self.write(op.args[i], self.number(op.kernel_name, i, *seen))
            case cl.EnqueueOffloadOp():
                self.command(op)
            case _:
                raise AssertionError(op.name)

    def command(self, op: cl.EnqueueOffloadOp) -> None:
        """A command finds in its memories what its graph's values say."""
        graph = self.graphs[op.graph_name]
        tensors = graph.tensors(graph.commands[op.index])
        (result,) = tensors.writes
        seen = [self.read(value) for value in op.reads]
        for tensor, found in zip(tensors.reads, seen, strict=True):
            assert self.tensors.setdefault(tensor, found) == found
        (written,) = op.writes
        self.write(written, self.number(op.graph_name, op.index, *seen))
        self.tensors[result] = self.read(written)
