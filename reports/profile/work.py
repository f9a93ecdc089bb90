"""The work of a program's commands: multiply-adds, and bytes between memory and the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import cl, tir
from ...dialects.cl.ops import byte_count
from ...dialects.clml import MLOp
from ...passes.nn.clml.cost import load_of

_ARITHMETIC = (
    arith.FloatingPointLikeBinaryOperation,
    arith.NegfOp,
    math.FloatingPointLikeUnaryMathOperation,
    math.FloatingPointLikeBinaryMathOperation,
    math.FmaOp,
    tir.CallOp,
)


@dataclass(frozen=True)
class Work:
    """What a command computes and moves."""

    multiply_adds: int | None
    """Operations on floats, of which a sum and the product that only it uses are one; both sides of
    a condition count. None for a kernel whose loops are unknown, as in a saved program."""
    bytes: int
    """Each argument once, but no more than its kernel accesses."""


def works_of(program: cl.ProgramOp, ops: list[cl.Command]) -> list[Work]:
    """The work of each of the commands `ops`."""
    module = program.parent_block()
    assert module, "a program is part of a module"
    functions = (op for op in module.ops if isinstance(op, tir.FuncOp))
    kernels = {function.sym_name.data: kernel_work(function) for function in functions}
    graphs = {name: graph.commands for name, graph in cl.ml_graphs(program).items()}
    works: list[Work] = []
    for op in ops:
        match op:
            case cl.EnqueueKernelOp():
                size = sum(byte_count(argument.type) for argument in op.args)
                works.append(kernels.get(op.kernel_name, Work(None, size)))
            case cl.EnqueueCopyOp():
                works.append(Work(0, 2 * byte_count(op.source.type)))
            case cl.EnqueueMLOp():
                command = graphs[op.graph_name][op.index]
                assert isinstance(command, MLOp)
                load = load_of(command)
                works.append(Work(load.terms, load.bytes))
    return works


def kernel_work(kernel: tir.FuncOp) -> Work:
    """The work of one launch, counted in the kernel's loops."""
    count = _Count(dict.fromkeys(kernel.params, 0))
    count.block(kernel.body.block, 1)
    size = sum(_bytes(param.type, times) for param, times in count.accesses.items())
    return Work(count.multiply_adds, size)


@dataclass
class _Count:
    accesses: dict[SSAValue, int]
    """The elements that are loaded and stored, for each parameter of the kernel."""
    multiply_adds: int = 0

    def block(self, block: Block, times: int) -> None:
        """Count a block that runs so many times."""
        for op in block.ops:
            inner = times * op.size if isinstance(op, tir.ForOp) else times
            for region in op.regions:
                for child in region.blocks:
                    self.block(child, inner)
            for operand in op.operands:
                if operand in self.accesses:
                    self.accesses[operand] += times
            if _counts(op):
                self.multiply_adds += times


def _counts(op: Operation) -> bool:
    if not isinstance(op, _ARITHMETIC) or not isinstance(op.results[0].type, AnyFloat):
        return False
    return not (
        isinstance(op, arith.AddfOp | arith.SubfOp) and any(map(_is_only_its_product, op.operands))
    )


def _is_only_its_product(operand: SSAValue) -> bool:
    return isinstance(operand.owner, arith.MulfOp) and operand.has_one_use()


def _bytes(type_: Attribute, accesses: int) -> int:
    size = byte_count(type_)
    elements = cast("MemRefType[Attribute]", type_).element_count()
    return min(size, accesses * size // elements) if elements else 0
