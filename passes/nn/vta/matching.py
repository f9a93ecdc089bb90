"""Search for operations that VTA layers can compute, and for the reasons why others stay."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from ....dialects import nn
from ....dialects.inferred import require
from ....dialects.nn import Array
from ....dialects.vta import Config
from ....weights import Weights
from ...locations import kind_of, op_name
from ...vta.lowering.problems import why_not
from ..offload.matches import Match, Matches, inputs_of
from .layers import Chain, Layer
from .moves import moves_int8, moving_layer


@dataclass(frozen=True, eq=False, kw_only=True)
class VTAMatch(Match):
    """nn operations that one layer computes; legal, since the layer was verified."""

    layer: Layer
    places: tuple[int, ...]
    """The positions of the layer's inputs among `inputs_of(ops)`; earlier graphs replace the
    values.
    """
    config: Config
    """The configuration of the core."""


def split_dequantizes(function: func.FuncOp) -> None:
    """Give each reader of an `nn.dequantize` its own copy, which one layer can contain."""
    for op in list(function.body.block.ops):
        if isinstance(op, nn.DequantizeOp):
            for use in list(op.result.uses)[1:]:
                copy = op.clone()
                copy.location = op.location
                Rewriter.insert_op(copy, InsertPoint.after(op))
                use.operation.operands[use.index] = copy.result


def find_matches(function: func.FuncOp, config: Config, weights: Weights) -> Matches:
    """Return the layers of a function; each ends with an `nn.quantize` or moves int8."""
    legal: list[Match] = []
    reasons: dict[Operation, str] = {}
    taken: set[Operation] = set()
    ops = [op for op in function.body.block.ops if not isinstance(op, nn.ConstantOp)]
    order = {op: i for i, op in enumerate(ops)}
    for op in ops:
        members = [op]
        try:
            if isinstance(op, nn.QuantizeOp):
                chain = Chain(op, weights)
                members = chain.ops
                layer = chain.layer()
            elif moves_int8(op):
                layer = moving_layer(op)
            else:
                continue
            _verify(layer, config)
        except VerifyException as refusal:
            reasons |= dict.fromkeys(members, str(refusal).strip())
            continue
        found = tuple(sorted(members, key=order.__getitem__))
        inputs = inputs_of(found)
        legal.append(
            VTAMatch(
                ops=found,
                inputs=inputs,
                note=layer.kind.name,
                is_opaque=True,
                layer=layer,
                places=tuple(map(inputs.index, layer.inputs)),
                config=config,
            )
        )
        taken.update(found)
    for op in ops:
        if op not in taken and op not in reasons and not isinstance(op, func.ReturnOp):
            reasons[op] = _why_not(op)
    return Matches(legal, {op: why for op, why in reasons.items() if op not in taken})


def _verify(layer: Layer, config: Config) -> None:
    """Build the layer on placeholder values; raise VerifyException if VTA cannot compute it."""
    block = Block()

    def value(type_: TensorType) -> SSAValue:
        return block.insert_arg(type_, len(block.args))

    def constant(array: Array) -> SSAValue:
        return value(TensorType(nn.element_type(array.dtype), array.shape))

    built = layer.build([value(nn.tensor_type(each)) for each in layer.inputs], constant)
    block.add_op(built)
    refusal = why_not(built, config)
    require(not refusal, refusal)


def _why_not(op: Operation) -> str:
    match op:
        case nn.DequantizeOp():
            return "no VTA layer reads its result"
        case nn.ConvolutionOp() | nn.MatmulOp() | nn.BinaryOp() | nn.UnaryOp() | nn.ClipOp():
            return "no nn.quantize with a power-of-two scale rounds its result to int8"
        case _:
            name = f"{op_name(op)} {kind_of(op)}".rstrip()
            return f"VTA has no layer for {name}"
