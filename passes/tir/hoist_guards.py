"""`tir-hoist-guards`: moves tests of a sum's terms out of loops that do not change them.

A term that is zero outside some bounds, as at the border of a convolution, contributes nothing
there. If a loop adds only such terms, the whole loop is guarded by the tests that are invariant in
it: rows outside the image are skipped, and the inner loops need no test for them. Unrolled loops
omit the terms of columns outside the image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, tir
from ...dialects.walking import operations_in

_COPIES = 8
"""The number of terms under one test from which a branch pays off."""


@dataclass(frozen=True)
class TIRHoistGuardsPass(ModulePass):
    """Guard loops by the tests that are common to all terms that they add.

    Applies to kernels for CPUs, since GPUs select between values rather than branch. The kernels
    must have no blocks, and the sums must have terms with a factor that is zero if a test fails.
    Weights are assumed to be finite: zero times infinity is not zero.
    """

    name: ClassVar[str] = "tir-hoist-guards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if cl.target_of(op).device.device_type != "cpu":
            return
        for func in op.ops:
            if isinstance(func, tir.FuncOp):
                for inner in list(operations_in(func.body)):
                    if isinstance(inner, scf.IfOp) and (term := _term_of(inner)):
                        _hoist(term)


@dataclass(frozen=True)
class _Term:
    """A value that is zero if a test fails; the loops that only add it up, innermost first."""

    guard: scf.IfOp
    loops: Sequence[tir.ForOp]


def _term_of(guard: scf.IfOp) -> _Term | None:
    """Return the term guarded by `guard`, if the surrounding loops accumulate nothing else."""
    store = _accumulation(guard)
    if store is None:
        return None
    loops: list[tir.ForOp] = []
    around = guard.parent_op()
    while isinstance(around, tir.ForOp) and _only_store(around) is store:
        if around.kind.data.is_bound:
            break
        loops.append(around)
        around = around.parent_op()
    return _Term(guard, loops)


def _accumulation(guard: scf.IfOp) -> memref.StoreOp | None:
    """Return the store of a sum to which the guard's result, times a factor, is added, or None."""
    if len(guard.results) != 1 or not _is_zero(_otherwise(guard)):
        return None
    value = guard.results[0]
    user = _only_user(value)
    if isinstance(user, arith.ExtUIOp | arith.ExtSIOp):
        value = user.result
        user = _only_user(value)
    if isinstance(user, arith.MulfOp | arith.MuliOp):
        value = user.result
        user = _only_user(value)
    if not isinstance(user, arith.AddfOp | arith.AddiOp):
        return None
    before = user.lhs if user.rhs is value else user.rhs
    store = _only_user(user.result)
    load = before.owner
    if not isinstance(store, memref.StoreOp) or not isinstance(load, memref.LoadOp):
        return None
    same = load.memref is store.memref and list(load.indices) == list(store.indices)
    return store if same and store.value is user.result else None


def _otherwise(guard: scf.IfOp) -> SSAValue | None:
    """Return the value that a guard yields if its test fails."""
    last = guard.false_region.block.last_op
    return last.operands[0] if isinstance(last, scf.YieldOp) and last.operands else None


def _is_zero(value: SSAValue | None) -> bool:
    owner = None if value is None else value.owner
    return (
        isinstance(owner, arith.ConstantOp)
        and isinstance(owner.value, FloatAttr | IntegerAttr)
        and owner.value.value.data == 0
    )


def _only_user(value: SSAValue) -> Operation | None:
    """Return the user of `value`, or None if it does not have exactly one."""
    users = [use.operation for use in value.uses]
    return users[0] if len(users) == 1 else None


def _only_store(loop: tir.ForOp) -> Operation | None:
    """Return the only operation in a loop with an effect on memory, or None."""
    effects = [op for op in loop.body.walk() if isinstance(op, memref.StoreOp | tir.BarrierOp)]
    return effects[0] if len(effects) == 1 else None


def _hoist(term: _Term) -> None:
    """Move each test out of all loops that do not change it."""
    kept: list[SSAValue] = []
    moved: dict[tir.ForOp, list[SSAValue]] = {}
    for test in _conjuncts(term.guard.cond):
        loop = _outermost(term.loops, test)
        if loop is None:
            kept.append(test)
        else:
            moved.setdefault(loop, []).append(test)
    if not moved:
        return
    # From the outermost loop inwards: the tests of an inner loop are then inside the outer
    # condition.
    for loop in reversed(term.loops):
        if loop in moved:
            _put_under(loop, moved[loop])
    _restrict(term.guard, kept)


def _conjuncts(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the operands of nested `arith.andi`."""
    if isinstance(value.owner, arith.AndIOp):
        yield from _conjuncts(value.owner.lhs)
        yield from _conjuncts(value.owner.rhs)
    else:
        yield value


def _outermost(loops: Sequence[tir.ForOp], test: SSAValue) -> tir.ForOp | None:
    """Return the outermost loop around a test that does not change it, if moving the test pays off.

    It pays off if it skips a loop, or many copies of the test, or terms in unrolled copies where
    the test is known. Otherwise the result is None.
    """
    if not _tests_indices(test):
        return None
    used = _loops_of(test)
    free: list[tir.ForOp] = []
    for loop in loops:
        if loop.var in used:
            break
        free.append(loop)
    runs = any(loop.kind.data is tir.LoopKind.Serial for loop in free)
    copies = prod(loop.size for loop in free if loop.kind.data is tir.LoopKind.Unrolled)
    pays = runs or copies >= _COPIES or all(map(_is_unrolled, used))
    return free[-1] if free and pays else None


def _is_unrolled(var: SSAValue) -> bool:
    """Return whether `var` is the variable of an unrolled loop."""
    loop = var.owner.parent_op() if isinstance(var.owner, Block) else None
    return isinstance(loop, tir.ForOp) and loop.kind.data is tir.LoopKind.Unrolled


def _tests_indices(value: SSAValue) -> bool:
    """Return whether a test is computed from loop variables only."""
    owner = value.owner
    if isinstance(owner, Block):
        return True
    pure = isinstance(owner, arith.AndIOp | arith.CmpiOp | arith.ConstantOp | ApplyOp)
    return pure and all(map(_tests_indices, owner.operands))


def _loops_of(value: SSAValue) -> set[SSAValue]:
    """Return the loop variables that a test of indices depends on."""
    owner = value.owner
    if isinstance(owner, Block):
        return {value}
    return {var for operand in owner.operands for var in _loops_of(operand)}


def _put_under(loop: tir.ForOp, tests: Sequence[SSAValue]) -> None:
    """Guard a loop by the conjunction of `tests`."""
    point = InsertPoint.before(loop)
    copies = [_copy(test, point, {}) for test in tests]
    condition = _conjunction(copies, point)
    guard = scf.IfOp(condition, (), Region(Block()))
    guard.location = loop.location
    Rewriter.insert_op(guard, point)
    loop.detach()
    guard.true_region.block.add_ops([loop, scf.YieldOp()])


def _copy(value: SSAValue, point: InsertPoint, done: dict[SSAValue, SSAValue]) -> SSAValue:
    """Return a test of indices recomputed at another point."""
    owner = value.owner
    if isinstance(owner, Block):
        return value
    if value not in done:
        operands = {operand: _copy(operand, point, done) for operand in owner.operands}
        clone = owner.clone(operands)
        Rewriter.insert_op(clone, point)
        done[value] = clone.results[0]
    return done[value]


def _conjunction(tests: Sequence[SSAValue], point: InsertPoint) -> SSAValue:
    """Return the `arith.andi` of all tests, inserted at `point`."""
    first, *rest = tests
    for test in rest:
        both = arith.AndIOp(first, test)
        Rewriter.insert_op(both, point)
        first = both.result
    return first


def _restrict(guard: scf.IfOp, tests: Sequence[SSAValue]) -> None:
    """Reduce the guard's condition to `tests`; without tests, inline its first branch."""
    point = InsertPoint.before(guard)
    before = guard.cond
    if tests:
        guard.operands[0] = _conjunction(tests, point)
    else:
        block = guard.true_region.block
        end = block.last_op
        assert isinstance(end, scf.YieldOp)
        result = end.operands[0]
        end.detach()
        end.erase()
        for op in list(block.ops):
            op.detach()
            Rewriter.insert_op(op, point)
        guard.results[0].replace_all_uses_with(result)
        guard.detach()
        guard.erase()
    _erase_unused(before)


def _erase_unused(value: SSAValue) -> None:
    """Erase the computation of a test if it is no longer used."""
    owner = value.owner
    if isinstance(owner, Block) or any(result.uses for result in owner.results):
        return
    assert isinstance(owner, arith.AndIOp | arith.CmpiOp | arith.ConstantOp | ApplyOp)
    operands = list(owner.operands)
    owner.detach()
    owner.erase()
    for operand in operands:
        _erase_unused(operand)
