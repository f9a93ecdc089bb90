"""`tir-lower-textures`: replaces accesses to packed memory by reads and writes of texels.

An image has an implicit border of zeros. Conditions that its sampler can evaluate are dropped; for
other conditions, a coordinate is moved outside the image, so that no lane of the device branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure
from xdsl.transforms.common_subexpression_elimination import cse

from ...dialects import cl, tir
from ...errors import CloptError
from .lowering.inventory import inventory
from .schedule.analysis import memref_of
from .texture.access import PackedAccess, access_of, refuse, writes_whole_texels
from .texture.fill import Fill, fill_of
from .texture.indices import Condition, Indices, Knowledge, conjuncts
from .texture.rows import of_texels, row_access_of


@dataclass(frozen=True)
class TIRLowerTexturesPass(ModulePass):
    """Lower accesses to images, and to buffers that are packed like images, to texel operations.

    Packed buffers exist only on targets that use textures. Raises CloptError if an image might be
    accessed outside its extents.
    """

    name: ClassVar[str] = "tir-lower-textures"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        packed, rows = target.uses_textures, target.uses_textures and target.compiler.texels_of_rows
        for func in op.body.block.ops:
            if isinstance(func, tir.FuncOp) and (rows or _may_be_packed(func, packed)):
                lower_textures(func, packed=packed, rows=rows)


def lower_textures(func: tir.FuncOp, *, packed: bool = True, rows: bool = False) -> None:
    """Lower one kernel, whose buffers may be packed if `packed` is set.

    With `rows`, reads of adjacent elements in plain memory also use texels.
    """
    if inventory(func).blocks:
        raise CloptError(
            f"@{func.sym_name.data} still has blocks; run tir-lower-blocks before "
            "tir-lower-textures"
        )
    _check_directions(func)
    lowering = _Lowering(packed, rows)
    lowering.block(func.body.block, Knowledge(lowering.indices, {}))
    if lowering.changed:
        _remove_unused(func)
        cse(func)


def _may_be_packed(func: tir.FuncOp, packed: bool) -> bool:
    """Return whether a parameter is an image or, if `packed`, a buffer that may be packed."""
    types = [memref_of(param) for param in func.params]
    return any(
        tir.is_texture(type_) or (packed and type_.get_shape()[-1:] == (tir.TEXEL,))
        for type_ in types
    )


def _check_directions(func: tir.FuncOp) -> None:
    """Raise CloptError for an image that a kernel both reads and writes."""
    for param in func.params:
        if tir.is_texture(param.type):
            kinds = {type(use.operation) for use in param.uses}
            if len(kinds & {memref.LoadOp, memref.StoreOp}) > 1:
                raise CloptError(
                    f"@{func.sym_name.data} reads and writes the texture {param.name_hint}, but "
                    "an image of OpenCL C 1.2 is either read or written by a kernel; write the "
                    "result to another texture"
                )


class _Lowering:
    """The lowering of one kernel."""

    def __init__(self, packed: bool, rows: bool):
        self.packed = packed
        self.rows = rows
        self.indices = Indices()
        self.changed = False

    def block(self, block: Block, known: Knowledge) -> None:
        """Lower the operations of a block under the conditions and loop ranges `known`."""
        for op in list(block.ops):
            match op:
                case tir.ForOp():
                    self.block(op.body.block, known.running(op.var, op.size))
                case scf.IfOp():
                    self._if(op, known)
                case memref.LoadOp():
                    if (access := self._read_of(op, known)) is not None:
                        self._read(op, access, known)
                case memref.StoreOp():
                    if (access := access_of(op, known, self.packed)) is not None:
                        self._write(op, access, known)
                case _:
                    pass

    def _read_of(self, op: memref.LoadOp, known: Knowledge) -> PackedAccess | None:
        """Return the packed access of a load, or None."""
        access = access_of(op, known, self.packed)
        return row_access_of(op, known) if access is None and self.rows else access

    def _if(self, op: scf.IfOp, known: Knowledge) -> None:
        """Lower a conditional, as a guarded read if it has that form."""
        fill = fill_of(op)
        # The read is hoisted out of the `if`, so the condition does not hold for it.
        access = None if fill is None else self._read_of(fill.load, known)
        if fill is not None and access is not None:
            self._fill(fill, access, known)
            return
        self.block(op.true_region.block, known.when(op.cond))
        if op.false_region.blocks:
            self.block(op.false_region.block, known.unless(op.cond))

    def _read(self, op: memref.LoadOp, access: PackedAccess, known: Knowledge) -> None:
        """Read without a sampler if the texel provably exists, else with a sampler, which is safe.

        There is no proof for loaded indices, or for indices that conditions keep from being used.
        """
        border = not all(access.is_inside(i, known) for i in range(access.sampled))
        _check_inside(access, known, range(access.sampled, len(access.coords)))
        values = [self._index(coord, op) for coord in access.coords]
        lane = self._index(_lane_read(access, known), op)
        new = tir.TexelReadOp(op.memref, values, lane, border=border)
        new.result.name_hint = op.res.name_hint
        self.changed = True
        Rewriter.replace_op(op, new)

    def _write(self, op: memref.StoreOp, access: PackedAccess, known: Knowledge) -> None:
        """Lower a store to a texel write if a loop of 4 lanes writes whole texels."""
        if not writes_whole_texels(access, self.indices):
            if access.is_texture:
                raise refuse(access, "whose texels are not fully written by one loop of 4 lanes")
            return
        _check_inside(access, known, range(len(access.coords)))
        values = [self._index(coord, op) for coord in access.coords]
        lane = self._index(access.lane, op)
        self.changed = True
        Rewriter.replace_op(op, tir.TexelWriteOp(op.value, op.memref, values, lane))

    def _fill(self, fill: Fill, access: PackedAccess, known: Knowledge) -> None:
        """Replace the branch by an unconditional read that yields zero if the condition fails.

        With a border of zeros, a coordinate in the border achieves that. Without one, and for other
        constants, a select replaces the value.
        """
        place = fill.op
        fill.hoist()
        condition = self._of_texels(place, known) if access.in_row else place.cond
        values = [self._index(coord, place) for coord in access.coords]
        border = not all(access.is_inside(i, known) for i in range(access.sampled))
        unsampled = range(access.sampled, len(values))
        _check_inside(access, known.when(place.cond), unsampled)
        for i in unsampled:
            if not access.is_inside(i, known):
                values[i] = self._choose([condition], values[i], 0, place)
        by_border = fill.is_zero and access.sampled > 0
        if by_border:
            parts = conjuncts(place.cond)
            asked = [part for part in parts if not self._is_implied(part, access, known)]
            if asked:
                border = True
                values[1] = self._choose(asked, values[1], -1, place)
        lane = self._index(_lane_read(access, known), place)
        read = tir.TexelReadOp(fill.load.memref, values, lane, border=border)
        _insert(read, place)
        result = read.result
        if fill.widening is not None:
            fill.widening.operands[0] = result
            fill.widening.detach()
            _insert(fill.widening, place)
            result = fill.widening.result
        if not by_border:
            select = arith.SelectOp(condition, result, fill.constant.result)
            _insert(select, place)
            result = select.result
        self.changed = True
        result.name_hint = place.results[0].name_hint or fill.load.results[0].name_hint
        Rewriter.replace_op(place, [], [result])

    def _of_texels(self, place: scf.IfOp, known: Knowledge) -> SSAValue:
        """Return the condition of a border with tests of texels in place of tests of elements.

        The reads of a texel's elements then have the same condition and share one read.
        """
        parts: list[SSAValue] = []
        for part in conjuncts(place.cond):
            test = of_texels(part, known)
            parts.append(part if test is None else self._test(test, place))
        return self._all_of(parts, place)

    def _test(self, test: Condition, place: Operation) -> SSAValue:
        """Return `test` as an i1 value, computed before `place`."""
        low = test.high is None
        bound = test.low if low else test.high
        assert bound is not None
        limit = self._index(AffineExpr.constant(bound), place)
        compare = arith.CmpiOp(self._index(test.expr, place), limit, "sge" if low else "sle")
        _insert(compare, place)
        return compare.result

    def _all_of(self, conditions: Sequence[SSAValue], place: Operation) -> SSAValue:
        """Return the conjunction of all conditions, computed before `place`."""
        condition = conditions[0]
        for part in conditions[1:]:
            both = arith.AndIOp(condition, part)
            _insert(both, place)
            condition = both.result
        return condition

    def _is_implied(self, part: SSAValue, access: PackedAccess, known: Knowledge) -> bool:
        """Return whether every texel for which `part` fails lies in the border."""
        condition = self.indices.condition(part)
        if condition is None:
            return False
        failing = known.assuming(condition.otherwise())
        return any(
            failing.outside(access.coords[i], access.extents[i]) for i in range(access.sampled)
        )

    def _choose(
        self, conditions: Sequence[SSAValue], value: SSAValue, other: int, place: Operation
    ) -> SSAValue:
        """Return `value` if all conditions hold, else the constant `other`."""
        condition = self._all_of(conditions, place)
        number = self._index(AffineExpr.constant(other), place)
        select = arith.SelectOp(condition, value, number)
        select.result.name_hint = value.name_hint
        _insert(select, place)
        return select.result

    def _index(self, expr: AffineExpr, place: Operation) -> SSAValue:
        """Return the value of an expression, computed before `place`."""
        if isinstance(expr, AffineDimExpr):
            return self.indices.leaves[expr.position]
        if isinstance(expr, AffineConstantExpr):
            constant = arith.ConstantOp(IntegerAttr.from_index_int_value(expr.value))
            _insert(constant, place)
            return constant.result
        used = sorted(expr.used_dims())
        renumber = [AffineExpr.constant(0)] * len(self.indices.leaves)
        for new, old in enumerate(used):
            renumber[old] = AffineExpr.dimension(new)
        compact = AffineMap(len(used), 0, (expr.replace_dims_and_symbols(renumber, ()),))
        apply = affine.ApplyOp([self.indices.leaves[d] for d in used], AffineMapAttr(compact))
        _insert(apply, place)
        return apply.result


def _lane_read(access: PackedAccess, known: Knowledge) -> AffineExpr:
    """Return the lane of the texel to read.

    A loaded index, such as the index of a maximum, is below 4 but not provably so; the remainder
    makes that explicit for the emitters.
    """
    inside = not access.is_texture or known.within(access.lane, tir.TEXEL)
    return access.lane if inside else access.lane % tir.TEXEL


def _check_inside(access: PackedAccess, known: Knowledge, coords: Sequence[int]) -> None:
    """Raise unless the texels of an image provably exist.

    Texels of a buffer exist if their elements do.
    """
    if not access.is_texture:
        return
    for i in coords:
        if not access.is_inside(i, known):
            if known.always_within(access.coords[i], access.extents[i]):
                continue
            low, high = known.bounds(access.coords[i])
            interval = f"{'?' if low is None else low} to {'?' if high is None else high}"
            raise refuse(
                access,
                f"whose coordinate {'xyz'[i]} cannot be proved to be below {access.extents[i]} "
                f"(it may be {interval})",
            )


def _insert(op: Operation, place: Operation) -> None:
    block = place.parent_block()
    assert block is not None
    block.insert_op_before(op, place)


def _remove_unused(func: tir.FuncOp) -> None:
    """Erase pure operations without uses."""
    for op in list(func.body.walk(reverse=True)):
        if op.results and op.has_trait(Pure) and not any(result.uses for result in op.results):
            op.detach()
            op.erase()
