"""A contraction of another dialect, which neither multiplies nor adds products."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

import clopt
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.passes.nn.lowering import KernelBuilder, LoweredBy
from clopt.passes.nn.lowering.body import Body, Index
from clopt.passes.nn.lowering.kernel import Accumulator
from clopt.passes.nn.lowering.scalar import ScalarValue
from support.onnx.on_devices import TARGET


def lower_distances(kernel: KernelBuilder, op: DistancesOp) -> None:
    """`y[m, n] = sum over k of |a[m, k] - b[n, k]|`."""
    shape, (_, depth) = nn.shape_of(op.result), nn.shape_of(op.a)

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        a, b = (body.read(v, [i, *reduce]) for v, i in zip((op.a, op.b), index, strict=True))
        return [sums[0] + (a - b).call("abs")]

    start = Accumulator(nn.tensor_type(op.a).element_type, 0)
    extents = (*kernel.written_extents(op.result), depth)
    (element,) = kernel.reduction(
        "distances", shape, [depth], [start], update, ["m", "n", "k"], extents
    )
    kernel.define(op.result, element)


@irdl_op_definition
class DistancesOp(nn.NNOp):
    """The distances of the rows of a [M, K] from those of b [N, K]: sums of absolute values."""

    name = "demo.distances"
    ROLE: ClassVar[nn.Role | None] = nn.Role.CONTRACTION
    HALF: ClassVar[nn.HalfRule] = nn.HalfRule.ROUNDS
    traits = traits_def(LoweredBy(lower_distances))
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, a: SSAValue, b: SSAValue):
        super().__init__([a, b], {})

    @classmethod
    def infer(
        cls, operand_types: Sequence[nn.Tensor], properties: nn.Properties
    ) -> Sequence[nn.Tensor]:
        a, b = operand_types
        return [TensorType(a.element_type, (a.get_shape()[0], b.get_shape()[0]))]


RNG = np.random.default_rng(4)
POINTS, CENTRES = (RNG.standard_normal(shape).astype(np.float32) for shape in ((37, 22), (19, 22)))
EXPECTED = np.exp(-np.abs(np.maximum(POINTS, 0)[:, None] - CENTRES[None]).sum(2) / 4)


def module(ctx: CloptContext) -> ModuleOp:
    """exp(-distances(relu(x), centres) / 4)."""
    function = FuncOp("main", ([TensorType(f32, POINTS.shape)], [TensorType(f32, EXPECTED.shape)]))
    block = function.body.block
    centres = nn.ConstantOp.from_array(CENTRES, ctx.weights, "centres")
    scale = nn.ConstantOp.from_array(np.array(-0.25, np.float32))
    positive = nn.UnaryOp(block.args[0], "relu")
    distances = DistancesOp(positive.result, centres.result)
    scaled = nn.BinaryOp(distances.result, scale.result, "mul")
    result = nn.UnaryOp(scaled.result, "exp")
    block.add_ops([centres, scale, positive, distances, scaled, result, ReturnOp(result.result)])
    return ModuleOp([function])


def check(target: str | None, device: str, precision: str) -> str:
    ctx = CloptContext()
    compiled = clopt.compile(
        module(ctx), target, device=device, weights=ctx.weights, precision=precision
    )
    (got,) = compiled.run({"input0": POINTS})
    assert np.abs(got - EXPECTED).max() <= (1e-5 if precision == "f32" else 2e-2)
    return compiled.source


@pytest.mark.parametrize("precision", ["f32", "f16-storage", "f16"])
def test_on_devices(device: str, precision: str) -> None:
    check(None, device, precision)


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("precision", ["f32", "f16-storage"])
@pytest.mark.parametrize("target", [TARGET, "nvidia texture=prefer", "generic-gpu"])
def test_for_gpus(devices: Mapping[str, str], target: str, precision: str) -> None:
    for device in devices.values():
        source = check(target, device, precision)
        assert ("__read_only image" in source) == (target != "generic-gpu")


def test_both_operands_are_images(devices: Mapping[str, str]) -> None:
    """The layout of the constant one follows from its reads, as that of a convolution's weights."""
    source = check(TARGET, next(iter(devices.values())), "f32")
    (line,) = re.findall(r"kernel void distances_\w+\(.*?\)", source, re.S)
    assert line.count("__read_only image2d_t") == 2
