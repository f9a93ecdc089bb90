"""Runs a `cl.program` in Python: its kernels by the interpreter, its buffers as numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, MemRefType, ModuleOp, i1, i64
from xdsl.ir import Attribute, SSAValue

from clopt.dialects import cl, nn, tir
from clopt.weights import Weights
from support.tir import interpreter


def run_program(
    module: ModuleOp, weights: Weights, inputs: Sequence[np.ndarray], size: int | None = None
) -> list[np.ndarray]:
    """The outputs of the only program of `module`; its images must fit on its target.

    With `size`, launches run the work-items for this value of the module's `cl.range`.
    """
    limits = cl.target_of(module) if "cl.target" in module.attributes else None
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, tir.FuncOp)}
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    params = program.body.block.args
    outputs = [_unwritten(param) for param in params[len(inputs) :]]
    buffers: dict[SSAValue, np.ndarray] = dict(zip(params, [*inputs, *outputs], strict=True))
    for op in program.body.block.ops:
        match op:
            case cl.ConstantOp():
                array = np.array(weights.get(op.key.data), order="C")
                buffers[op.result] = array.reshape(_shape(op.result))
            case cl.AllocOp():
                buffers[op.result] = _unwritten(op.result)
            case cl.ArenaOp():
                buffers[op.result] = np.full(op.size, 0xFF, np.uint8)
            case cl.BufferViewOp() | cl.ImageViewOp():
                buffers[op.result] = _in_arena(buffers[op.arena], op)
            case cl.ViewOp():
                buffers[op.result] = _part(buffers[op.source], op)
            case cl.EnqueueCopyOp():
                buffers[op.destination][...] = buffers[op.source]
            case cl.EnqueueKernelOp():
                kernel = _shortened(kernels[op.kernel_name], op, size)
                interpreter.run(kernel, [buffers[arg] for arg in op.args], limits)
            case cl.ReturnOp():
                pass
            case _:
                raise NotImplementedError(op.name)
    return outputs


def _shortened(kernel: tir.FuncOp, launch: cl.EnqueueKernelOp, size: int | None) -> tir.FuncOp:
    """The kernel with the NDRange of a launch."""
    if size is None or launch.ranged_sizes is None:
        return kernel
    kernel = kernel.clone()
    sizes = [each.at(size) for each in launch.ranged_sizes]
    kernel.global_size = DenseArrayBase.from_list(i64, sizes)
    return kernel


def _in_arena(arena: np.ndarray, op: cl.BufferViewOp | cl.ImageViewOp) -> np.ndarray:
    """A view of the arena's bytes, which are NaN or -1 as long as nobody writes them."""
    type_, shape = op.result.type, _shape(op.result)
    dtype = nn.numpy_dtype(type_.element_type)
    strides = list(np.empty(shape, dtype).strides)
    if isinstance(op, cl.ImageViewOp) and op.pitch is not None:
        (columns,) = type_.memory_space.separators
        row = dtype.itemsize * nn.count(shape[columns:])
        strides[:columns] = [s // row * op.pitch for s in strides[:columns]]
    return np.ndarray(shape, dtype, arena.data, op.offset, strides)


def _part(source: np.ndarray, op: cl.ViewOp) -> np.ndarray:
    part = source
    if op.at is not None:
        first = op.offset // source.itemsize
        part = source.reshape(-1, copy=False)[first : first + nn.count(_shape(op.result))]
    return part.reshape(_shape(op.result), copy=False)


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, MemRefType)
    return value.type.get_shape()


def _unwritten(value: SSAValue) -> np.ndarray:
    """A buffer whose contents are visibly wrong."""
    assert isinstance(value.type, MemRefType)
    element: Attribute = value.type.element_type
    rubbish = True if element == i1 else -86 if isinstance(element, IntegerType) else np.nan
    return np.full(_shape(value), rubbish, nn.numpy_dtype(element))
