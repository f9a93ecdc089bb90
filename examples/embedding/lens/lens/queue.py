"""Run compiled programs: tensors are OpenCL buffers, and all that computes them is on one queue.

Functions run in xDSL's interpreter, which is this compiler's own business, as its queue is. Values
of `lens`, `arith` and `scf` that are scalars live on the host. Nothing waits for the queue but an
operation that reads a number off a picture, and the end of a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from xdsl.dialects import bufferization, func, memref
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.func import FuncFunctions
from xdsl.interpreters.scf import ScfFunctions
from xdsl.ir import Attribute, Operation

import clopt
from clopt.dialects.cl import RunOp
from clopt.dialects.nn import numpy_dtype

from .dialect import CropOp, LevelsOp, MeanOp, PeakOp

KERNELS = """
__kernel void levels_uchar(__global const uchar *x, __global float *y, float gain, float offset) {
    y[get_global_id(0)] = gain * x[get_global_id(0)] + offset;
}
__kernel void levels_float(__global const float *x, __global float *y, float gain, float offset) {
    y[get_global_id(0)] = gain * x[get_global_id(0)] + offset;
}
__kernel void crop(__global const float *x, __global float *y, int columns, int first) {
    int column = get_global_id(0), row = get_global_id(1);
    y[row * get_global_size(0) + column] = x[row * columns + first + column];
}
"""


class Queue:
    """The compiler's command queue, its kernels, and the buffers that programs compute in."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self.commands = queue
        built = cl.Program(queue.context, KERNELS).build()
        self.kernels = {kernel.function_name: kernel for kernel in built.all_kernels()}

    def call(
        self,
        module: ModuleOp,
        models: Mapping[str, clopt.CompiledModel],
        name: str,
        arguments: Sequence[Any],
    ) -> Sequence[Any]:
        """Call a function of a module; arrays become buffers, and results that are, arrays."""
        interpreter = Interpreter(module)
        for functions in (
            ArithFunctions(),
            ScfFunctions(),
            FuncFunctions(),
            _Lens(self),
            _Programs(self, models),
        ):
            interpreter.register_implementations(functions)
        results = interpreter.call_op(name, tuple(map(self._given, arguments)))
        (function,) = (
            op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == name
        )
        return [
            self.array(value, type_) if isinstance(value, cl.Buffer) else value
            for value, type_ in zip(results, function.function_type.outputs, strict=True)
        ]

    def buffer(self, type_: Attribute) -> cl.Buffer:
        """Make a buffer for a tensor or memref. It is freed with the last value that names it."""
        assert isinstance(type_, ShapedType)
        elements = int(np.prod(type_.get_shape()))
        size = elements * numpy_dtype(type_.element_type).itemsize
        return cl.Buffer(self.commands.context, cl.mem_flags.READ_WRITE, max(size, 1))

    def array(self, buffer: cl.Buffer, type_: Attribute) -> np.ndarray[Any, Any]:
        """Wait for a buffer's contents."""
        assert isinstance(type_, ShapedType)
        result = np.empty(type_.get_shape(), numpy_dtype(type_.element_type))
        cl.enqueue_copy(self.commands, result, buffer)
        return result

    def launch(self, kernel: str, size: Sequence[int], *arguments: Any) -> None:
        """Put a kernel on the queue."""
        self.kernels[kernel](self.commands, size, None, *arguments)

    def _given(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.commands.context, flags, hostbuf=np.ascontiguousarray(value))


@register_impls
class _Lens(InterpreterFunctions):
    """The operations of our dialect: kernels, and scalars that the host reads."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue

    @impl(LevelsOp)
    def levels(self, _: Interpreter, op: LevelsOp, args: PythonValues) -> PythonValues:
        result = self.queue.buffer(op.result.type)
        kernel = "levels_float" if op.picture.type == op.result.type else "levels_uchar"
        gain, offset = (np.float32(attr.value.data) for attr in (op.gain, op.offset))
        size = (int(np.prod(op.result.type.get_shape())),)
        self.queue.launch(kernel, size, args[0], result, gain, offset)
        return (result,)

    @impl(CropOp)
    def crop(self, _: Interpreter, op: CropOp, args: PythonValues) -> PythonValues:
        result = self.queue.buffer(op.result.type)
        rows, columns = op.result.type.get_shape()
        (_, all_columns), column = op.picture.type.get_shape(), args[1]
        if not 0 <= column <= all_columns - columns:
            raise IndexError(f"lens.crop: column {column} of a picture of {all_columns}")
        numbers = np.int32(all_columns), np.int32(column)
        self.queue.launch("crop", (columns, rows), args[0], result, *numbers)
        return (result,)

    @impl(MeanOp)
    def mean(self, _: Interpreter, op: MeanOp, args: PythonValues) -> PythonValues:
        return (float(self.queue.array(args[0], op.picture.type).mean()),)

    @impl(PeakOp)
    def peak(self, _: Interpreter, op: PeakOp, args: PythonValues) -> PythonValues:
        array = self.queue.array(args[0], op.picture.type)
        return float(array.max()), int(array.argmax())


@register_impls
class _Programs(InterpreterFunctions):
    """What clopt leaves where a network was."""

    def __init__(self, queue: Queue, models: Mapping[str, clopt.CompiledModel]) -> None:
        self.queue, self.models = queue, models

    @impl(RunOp)
    def run(self, _: Interpreter, op: RunOp, args: PythonValues) -> PythonValues:
        """Put the commands of a program on our queue, over our buffers, and go on."""
        model = self.models[op.program_name]
        ports = [*model.inputs, *model.outputs]
        names = [port.name for port in ports]
        model.enqueue(self.queue.commands, dict(zip(names, args, strict=True)))
        return ()

    @impl(memref.AllocOp)
    def alloc(self, _: Interpreter, op: memref.AllocOp, args: PythonValues) -> PythonValues:
        return (self.queue.buffer(op.memref.type),)

    @impl(bufferization.ToBufferOp)
    def to_buffer(self, _: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        """Return the buffer of a tensor, in which nothing is ever written a second time."""
        return args

    @impl(bufferization.ToTensorOp)
    def to_tensor(self, _: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        return args
