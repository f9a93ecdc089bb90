"""Evaluate operations whose operands are all constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...context import weights_of
from ...dialects import nn
from ...dialects.nn import Array
from ...dialects.nn.evaluation.folding import fold
from ...weights import Weights


@dataclass(frozen=True)
class NNFoldConstantsPass(ModulePass):
    """Replace nn operations whose operands are all constants by constants.

    An operation is left to the device if its result exceeds eight times its operands by more than
    `max_growth` bytes: expanding a scalar is cheaper than loading its copies. The factor 8 lets a
    cast from int8 to double fold. Operations that combine arrays may exceed it by `max_combined`
    bytes: masks of attention to windows, which compare all pairs of positions, do not differ from
    one inference to the next. With `keep_quantized`, constants stay integers if a product reads
    them dequantised.
    """

    name: ClassVar[str] = "nn-fold-constants"
    max_growth: int = 1 << 16
    max_combined: int = 1 << 20
    keep_quantized: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = weights_of(ctx, op)
        # The walk visits operands first, so one walk folds whole chains.
        for network in nn.networks_of(op):
            for candidate in list(network.body.walk()):
                if isinstance(candidate, nn.NNOp) and candidate.operands:
                    self._fold(candidate, weights)

    def _fold(self, op: nn.NNOp, weights: Weights | None) -> None:
        if not all(isinstance(v.owner, nn.ConstantOp) for v in op.operands):
            return
        if self.keep_quantized and isinstance(op, nn.DequantizeOp) and _enters_product(op.result):
            return
        combines = len(op.operands) > 1 and all(_elements(v) > 1 for v in op.operands)
        growth = self.max_combined if combines else self.max_growth
        if _bytes(op.results) > 8 * _bytes(op.operands) + growth:
            return
        operands: list[Array] = []
        for value in op.operands:
            array = nn.constant_value(value, weights)
            if array is None:
                return
            operands.append(array)
        results = fold(op, operands)
        if results is not None:
            _replace(op, results, weights)


def _enters_product(value: SSAValue) -> bool:
    """Return whether a product reads a value, perhaps in another shape or order."""
    users = [use.operation for use in value.uses]
    return any(
        user.ROLE is nn.Role.CONTRACTION or (_moves(user) and _enters_product(user.results[0]))
        for user in users
        if isinstance(user, nn.NNOp)
    )


def _moves(op: nn.NNOp) -> bool:
    is_movement = isinstance(op, nn.ReshapeOp) or op.ROLE is nn.Role.INDEX
    return is_movement and len(op.operands) == 1


def _elements(value: SSAValue) -> int:
    return nn.count(nn.tensor_type(value).get_shape())


def _bytes(values: Iterable[SSAValue]) -> int:
    """Return the total bytes of all values."""
    types = [nn.tensor_type(v) for v in values]
    return sum(nn.count(t.get_shape()) * nn.numpy_dtype(t.element_type).itemsize for t in types)


def _replace(op: Operation, results: tuple[Array, ...], weights: Weights | None) -> None:
    """Replace an operation by constants, and erase operand constants without other uses."""
    sources = {v.owner for v in op.operands}
    hints = [nn.hint_of(value) for value in op.operands]
    hint = next((hint for hint in hints if hint), "")
    constants = [nn.ConstantOp.from_array(array, weights, hint) for array in results]
    for constant in constants:
        constant.location = op.location
    Rewriter.replace_op(op, constants, [constant.result for constant in constants])
    for source in sources:
        if isinstance(source, nn.ConstantOp) and source.result.first_use is None:
            Rewriter.erase_op(source)
