"""A schedule: a kernel being transformed, the primitives on it, and the log of steps."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from ....dialects.tir import BlockOp, ForOp, FuncOp, LoopKind, Scope
from .analysis import temporary, written
from .bind import bind as _bind
from .cache_gather import cache_gather as _cache_gather
from .cache_read import cache_read as _cache_read
from .cache_write import cache_write as _cache_write
from .compute_at import compute_at as _compute_at
from .errors import refuse
from .fetch_ahead import fetch_ahead as _fetch_ahead
from .fuse import fuse as _fuse
from .names import name_of_buffer, name_of_loop, name_of_loop_around
from .prefetch import prefetch as _prefetch
from .reorder import reorder as _reorder
from .rfactor import rfactor as _rfactor
from .rfactor import rfactor_tree as _rfactor_tree
from .roll import roll as _roll
from .set_scope import set_scope as _set_scope
from .split import split as _split
from .split import split_many as _split_many
from .stage import free_label
from .transform_layout import transform_layout as _transform_layout
from .transform_layout import transform_temporary as _transform_temporary
from .unroll import unroll as _unroll
from .vectorize import parallel as _parallel
from .vectorize import vectorize as _vectorize


class Schedule:
    """The primitives on a copy of a kernel, which `commit` swaps for the original.

    Until then the original is unchanged, even if a primitive is refused. `steps` logs the
    primitives in the form that `tir-apply-schedule` reads: the same steps produce the same kernel.
    The methods take loops, blocks and buffers of `func`, the copy. The functions of the same names
    document the primitives.
    """

    def __init__(self, kernel: FuncOp, *, in_place: bool = False):
        """Schedule a copy of `kernel`, or `kernel` itself if `in_place`.

        With `in_place`, nothing is logged: `steps` stays empty. A refusal then leaves the kernel
        half changed, which is acceptable if the caller discards its module.
        """
        self._kernel = kernel
        self._is_recorded = not in_place
        self.func = kernel if in_place else kernel.clone()
        self.steps: list[str] = []

    def commit(self) -> None:
        """Move the loops and properties of the copy to the kernel. The copy is empty afterwards."""
        if self.func is self._kernel:
            return
        self._kernel.detach_region(self._kernel.body).erase()
        self._kernel.add_region(self.func.detach_region(self.func.body))
        self._kernel.properties = self.func.properties

    def split(
        self,
        loop: ForOp,
        factor: int,
        names: tuple[str, str] | None = None,
        *,
        overlap: bool = False,
    ) -> tuple[ForOp, ForOp]:
        step = [f"split{'_overlap' * overlap}", self._name(loop), factor]
        pair = _split(loop, factor, names, overlap=overlap)
        self._did(*step, makes=[_hint(made) for made in pair])
        return pair

    def split_many(
        self, loop: ForOp, factors: Sequence[int], names: Sequence[str] | None = None
    ) -> list[ForOp]:
        step = ["split", self._name(loop), *factors]
        loops = _split_many(loop, factors, names)
        self._did(*step, makes=[_hint(made) for made in loops])
        return loops

    def fuse(self, *loops: ForOp, name: str | None = None) -> ForOp:
        """Fuse directly nested loops, given outermost first."""
        if len(loops) == 1:
            return loops[0]
        step = ["fuse", *map(self._name, loops)]
        fused = loops[0]
        for loop in loops[1:]:
            fused = _fuse(fused, loop, name)
        self._did(*step, makes=[_hint(fused)])
        return fused

    def reorder(self, *loops: ForOp) -> None:
        if len(loops) < 2:
            return
        step = ["reorder", *map(self._name, loops)]
        _reorder(*loops)
        self._did(*step)

    def bind(self, loop: ForOp, kind: LoopKind) -> None:
        _bind(loop, kind)
        self._did("bind", self._name(loop), kind.value)

    def vectorize(self, loop: ForOp) -> None:
        _vectorize(loop)
        self._did("vectorize", self._name(loop))

    def unroll(self, loop: ForOp) -> None:
        _unroll(loop)
        self._did("unroll", self._name(loop))

    def roll(self, loop: ForOp) -> None:
        _roll(loop)
        self._did("roll", self._name(loop))

    def parallel(self, loop: ForOp) -> None:
        _parallel(loop)
        self._did("parallel", self._name(loop))

    def compute_at(
        self, block: BlockOp, loop: ForOp, names: Sequence[str] | None = None
    ) -> list[ForOp]:
        step = ["compute_at", block.label.data, self._name(loop)]
        if names is not None and len(names) != len(block.iter_vars):
            raise refuse(block, f"expected {len(block.iter_vars)} loop names, got {len(names)}")
        loops = _compute_at(block, loop)
        for made, name in zip(loops, names or (), strict=False):
            made.var.name_hint = name
        self._did(*step, makes=[_hint(made) for made in loops])
        return loops

    def cache_read(
        self, block: BlockOp, buffer: SSAValue, scope: Scope, label: str | None = None
    ) -> BlockOp:
        step = ["cache_read", block.label.data, name_of_buffer(self.func, buffer), scope.value]
        self._check_label(label)
        made = _relabel(_cache_read(block, buffer, scope), label)
        self._did(*step, makes=[made.label.data])
        return made

    def cache_gather(
        self,
        block: BlockOp,
        buffer: SSAValue,
        scope: Scope,
        positions: Sequence[int],
        label: str | None = None,
    ) -> BlockOp:
        step = ["cache_gather", block.label.data, name_of_buffer(self.func, buffer), scope.value]
        self._check_label(label)
        made = _relabel(_cache_gather(block, buffer, scope, positions), label)
        self._did(*step, *(f"d{position}" for position in positions), makes=[made.label.data])
        return made

    def prefetch(self, block: BlockOp, loop: ForOp, copies: int) -> tuple[BlockOp, BlockOp]:
        name = self._name(loop, block)
        made = _prefetch(block, loop, copies)
        self._did("prefetch", name, copies)
        return made

    def fetch_ahead(self, block: BlockOp, buffer: SSAValue, distance: int) -> None:
        _fetch_ahead(block, buffer, distance)
        self._did("fetch_ahead", block.label.data, name_of_buffer(self.func, buffer), distance)

    def cache_write(self, block: BlockOp, scope: Scope, label: str | None = None) -> BlockOp:
        step = ["cache_write", block.label.data, scope.value]
        self._check_label(label)
        made = _relabel(_cache_write(block, scope), label)
        self._did(*step, makes=[made.label.data])
        return made

    def rfactor(self, loop: ForOp, label: str | None = None) -> BlockOp:
        step = ["rfactor", self._name(loop)]
        self._check_label(label)
        made = _relabel(_rfactor(loop), label)
        self._did(*step, makes=[made.label.data])
        return made

    def rfactor_tree(self, loop: ForOp, fan_in: int, axis: int | None = None) -> list[BlockOp]:
        step = ["rfactor_tree", self._name(loop), fan_in, *([] if axis is None else [axis])]
        blocks = _rfactor_tree(loop, fan_in, axis)
        self._did(*step)
        return blocks

    def set_scope(self, buffer: SSAValue, scope: Scope) -> None:
        name = name_of_buffer(self.func, buffer)
        alloca = temporary(buffer)
        if alloca is None:
            raise refuse(self.func, f"'{name}' is a parameter; only temporaries have a scope")
        _set_scope(alloca, scope)
        self._did("set_scope", name, scope.value)

    def keep_private(self, block: BlockOp) -> None:
        """Keep the temporaries that a block writes in private memory."""
        for buffer in written(block):
            if temporary(buffer) is not None:
                self.set_scope(buffer, Scope.Private)

    def transform_layout(self, buffer: SSAValue, layout: Sequence[AffineExpr]) -> None:
        name = name_of_buffer(self.func, buffer)
        alloca = temporary(buffer)
        if alloca is None:
            _transform_layout(self.func, self.func.params.index(buffer), layout)
        else:
            _transform_temporary(alloca, layout)
        self._did("transform_layout", name, *map(_part, layout))

    def local_size(self, *sizes: int) -> None:
        """Set the work-group size for loops bound to global indices."""
        if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
            raise refuse(
                self.func, f"a work-group must have one to three positive sizes, not {sizes}"
            )
        self.func.properties["local_size"] = DenseArrayBase.from_list(i64, sizes)
        self._did("local_size", *sizes)

    def _name(self, loop: ForOp, block: BlockOp | None = None) -> str:
        """Return the name of a loop in a step, using `block` or the last block inside the loop."""
        if not self._is_recorded:
            return ""
        return name_of_loop(loop) if block is None else name_of_loop_around(block, loop)

    def _did(self, *words: str | int, makes: Sequence[str] = ()) -> None:
        if self._is_recorded:
            self.steps.append(" ".join(map(str, (*words, "->", *makes) if makes else words)))

    def _check_label(self, label: str | None) -> None:
        if label is not None and free_label(self.func, label) != label:
            raise refuse(self.func, f"there already is a block '{label}'")


def _relabel(block: BlockOp, label: str | None) -> BlockOp:
    if label is not None:
        block.label = StringAttr(label)
    return block


def _hint(loop: ForOp) -> str:
    return loop.var.name_hint or "?"


def _part(expr: AffineExpr) -> str:
    """Return a part of a layout in the notation of steps: `d0`, `d0/4` or `d0%4`."""
    match expr:
        case AffineBinaryOpExpr(kind=kind, lhs=dim, rhs=AffineConstantExpr(value=size)):
            return f"{dim}{'%' if kind is AffineBinaryOpKind.Mod else '/'}{size}"
        case _:
            return str(expr)
