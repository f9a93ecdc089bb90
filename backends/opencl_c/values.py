"""The representation between tir and text: a graph of C expressions in nested blocks of statements.

A `Node` is a pure expression or a load. Nodes are shared: `ExpressionGraph.node` returns an equal
node of the same or an enclosing block if there is one. `placement` decides later whether a node
becomes a variable or is printed at its use, so nodes have no names at first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dialects.tir.affine import Linear
from ...dialects.tir.texture import TEXEL, Image
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
    """Whether the kernel accesses whole texels of four elements, by texel number."""
    has_elements: bool = False
    """Whether the kernel has any other accesses."""
    is_row: bool = False
    """Whether it is a parameter that may start at any element of a buffer, not aligned."""
    in_place: list[Array] = field(default_factory=list["Array"])
    """Other parameters that may be the same memory."""

    @property
    def is_packed(self) -> bool:
        """Whether the C array has vector elements, because all accesses move whole texels.

        This is known only after the kernel is built. Targets without native half have no vectors of
        halves. Parameters that may be the same memory get the same type. A row may start at any
        element.
        """
        native = self.storage != "half" or self.ctype.base == "half"
        moved_whole = all(
            array.has_texels and not (array.has_elements or array.is_row) for array in self.names
        )
        return moved_whole and native

    def pointer(self, is_written: bool) -> str:
        """Return the type of a pointer to a parameter, up to the star."""
        qualifier = "" if is_written or self.space == "constant" else "const "
        width = TEXEL if self.is_packed else ""
        return f"__{self.space} {qualifier}{self.storage}{width} *"

    @property
    def names(self) -> frozenset[Array]:
        """All arrays that a store to this one may change."""
        return frozenset((self, *self.in_place))


@dataclass(eq=False, repr=False)
class Texture:
    """A kernel parameter that is an image: either read or written."""

    hint: str
    image: Image
    ctype: CType
    """The type of one element in expressions."""
    written: bool
    name: str = ""


@dataclass(eq=False, repr=False)
class Register:
    """A variable that holds elements of a private memref."""

    hint: str
    ctype: CType
    name: str = ""


Storage = Array | Texture | Register


@dataclass(eq=False, repr=False)
class Node:
    """An expression; `kind` defines the meaning of `payload`, and `text` has a method per kind."""

    kind: str
    ctype: CType
    operands: tuple[Node, ...]
    payload: Any
    block: Block
    sequence: int
    hint: str = ""
    numbered: bool = False
    """Whether the node comes from an unrolled loop, so that its name gets a number."""
    reads: Storage | None = None
    remake: Callable[[Sequence[Node]], Node] | None = None
    """Builds the same operation on other operands; set if recomputing one lane is cheaper than
    extracting it."""
    owner: Node | None = None
    """The conditional expression that guards this node and therefore decides where it is evaluated.
    """
    name: str = ""
    is_variable: bool = False


@dataclass(eq=False, repr=False)
class Statement:
    """A step with an effect; `operands` are the expressions that it evaluates, in order."""

    block: Block
    operands: tuple[Node, ...]
    writes: frozenset[Storage]

    def blocks(self) -> Sequence[Block]:
        """Return the nested blocks."""
        return ()


@dataclass(eq=False, repr=False)
class ElementStore(Statement):
    """`array[index] = value`, or a vector store.

    `operands` are the value and the nodes of the index.
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
    """A prefetch of an element that is read later; `operands` are the nodes of its index."""

    array: Array
    index: Linear


@dataclass(eq=False, repr=False)
class TexelStore(Statement):
    """A write of a whole texel; `operands` are the vector and the coordinates."""

    buffer: Array | Texture


@dataclass(eq=False, repr=False)
class Assign(Statement):
    """`register = value`, or an assignment to one lane of the register."""

    register: Register
    lane: int | None = None

    @property
    def value(self) -> Node:
        return self.operands[0]


@dataclass(eq=False, repr=False)
class Declare(Statement):
    """A declaration of registers.

    A register whose first use is a whole assignment is declared by that assignment instead.
    """

    registers: tuple[Register, ...]


@dataclass(eq=False, repr=False)
class DeclareArray(Statement):
    """The declaration of a local or private array."""

    array: Array


@dataclass(eq=False, repr=False)
class Variable:
    """A loop variable or a work-item index."""

    hint: str
    home: Block
    name: str = ""


@dataclass(eq=False, repr=False)
class DeclareIndex(Statement):
    """The declaration of a work-item index: `const int i = get_global_id(0);`."""

    variable: Variable
    function: str
    axis: int


@dataclass(eq=False, repr=False)
class CountedLoop(Statement):
    """A counted loop."""

    variable: Variable
    extent: int
    body: Block
    bound: Variable | None = None
    """The kernel argument that holds the extent."""

    def blocks(self) -> Sequence[Block]:
        return (self.body,)


@dataclass(eq=False, repr=False)
class If(Statement):
    """A conditional statement; its only operand is the condition."""

    then: Block
    other: Block | None

    def blocks(self) -> Sequence[Block]:
        return (self.then,) if self.other is None else (self.then, self.other)


@dataclass(eq=False, repr=False)
class Barrier(Statement):
    """A work-group barrier."""


@dataclass(eq=False, repr=False)
class Block:
    """Nodes and statements in evaluation order."""

    parent: Block | None
    is_loop: bool = False
    """Whether one execution of the parent may execute the block more than once."""
    items: list[Node | Statement] = field(default_factory=list[Node | Statement])

    def chain(self) -> Iterator[Block]:
        """Yield the block and the blocks around it, innermost first."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def depth(self) -> int:
        """Return the number of blocks around this one."""
        return sum(1 for _ in self.chain()) - 1


class ExpressionGraph:
    """The graph of one kernel; it adds nodes and statements to the current block."""

    def __init__(self) -> None:
        self.root = Block(None)
        self.block = self.root
        self.numbered = False
        self._count = 0
        self._nodes: dict[Hashable, dict[Block, Node]] = {}
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
        """Return the node for this expression: a valid earlier one, or a new one.

        `key` identifies a payload that is not hashable. `needs` are the blocks of the variables in
        the payload. If `is_safe`, the expression may be evaluated outside of the conditions around
        it.
        """
        version = self._versions.get(reads, 0) if reads is not None else 0
        operands = tuple(operands)
        equal = self._nodes.setdefault((kind, ctype, operands, key or payload, reads, version), {})
        block = self.block if equal else None
        while block is not None:
            if (node := equal.get(block)) is not None:
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
        equal[block] = node
        block.items.append(node)
        return node

    def _home(
        self,
        operands: Sequence[Node],
        needs: Sequence[Block],
        reads: Storage | None,
        is_safe: bool,
    ) -> Block:
        """Return the block that evaluates an expression: outside of loops that do not change it."""
        needed = [*needs, *(operand.block for operand in operands)]
        if reads is not None and reads in self._changed_in:
            needed.append(self._changed_in[reads])
        block = self.block
        while block.parent is not None and block not in needed and (block.is_loop or is_safe):
            block = block.parent
        return block

    def read(self, register: Register) -> Node:
        """Return the current value of a register."""
        return self.node("register", register.ctype, payload=register, reads=register)

    def add(self, statement: Statement) -> None:
        """Append a statement to its block; later loads see its stores."""
        statement.block.items.append(statement)
        self.invalidate(statement.writes)

    def invalidate(self, written: frozenset[Storage]) -> None:
        """Forget the values loaded from `written` memory, so that later loads create new nodes."""
        for storage in written:
            self._version += 1
            self._versions[storage] = self._version
            self._changed_in[storage] = self.block
