"""Describes the work of a scheduled kernel, as its loops stand."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, prod

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import tir
from ...dialects.cl.ops import byte_count
from ..tir.schedule.analysis import memref_of
from .addresses import Addresses, Steps
from .work import (
    AccessSpace,
    ArithmeticWork,
    BufferStream,
    LanePattern,
    LaunchWork,
    LoopLevel,
    LoopPhase,
    MemoryAccess,
    StreamAxis,
)

_Kind = tir.LoopKind
_SERIAL = frozenset({_Kind.Serial, _Kind.Rolled, _Kind.Parallel})
_GLOBAL = frozenset({_Kind.GlobalX, _Kind.GlobalY, _Kind.GlobalZ})
_LOCAL = frozenset({_Kind.LocalX, _Kind.LocalY, _Kind.LocalZ})
_NEIGHBOURS = frozenset({_Kind.GlobalX, _Kind.LocalX})

_SLOTS = {
    "arith.divf": 5.0,
    "math.sqrt": 6.0,
    "math.rsqrt": 6.0,
    "math.exp": 12.0,
    "math.log": 15.0,
    "math.erf": 20.0,
    "math.tanh": 20.0,
    "math.powf": 30.0,
    "math.sin": 20.0,
    "math.cos": 20.0,
}
"""Issue slots of functions, relative to a multiply-add: lengths of polynomials in vector libraries
and latencies of dividers."""
_LANES = -1
"""Number of the loop over the elements of a texel, which the kernel does not contain."""
_INTEGER_SLOTS = 0.5
"""Index arithmetic and the arithmetic of floats issue in parallel."""


class _Loop:
    """A loop around an operation."""

    def __init__(self, op: tir.ForOp, number: int) -> None:
        self.size, self.kind, self.number, self.bit = op.size, op.kind.data, number, 1 << number


_Path = tuple[_Loop, ...]


def work_of(func: tir.FuncOp) -> LaunchWork:
    """Describe the work of one launch of a scheduled and lowered kernel."""
    walk = _Walk(func)
    walk.block(func.body.block, ())
    sizes = func.global_size, func.local_size
    items, group = (1 if s is None else prod(s.iter_values()) for s in sizes)
    phases = [phase for phase in walk.phases.values() if phase.arithmetic or phase.accesses]
    return LaunchWork(ceil(items / group), group, phases, walk.streams, walk.private_bytes)


class _Walk:
    """Places each operation of a kernel in the phase that issues it."""

    def __init__(self, func: tir.FuncOp) -> None:
        self.phases: dict[int | None, LoopPhase] = {None: LoopPhase()}
        self.streams: list[BufferStream] = []
        self.private_bytes = 0
        self._addresses = Addresses()
        self._varies: dict[SSAValue, int] = {}
        self._arrays: dict[SSAValue, _Path] = {}
        self._numbers: dict[SSAValue, int] = {}
        self._seen: set[object] = set()
        self._group = [1, 1, 1] if func.local_size is None else list(func.local_size.iter_values())
        self._written = {op.memref for op in func.body.walk() if isinstance(op, memref.StoreOp)}

    def block(self, block: Block, path: _Path) -> None:
        """Place the operations of a block inside of loops."""
        for op in block.ops:
            match op:
                case tir.ForOp():
                    self._loop(op, path)
                case scf.IfOp():
                    # Both sides mostly do the same work, with tests of indices and without.
                    side = max(op.regions, key=lambda region: sum(1 for _ in region.walk()))
                    for child in side.blocks:
                        self.block(child, path)
                    self._varies |= dict.fromkeys(op.results, _bits(path))
                case memref.AllocaOp():
                    self._arrays[op.memref] = path
                case memref.LoadOp() | memref.StoreOp():
                    self._access(op, path)
                case tir.TexelReadOp() | tir.TexelWriteOp():
                    self._texel(op, path)
                case tir.BarrierOp():
                    self._phase(_bits(path), path)[0].barriers += 1
                case _:
                    self._compute(op, path)

    def _loop(self, op: tir.ForOp, path: _Path) -> None:
        loop = _Loop(op, self._addresses.add(op))
        self._varies[op.body.block.args[0]] = loop.bit
        inner = (*path, loop)
        if loop.kind in _SERIAL:
            counted = (each.size for each in inner if each.kind in (*_SERIAL, _Kind.Unrolled))
            self.phases[loop.number] = LoopPhase(prod(counted), is_loop=True)
        self.block(op.body.block, inner)

    def _phase(self, varies: int, path: _Path) -> tuple[LoopPhase, int, int]:
        """Return the phase of an operation that varies with some loops, its copies and lanes."""
        depth, number = -1, None
        for i, loop in enumerate(path):
            if loop.kind in _SERIAL and varies & loop.bit:
                depth, number = i, loop.number
        inside = [loop for loop in path[depth + 1 :] if varies & loop.bit]
        copies = prod(loop.size for loop in inside if loop.kind is _Kind.Unrolled)
        lanes = next(
            (loop.size for loop in path if loop.kind is _Kind.Vectorized and varies & loop.bit), 1
        )
        return self.phases[number], copies, lanes

    def _compute(self, op: Operation, path: _Path) -> None:
        varies = 0
        for operand in op.operands:
            varies |= self._varies.get(operand, 0)
        self._varies |= dict.fromkeys(op.results, varies)
        if not op.results or isinstance(op, affine.ApplyOp | arith.ConstantOp) or _is_fused(op):
            return
        phase, count, lanes = self._phase(varies, path)
        is_float = isinstance(op.results[0].type, AnyFloat) or isinstance(op, arith.CmpfOp)
        slots = _SLOTS.get(op.name, 1.0 if is_float else _INTEGER_SLOTS)
        phase.arithmetic.append(ArithmeticWork(count, lanes, slots, op.name in _SLOTS))
        if isinstance(op, arith.AddfOp):
            phase.chain = max(phase.chain, self._chain(op, count, path))

    def _chain(self, op: arith.AddfOp, count: int, path: _Path) -> float:
        """Return how many of `count` additions in an iteration add to the same sum."""
        for operand in op.operands:
            load = operand.owner
            if isinstance(load, memref.LoadOp) and load.memref in self._arrays:
                index = self._index_bits(load)
                sums = (x.size for x in path if x.kind is _Kind.Unrolled and index & x.bit)
                return count / prod(sums)
        return 0.0

    def _index_bits(self, op: memref.LoadOp | memref.StoreOp) -> int:
        bits = 0
        for value in op.indices:
            bits |= self._varies.get(value, 0)
        return bits

    def _access(self, op: memref.LoadOp | memref.StoreOp, path: _Path) -> None:
        buffer, index = op.memref, self._index_bits(op)
        serial = _bits(loop for loop in path if loop.kind in _SERIAL)
        # A load of what the kernel writes happens again in each iteration.
        varies = index | serial if buffer in self._written else index
        if isinstance(op, memref.LoadOp):
            self._varies[op.res] = varies
        else:
            varies |= self._varies.get(op.value, 0)
        space = _space_of(buffer)
        if buffer in self._arrays and space is AccessSpace.PRIVATE:
            around = self._arrays[buffer]
            inner = _bits(loop for loop in path if loop.kind in _SERIAL and loop not in around)
            if not index & inner:
                self._keep_in_registers(buffer)
                return
        self._note(op, buffer, self._addresses.of_elements(buffer, op.indices), varies, path, space)

    def _keep_in_registers(self, buffer: SSAValue) -> None:
        if buffer not in self._numbers:
            self._numbers[buffer] = len(self._numbers)
            self.private_bytes += byte_count(buffer.type)

    def _texel(self, op: tir.TexelReadOp | tir.TexelWriteOp, path: _Path) -> None:
        buffer = op.source if isinstance(op, tir.TexelReadOp) else op.destination
        varies = 0
        for value in op.coords:
            varies |= self._varies.get(value, 0)
        steps = self._addresses.of_texels(buffer, op.coords)
        self._note(op, buffer, steps, varies, path, _space_of(buffer))
        if isinstance(op, tir.TexelReadOp):
            self._varies[op.result] = varies | self._varies.get(op.lane, 0)

    def _note(
        self,
        op: Operation,
        buffer: SSAValue,
        steps: Steps | None,
        varies: int,
        path: _Path,
        space: AccessSpace,
    ) -> None:
        """Add an access to its phase, and its stream."""
        if steps is None:
            steps = {loop.number: None for loop in path if varies & loop.bit}
        is_texel = isinstance(op, tir.TexelReadOp | tir.TexelWriteOp)
        phase, count, lanes = self._phase(varies, path)
        lane = next((loop for loop in path if loop.kind is _Kind.Vectorized), None)
        step = 0 if lane is None else steps.get(lane.number, 0)
        pattern = LanePattern.CONTIGUOUS if is_texel else _pattern(step, lanes)
        neighbours = [loop for loop in path if loop.kind in _NEIGHBOURS]
        apart = steps.get(neighbours[-1].number, 0) if neighbours else 0
        is_store = isinstance(op, memref.StoreOp | tir.TexelWriteOp)
        size = _element_bytes(buffer)
        lanes = tir.TEXEL if is_texel else lanes if pattern is not LanePattern.SCALAR else 1
        access = MemoryAccess(count, lanes, pattern, space, is_store, apart, size)
        phase.accesses.append(access)
        if space in (AccessSpace.GLOBAL, AccessSpace.TEXTURE):
            self._stream(buffer, steps, path, is_store, is_texel)

    def _stream(
        self, buffer: SSAValue, steps: Steps, path: _Path, is_store: bool, is_texel: bool
    ) -> None:
        number = self._numbers.setdefault(buffer, len(self._numbers))
        key = (number, is_store, tuple(sorted(steps.items(), key=lambda item: item[0])))
        if key in self._seen:
            return
        self._seen.add(key)
        axes: list[StreamAxis] = []
        loops: list[int] = []
        for loop in path:
            for axis in self._axes(loop, steps.get(loop.number, 0)):
                axes.append(axis)
                loops.append(loop.number)
        if is_texel:
            axes.append(StreamAxis(tir.TEXEL, 1, LoopLevel.INNER))
            loops.append(_LANES)
        size = _element_bytes(buffer)
        stream = BufferStream(
            number, byte_count(buffer.type), size, tuple(axes), tuple(loops), is_store
        )
        self.streams.append(stream)

    def _axes(self, loop: _Loop, step: int | None) -> list[StreamAxis]:
        if loop.kind in _GLOBAL:
            inside = self._group[loop.kind.axis]
            outer = None if step is None else step * inside
            groups = StreamAxis(ceil(loop.size / inside), outer, LoopLevel.GROUP)
            return [groups, StreamAxis(min(loop.size, inside), step, LoopLevel.ITEM)]
        if loop.kind in _LOCAL:
            return [StreamAxis(loop.size, step, LoopLevel.ITEM)]
        return [
            StreamAxis(loop.size, step, LoopLevel.GROUP if loop.kind.is_bound else LoopLevel.INNER)
        ]


def _bits(loops: Iterable[_Loop]) -> int:
    bits = 0
    for loop in loops:
        bits |= loop.bit
    return bits


def _is_fused(op: Operation) -> bool:
    """Return whether a product and the sum that only it feeds are one instruction."""
    if not isinstance(op, arith.MulfOp) or not op.result.has_one_use():
        return False
    return isinstance(next(iter(op.result.uses)).operation, arith.AddfOp | arith.SubfOp)


def _pattern(step: int | None, lanes: int) -> LanePattern:
    if lanes == 1 or step == 0:
        return LanePattern.SCALAR
    if step is None:
        return LanePattern.SCATTERED
    return {1: LanePattern.CONTIGUOUS, 2: LanePattern.EVERY_OTHER}.get(step, LanePattern.SCATTERED)


def _space_of(buffer: SSAValue) -> AccessSpace:
    scope = memref_of(buffer).memory_space
    if not isinstance(scope, tir.ScopeAttr):
        return AccessSpace.GLOBAL
    match scope.scope:
        case tir.Scope.Texture:
            return AccessSpace.TEXTURE
        case tir.Scope.Local:
            return AccessSpace.LOCAL
        case tir.Scope.Private:
            return AccessSpace.PRIVATE
        case _:
            return AccessSpace.GLOBAL


def _element_bytes(buffer: SSAValue) -> int:
    element: Attribute = memref_of(buffer).element_type
    return element.size if isinstance(element, FixedBitwidthType) else 4
