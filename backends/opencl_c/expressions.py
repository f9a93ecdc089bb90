"""Factory of expression nodes: constants, indices, conversions, operators and calls.

The typing rules of C and OpenCL C are all here: the integer operands of an operation agree in
signedness, vector operands agree in width, and truth values are ints (scalar) or masks (vector).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineBinaryOpExpr, AffineDimExpr, AffineExpr

from ...dialects.tir.affine import Linear, linear
from .builtins import MASK_OPERATORS, Sign
from .comparisons import NEGATED, SWAPPED, decide
from .index import IndexSpace
from .types import BOOL, CType, mask_type
from .values import Block, ExpressionGraph, Node

_SHIFTS = ("<<", ">>")


class Expressions:
    """A factory of nodes in the current block of a graph."""

    def __init__(self, graph: ExpressionGraph, space: IndexSpace, index_type: CType):
        self.graph = graph
        self.space = space
        self.index_type = index_type
        self.lane_width = 1

    # Constants and indices

    def constant(self, value: float | int, ctype: CType) -> Node:
        """Return a scalar constant."""
        return self.graph.node("constant", ctype, payload=value, key=repr(value))

    def broadcast(self, node: Node, width: int) -> Node:
        """Return a vector whose lanes are all `node`."""
        if node.ctype.width == width:
            return node
        ctype, scalar = node.ctype.of_width(width), node
        if ctype.mask:
            node = self.unary("-", CType("int"), node)
        return self.graph.node("broadcast", ctype, [node], remake=lambda _: scalar)

    def index(self, form: Linear) -> Node:
        """Return the value of an index: a vector if the lanes differ."""
        if not self.space.is_varying(form):
            key = (frozenset(form.terms.items()), form.constant)
            return self.graph.node(
                "index", self.index_type, self.atoms(form), form, key=key,
                needs=self.space.blocks_of(form),
            )  # fmt: skip
        stride = self.space.lane_stride(form)
        width = self.lane_width
        if stride is None:
            return self.build([self.index(self.at_lane(form, i)) for i in range(width)])
        base = self.at_lane(form, 0)
        key = (frozenset(base.terms.items()), base.constant, stride)
        return self.graph.node(
            "lanes",
            self.index_type.of_width(width),
            self.atoms(base),
            (base, stride),
            key=key,
            needs=self.space.blocks_of(base),
            remake=lambda _: self.index(form),
        )

    def atoms(self, form: Linear) -> list[Node]:
        """Return the nodes that occur in the terms of a form; loop variables are not nodes."""
        return [node for atom in form.terms if (node := self.atom(atom)) is not None]

    def address(self, form: Linear) -> list[Node]:
        """Return the nodes of an address: one node for everything except its constant.

        Accesses that differ only in the constant share that node.
        """
        if len(form.terms) < 2:
            return self.atoms(form)
        variable = Linear(form.terms, 0)
        node = self.graph.node(
            "sum", self.index_type, self.atoms(form), variable,
            key=frozenset(form.terms.items()), hint="at",
            needs=self.space.blocks_of(form), is_safe=True,
        )  # fmt: skip
        node.numbered = False
        return [node]

    def atom(self, atom: AffineExpr) -> Node | None:
        """Return the node of a computed dimension, quotient or remainder; None for a variable."""
        if isinstance(atom, AffineDimExpr):
            dimension = self.space.dimensions[atom.position]
            return dimension if isinstance(dimension, Node) else None
        assert isinstance(atom, AffineBinaryOpExpr)
        form = linear(atom.lhs, self.space.extents)
        low, _ = self.space.bounds(form)
        return self.graph.node(
            "division", self.index_type, self.atoms(form), (atom, form, low), key=atom,
            needs=self.space.blocks_of(form), is_safe=True,
        )  # fmt: skip

    def at_lane(self, form: Linear, lane: int) -> Linear:
        """Return the form for one lane."""
        return self.space.at_lane(form, lane, self.lane)

    def to_form(self, node: Node, extent: int | None = None) -> Linear:
        """Return an integer expression as an index."""
        if node.kind == "index":
            return node.payload
        if node.kind == "constant":
            return Linear({}, int(node.payload))
        return self.space.of_node(self.convert(node, self.index_type), extent)

    def compare_index(self, symbol: str, lhs: Linear, rhs: Linear) -> Node:
        """Return a comparison of indices, folded to a constant if their ranges decide it."""
        form = lhs + rhs.scaled(-1)
        low, high = self.space.bounds(form)
        if (folded := decide(symbol, low, high)) is not None:
            return self.constant(int(folded), BOOL)
        if all(k < 0 for k in form.terms.values()):
            form, symbol = form.scaled(-1), SWAPPED[symbol]
        left = Linear({a: k for a, k in form.terms.items() if k > 0}, 0)
        right = Linear({a: -k for a, k in form.terms.items() if k < 0}, -form.constant)
        if right.terms and right.constant < 0:
            left, right = Linear(left.terms, -right.constant), Linear(right.terms, 0)
        return self.compare(symbol, self.index(left), self.index(right))

    # Lanes

    def build(self, lanes: Sequence[Node]) -> Node:
        """Return a vector with these lanes."""
        first = lanes[0]
        if all(lane is first for lane in lanes):
            return self.broadcast(first, len(lanes))
        ctype = first.ctype.of_width(len(lanes))
        if ctype.mask:
            lanes = [self.unary("-", CType("int"), lane) for lane in lanes]
        return self.graph.node("build", ctype, lanes)

    def pick(self, node: Node, lanes: Sequence[int]) -> Node:
        """Return the vector of the given lanes of `node`."""
        ctype = node.ctype.of_width(len(lanes))
        return self.graph.node("swizzle", ctype, [node], tuple(lanes))

    def lane(self, node: Node, lane: int) -> Node:
        """Return one lane of a vector; a scalar is the same in every lane."""
        if node.ctype.width == 1:
            return node
        if node.kind == "lanes":
            base, stride = node.payload
            return self.index(Linear(base.terms, base.constant + stride * lane))
        if node.remake is not None and (node.kind == "broadcast" or _is_cheap(node)):
            return node.remake([self.lane(operand, lane) for operand in node.operands])
        if node.kind == "build" and not node.ctype.mask:
            return node.operands[lane]
        element = self.graph.node("lane", node.ctype._replace(width=1, mask=False), [node], lane)
        if not node.ctype.mask:
            return element
        return self.compare("!=", element, self.constant(0, element.ctype))

    # Types

    def convert(self, node: Node, ctype: CType) -> Node:
        """Return the value converted to another element type, with the same width."""
        source = node.ctype
        target = ctype.resized(source.width)
        if source.mask and not target.is_bool:
            signed = source._replace(mask=False)
            number = self.graph.node(
                "unary", signed, [node], "-",
                remake=lambda new: self.convert(new[0], signed),
            )  # fmt: skip
            return self.convert(number, ctype)
        if source.mask:
            return self.mask(node, target.bits)
        if source == target or (source.is_bool and ctype.base == "int"):
            return node if source == target else self._convert(node, target)
        if target.base == "bool":
            zero = self.constant(0, source._replace(width=1))
            return self.compare("!=", node, zero)
        if node.kind == "constant":
            return self.constant(_wrapped(node.payload, target), target)
        return self._convert(node, target)

    def _convert(self, node: Node, target: CType) -> Node:
        return self.graph.node(
            "convert", target, [node], remake=lambda new: self.convert(new[0], target)
        )

    def mask(self, node: Node, bits: int) -> Node:
        """Return a mask whose elements have `bits` bits."""
        if node.ctype.bits == bits:
            return node
        return self.graph.node("convert", mask_type(bits, node.ctype.width), [node])

    def as_type(self, node: Node, ctype: CType) -> Node:
        """Return the value converted to the type of a variable, including its width."""
        node = self.broadcast(node, ctype.width)
        return self.mask(node, ctype.bits) if ctype.mask else self.convert(node, ctype)

    def reinterpret(self, node: Node, ctype: CType) -> Node:
        """Return the same bits as another type."""
        if node.ctype == ctype:
            return node
        return self.graph.node("reinterpret", ctype, [node])

    def with_sign(self, node: Node, sign: Sign) -> Node:
        """Return an integer with the signedness that an operation needs."""
        if node.ctype.is_float or node.ctype.is_bool or sign is Sign.ANY:
            return node
        wanted = node.ctype.unsigned() if sign is Sign.UNSIGNED else node.ctype.signed()
        if wanted == node.ctype:
            return node
        return self.convert(node, wanted) if wanted.width == 1 else self.reinterpret(node, wanted)

    def unify(self, nodes: Sequence[Node], sign: Sign) -> list[Node]:
        """Return the operands of one operation with a common signedness."""
        if sign is Sign.ANY and len({node.ctype.base for node in nodes}) > 1:
            sign = Sign.SIGNED
        return [self.with_sign(node, sign) for node in nodes]

    # Operations

    def unary(self, symbol: str, ctype: CType, operand: Node) -> Node:
        """Return a prefix operator."""
        return self.graph.node(
            "unary", ctype, [operand], symbol,
            remake=lambda new: self.unary(symbol, new[0].ctype, new[0]),
        )  # fmt: skip

    def binary(self, symbol: str, lhs: Node, rhs: Node, sign: Sign = Sign.ANY) -> Node:
        """Return an arithmetic operator; scalars narrower than int wrap at their own width."""
        lhs, rhs = self.unify([lhs, rhs], sign)
        width = max(lhs.ctype.width, rhs.ctype.width)
        ctype = lhs.ctype.resized(width)
        if width > 1:
            lhs, rhs = self._widen_narrow(lhs, width), self._widen_narrow(rhs, width)
        if symbol in _SHIFTS:
            lhs = self.broadcast(lhs, width)  # OpenCL C 1.2, 6.3j: a scalar cannot move by a vector

        def remake(new: Sequence[Node]) -> Node:
            return self.binary(symbol, new[0], new[1], sign)

        if not _is_narrow(ctype):
            return self.graph.node("binary", ctype, [lhs, rhs], symbol, remake=remake)
        wide = self.graph.node("binary", CType("int"), [lhs, rhs], symbol, remake=remake)
        return self.graph.node("convert", ctype, [wide])

    def _widen_narrow(self, node: Node, width: int) -> Node:
        """Return a scalar narrower than int as a vector, because C would compute it as int."""
        return self.broadcast(node, width) if _is_narrow(node.ctype) else node

    def compare(self, symbol: str, lhs: Node, rhs: Node, sign: Sign = Sign.ANY) -> Node:
        """Return a comparison: a scalar truth value or a mask."""
        lhs, rhs = self.unify([lhs, rhs], sign)
        width = max(lhs.ctype.width, rhs.ctype.width)
        if width == 1:
            ctype = BOOL
        else:
            if lhs.ctype.is_bool:
                lhs, rhs = self.same_masks([lhs, rhs])
            lhs, rhs = self._widen_narrow(lhs, width), self._widen_narrow(rhs, width)
            ctype = mask_type(lhs.ctype.bits, width)
        return self.graph.node(
            "binary", ctype, [lhs, rhs], symbol,
            remake=lambda new: self._compare_lane(symbol, new[0], new[1], sign),
        )  # fmt: skip

    def _compare_lane(self, symbol: str, lhs: Node, rhs: Node, sign: Sign) -> Node:
        """Return the comparison of one lane, whose indices may decide it at compile time."""
        if lhs.kind == rhs.kind == "index" and sign is not Sign.UNSIGNED:
            return self.compare_index(symbol, lhs.payload, rhs.payload)
        return self.compare(symbol, lhs, rhs, sign)

    def same_masks(self, nodes: Sequence[Node]) -> list[Node]:
        """Return truth values as masks of one type if any of them is a mask."""
        masks = [node.ctype for node in nodes if node.ctype.mask]
        if not masks:
            return list(nodes)
        widest = max(masks, key=lambda ctype: ctype.bits)
        return [self.mask(self.broadcast(node, widest.width), widest.bits) for node in nodes]

    def logic(self, symbol: str, lhs: Node, rhs: Node) -> Node:
        """Return `&&`, `||` or `!=` of truth values, folding constants."""
        for node, other in ((lhs, rhs), (rhs, lhs)):
            if node.kind == "constant":
                return self._logic_constant(symbol, bool(node.payload), other)
        lhs, rhs = self.same_masks([lhs, rhs])

        def remake(new: Sequence[Node]) -> Node:
            return self.logic(symbol, new[0], new[1])

        if lhs.ctype.mask:
            operator = MASK_OPERATORS[symbol]
            return self.graph.node("binary", lhs.ctype, [lhs, rhs], operator, remake=remake)
        return self.graph.node("binary", BOOL, [lhs, rhs], symbol, remake=remake)

    def _logic_constant(self, symbol: str, value: bool, other: Node) -> Node:
        match symbol, value:
            case ("&&", True) | ("||", False) | ("!=", False):
                return other
            case ("!=", True):
                return self.negate(other)
            case _:
                return self.constant(int(value), BOOL)

    def negate(self, node: Node) -> Node:
        """Return the opposite truth value."""
        if node.kind == "constant":
            return self.constant(int(not node.payload), BOOL)
        if (
            node.kind == "binary"
            and node.payload in NEGATED
            and not (node.operands[0].ctype.is_float)
        ):
            lhs, rhs = node.operands
            return self.compare(NEGATED[node.payload], lhs, rhs)
        return self.graph.node(
            "unary", node.ctype, [node], "~" if node.ctype.mask else "!",
            remake=lambda new: self.negate(new[0]),
        )  # fmt: skip

    def call(self, name: str, ctype: CType, operands: Sequence[Node]) -> Node:
        """Return a call of a function; `ctype` has the width of the widest operand.

        Scalar operands are broadcast to that width.
        """
        if ctype.width > 1:
            operands = [self.broadcast(node, ctype.width) for node in operands]
        return self.graph.node("call", ctype, [self._exact(node) for node in operands], name)

    def _exact(self, node: Node) -> Node:
        """Return an argument with exactly its own C type, so that overload resolution is unique.

        Literals, `?:` and unary operators on integers narrower than int have type int in C.
        """
        is_int = node.kind in ("constant", "select", "unary")
        return self._convert(node, node.ctype) if is_int and _is_narrow(node.ctype) else node

    def select(self, condition: Node, then: Node, other: Node) -> Node:
        """Return `condition ? then : other`, lane by lane if the condition is a mask."""
        if condition.kind == "constant":
            return then if condition.payload else other
        then, other = self.unify([then, other], Sign.ANY)
        if then.ctype.is_bool:
            then, other = self.same_masks([then, other])
        width = max(node.ctype.width for node in (condition, then, other))
        if width > 1:
            then, other = self.broadcast(then, width), self.broadcast(other, width)
        if condition.ctype.mask:
            if then.ctype.is_bool and then.ctype.bits != condition.ctype.bits:
                then, other = (self.mask(node, condition.ctype.bits) for node in (then, other))
            condition = self.mask(condition, then.ctype.bits)
        return self.graph.node(
            "select", then.ctype, [condition, then, other],
            remake=lambda new: self.select(new[0], new[1], new[2]),
        )  # fmt: skip

    def guarded(self, condition: Node, then: Node, other: Node, branches: Sequence[Block]) -> Node:
        """Return a conditional expression that evaluates only the chosen side."""
        here = self.graph.block
        node = self.graph.node("select", then.ctype, [condition, then, other], needs=[here])
        for branch in branches:
            for item in branch.items:
                assert isinstance(item, Node)
                item.owner, item.block = node, here
            here.items[-1:-1] = branch.items
        return node


def _is_narrow(ctype: CType) -> bool:
    """Return whether C promotes scalars of this type to int."""
    return ctype.width == 1 and not (ctype.is_float or ctype.is_bool) and ctype.bits < 32


def _is_cheap(node: Node) -> bool:
    """Return whether an expression depends only on indices and constants."""
    if node.kind in ("lanes", "index", "constant", "division"):
        return True
    kinds = ("binary", "unary", "convert", "select", "broadcast", "build")
    return node.kind in kinds and all(map(_is_cheap, node.operands))


def _wrapped(value: float | int, ctype: CType) -> float | int:
    """Return a constant converted to another type by C's rules."""
    if ctype.is_float:
        return float(value)
    if ctype.is_bool:
        return int(value != 0)
    wrapped = int(value) & ((1 << ctype.bits) - 1)
    if not ctype.is_unsigned and wrapped >> (ctype.bits - 1):
        wrapped -= 1 << ctype.bits
    return wrapped
