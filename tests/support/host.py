"""A host for programs: runs functions of other dialects by xDSL's interpreter, tensors as arrays.

It stands for the compiler that embeds clopt: all that it knows of a lowered network is `cl.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import bufferization, memref
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.cf import CfFunctions
from xdsl.interpreters.func import FuncFunctions
from xdsl.interpreters.scf import ScfFunctions
from xdsl.ir import Operation

from clopt.dialects import cl, nn

Array = np.ndarray[Any, Any]
RunProgram = Callable[[str, Sequence[Array]], Sequence[Array]]
"""Runs the program of a name on its inputs, and returns its outputs."""


@register_impls
class _Buffers(InterpreterFunctions):
    """Tensors and buffers are arrays; a program writes into those of its outputs."""

    def __init__(self, programs: dict[str, int], run: RunProgram) -> None:
        self.inputs, self.run = programs, run

    @impl(memref.AllocOp)
    def alloc(self, _: Interpreter, op: memref.AllocOp, args: PythonValues) -> PythonValues:
        type_ = op.memref.type
        return (np.zeros(type_.get_shape(), nn.numpy_dtype(type_.element_type)),)

    @impl(bufferization.ToBufferOp)
    def buffer(self, _: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        return args

    @impl(bufferization.ToTensorOp)
    def tensor(self, _: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        return args

    @impl(UnrealizedConversionCastOp)
    def cast(self, _: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        (type_,) = op.result_types
        return (args[0].view(nn.numpy_dtype(type_.element_type)),)

    @impl(cl.RunOp)
    def run_program(self, _: Interpreter, op: cl.RunOp, args: PythonValues) -> PythonValues:
        count = self.inputs[op.program_name]
        for buffer, result in zip(
            args[count:], self.run(op.program_name, args[:count]), strict=True
        ):
            buffer[...] = result
        return ()


def call(module: ModuleOp, name: str, arguments: Sequence[Any], run: RunProgram) -> Sequence[Array]:
    """Call the function `name` of a lowered module; `run` runs its programs."""
    programs = {
        op.sym_name.data: op.input_count for op in module.ops if isinstance(op, cl.ProgramOp)
    }
    interpreter = Interpreter(module)
    for functions in (
        ArithFunctions(),
        CfFunctions(),
        FuncFunctions(),
        ScfFunctions(),
        _Buffers(programs, run),
    ):
        interpreter.register_implementations(functions)
    return interpreter.call_op(name, tuple(arguments))
