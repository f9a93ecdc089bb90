"""`tir-mark-in-place`: finds the inputs of a kernel that its outputs may overwrite.

A pair is noted if each element of the input is read before the same element of the output is
written, and by the same work-item. The proof compares each load with each store. If both access the
same element, equal indices must determine all work-item indices and all loops around both, and the
load must come first in that iteration. A pair to which callers may bind one buffer is also noted if
elements are at most stored unchanged (`in_place/unchanged.py`).

An index that is not an affine expression rules a pair out. So does a tile that reads elements which
its neighbour writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass

from ...dialects import cl, tir
from .in_place.accesses import ParameterAccess, ParameterAccesses
from .in_place.equations import Equation, LinearTerm, solve
from .in_place.injective import is_injective
from .in_place.unchanged import keeps_elements
from .schedule.analysis import memref_of

_LATER = (tir.LoopKind.Serial, tir.LoopKind.Rolled)
"""Loops whose iterations are known to run one after the other."""


@dataclass(frozen=True)
class TIRMarkInPlacePass(ModulePass):
    """Mark the in-place pairs of every kernel with a known launch size."""

    name: ClassVar[str] = "tir-mark-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        shared = _shared_by_callers(op)
        for func in op.ops:
            if isinstance(func, tir.FuncOp) and func.global_size is not None:
                pairs = in_place_pairs(func, shared[func.sym_name.data])
                func.in_place = tir.in_place_attribute(pairs)


def _shared_by_callers(module: ModuleOp) -> defaultdict[str, set[tuple[int, int]]]:
    """Return, by kernel, the pairs to which callers of a program may bind one buffer."""
    found: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for program in module.ops:
        if not isinstance(program, cl.ProgramOp) or not (overwritten := program.overwritten()):
            continue
        memory = cl.roots(program)
        for op in cl.commands(program):
            if isinstance(op, cl.EnqueueKernelOp):
                places = [memory[arg] for arg in op.args]
                found[op.kernel_name].update(
                    (places.index(overwritten[place]), o)
                    for o, place in enumerate(places)
                    if overwritten.get(place) in places
                )
    return found


def in_place_pairs(func: tir.FuncOp, shared: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs (input, output) of a lowered kernel that may share memory.

    Callers may bind one buffer to the pairs `shared`, for which a second proof is tried.
    """
    others = {*func.output_indices, *func.constant_indices}
    # Every work-item reads a condition before it computes.
    others.update(condition.parameter for condition in func.run_conditions)
    candidates = [
        (i, o)
        for o in func.output_indices
        for i in range(len(func.params))
        if i not in others
        if _same_memory(func.params[i], func.params[o])
    ]
    if not candidates:
        return []
    kernel, params = ParameterAccesses(func), func.params
    inputs = {param for i, param in enumerate(params) if i not in func.output_indices}
    return [
        (i, o)
        for i, o in candidates
        if _reads_first(kernel, params[i], params[o])
        or ((i, o) in shared and keeps_elements(kernel, params[i], params[o], inputs))
    ]


def _same_memory(source: SSAValue, result: SSAValue) -> bool:
    """Return whether two parameters are dense buffers of equal element type and count.

    A compiler may move accesses to elements of different types past each other, even if the types
    have the same width.
    """
    before, after = memref_of(source), memref_of(result)
    return (
        before.element_type == after.element_type
        and before.layout == after.layout == NoneAttr()
        and before.memory_space == after.memory_space == NoneAttr()
        and prod(before.get_shape()) == prod(after.get_shape()) > 0
    )


def _reads_first(kernel: ParameterAccesses, source: SSAValue, result: SSAValue) -> bool:
    """Return whether every load of `source` precedes the store of the same element of `result`."""
    reads, writes = kernel.of[source], kernel.of[result]
    if kernel.items is None or reads is None or writes is None:
        return False
    if any(access.writes for access in reads):
        return False
    return all(
        _Meeting(kernel, read, write).is_harmless()
        for write in writes
        if write.writes
        for read in reads
    )


class _Meeting:
    """A load and a store of the same element, in unknown iterations of the loops around them.

    The unknowns are the distances from load to store along the dimensions that both have.
    """

    def __init__(self, kernel: ParameterAccesses, read: ParameterAccess, write: ParameterAccess):
        assert kernel.items is not None
        self.kernel = kernel
        self.read = read
        self.write = write
        self.common = [
            loop for loop in read.place.loops if loop in write.place.loops and loop.size > 1
        ]
        self.shared = {*kernel.items, *(kernel.dims[loop.var] for loop in self.common)}

    def is_harmless(self) -> bool:
        """Return whether the two never meet, or meet in one work-item with the load first."""
        later = self._solve()
        if later is None:
            return True
        assert self.kernel.items is not None
        for dim, extent in self.kernel.items.items():
            if extent > 1 and later.get(dim) != 0:
                return False
        for loop in self.common:
            distance = later.get(self.kernel.dims[loop.var])
            if distance is None or (distance and loop.kind.data not in _LATER):
                return False
            if distance:
                return distance > 0
        return self.read.position < self.write.position or self._excludes()

    def _excludes(self) -> bool:
        """Return whether load and store are in different branches of one condition."""
        pairs = zip(self.read.place.regions, self.write.place.regions, strict=False)
        first, second = next((pair for pair in pairs if pair[0] is not pair[1]), (None, None))
        if first is None or second is None:
            return False
        return first.parent_op() is second.parent_op()

    def _solve(self) -> Mapping[Hashable, int] | None:
        """Return the unknowns with only one value; None if load and store never meet."""
        equations = list(self._equations())
        while True:
            known = solve(equations)
            if known is None:
                return None
            settled = [
                Equation([LinearTerm(1, 0, 0, key)]) for key in self._settled(equations, known)
            ]
            if not settled:
                return known
            equations += settled

    def _settled(
        self, equations: Sequence[Equation], known: Mapping[Hashable, int]
    ) -> Iterator[Hashable]:
        """Yield further values that are equal in both iterations.

        These are quotients and remainders of equal values, and values that they determine.
        """
        keys = dict.fromkeys(term.key for equation in equations for term in equation.terms)
        atoms = [key for key in keys if isinstance(key, AffineExpr)]
        equal = [atom for atom in atoms if known.get(atom) == 0]
        for atom in atoms:
            if atom not in known and all(known.get(dim) == 0 for dim in atom.used_dims()):
                yield atom
        for dims in _connected([atom.used_dims() for atom in equal]):
            unknown = [dim for dim in dims if dim not in known]
            given = [AffineExpr.dimension(dim) for dim in dims if known.get(dim) == 0]
            exprs = [*given, *(atom for atom in equal if atom.used_dims() <= dims)]
            if unknown and is_injective(exprs, {dim: self._longest(dim) for dim in sorted(dims)}):
                yield from unknown

    def _longest(self, dim: int) -> int:
        return max(access.place.ranges[dim][1] for access in (self.read, self.write))

    def _equations(self) -> Iterator[Equation]:
        """Yield the equations of a meeting: all digits of the element's number are equal."""
        cuts = sorted({*self.read.strides} & {*self.write.strides})
        for low, high in dict.fromkeys((*pairwise(cuts), (cuts[0], cuts[-1]))):
            write = self.kernel.digit(self.write, low, high)
            read = self.kernel.digit(self.read, low, high)
            terms, constant = list[LinearTerm](), write.constant - read.constant
            for atom in dict.fromkeys((*write.terms, *read.terms)):
                part = self._part(atom, write.terms.get(atom, 0), read.terms.get(atom, 0))
                terms += part.terms
                constant += part.constant
            yield Equation(terms, constant)
        limits = self.read.place.limits, self.write.place.limits
        limited = [atom for atom in limits[0] if atom in limits[1]]
        shared = [atom for atom in limited if atom.used_dims() <= self.shared]
        for atom in (*map(AffineExpr.dimension, self.shared), *shared):
            distance = self._distance(atom)
            if distance.low == distance.high:
                yield Equation([distance], -distance.low)

    def _part(self, atom: AffineExpr, later: int, earlier: int) -> Equation:
        """Return `later * atom` at the store minus `earlier * atom` at the load, as terms."""
        apart = [LinearTerm(later, *self.kernel.bounds(atom, self.write))] if later else []
        apart += [LinearTerm(-earlier, *self.kernel.bounds(atom, self.read))] if earlier else []
        if not atom.used_dims() <= self.shared:
            return Equation(apart)
        if later == earlier:
            return Equation([replace(self._distance(atom), factor=later)])
        # If an atom has a single value, either side may take it with the other side's factor.
        for access, factor in ((self.write, earlier), (self.read, later)):
            low, high = self.kernel.bounds(atom, access)
            if low == high:
                term = replace(self._distance(atom), factor=factor)
                return Equation([term], (later - earlier) * low)
        return Equation(apart)

    def _distance(self, atom: AffineExpr) -> LinearTerm:
        """Return the difference of an atom between the store and the load."""
        low, high = self.kernel.bounds(atom, self.write)
        least, greatest = self.kernel.bounds(atom, self.read)
        key = atom.position if isinstance(atom, AffineDimExpr) else atom
        return LinearTerm(1, low - greatest, high - least, key)


def _connected(groups: Iterable[set[int]]) -> list[set[int]]:
    """Return the groups, with groups that share a member merged."""
    united: list[set[int]] = []
    for group in groups:
        apart = [other for other in united if not other & group]
        united = [*apart, group.union(*(other for other in united if other & group))]
    return united
