"""C text of expressions, each with the precedence of its outermost operator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ...dialects.tir import QUAD
from ...dialects.tir.affine import Linear
from .builtins import CONDITIONAL, PRECEDENCE, PRIMARY, UNARY, WIDEST_CALL, Text, atom
from .functions import function_name, is_function, widest_call
from .index import IndexSpace, is_multiple
from .index_text import IndexTexts
from .types import WIDE_BYTES, CType, float_literal, int_literal
from .values import Array, Node, Texture

_SAMPLER = "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST"
_IMAGE_SUFFIX = {"float": "f", "half": "h", "int": "i", "uint": "ui"}
_BITWISE = ("<<", ">>", "&", "^", "|")


class Texts:
    """A renderer of the nodes of one kernel, with one method per kind of node."""

    def __init__(
        self,
        space: IndexSpace,
        *,
        mad: bool = False,
        select: bool = False,
        wide: Collection[str] = (),
        pointer_offsets: bool = False,
        ints_of_bytes: bool = False,
    ):
        self.indices = IndexTexts(space, self)
        self.mad = mad
        self.select = select
        self.wide = wide
        self.pointer_offsets = pointer_offsets
        self.ints_of_bytes = ints_of_bytes
        linear = self.indices.linear
        self._renderers: dict[str, Callable[[Node], Text]] = {
            "constant": self._constant,
            "index": lambda node: linear(node.payload, node.operands),
            "sum": lambda node: linear(node.payload, node.operands),
            "hoisted": lambda node: linear(node.payload, node.operands),
            "stepped": lambda node: linear(node.payload[0], node.operands),
            "lanes": self.indices.lanes,
            "division": self.indices.division,
            "unary": self._unary,
            "binary": self._binary,
            "call": self._call,
            "convert": self._convert,
            "reinterpret": lambda node: (f"as_{node.ctype.text}({self.plain(node, 0)})", PRIMARY),
            "broadcast": self._vector,
            "build": self._vector,
            "lane": lambda node: (f"{self.postfix(node.operands[0])}.s{node.payload:x}", PRIMARY),
            "swizzle": self._swizzle,
            "select": self._select,
            "load": self._load,
            "quads": self._quads,
            "texel": self._texel,
            "sampler": lambda _: (_SAMPLER, PRECEDENCE["|"]),
            "register": lambda node: (node.payload.name, PRIMARY),
        }

    def __call__(self, node: Node) -> Text:
        """Return the variable of a node if it has one, else the expression."""
        return (node.name, PRIMARY) if node.name else self.expression(node)

    def expression(self, node: Node) -> Text:
        """Return the expression, even if a variable holds its value."""
        return self._renderers[node.kind](node)

    def plain(self, node: Node, operand: int) -> str:
        """Return an operand as a function argument."""
        return self(node.operands[operand])[0]

    def postfix(self, node: Node) -> str:
        """Return a node as text that `.s0` can follow."""
        return atom(self(node), PRIMARY)

    # Operators

    def _constant(self, node: Node) -> Text:
        base = node.ctype.base
        if node.ctype.is_float:
            text = float_literal(node.payload, base)
        elif node.ctype.is_unsigned:
            text = f"{node.payload}{'UL' if base == 'ulong' else 'u'}"
        else:
            text = int_literal(node.payload, base)
        return text, UNARY if text.startswith("-") else PRIMARY

    def _unary(self, node: Node) -> Text:
        operand = atom(self(node.operands[0]), UNARY)
        if operand.startswith(node.payload):
            operand = f"({operand})"
        return node.payload + operand, UNARY

    def _binary(self, node: Node) -> Text:
        if self.is_mad(node):
            return self._mad(node)
        symbol: str = node.payload
        precedence = PRECEDENCE[symbol]
        left, right = precedence, precedence + 1
        if symbol in _BITWISE:
            left = right = UNARY
        elif precedence in (PRECEDENCE["<"], PRECEDENCE["=="]):
            left = right = PRECEDENCE["+"]
        elif symbol in ("&&", "||"):
            left = right = PRECEDENCE["=="]
        operands = [
            self._side(operand, symbol, least)
            for operand, least in zip(node.operands, (left, right), strict=True)
        ]
        return f" {symbol} ".join(operands), precedence

    def is_mad(self, node: Node) -> bool:
        """Return whether a sum is printed as `mad(a, b, c)`."""
        return (
            self.mad
            and node.kind == "binary"
            and node.payload == "+"
            and node.ctype.is_float
            and node.ctype.width <= WIDEST_CALL
            and any(_is_product(operand, node.ctype) for operand in node.operands)
        )

    def _mad(self, node: Node) -> Text:
        left, right = node.operands
        product, rest = (right, left) if _is_product(right, node.ctype) else (left, right)
        factors = sorted(product.operands, key=lambda factor: -factor.ctype.width)
        arguments = ", ".join(self._as_wide(x, node.ctype) for x in (*factors, rest))
        return f"mad({arguments})", PRIMARY

    def _as_wide(self, node: Node, ctype: CType) -> str:
        """Return an argument of a function whose arguments must have one type."""
        text = self(node)[0]
        return text if node.ctype.width == ctype.width else f"({ctype.text})({text})"

    def _side(self, operand: Node, symbol: str, precedence: int) -> str:
        text = self(operand)
        if symbol in ("&&", "||") and text[1] == PRECEDENCE[symbol]:
            return text[0]
        return atom(text, precedence)

    def _call(self, node: Node) -> Text:
        name, widest = node.payload, widest_call(node.payload)
        if is_function(name):
            name = function_name(name, min(node.ctype.width, widest))
        if node.ctype.width > widest:
            half = [
                f"{name}({', '.join(f'{self.postfix(o)}.{part}' for o in node.operands)})"
                for part in ("lo", "hi")
            ]
            return f"({node.ctype.text})({', '.join(half)})", UNARY
        arguments = ", ".join(self(operand)[0] for operand in node.operands)
        return f"{name}({arguments})", PRIMARY

    def _convert(self, node: Node) -> Text:
        (operand,) = node.operands
        if node.ctype.width > 1:
            return f"convert_{node.ctype.text}({self.plain(node, 0)})", PRIMARY
        if operand.ctype.base == "bool" and node.ctype.base == "int":
            return self(operand)
        return f"({node.ctype.text}){atom(self(operand), UNARY)}", UNARY

    def _vector(self, node: Node) -> Text:
        lanes = ", ".join(self(operand)[0] for operand in node.operands)
        return f"({node.ctype.text})({lanes})", UNARY

    def _swizzle(self, node: Node) -> Text:
        width = node.operands[0].ctype.width
        lanes: tuple[int, ...] = node.payload
        name = "s" + "".join(f"{lane:x}" for lane in lanes)
        for half, first in (("even", 0), ("odd", 1)):
            if lanes == tuple(range(first, width, 2)):
                name = half
        return f"{self.postfix(node.operands[0])}.{name}", PRIMARY

    def _select(self, node: Node) -> Text:
        condition, then, other = (self(operand) for operand in node.operands)
        if self.select and node.operands[0].ctype.width > 1:
            return f"select({other[0]}, {then[0]}, {condition[0]})", PRIMARY
        text = (
            f"{atom(condition, PRECEDENCE['=='])} ? {atom(then, CONDITIONAL + 1)}"
            f" : {atom(other, CONDITIONAL)}"
        )
        return text, CONDITIONAL

    # Memory

    def _load(self, node: Node) -> Text:
        array, form, width = node.payload
        assert isinstance(array, Array)
        if array.storage == "half" and node.ctype.base == "float":
            return self._load_half(array, form, node, width), PRIMARY
        if width > array.ctype.width:
            if self._is_wide(array, form, width):
                return self.wide_element(array, form, node.operands, width), UNARY
            return f"vload{width}(0, {self.pointer(array, form, node.operands)})", PRIMARY
        return self.element(array, form, node.operands), PRIMARY

    def _quads(self, node: Node) -> Text:
        """Return four bytes as an int, or a vector of such ints."""
        array, form, width = node.payload
        address, size = self.pointer(array, form, node.operands), WIDE_BYTES // QUAD
        is_wide = array.space in self.wide and width == size and is_multiple(form, WIDE_BYTES)
        if width == 1 or is_wide:
            return f"*(__{array.space} const {node.ctype.text} *)({address})", UNARY
        return f"vload{width}(0, (__{array.space} const int *)({address}))", PRIMARY

    def _load_half(self, array: Array, form: Linear, node: Node, width: int) -> str:
        if width == 1:
            return f"vload_half({self.indices.linear(form, node.operands)[0]}, {array.name})"
        # Four at a time: LLVM 15 (in PoCL 3.1) crashes on some uses of a wider load.
        step = min(width, 4)
        parts = [
            f"vload_half{step}(0, {self.pointer(array, form + Linear({}, at), node.operands)})"
            for at in range(0, width, step)
        ]
        return parts[0] if len(parts) == 1 else f"({node.ctype.text})({', '.join(parts)})"

    def _texel(self, node: Node) -> Text:
        buffer = node.payload
        if isinstance(buffer, Texture):
            arguments = [buffer.name, self.coordinates(node.operands)]
            if node.operands[-1].kind == "sampler":
                arguments[1:] = [self(node.operands[-1])[0], self.coordinates(node.operands[:-1])]
            return f"read_image{_IMAGE_SUFFIX[node.ctype.base]}({', '.join(arguments)})", PRIMARY
        at = self.plain(node, 0)
        if buffer.is_packed:
            return f"{buffer.name}[{at}]", PRIMARY
        half = "_half" if buffer.storage == "half" and node.ctype.base == "float" else ""
        return f"vload{half}4({at}, {buffer.name})", PRIMARY

    def texel_store(self, buffer: Array | Texture, value: Node, coords: Sequence[Node]) -> str:
        """Return the statement that writes a whole texel."""
        text, at = self(value)[0], self.coordinates(coords)
        if isinstance(buffer, Texture):
            return f"write_image{_IMAGE_SUFFIX[value.ctype.base]}({buffer.name}, {at}, {text});"
        if buffer.is_packed:
            return f"{buffer.name}[{at}] = {text};"
        half = "_half" if buffer.storage == "half" and value.ctype.base == "float" else ""
        return f"vstore{half}4({text}, {at}, {buffer.name});"

    def coordinates(self, nodes: Sequence[Node]) -> str:
        """Return coordinates as one argument: a scalar, a vector of 2, or of 4 with a layer."""
        ctype = "float" if nodes[0].ctype.is_float else "int"
        texts = [
            self(node)[0] if node.ctype.base == ctype else f"({ctype})({self(node)[0]})"
            for node in nodes
        ]
        if len(texts) == 1:
            return texts[0]
        if len(texts) == 3:
            texts.append("0.0f" if ctype == "float" else "0")
        return f"({ctype}{len(texts)})({', '.join(texts)})"

    def vector_store(
        self, array: Array, form: Linear, nodes: Sequence[Node], value: str, width: int
    ) -> str:
        """Return the statement that stores a vector of elements."""
        if self._is_wide(array, form, width):
            return f"{self.wide_element(array, form, nodes, width)} = {value};"
        pointer = self.pointer(array, form, nodes)
        is_bytes = array.storage == "char" and width == WIDE_BYTES and array.space == "global"
        is_bytes = is_bytes and not array.is_row
        if self.ints_of_bytes and is_bytes and is_multiple(form, QUAD):
            return f"vstore4(as_int4({value}), 0, (__global int *)({pointer}));"
        return f"vstore{width}({value}, 0, {pointer});"

    def _is_wide(self, array: Array, form: Linear, width: int) -> bool:
        """Return whether a vector of 16 bytes provably starts at a multiple of 16 bytes.

        Parameters start at multiples of 16 bytes, because buffers and aligned parts of buffers do.
        Local arrays are declared with that alignment.
        """
        return (
            array.space in self.wide
            and not array.is_row
            and array.storage == array.ctype.base
            and width * array.ctype.bits == 8 * WIDE_BYTES
            and is_multiple(form, width)
        )

    def wide_element(self, array: Array, form: Linear, nodes: Sequence[Node], width: int) -> str:
        """Return `*(__global float4 *)(x + i)`."""
        pointer = atom((self.pointer(array, form, nodes), PRECEDENCE["+"]), PRIMARY)
        constant = "" if array.written else "const "
        return f"*(__{array.space} {constant}{array.storage}{width} *){pointer}"

    def element(self, array: Array, form: Linear, nodes: Sequence[Node]) -> str:
        """Return `x[i]`, or `(x + i)[8]` if the number is a variable and a constant."""
        is_offset = len(nodes) == 1 and nodes[0].kind == "sum" and nodes[0].name
        if self.pointer_offsets and is_offset and form.constant:
            pointer = self.pointer(array, Linear(form.terms, 0), nodes)
            return f"({pointer})[{form.constant}]"
        return f"{array.name}[{self.indices.linear(form, nodes)[0]}]"

    def pointer(self, array: Array, form: Linear, nodes: Sequence[Node]) -> str:
        """Return `x + i`."""
        if not form.terms and form.constant == 0:
            return array.name
        text = atom(self.indices.linear(form, nodes), PRECEDENCE["+"])
        return f"{array.name} - {text[1:]}" if text.startswith("-") else f"{array.name} + {text}"


def _is_product(node: Node, ctype: CType) -> bool:
    """Return whether an operand of a sum is an unnamed product of the sum's vector width."""
    return (
        not node.name
        and node.kind == "binary"
        and node.payload == "*"
        and node.ctype.width == ctype.width
    )
