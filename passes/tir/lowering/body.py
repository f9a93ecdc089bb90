"""Copies the body of a block to one place of the new kernel, as plain operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ..flat import compose, tidy
from .footprint import Footprint
from .space import COMPARISONS, Guard
from .values import IndexEnvironment


class BodyCloner:
    """Copies a body, folding index arithmetic and conditions whose values are known there."""

    def __init__(
        self,
        place: IndexEnvironment,
        buffers: Mapping[SSAValue, SSAValue],
        footprints: Mapping[SSAValue, Footprint],
        iters: Mapping[SSAValue, AffineExpr],
        extents: Sequence[int],
    ):
        self.extents = extents
        self.place = place
        self.values: dict[SSAValue, SSAValue] = dict(buffers)
        self.footprints = footprints
        self.exprs: dict[SSAValue, AffineExpr] = dict(iters)
        self.truth: dict[SSAValue, bool] = {}

    def clone(self, ops: Iterable[Operation], out: Block, made: dict[AffineExpr, SSAValue]) -> None:
        """Append copies of `ops` to `out`; `made` holds the index values already there."""
        for op in ops:
            if not self._fold(op, out, made):
                self._copy(op, out, made)

    def _fold(self, op: Operation, out: Block, made: dict[AffineExpr, SSAValue]) -> bool:
        match op:
            case affine.ApplyOp() if all(arg in self.exprs for arg in op.mapOperands):
                args = [self.exprs[arg] for arg in op.mapOperands]
                expr = compose(op.map.data.results[0], args)
                self.exprs[op.result] = tidy(expr, self.extents)
            case arith.ConstantOp(value=IntegerAttr(value=number, type=IndexType())):
                self.exprs[op.result] = AffineExpr.constant(number.data)
            case arith.CmpiOp() if op.lhs in self.exprs and op.rhs in self.exprs:
                return self._fold_compare(op)
            case arith.AndIOp() | arith.OrIOp() if op.result.type == i1:
                return self._fold_logic(op)
            case scf.IfOp() if op.cond in self.truth:
                self._fold_if(op, out, made)
            case _:
                return False
        return True

    def _fold_compare(self, op: arith.CmpiOp) -> bool:
        row = COMPARISONS.get(op.predicate.value.data)
        if row is None:
            return False
        guard = Guard.of(self.exprs[op.lhs] - self.exprs[op.rhs], *row)
        holds = self.place.domain.holds(guard.coarse(self.extents))
        if holds is None:
            return False
        self.truth[op.result] = holds
        return True

    def _fold_logic(self, op: arith.AndIOp | arith.OrIOp) -> bool:
        """Fold `true and x` to x and `false and x` to false; fold `or` the other way round."""
        neutral = isinstance(op, arith.AndIOp)
        for known, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            truth = self.truth.get(known)
            if truth is None:
                continue
            if truth is not neutral:
                self.truth[op.result] = truth
            elif other in self.truth:
                self.truth[op.result] = self.truth[other]
            else:
                self.values[op.result] = self.values.get(other, other)
            return True
        return False

    def _fold_if(self, op: scf.IfOp, out: Block, made: dict[AffineExpr, SSAValue]) -> None:
        region = op.true_region if self.truth[op.cond] else op.false_region
        if not region.blocks:
            return
        *ops, end = region.block.ops
        self.clone(ops, out, made)
        for result, value in zip(op.results, end.operands, strict=True):
            self._alias(result, value)

    def _alias(self, result: SSAValue, value: SSAValue) -> None:
        if value in self.exprs:
            self.exprs[result] = self.exprs[value]
        elif value in self.truth:
            self.truth[result] = self.truth[value]
        else:
            self.values[result] = self.values.get(value, value)

    def _copy(self, op: Operation, out: Block, made: dict[AffineExpr, SSAValue]) -> None:
        if isinstance(op, memref.LoadOp | memref.StoreOp) and op.memref in self.footprints:
            operands = self._rebased(op, out, made)
        else:
            operands = [self._value(operand, out, made) for operand in op.operands]
        regions = [self._region(region, made) for region in op.regions]
        new = op.create(
            operands=operands,
            result_types=op.result_types,
            attributes=op.attributes.copy(),
            properties=op.properties.copy(),
            location=op.location,
            regions=regions,
        )
        out.add_op(new)
        for old_result, new_result in zip(op.results, new.results, strict=True):
            new_result.name_hint = old_result.name_hint
            self.values[old_result] = new_result

    def _region(self, region: Region, made: dict[AffineExpr, SSAValue]) -> Region:
        if not region.blocks:
            return Region()
        block = Block()
        self.clone(region.block.ops, block, dict(made))
        return Region(block)

    def _rebased(
        self, op: memref.LoadOp | memref.StoreOp, out: Block, made: dict[AffineExpr, SSAValue]
    ) -> list[SSAValue]:
        """Return the operands of an access to a temporary that holds a part of its tensor."""
        operands = [self._value(v, out, made) for v in op.operands[: -len(op.indices) or None]]
        for dim, index in enumerate(op.indices):
            expr = self.exprs.get(index)
            if expr is None:
                # Such an index makes the temporary hold the whole dimension.
                operands.append(self._value(index, out, made))
                continue
            for part in self.footprints[op.memref].parts(dim, expr):
                operands.append(self._index(tidy(part, self.extents), out, made))
        return operands

    def _value(self, value: SSAValue, out: Block, made: dict[AffineExpr, SSAValue]) -> SSAValue:
        if value in self.exprs:
            return self._index(self.exprs[value], out, made)
        if value in self.truth:
            op = arith.ConstantOp(IntegerAttr(int(self.truth[value]), i1))
            out.add_op(op)
            return op.result
        return self.values.get(value, value)

    def _index(self, expr: AffineExpr, out: Block, made: dict[AffineExpr, SSAValue]) -> SSAValue:
        found = made.get(expr)
        if found is None:
            found = made[expr] = self.place.index(expr, out)
            if found.name_hint is None and not isinstance(expr, AffineConstantExpr):
                found.name_hint = "i"
        return found
