"""Rounding of every result of an f16 network, as in ONNX's reference evaluator."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp, TensorType, f16, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, nn
from ...errors import CloptError
from ..locations import node_name


class NNRoundHalvesPass(ModulePass):
    """Compute each operation on halves in f32 and round its results to f16.

    Kernels compute with halves as floats and round what they store. Results depend on which
    operations share a kernel, and on the device's own half arithmetic. After this pass they do not:
    the casts are operations, which no later pass removes and whose results kernels store. The f32
    sum, product, quotient or root of halves, rounded to f16, is the f16 result of IEEE 754.
    Operations that only move elements stay.

    Values then stay out of images: OpenCL lets a device round to zero what a kernel writes to an
    image of halves (OpenCL 1.2, section 8.3.2), and NVIDIA's does.
    """

    name: ClassVar[str] = "nn-round-halves"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rounded = [
            each
            for function in nn.networks_of(op)
            for each in function.body.block.ops
            if isinstance(each, nn.NNOp) and _rounds(each)
        ]
        for each in rounded:
            _widen(each)
        target = cl.target_of(op)
        if rounded and target.uses_textures:
            cl.set_target(op, replace(target, policy=replace(target.policy, texture="off")))


def _rounds(op: nn.NNOp) -> bool:
    """Return whether an operation computes halves, rather than moving them or being constant."""
    is_moved = type(op).ACCEPTS_NARROW or not op.operands
    return not is_moved and any(map(_is_half, op.results))


def _is_half(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and nn.tensor_type(value).element_type == f16


def _widen(op: nn.NNOp) -> None:
    """Replace an operation by casts of its operands to f32, and of its f32 results to f16."""
    if op.regions:
        raise CloptError(
            f"{node_name(op)}: strict_half rounds the results of whole operations, but {op.name} "
            "has operations in a region; leave strict_half out."
        )
    operands: list[SSAValue] = []
    for value in op.operands:
        if _is_half(value):
            wide = nn.CastOp(value, f32)
            wide.location = op.location
            Rewriter.insert_op(wide, InsertPoint.before(op))
            value = wide.result
        operands.append(value)
    properties = {
        name: _wide_attribute(attribute)
        for name, attribute in op.properties.items()
        if name != "accumulate"
    }
    new = type(op).create(
        operands=operands,
        properties=properties,
        attributes=dict(op.attributes),
        result_types=[_wide_type(result) for result in op.results],
    )
    new.location = op.location
    results: list[SSAValue] = []
    casts: list[Operation] = []
    for old, result in zip(op.results, new.results, strict=True):
        if _is_half(old):
            rounded = nn.CastOp(result, f16)
            rounded.location, rounded.result.name_hint = op.location, old.name_hint
            casts.append(rounded)
            result = rounded.result
        results.append(result)
    Rewriter.replace_op(op, [new, *casts], results)


def _wide_attribute(attribute: Attribute) -> Attribute:
    """Return a number of type f16, such as a bound of a clip, as f32; other attributes stay."""
    number = _half_number(attribute)
    return attribute if number is None else FloatAttr(number, f32)


def _half_number(attribute: Attribute) -> float | None:
    if not isinstance(attribute, FloatAttr):
        return None
    typed = cast("FloatAttr[AnyFloat]", attribute)
    return typed.value.data if typed.type == f16 else None


def _wide_type(value: SSAValue) -> Attribute:
    return TensorType(f32, nn.shape_of(value)) if _is_half(value) else value.type
