"""A graph that is one command as a whole: several reads and writes, and scratch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar, cast

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, TensorType, f32, i8
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.dialects.offload import CommandWork, OffloadCallOp, OffloadGraphOp, Tensors
from clopt.passes.cl.plan_memory import CLPlanMemoryPass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.reports.memory import memory_report

TENSOR = TensorType(f32, [64])
SCRATCH = 512


@irdl_op_definition
class HalvesOp(IRDLOperation):
    name = "halves.both"
    x = operand_def(TensorType)
    res = var_result_def(TensorType)
    traits = traits_def(Pure())


@irdl_op_definition
class ReturnOp(IRDLOperation):
    name = "halves.return"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator())


@irdl_op_definition
class GraphOp(OffloadGraphOp):
    name = "halves.graph"
    ACCELERATOR: ClassVar[str] = "Halves"
    body = region_def("single_block")

    @property
    def commands(self) -> Sequence[Operation]:
        return [self]

    @property
    def inputs(self) -> Sequence[SSAValue]:
        return self.body.block.args

    @property
    def outputs(self) -> Sequence[SSAValue]:
        assert self.body.block.last_op is not None
        return self.body.block.last_op.operands

    def tensors(self, command: Operation) -> Tensors:
        assert command is self
        return Tensors(tuple(self.inputs), tuple(self.outputs))

    def memory_type(self, tensor: SSAValue) -> MemRefType:
        type_ = cast("TensorType[Attribute]", tensor.type)
        return MemRefType(type_.element_type, type_.get_shape())

    def scratch(self, command: Operation) -> Sequence[MemRefType]:
        return [MemRefType(i8, [SCRATCH])]

    @property
    def weight_keys(self) -> Sequence[str]:
        return []

    @property
    def constant_bytes(self) -> int:
        return 0

    def work(self, command: Operation) -> CommandWork:
        return CommandWork(0, 0)


@irdl_op_definition
class CallOp(OffloadCallOp):
    name = "halves.call"
    GRAPH: ClassVar[type[OffloadGraphOp]] = GraphOp


def planned() -> tuple[ModuleOp, cl.ProgramOp]:
    """A call between two kernels, lowered and planned."""
    inside = Block(arg_types=[TENSOR])
    both = HalvesOp(operands=[inside.args[0]], result_types=[[TENSOR, TENSOR]])
    inside.add_ops([both, ReturnOp(operands=[both.results])])
    graph = GraphOp(properties={"sym_name": StringAttr("halves_0")}, regions=[Region(inside)])
    block = Block(arg_types=[TENSOR])
    before = nn.UnaryOp(block.args[0], "exp")
    call = CallOp("halves_0", before.results, [TENSOR, TENSOR])
    after = nn.BinaryOp(call.results[0], call.results[1], "add")
    block.add_ops([before, call, after, func.ReturnOp(after.result)])
    main = func.FuncOp("main", ([TENSOR], [TENSOR]), Region(block))
    nn.name_parameters(main)
    module = ModuleOp([graph, main])
    for pass_ in (NNFusePass(), NNToCLPass(), NNToTIRPass(), CLPlanMemoryPass()):
        pass_.apply(CloptContext(), module)
        module.verify()
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    return module, program


def command_of(program: cl.ProgramOp) -> cl.EnqueueOffloadOp:
    (op,) = (op for op in cl.commands(program) if isinstance(op, cl.EnqueueOffloadOp))
    return op


def test_all_memories_of_a_command_lie_apart_in_the_arena() -> None:
    module, program = planned()
    op = command_of(program)
    assert (len(op.reads), len(op.writes)) == (1, 3)
    parts = cl.parts(program)
    places = [cl.extent(value, parts[value]) for value in op.operands]
    assert not any(a.overlaps(b) for a, b in combinations(places, 2))
    report = memory_report(program, cl.target_of(module))
    assert [row.kernels for row in report.rows if row.bytes == SCRATCH] == [
        ("halves.graph @halves_0[0]",)
    ]
    # Scratch is dead after its command: the last kernel's bytes do not count it.
    assert report.live == (256, 256 * 3 + SCRATCH, 256 * 2)


def test_scratch_is_checked_as_tensors_are() -> None:
    module, program = planned()
    op = command_of(program)
    x, a, b, scratch = op.operands
    op.operands = [x, a, scratch, b]
    with pytest.raises(VerifyException, match=r"%scratch, memref<512xi8>, as the memory of tensor"):
        module.verify()
    op.operands = [x, a, b, scratch]
    fewer = cl.EnqueueOffloadOp("halves_0", 0, [x], [a, b])
    assert op.parent is not None
    op.parent.insert_op_before(fewer, op)
    op.detach()
    with pytest.raises(VerifyException, match=r"3 to write, 1 of them scratch"):
        module.verify()


def test_a_graph_runs_once() -> None:
    module, program = planned()
    op = command_of(program)
    x, a, b, _ = op.operands
    twice = cl.EnqueueOffloadOp("halves_0", 0, [x], [a, b, op.operands[3]])
    assert op.parent is not None
    op.parent.insert_op_after(twice, op)
    with pytest.raises(VerifyException, match="is enqueued twice"):
        module.verify()
