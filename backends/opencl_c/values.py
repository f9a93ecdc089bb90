"""Kernels between tir and text: a graph of C expressions in nested blocks of statements.

A `Node` is a pure expression or a load. Nodes are shared: `Graph.node` returns an equal node that
was made earlier in the same or an enclosing block, if there is one. `placement` decides later
whether a node becomes a variable or is written at its use, so nothing here has a name yet.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dialects.tir.affine import Linear
from ...dialects.tir.texture import Image
from .types import CType


@dataclass(eq=False, repr=False)
class Array:
    """A buffer addressed by index: a parameter, or a local or private array."""

    hint: str
    space: str
    storage: str
    """The C type of an element in memory."""
    ctype: CType
    """The type of one element in expressions; a vector if each lane has its own array."""
    size: int
    written: bool
    name: str = ""
    has_texels: bool = False
    """Whether there are accesses to whole texels of four elements, by their number."""
    has_elements: bool = False
    """Whether there are other accesses."""
    in_place: list[Array] = field(default_factory=list["Array"])
    """Other parameters that may be the same memory."""

    @property
    def is_packed(self) -> bool:
        """Whether it is an array of vectors in C, because all accesses move whole texels.

        This is known after the kernel is built. Without native half there are no vectors of halves.
        Parameters that may be the same memory have the same type.
        """
        native = self.storage != "half" or self.ctype.base == "half"
        moved_whole = all(array.has_texels and not array.has_elements for array in self.names)
        return moved_whole and native

    @property
    def names(self) -> frozenset[Array]:
        """All arrays that a store to this one may change."""
        return frozenset((self, *self.in_place))


@dataclass(eq=False, repr=False)
class Texture:
    """A kernel parameter that is an image; read or written, never both."""

    hint: str
    image: Image
    ctype: CType
    """The type of one element in expressions."""
    written: bool
    name: str = ""


@dataclass(eq=False, repr=False)
class Register:
    """One variable of a private memref that is kept in registers."""

    hint: str
    ctype: CType
    name: str = ""


Storage = Array | Texture | Register


@dataclass(eq=False, repr=False)
class Node:
    """One expression. `kind` decides what `payload` means; `text` has a method per kind."""

    kind: str
    ctype: CType
    operands: tuple[Node, ...]
    payload: Any
    block: Block
    sequence: int
    hint: str = ""
    numbered: bool = False
    """Whether the node comes from an unrolled loop: its name has a number."""
    reads: Storage | None = None
    remake: Callable[[Sequence[Node]], Node] | None = None
    """Makes the same operation on other operands, for expressions of which a lane is cheaper to
    compute again than to extract.
    """
    owner: Node | None = None
    """The conditional expression that guards this node and so decides its place."""
    name: str = ""
    is_variable: bool = False


@dataclass(eq=False, repr=False)
class Statement:
    """A step with an effect; `operands` are the expressions it evaluates, in order."""

    block: Block
    operands: tuple[Node, ...]
    writes: frozenset[Storage]

    def blocks(self) -> Sequence[Block]:
        """The nested blocks."""
        return ()


@dataclass(eq=False, repr=False)
class Store(Statement):
    """`array[index] = value`, or a vector store; `operands` is the value and the parts of the
    index.
    """

    array: Array
    index: Linear

    @property
    def value(self) -> Node:
        return self.operands[0]

    @property
    def address(self) -> tuple[Node, ...]:
        """The nodes of the index."""
        return self.operands[1:]


@dataclass(eq=False, repr=False)
class Fetch(Statement):
    """Asks the memory for an element that is read later; `operands` are the parts of its index."""

    array: Array
    index: Linear


@dataclass(eq=False, repr=False)
class TexelStore(Statement):
    """Writes a whole texel; `operands` is the vector and the coordinates."""

    buffer: Array | Texture


@dataclass(eq=False, repr=False)
class Assign(Statement):
    """`register = value`, or one lane of it."""

    register: Register
    lane: int | None = None

    @property
    def value(self) -> Node:
        return self.operands[0]


@dataclass(eq=False, repr=False)
class Declare(Statement):
    """Declares registers; a register whose first use is an assignment is declared there instead."""

    registers: tuple[Register, ...]


@dataclass(eq=False, repr=False)
class DeclareArray(Statement):
    """Declares a local or private array."""

    array: Array


@dataclass(eq=False, repr=False)
class Variable:
    """A loop variable or a work-item index."""

    hint: str
    home: Block
    name: str = ""


@dataclass(eq=False, repr=False)
class DeclareIndex(Statement):
    """`const int i = get_global_id(0);`"""

    variable: Variable
    function: str
    axis: int


@dataclass(eq=False, repr=False)
class Loop(Statement):
    """A counted loop."""

    variable: Variable
    extent: int
    body: Block
    bound: Variable | None = None
    """The kernel's argument that holds the extent."""

    def blocks(self) -> Sequence[Block]:
        return (self.body,)


@dataclass(eq=False, repr=False)
class If(Statement):
    """A conditional statement; the only operand is the condition."""

    then: Block
    other: Block | None

    def blocks(self) -> Sequence[Block]:
        return (self.then,) if self.other is None else (self.then, self.other)


@dataclass(eq=False, repr=False)
class Barrier(Statement):
    """A work-group barrier."""


@dataclass(eq=False, repr=False)
class Block:
    """Nodes and statements in the order of evaluation."""

    parent: Block | None
    is_loop: bool = False
    """Whether the block may be executed more than once per execution of its parent."""
    items: list[Node | Statement] = field(default_factory=list[Node | Statement])

    def chain(self) -> Iterator[Block]:
        """The block and those around it, innermost first."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def depth(self) -> int:
        """The number of blocks around this one."""
        return sum(1 for _ in self.chain()) - 1


class Graph:
    """Makes nodes and statements in the current block."""

    def __init__(self) -> None:
        self.root = Block(None)
        self.block = self.root
        self.numbered = False
        self._count = 0
        self._known: dict[Hashable, dict[Block, Node]] = {}
        self._versions: dict[Storage, int] = {}
        self._version = 0
        self._changed_in: dict[Storage, Block] = {}

    def node(
        self,
        kind: str,
        ctype: CType,
        operands: Sequence[Node] = (),
        payload: object = None,
        *,
        key: Hashable = None,
        hint: str = "",
        reads: Storage | None = None,
        remake: Callable[[Sequence[Node]], Node] | None = None,
        needs: Sequence[Block] = (),
        is_safe: bool = False,
    ) -> Node:
        """The node for this expression: an earlier one that still holds, or a new one.

        `key` identifies a payload that is not hashable. `needs` are the blocks of the variables in
        the payload. If `is_safe`, it may be evaluated outside of the conditions around it.
        """
        version = self._versions.get(reads, 0) if reads is not None else 0
        operands = tuple(operands)
        known = self._known.setdefault((kind, ctype, operands, key or payload, reads, version), {})
        block = self.block if known else None
        while block is not None:
            if (node := known.get(block)) is not None:
                return node
            block = block.parent
        block = self._home(operands, needs, reads, is_safe)
        self._count += 1
        node = Node(
            kind,
            ctype,
            operands,
            payload,
            block,
            self._count,
            hint,
            self.numbered,
            reads,
            remake,
        )
        known[block] = node
        block.items.append(node)
        return node

    def _home(
        self,
        operands: Sequence[Node],
        needs: Sequence[Block],
        reads: Storage | None,
        is_safe: bool,
    ) -> Block:
        """The block that evaluates an expression: outside of loops in which it does not change."""
        needed = [*needs, *(operand.block for operand in operands)]
        if reads is not None and reads in self._changed_in:
            needed.append(self._changed_in[reads])
        block = self.block
        while block.parent is not None and block not in needed and (block.is_loop or is_safe):
            block = block.parent
        return block

    def read(self, register: Register) -> Node:
        """The value of a register at this place."""
        return self.node("register", register.ctype, payload=register, reads=register)

    def add(self, statement: Statement) -> None:
        """Append a statement to its block; later loads see its stores."""
        statement.block.items.append(statement)
        self.invalidate(statement.writes)

    def invalidate(self, written: frozenset[Storage]) -> None:
        """Forget the values loaded from `written` memory: later loads make new nodes."""
        for storage in written:
            self._version += 1
            self._versions[storage] = self._version
            self._changed_in[storage] = self.block
