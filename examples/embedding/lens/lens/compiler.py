"""Compile a program over pictures: its networks by clopt, everything else for our own queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.rewriter import Rewriter

import clopt
from clopt.backends.programs import program_alone
from clopt.backends.pyopencl_runtime import Device, live_target
from clopt.context import CloptContext
from clopt.dialects.cl import ProgramOp, set_target
from clopt.passes.pipelines import run_pipeline
from clopt.universe import frontend

from .dialect import LENS
from .fold_levels import FoldLevelsPass
from .queue import Queue


@dataclass(frozen=True)
class Program:
    """A compiled program: the functions of `module`, which run `models`, by name, on `queue`."""

    module: ModuleOp
    models: Mapping[str, clopt.CompiledModel]
    queue: Queue

    def call(self, function: str, *arguments: Any) -> Sequence[Any]:
        """Call a function. Pictures are arrays, and so are those among the results."""
        return self.queue.call(self.module, self.models, function, arguments)


def compile(path: Path, networks: Mapping[str, Path], queue: cl.CommandQueue) -> Program:
    """Compile the program in a file for a queue.

    `networks` are ONNX models: the definitions of functions that the program only declares.
    """
    ctx = CloptContext()  # xDSL's context, which carries the weights, too
    ctx.register_dialect("lens", lambda: LENS)
    module = Parser(ctx, path.read_text(), str(path)).parse_module()
    module.verify()
    for name, model in networks.items():
        _link(module, name, frontend("onnx")(model, ctx.weights, {"batch": 1}))
    FoldLevelsPass().apply(ctx, module)

    # clopt lowers the networks. Operations of lens, scf and arith stay as they are.
    device = clopt.Place(queue=queue).chosen().device
    assert isinstance(device, Device)
    target = live_target(device)
    set_target(module, target)
    run_pipeline(ctx, module, "opencl")
    module.verify()

    # Programs run one after another on the queue, so that one arena serves all of them.
    alone = {op.sym_name.data: program_alone(op) for op in module.ops if isinstance(op, ProgramOp)}
    plans = [clopt.compile(each, target, weights=ctx.weights) for each in alone.values()]
    size = max(plan.describe().bytes_by_kind().get("arena", 1) for plan in plans)
    arena = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size)
    place = clopt.Place(queue=queue, arena=[arena])
    models = {
        name: clopt.compile(each, device=place, weights=ctx.weights) for name, each in alone.items()
    }
    return Program(module, models, Queue(queue))


def _link(module: ModuleOp, name: str, network: ModuleOp) -> None:
    """Put a network in the place of the function that declares it."""
    (declared,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    (defined,) = (op for op in network.ops if isinstance(op, FuncOp))
    if declared.function_type != defined.function_type:
        raise clopt.CloptError(f"@{name} is {declared.function_type}, not {defined.function_type}.")
    defined.detach()
    defined.sym_name = declared.sym_name
    Rewriter.replace_op(declared, defined, [])
