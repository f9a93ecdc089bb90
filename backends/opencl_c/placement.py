"""Decision which expressions of a graph become variables; the others are printed at their use.

An expression becomes a variable if it is used more than once, or if a loop would compute it again.
It also becomes one if the memory from which it was loaded changes before its use. Expressions are
visited from last to first, so that all uses of an expression are known when it is decided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator

from .functions import widest_call
from .values import Block, ExpressionGraph, Node, Statement, Storage

Point = tuple[Block, int]
"""A point of evaluation: before the item with this number in a block."""

_NAMED = ("hoisted", "stepped", "sampler")
"""Kinds of expressions that always become variables."""
_FREE = ("constant", "index", "broadcast")
"""Kinds of expressions that never become variables."""
_REPEATABLE = ("register", "lane")
"""Kinds of expressions that do not become variables merely because they are used twice."""
_SHARED_SUM = 3
"""An address becomes a variable if at least this many accesses share it."""


class Placement:
    """The decision for one graph: it sets `Node.is_variable`, and knows which nodes are used."""

    def __init__(self, graph: ExpressionGraph):
        self._position: dict[Node | Statement, int] = {}
        self._around: dict[Block, Statement] = {}
        self._writes: dict[tuple[Block, Storage], list[int]] = defaultdict(list)
        self._users: dict[Node, list[Node | Statement]] = defaultdict(list)
        self._points: dict[Node, list[Point]] = {}
        self._named: set[Node] = set()
        self._number(graph.root)
        for node in sorted(self._users, key=lambda node: -node.sequence):
            if node.operands or node.kind not in _FREE:
                self._place(node)

    def is_used(self, node: Node) -> bool:
        """Return whether a statement needs the node."""
        return node in self._users

    def used(self) -> Iterable[Node]:
        """Return the nodes that some statement needs."""
        return self._users

    def _number(self, block: Block) -> None:
        for position, item in enumerate(block.items):
            self._position[item] = position
            if isinstance(item, Node):
                continue
            for storage in item.writes:
                self._writes[block, storage].append(position)
            for inner in item.blocks():
                self._around[inner] = item
                self._number(inner)
            for operand in item.operands:
                self._use(operand, item)

    def _use(self, node: Node, user: Node | Statement) -> None:
        """Record a use; the operands of a node count as used only if the node is used."""
        pending = [(node, user)]
        while pending:
            node, user = pending.pop()
            if node not in self._users:
                pending += [(operand, node) for operand in node.operands]
            self._users[node].append(user)

    def _place(self, node: Node) -> None:
        points = [point for user in self._users[node] for point in self._points_of(user)]
        self._points[node] = points
        conflict = node.reads is not None and any(
            self._changes(node.reads, node, point) for point in points
        )
        if node.owner is not None:
            if conflict:
                node.owner.is_variable = True
            return
        self._named.update(_by_parts(node))
        node.is_variable = (
            node.is_variable
            or conflict
            or (node.kind not in _FREE and self._deserves_name(node, points))
        )

    def _deserves_name(self, node: Node, points: list[Point]) -> bool:
        if node in self._named or node.kind in _NAMED:
            return True
        if node.kind in _REPEATABLE:
            return False
        if node.kind == "sum":
            return len(points) >= _SHARED_SUM
        if len(points) > 1:
            return True
        return node.kind != "division" and any(self._repeats(node, point) for point in points)

    def _points_of(self, user: Node | Statement) -> list[Point]:
        if isinstance(user, Node) and not user.is_variable:
            return self._points[user]
        return [(user.block, self._position[user])]

    def _path(self, node: Node, point: Point) -> Iterator[Point]:
        """Yield the points from a use outwards to the block of the node."""
        block, position = point
        yield point
        while block is not node.block:
            around = self._around[block]
            block, position = around.block, self._position[around]
            yield block, position

    def _repeats(self, node: Node, point: Point) -> bool:
        return any(block.is_loop for block, _ in self._path(node, point) if block is not node.block)

    def _changes(self, storage: Storage, node: Node, point: Point) -> bool:
        """Return whether `storage` is written between the node and a use of it.

        If the use is inside a statement, the writes of the whole statement count.
        """
        *inner, (block, position) = self._path(node, point)
        writes = self._writes.get((block, storage))
        if writes is None:
            return False
        first = bisect_right(writes, self._position[node])
        return first < len(writes) and (
            writes[first] < position or (bool(inner) and writes[first] == position)
        )


def _by_parts(node: Node) -> tuple[Node, ...]:
    """Return the operands from which the printed text extracts single lanes."""
    if node.kind == "call" and node.ctype.width > widest_call(node.payload):
        return tuple(operand for operand in node.operands if operand.kind != "register")
    if node.kind not in ("lane", "swizzle") or node.operands[0].kind in ("register", "load"):
        return ()
    return node.operands
