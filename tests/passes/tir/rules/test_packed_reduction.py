"""Work-groups that reduce packed tensors: four channels of a work-item stay one vector."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.dialects import cl, tir
from clopt.passes.tir.lower_blocks import lower_blocks
from clopt.passes.tir.lower_textures import lower_textures
from clopt.passes.tir.rules.gpu.group_reduction import GROUP_REDUCTION
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.space import Space
from clopt.passes.tir.schedule import Schedule
from support.tir import interpreter, kernels
from support.tir.plans import schedule_kernel

TARGET = cl.Target.from_facts(
    "generic",
    {
        "device_type": "gpu",
        "vector_width": 4,
        "compute_units": 4,
        "images": True,
        "texture": "prefer",
    },
)
SPACES = ["", ", #tir.scope<texture, [3]>"]


def physical(n: int, c: int, h: int, w: int, space: str) -> str:
    return f"memref<{n}x{-(-c // 4)}x{h}x{w}x4xf32{space}>"


SPLIT = """
%b = affine.apply affine_map<(d0) -> (d0 floordiv 4)> (%vc)
%l = affine.apply affine_map<(d0) -> (d0 mod 4)> (%vc)"""


def pool(n: int, c: int, h: int, w: int, space: str, packed: bool = True) -> str:
    """The sum over rows and columns, packed like its operand or not."""
    x, s = physical(n, c, h, w, space), f"memref<{n}x{c}x1x1xf32>"
    y = physical(n, c, 1, 1, space) if packed else s
    total = kernels.stage(
        "sum",
        f"n:{n} c:{c} h:{h}r w:{w}r",
        f"""{SPLIT}
        %z = arith.constant 0 : index
        %old = memref.load %s[%vn, %vc, %z, %z] : {s}
        %p = memref.load %x[%vn, %b, %vh, %vw, %l] : {x}
        %new = arith.addf %old, %p : f32
        memref.store %new, %s[%vn, %vc, %z, %z] : {s}""",
        "0.0 : f32",
    )
    at = "%vn, %b, %z, %z, %l" if packed else "%vn, %vc, %z, %z"
    out = kernels.stage(
        "out",
        f"n:{n} c:{c}",
        f"""{SPLIT}
        %z = arith.constant 0 : index
        %p = memref.load %s[%vn, %vc, %z, %z] : {s}
        memref.store %p, %y[{at}] : {y}""",
    )
    return f"""tir.func @pool(%x: {x}, %y: {y}) attributes {{outputs = array<i64: 1>}} {{
        %s = memref.alloca() : {s}
        {total} {out} }}"""


def less_sum(
    name: str, s: str, spec: str, at: str, shape: tuple[int, int, int, int], space: str
) -> str:
    """Each element less a sum of type `s`, read and written at `at` by loops `spec`."""
    n, c, h, w = shape
    x = physical(n, c, h, w, space)
    zero = "%z = arith.constant 0 : index" if "%z" in at else ""
    total = kernels.stage(
        "sum",
        spec,
        f"""{SPLIT}
        {zero}
        %old = memref.load %s[{at}] : {s}
        %p = memref.load %x[%vn, %b, %vh, %vw, %l] : {x}
        %new = arith.addf %old, %p : f32
        memref.store %new, %s[{at}] : {s}""",
        "0.0 : f32",
    )
    out = kernels.stage(
        "out",
        f"n:{n} c:{c} h:{h} w:{w}",
        f"""{SPLIT}
        {zero}
        %p = memref.load %s[{at}] : {s}
        %q = memref.load %x[%vn, %b, %vh, %vw, %l] : {x}
        %d = arith.subf %q, %p : f32
        memref.store %d, %y[%vn, %b, %vh, %vw, %l] : {x}""",
    )
    return f"""tir.func @{name}(%x: {x}, %y: {x}) attributes {{outputs = array<i64: 1>}} {{
        %s = memref.alloca() : {s}
        {total} {out} }}"""


def over_channels(n: int, c: int, h: int, w: int, space: str) -> str:
    """Each element less the sum over its channels."""
    s, spec = f"memref<{n}x1x{h}x{w}xf32>", f"n:{n} h:{h} w:{w} c:{c}r"
    return less_sum("channels", s, spec, "%vn, %z, %vh, %vw", (n, c, h, w), space)


def whole(n: int, c: int, h: int, w: int, space: str) -> str:
    """Each element less the sum over all elements of its sample."""
    s, spec = f"memref<{n}xf32>", f"n:{n} c:{c}r h:{h}r w:{w}r"
    return less_sum("whole", s, spec, "%vn", (n, c, h, w), space)


def scheduled(text: str, target: cl.Target = TARGET) -> tir.FuncOp:
    """The lowered kernel, which after each step computes what the naive one does."""
    func = kernels.parse(text)
    expected = interpreter.results(func)
    schedule = Schedule(func)
    kernel = NaiveKernel(schedule.func)
    space = GROUP_REDUCTION.space(kernel, target)
    assert isinstance(space, Space)
    GROUP_REDUCTION.make(schedule, space, GROUP_REDUCTION.default(space))
    schedule.commit()
    for step in (None, lower_blocks, lower_textures):
        if step is not None:
            step(func)
        func.verify()
        for ours, theirs in zip(interpreter.results(func), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    return func


def vectors(func: tir.FuncOp) -> int:
    return sum(
        isinstance(op, tir.ForOp) and op.kind.data is tir.LoopKind.Vectorized for op in func.walk()
    )


SHAPES = [(1, 16, 10, 10), (2, 8, 7, 5), (1, 4, 33, 3), (1, 12, 1, 70)]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_pool(shape: tuple[int, int, int, int], packed: bool, space: str) -> None:
    """A work-item adds up whole texels, however the sums are used."""
    func = scheduled(pool(*shape, space, packed))
    loops = [op for op in func.walk() if isinstance(op, tir.ForOp)]
    steps = [op for op in loops if op.kind.data is tir.LoopKind.Serial]
    assert steps
    assert vectors(func) >= 4


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("shape", [(1, 128, 3, 5), (2, 132, 1, 3), (1, 256, 1, 1)])
def test_over_channels(shape: tuple[int, int, int, int], space: str) -> None:
    """The stores still write whole texels."""
    assert vectors(scheduled(over_channels(*shape, space))) >= 1


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("shape", [(1, 8, 5, 7), (2, 64, 1, 3), (1, 4, 40, 40)])
def test_whole_samples(shape: tuple[int, int, int, int], space: str) -> None:
    assert vectors(scheduled(whole(*shape, space))) >= 1


@pytest.mark.parametrize("make", [pool, over_channels, whole])
def test_kernels_get_the_rule(make: object) -> None:
    assert callable(make)
    func = kernels.parse(make(1, 128, 6, 6, SPACES[1]))
    schedule_kernel(func, TARGET)
    lower_blocks(func)
    assert any(isinstance(op, tir.BarrierOp) for op in func.walk())
