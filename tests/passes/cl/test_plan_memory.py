"""Programs compute the same in any order and in any place that the passes find for them.

A small machine runs programs word by word. Its memory starts with other words in every run, kernels
read their inputs while they write, and images have their pitch, so a value that is overwritten too
early, or read from another place, changes the result.
"""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import Operation, SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.dialects.cl import set_target
from clopt.passes.cl.plan_memory import CLPlanMemoryPass
from clopt.passes.cl.reorder import CLReorderPass
from support import effort

WORD = 4
PLAIN, HALF, SQUARE = (MemRefType(f32, shape) for shape in ([64], [32], [8, 8]))
IMAGE = MemRefType(f32, [4, 2, 4], memory_space=tir.ScopeAttr(tir.Scope.Texture, [1]))
LINE = MemRefType(f32, [16, 4], memory_space=tir.ScopeAttr(tir.Scope.Texture))
TARGET = cl.Target.from_facts(
    "generic",
    {
        "images": True,
        "max_image_width": 64,
        "max_image_height": 64,
        "max_image_buffer_texels": 64,
        "image1d_buffer": True,
        "image_from_buffer": True,
        "image_pitch_alignment_bytes": 64,
    },
)


class Builder:
    """A program that grows command by command."""

    def __init__(self):
        self.kernels: dict[tuple[object, ...], cl.KernelOp] = {}
        ports = [cl.Port("x", f32, (64,)), cl.Port("y", f32, (64,))]
        self.program = cl.ProgramOp("main", ports, 1)
        self.block = self.program.body.block
        self.values: list[SSAValue] = [self.block.args[0]]

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def launch(self, sources: list[SSAValue], result: SSAValue) -> None:
        """A kernel that may compute in place of each input of its result's type."""
        key = (*(source.type for source in sources), result.type)
        if key not in self.kernels:
            pairs = [
                (i, len(sources))
                for i, source in enumerate(sources)
                if source.type == result.type and not tir.is_texture(result.type)
            ]
            name = f"k{len(self.kernels)}"
            self.kernels[key] = cl.KernelOp(name, key, [len(sources)], [8], [1], (), pairs)
        self.block.add_op(cl.EnqueueKernelOp(self.kernels[key].sym_name.data, [*sources, result]))

    def module(self) -> ModuleOp:
        self.block.add_op(cl.ReturnOp())
        module = ModuleOp([*self.kernels.values(), self.program])
        set_target(module, TARGET)
        return module


def random_module(random: Random) -> ModuleOp:
    """Kernels over buffers and images of several types, copies, reshapes, values in two parts."""
    build = Builder()

    def source() -> SSAValue:
        return random.choice(build.values[-5:])

    for _ in range(random.randint(2, 10)):
        match random.choice(["kernel", "kernel", "kernel", "copy", "parts", "view"]):
            case "parts":
                whole = build.add(cl.AllocOp(PLAIN))
                parts = [build.add(cl.ViewOp(whole, HALF, at)) for at in (0, 32 * WORD)]
                for part in parts:
                    build.launch([source()], part)
                build.values += [*parts, whole]
            case "copy":
                value = source()
                result = build.add(cl.AllocOp(value.type))
                build.block.add_op(cl.EnqueueCopyOp(value, result))
                build.values.append(result)
            case "view":
                result = build.add(cl.AllocOp(SQUARE))
                view = build.add(cl.ViewOp(result, PLAIN))
                build.launch([source()], view)
                build.values += [result, view]
            case _:
                sources = [source() for _ in range(random.randint(1, 3))]
                result = build.add(cl.AllocOp(random.choice([PLAIN, PLAIN, HALF, IMAGE, LINE])))
                build.launch(sources, result)
                build.values.append(result)
    build.launch(build.values[-3:], build.block.args[1])
    return build.module()


class Machine:
    """Runs a program; words that nobody wrote are noise."""

    def __init__(self, module: ModuleOp, noise: int):
        self.program = next(op for op in module.ops if isinstance(op, cl.ProgramOp))
        self.kernels = cl.kernels_of(module)
        self.noise = np.random.default_rng(noise)
        self.memory: dict[SSAValue, np.ndarray] = {}
        self.words: dict[SSAValue, tuple[np.ndarray, np.ndarray]] = {}

    def run(self) -> np.ndarray:
        x, y = self.program.body.block.args
        for arg in (x, y):
            self.place(arg, np.arange(64), 64)
        self.memory[x][:] = np.arange(64)
        for op in self.program.body.block.ops:
            self.step(op)
        return self.memory[y]

    def place(self, value: SSAValue, words: np.ndarray, size: int) -> None:
        self.memory[value] = self.noise.integers(1 << 30, size=size)
        self.words[value] = self.memory[value], words

    def step(self, op: Operation) -> None:
        match op:
            case cl.AllocOp():
                size = prod(op.result.type.get_shape())
                self.place(op.result, np.arange(size), size)
            case cl.ArenaOp():
                self.place(op.result, np.arange(op.size // WORD), op.size // WORD)
            case cl.BufferViewOp() | cl.ImageViewOp():
                words = np.arange(prod(op.result.type.get_shape()))
                pitch = op.pitch if isinstance(op, cl.ImageViewOp) else None
                if pitch is not None:
                    words = words // 8 * (pitch // WORD) + words % 8
                self.words[op.result] = self.memory[op.arena], op.offset // WORD + words
            case cl.ViewOp():
                memory, words = self.words[op.source]
                count = prod(op.result.type.get_shape())
                self.words[op.result] = memory, words[op.offset // WORD :][:count]
            case cl.EnqueueCopyOp():
                (source, read), (memory, written) = map(self.words.get, (op.source, op.destination))
                memory[written] = source[read]
            case cl.EnqueueKernelOp():
                self.launch(op)
            case _:
                pass

    def launch(self, op: cl.EnqueueKernelOp) -> None:
        """Each word depends on the same word of the inputs that it may overwrite, and on all words
        of the others."""
        *sources, (memory, written) = (self.words[arg] for arg in op.args)
        kernel = self.kernels[op.kernel_name]
        for i, word in enumerate(written):
            seen = int(kernel.name[1:])
            for j, (source, read) in enumerate(sources):
                alone = (j, len(sources)) in kernel.in_place
                seen = seen * 31 + int(source[read[i]] if alone else source[read].sum())
            memory[word] = seen % 1000003


@pytest.mark.by_default(cases=1)
@settings(max_examples=effort.examples(40))
@given(st.randoms(use_true_random=False), st.sampled_from([0, 512]))
def test_ordered_and_planned_programs_compute_the_same(random: Random, capacity: int):
    module = random_module(random)
    module.verify()
    expected = Machine(module, 1).run()
    planned = module.clone()
    CLReorderPass().apply(CloptContext(), planned)
    planned.verify()
    assert (Machine(planned, 2).run() == expected).all()
    CLPlanMemoryPass(capacity=capacity).apply(CloptContext(), planned)
    planned.verify()
    # The machine's kernels compute in place wherever the types allow, planned or not.
    machine = Machine(planned, 3)
    machine.kernels = cl.kernels_of(module)
    assert (machine.run() == expected).all()
    assert not any(isinstance(op, cl.AllocOp) for op in planned.walk())
