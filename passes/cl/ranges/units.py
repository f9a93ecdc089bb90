"""The units of a range that a kernel needs of its inputs, for the units of its results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects import tir
from ....dialects.tir.affine import bounds, linear, simplify
from ....dialects.tir.expressions import used_dims, with_dims
from ....dialects.tir.linear import Extents
from ...tir.schedule.analysis import memref_of
from .flow import ElementAccess, KernelFlow, StoreFlow

_MOST_STORES = 4096
"""Pairs of a store and its units, after which the analysis gives up."""

_Limits: TypeAlias = tuple[AffineExpr, ...]
"""Units that all are among the leading ones where an element is needed; empty for none known."""


@dataclass
class UnitNeeds:
    """What a kernel needs to compute some units of its results."""

    whole: set[int] = field(default_factory=set[int])
    """The inputs that it needs whole."""
    equal: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """The inputs of which it needs the same units only, with the elements that a unit may have."""
    written: list[AffineExpr] | None = field(default_factory=list[AffineExpr])
    """The units that its stores write, over the dimensions of the flow; None if some are unknown.

    A work-item is needed if one of them is."""


@dataclass(frozen=True)
class Units:
    """The number of units, and the extents of the dimensions of a kernel's flow."""

    count: int
    extents: Extents

    def of(self, access: ElementAccess, elements: int) -> AffineExpr | None:
        """Return the unit of an accessed element, `number floordiv elements mod count`.

        An element's number counts it in the order of memory. Only the indices that select the unit
        matter: the others stay within their axes.
        """
        total = prod(access.shape)
        stride, row = total, list[tuple[AffineExpr, int]]()
        for size, index in zip(access.shape, access.indices, strict=True):
            stride //= max(size, 1)
            if size != 1 and stride % (elements * self.count):
                if index is None:
                    return None
                row.append((index, stride))
            if stride <= elements:
                break
        if not stride or elements % stride or elements % access.width:
            return None
        unit: AffineExpr = AffineExpr.constant(0)
        for index, each in row:
            unit = unit + index * (each // stride)
        unit = unit // (elements // stride)
        if elements * self.count != total:
            unit = unit % self.count
        return simplify(unit, self.extents)

    def choices(self, shape: Sequence[int]) -> Iterator[int]:
        """Yield how many elements a unit of a memory may have, outermost axes first.

        An axis may be two axes in one, with the units on either, such as tokens by batch.
        """
        stride = prod(shape)
        if not stride or stride % self.count:
            return
        yield stride // self.count
        for size in shape:
            stride //= size
            inner, rest = divmod(size, self.count)
            if not rest:
                yield from (stride * inner, stride)

    def is_within_any(self, unit: AffineExpr | None, limits: _Limits) -> bool:
        """Return whether a unit is among the leading ones where all `limits` are."""
        # The first unit always is.
        return any(self.is_within(unit, each) for each in (*limits, AffineExpr.constant(0)))

    def is_within(self, first: AffineExpr | None, second: AffineExpr | None) -> bool:
        """Return whether a unit is never greater than another one; False if one is unknown."""
        if first is None or second is None:
            return False
        _, most = bounds(first + second * -1, self.extents)
        if most is not None and most <= 0:
            return True
        above = self._without_remainders(first)
        if above != simplify(first, self.extents):
            return self.is_within(above, second)
        # Division is monotonic, and terms of the dividends may differ in their order.
        dividends = _dividends(first, second)
        return dividends is not None and self.is_within(*dividends)

    def _without_remainders(self, expr: AffineExpr) -> AffineExpr:
        """Return a sum that is at least as great, with x in place of `x mod c` where possible."""
        form = linear(expr, self.extents)
        total: AffineExpr = AffineExpr.constant(form.constant)
        for atom, factor in form.terms.items():
            if factor > 0 and isinstance(atom, AffineBinaryOpExpr):
                least, _ = bounds(atom.lhs, self.extents)
                if atom.kind is AffineBinaryOpKind.Mod and least is not None and least >= 0:
                    atom = atom.lhs
            total = total + atom * factor
        return simplify(total, self.extents)


def _dividends(first: AffineExpr, second: AffineExpr) -> tuple[AffineExpr, AffineExpr] | None:
    """Return the dividends of two quotients by the same positive constant; None for others."""
    if not isinstance(first, AffineBinaryOpExpr) or not isinstance(second, AffineBinaryOpExpr):
        return None
    divisor = first.rhs
    if not isinstance(divisor, AffineConstantExpr) or divisor.value <= 0:
        return None
    are_quotients = first.kind is second.kind is AffineBinaryOpKind.FloorDiv
    return (first.lhs, second.lhs) if are_quotients and divisor == second.rhs else None


def needs_of(
    func: tir.FuncOp,
    flow: KernelFlow,
    results: Mapping[int, int | None],
    guards: Collection[int],
    units: Units,
) -> UnitNeeds:
    """Return what a kernel needs to compute the leading units of its results.

    `results` are the positions of the needed results, with the elements of a unit, or None for a
    result that is needed whole. `guards` are the positions of inputs that are true for the leading
    units, and false for the others.
    """
    return _Tracer(func, flow, guards, units).run(results)


class _Tracer:
    def __init__(
        self, func: tir.FuncOp, flow: KernelFlow, guards: Collection[int], units: Units
    ) -> None:
        self.flow = flow
        self.units = units
        self.params = func.params
        outputs = set(func.output_indices)
        self.inputs = {p: i for i, p in enumerate(func.params) if i not in outputs}
        self.guards = {func.params[i] for i in guards}
        self.needs = UnitNeeds()
        self._pending: list[tuple[StoreFlow, _Limits]] = []
        self._reads: dict[int, dict[tuple[ElementAccess, _Limits], None]] = {}
        self._seen: set[tuple[StoreFlow, _Limits]] = set()

    def run(self, results: Mapping[int, int | None]) -> UnitNeeds:
        for position, elements in results.items():
            for store in self.flow.stores[self.params[position]]:
                unit = None if elements is None else self.units.of(store.access, elements)
                self._write(store, () if unit is None else (unit,))
        while self._pending:
            if len(self._seen) > _MOST_STORES:
                return UnitNeeds(set(self.inputs.values()), written=None)
            store, limits = self._pending.pop()
            for access, guards in store.values:
                self._read(access, (*limits, *self._guarded(guards)))
            for access in store.addresses:
                self._read(access, None)
        for position, reads in self._reads.items():
            if elements := self._elements(reads):
                self.needs.equal[position] = elements
            else:
                self.needs.whole.add(position)
        return self.needs

    def _guarded(self, guards: Iterable[ElementAccess]) -> Iterator[AffineExpr]:
        """Yield the units for which guards are true."""
        for access in guards:
            elements, rest = divmod(prod(access.shape), self.units.count)
            if access.memory in self.guards and not rest:
                unit = self.units.of(access, elements)
                if unit is not None:
                    yield unit

    def _elements(self, reads: Iterable[tuple[ElementAccess, _Limits]]) -> tuple[int, ...]:
        """Return the sizes of a unit with which an input is read no further than needed."""
        shape = memref_of(next(iter(reads))[0].memory).get_shape()
        return tuple(
            elements
            for elements in dict.fromkeys(self.units.choices(shape))
            if all(
                self.units.is_within_any(self.units.of(each, elements), limits)
                for each, limits in reads
            )
        )

    def _write(self, store: StoreFlow, limits: _Limits) -> None:
        """Follow a needed store to a parameter."""
        if not limits:
            self.needs.written = None
        elif self.needs.written is not None:
            self.needs.written.append(limits[0])
        self._follow(store, limits)

    def _follow(self, store: StoreFlow, limits: _Limits) -> None:
        if (store, limits) not in self._seen:
            self._seen.add((store, limits))
            self._pending.append((store, limits))

    def _read(self, access: ElementAccess, limits: _Limits | None) -> None:
        """Follow a load that is needed where units are among the leading ones; None: everywhere."""
        position = self.inputs.get(access.memory)
        if position is None:
            is_result = access.memory in self.params
            for store in self.flow.stores[access.memory]:
                seen = (self._at(unit, access, store) for unit in limits or ())
                known = tuple(dict.fromkeys(unit for unit in seen if unit is not None))
                (self._write if is_result else self._follow)(store, known)
        else:
            self._reads.setdefault(position, {})[access, limits or ()] = None

    def _at(self, unit: AffineExpr, load: ElementAccess, store: StoreFlow) -> AffineExpr | None:
        """Return a unit over the loops around `load` over those around a store that it sees.

        The indices of both are equal, which determines the loops of the load. None if it does not.
        """
        fixed = self.flow.fixed[load.memory]
        free = used_dims(unit) - fixed
        if not free or load.width > 1:
            return None if free else unit
        known: dict[int, AffineExpr] = {}
        for index, stored in zip(load.indices, store.access.indices, strict=True):
            if index is not None and stored is not None and used_dims(index) & free:
                apart = linear(unit + index * -1, self.flow.extents)
                if not apart.terms:
                    return simplify(stored + apart.constant, self.flow.extents)
                known |= self._solved(index, stored, fixed)
        if not free <= known.keys():
            return None
        count = len(self.flow.extents)
        dims = [known.get(dim, AffineDimExpr(dim)) for dim in range(count)]
        return simplify(with_dims(unit, dims), self.flow.extents)

    def _solved(
        self, index: AffineExpr, stored: AffineExpr, fixed: set[int]
    ) -> dict[int, AffineExpr]:
        """Return the dimensions of `index` that are not fixed, given that it equals `stored`."""
        form = linear(index, self.flow.extents)
        rest = stored + -form.constant
        digits: list[tuple[int, int]] = []
        for atom, factor in form.terms.items():
            if isinstance(atom, AffineDimExpr) and atom.position not in fixed:
                digits.append((factor, atom.position))
            elif used_dims(atom) <= fixed:
                rest = rest + atom * -factor
            else:
                return {}
        return dict(self._digits(rest, sorted(digits)))

    def _digits(
        self, number: AffineExpr, digits: list[tuple[int, int]]
    ) -> Iterator[tuple[int, AffineExpr]]:
        """Yield each digit of a number: dimensions with their factors, the smallest first."""
        most = 0
        for factor, dim in digits:
            extent = self.flow.extents[dim]
            if factor <= most or extent is None:
                return
            most += factor * (extent - 1)
        for i, (factor, dim) in enumerate(digits):
            below = number % digits[i + 1][0] if i + 1 < len(digits) else number
            yield dim, below // factor
