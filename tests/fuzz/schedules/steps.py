"""Random steps of a schedule, as the text that `tir-apply-schedule` reads."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import SSAValue

from clopt.dialects.tir import BlockOp, ForOp, FuncOp, LoopKind, enclosing_loops
from clopt.passes.tir.schedule.analysis import memref_of
from clopt.passes.tir.schedule.steps import STEPS

_WEIGHTS = {
    **dict.fromkeys(STEPS, 1.0),
    **{"split": 4.0, "reorder": 3.0, "fuse": 2.0, "bind": 3.0, "compute_at": 4.0},
    **{"cache_read": 1.5, "cache_write": 1.5, "cache_gather": 1.5, "rfactor": 1.5},
}
_NAMES = list(_WEIGHTS)
_ODDS = np.array(list(_WEIGHTS.values())) / sum(_WEIGHTS.values())
_BOUND = [kind.value for kind in LoopKind if kind.is_bound]


def random_step(func: FuncOp, rng: np.random.Generator) -> str:
    """A step that may or may not be legal for `func` as it is now."""
    return _Draw(func, rng).step()


def _reads(block: BlockOp) -> set[SSAValue]:
    return {load.memref for load in block.loads()}


class _Draw:
    def __init__(self, func: FuncOp, rng: np.random.Generator):
        self.func, self.rng = func, rng
        self.blocks = [op for op in func.walk() if isinstance(op, BlockOp)]

    def step(self) -> str:
        name = str(self.rng.choice(_NAMES, p=_ODDS))
        return f"{name} {' '.join(self._arguments(name))}"

    def _one(self, items: list[str]) -> str:
        return items[self.rng.integers(len(items))] if items else "none"

    def _arguments(self, name: str) -> list[str]:
        block = self.blocks[self.rng.integers(len(self.blocks))]
        label = block.label.data
        loops = [f"{label}.{loop.var.name_hint}" for loop in enclosing_loops(block)]
        match name:
            case "split" | "split_overlap":
                factors = [str(self.rng.integers(1, 6))]
                if name == "split" and self.rng.random() < 0.2:
                    factors.append(str(self.rng.integers(1, 4)))
                return [self._one(loops), *factors]
            case "fuse":
                at = int(self.rng.integers(max(len(loops) - 1, 1)))
                return loops[at : at + 2] if len(loops) > 1 else ["none.i", "none.j"]
            case "reorder":
                shuffled = [loops[int(i)] for i in self.rng.permutation(len(loops))]
                return shuffled[: self.rng.integers(2, 5)] if len(loops) > 1 else ["a.i", "a.j"]
            case "bind":
                return [self._one(loops), self._one(_BOUND)]
            case "compute_at":
                every = [op for op in self.func.walk() if isinstance(op, ForOp)]
                if self.rng.random() < 0.8:  # one around a block that reads its results
                    stored = {store.memref for store in block.stores()}
                    readers = [b for b in self.blocks if b is not block and _reads(b) & stored]
                    every = [loop for reader in readers for loop in enclosing_loops(reader)]
                if not every:
                    return [label, "none.i"]
                return [label, self._path(every[self.rng.integers(len(every))])]
            case "cache_read":
                names = [load.memref.name_hint or "?" for load in block.loads()]
                return [label, self._one(names), self._scope()]
            case "cache_gather":
                names = [load.memref.name_hint or "?" for load in block.loads()]
                order = self.rng.permutation(len(block.iter_vars))
                some = order[: self.rng.integers(1, len(order) + 1)]
                return [label, self._one(names), self._scope(), *(f"d{int(i)}" for i in some)]
            case "fetch_ahead":
                names = [load.memref.name_hint or "?" for load in block.loads()]
                return [label, self._one(names), str(64 * self.rng.integers(1, 4))]
            case "prefetch":
                return [self._one(loops), str(self.rng.integers(1, 4))]
            case "cache_write":
                return [label, self._scope()]
            case "set_scope":
                names = [store.memref.name_hint or "?" for store in block.stores()]
                return [self._one(names), self._scope()]
            case "rfactor_tree":
                return [self._one(loops), str(self.rng.integers(1, 4))]
            case "transform_layout":
                return self._layout()
            case "local_size":
                return [str(self.rng.integers(1, 5)) for _ in range(self.rng.integers(1, 4))]
            case _:
                return [self._one(loops)]

    def _path(self, loop: ForOp) -> str:
        """`block.loop` for a loop, by the first block inside of it."""
        inside = [op for op in loop.walk() if isinstance(op, BlockOp)]
        label = inside[0].label.data if inside else "none"
        return f"{label}.{loop.var.name_hint}"

    def _scope(self) -> str:
        return self._one(["private", "private", "local", "global"])

    def _layout(self) -> list[str]:
        temporaries = [op.memref for op in self.func.walk() if isinstance(op, memref.AllocaOp)]
        buffers = [*self.func.params, *temporaries]
        buffer = buffers[int(self.rng.integers(len(buffers)))]
        parts: list[str] = []
        for dim in range(memref_of(buffer).get_num_dims()):
            block = int(self.rng.integers(1, 5)) if buffer in self.func.params else 1
            parts += [f"d{dim}"] if block == 1 else [f"d{dim}/{block}", f"d{dim}%{block}"]
        order = self.rng.permutation(len(parts))
        return [buffer.name_hint or "?", *(parts[int(i)] for i in order)]
