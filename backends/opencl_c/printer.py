"""Printer of a kernel's graph as OpenCL C 1.2."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from xdsl.ir.affine import AffineBinaryOpKind

from ...dialects import tir
from ...dialects.tir.affine import Linear
from ...machine.target import Target
from ...targets import multiplies_bytes
from .build import KernelTextBuilder
from .functions import is_function, widest_call
from .functions.rounding import remark
from .names import NameScopes
from .placement import Placement
from .signature import LINE_LENGTH, check_kernel, comment_lines, parameter_list
from .storage import sizes_of
from .text import Texts
from .types import WIDE_BYTES
from .unrolling import unrolled_steps
from .values import (
    Array,
    Assign,
    Barrier,
    Block,
    CountedLoop,
    Declare,
    DeclareArray,
    DeclareIndex,
    ElementStore,
    Fetch,
    If,
    Node,
    Register,
    Statement,
    TexelStore,
    Texture,
)

FETCH = "FETCH"
"""The macro that prefetches the data at a pointer."""
_LONGEST_INLINE = 72
# In a sum of products the factors become variables rather than the product: C may contract a
# product and an addition into an fma only within one expression.
_LONGEST_LOAD = 44
"""Length in characters beyond which a load becomes a variable."""
_COMPOUND = ("+", "-", "*", "/", "&", "|", "^")


class KernelPrinter:
    """A printer of one kernel; `text()` returns its source."""

    def __init__(self, func: tir.FuncOp, target: Target, *, is_called: bool = False):
        """Prepare to print a kernel, as a function if another kernel calls it (`tir.turn`).

        The last parameters of the function are the work-item's indices.
        """
        self.func = func
        self._is_called = is_called
        self._indices: list[str] = []
        """The parameters that are indices, by dimension."""
        self._unrolls = target.device.device_type == "cpu"
        self.builder = KernelTextBuilder(func, target)
        self.builder.build()
        self._remark = remark(func, target)
        self.placement = Placement(self.builder.graph)
        self.texts = Texts(
            self.builder.space,
            mad=target.compiler.builtins,
            select=target.compiler.builtins,
            wide=tuple(_wide_spaces(target)),
            # LLVM forgets that the sum of two ints does not overflow: it would add and widen one
            # for each element of a tile. 1x1 convolutions take .8 to 1 of the time (PoCL, Zen 3).
            pointer_offsets=target.device.device_type == "cpu",
            # PoCL 3.1 splits a store of a vector of bytes into single bytes, so it is printed as
            # ints.
            ints_of_bytes=multiplies_bytes(target) and target.device.device_type == "cpu",
        )
        self.names = NameScopes()
        self.lines: list[str] = []
        self._starts: dict[Array, str] = {}
        """The names of the arguments that hold the index of a row's first element."""
        self.indent = 0
        self.fetches = False
        """Whether the text printed so far contains prefetches."""
        self._initialised: dict[Statement, Register] = {}
        self._statements: dict[type[Statement], Callable[..., None]] = {
            ElementStore: self._store,
            TexelStore: self._texel_store,
            Assign: self._assign,
            Declare: self._declare,
            DeclareArray: self._declare_array,
            DeclareIndex: self._declare_index,
            CountedLoop: self._loop,
            Fetch: self._fetch,
            If: self._if,
            Barrier: self._barrier,
        }

    def text(self) -> str:
        """Return the kernel's source text."""
        builder = self.builder
        arguments = len(builder.parameters) + len(builder.bounds) + len(builder.rows)
        self._header(check_kernel(self.func, arguments))
        for row, start in self._starts.items():
            self.lines.append(f"    {row.name} += {start};")
        for at, wanted in self.func.run_conditions:
            self.lines.append(f"    if ({'!' * wanted}*{builder.parameters[at].name}) return;")
        if self._remark is not None:
            self.lines.append(f"    {self._remark}")
        self._block(self.builder.graph.root)
        self._line("}")
        return "\n".join(self.lines) + "\n"

    def types(self) -> frozenset[str]:
        """Return the base C types of the kernel's expressions and arrays.

        `half` is not among them if the kernel only widens halves on loading and rounds on storing,
        because core OpenCL C supports pointers to halves.
        """
        arrays = {
            buffer.ctype.base
            for buffer in self.builder.memory.buffers.values()
            if isinstance(buffer, Array)
            and not (buffer.storage == "half" and buffer in self.builder.parameters)
        }
        return frozenset(arrays | {node.ctype.base for node in self.placement.used()})

    def functions(self) -> frozenset[tuple[str, int]]:
        """Return the functions of ours that the kernel calls, each with its vector width."""
        return frozenset(
            (node.payload, min(node.ctype.width, widest_call(node.payload)))
            for node in self.placement.used()
            if node.kind == "call" and is_function(node.payload)
        )

    def _line(self, text: str) -> None:
        """Add a line at the current indentation, broken at spaces if it is too long."""
        margin = " " * (4 * self.indent)
        while len(margin) + len(text) > LINE_LENGTH:
            end = _break(text, LINE_LENGTH - len(margin))
            if end == 0:
                break
            self.lines.append(margin + text[:end])
            text = text[end + 1 :]
            margin = " " * (4 * self.indent + 8)
        self.lines.append(margin + text)

    def _header(self, name: str) -> None:
        self.lines += comment_lines(self.func)
        local = sizes_of(self.func.local_size)
        if local and not self._is_called:
            sizes = ", ".join(str(size) for size in [*local, 1, 1][:3])
            self._line(f"__attribute__((reqd_work_group_size({sizes})))")
        parameters = [self._parameter(buffer) for buffer in self.builder.parameters]
        for bound in self.builder.bounds.values():
            bound.name = self.names.new(bound.hint)
            parameters.append(f"const int {bound.name}")
        for row in self.builder.rows:
            start = self._starts[row] = self.names.new(f"{row.hint}_at")
            parameters.append(f"const int {start}")
        if self._is_called:
            axes = "xyz"[: len(sizes_of(self.func.global_size))]
            self._indices = [self.names.new(f"item_{axis}") for axis in axes]
            parameters += [f"const int {index}" for index in self._indices]
        kind = "static" if self._is_called else "__kernel"
        self.lines += parameter_list(f"{kind} void {name}", parameters)

    def _parameter(self, buffer: Array | Texture) -> str:
        name = buffer.name = self.names.new(buffer.hint)
        if isinstance(buffer, Texture):
            access = "__write_only" if buffer.written else "__read_only"
            return f"{access} {buffer.image.kind.value}_t {name}"
        # `restrict` asserts that no other pointer accesses the same memory (C99, 6.7.3.1).
        restrict = "" if buffer.in_place else "restrict "
        return f"{buffer.pointer(buffer.written)}{restrict}{name}"

    # Blocks

    def _block(self, block: Block) -> None:
        self.indent += 1
        self.names.open()
        for item in block.items:
            if isinstance(item, Node):
                self._node(item)
            else:
                self._statements[type(item)](item)
        self.names.close()
        self.indent -= 1

    def _node(self, node: Node) -> None:
        if not self.placement.is_used(node) or node.owner is not None or node.kind == "stepped":
            return
        if not node.is_variable:
            if node.kind in ("constant", "index", "register"):
                return
            if len(self.texts(node)[0]) <= _longest(node):
                return
        text = self.texts.expression(node)[0]
        node.name = self.names.new(_hint(node), numbered=node.numbered)
        self._line(f"const {node.ctype.text} {node.name} = {text};")

    # Statements

    def _store(self, store: ElementStore) -> None:
        array, value = store.array, store.value
        if array.storage == "half" and value.ctype.base == "float":
            width = value.ctype.width
            if value.kind == "broadcast" and value.operands[0].kind == "constant":
                # PoCL 3.1 crashes here: it stores a constant vector of halves as if it were
                # aligned.
                width, value = 1, value.operands[0]
            text = self.texts(value)[0]
            if width == 1:
                for lane in range(store.value.ctype.width):
                    at = store.index + Linear({}, lane)
                    index = self.texts.indices.linear(at, store.address)[0]
                    self._line(f"vstore_half({text}, {index}, {array.name});")
            else:
                pointer = self.texts.pointer(array, store.index, store.address)
                self._line(f"vstore_half{width}({text}, 0, {pointer});")
        elif value.ctype.width > array.ctype.width:
            text, width = self.texts(value)[0], value.ctype.width
            self._line(self.texts.vector_store(array, store.index, store.address, text, width))
        else:
            self._assignment(self.texts.element(array, store.index, store.address), value, store)

    def _texel_store(self, store: TexelStore) -> None:
        value, *coords = store.operands
        self._line(self.texts.texel_store(store.buffer, value, coords))

    def _assign(self, assign: Assign) -> None:
        register = assign.register
        if assign in self._initialised:
            register.name = self.names.new(register.hint)
            self._line(f"{register.ctype.text} {register.name} = {self.texts(assign.value)[0]};")
            return
        lane = "" if assign.lane is None else f".s{assign.lane:x}"
        self._assignment(register.name + lane, assign.value, assign)

    def _assignment(self, target: str, value: Node, statement: Statement) -> None:
        """Print `target = value;`, or `target += rest;` if the value is `target + rest`."""
        is_operator = not value.name and value.kind == "binary" and not self.texts.is_mad(value)
        if is_operator and value.payload in _COMPOUND:
            left, right = value.operands
            symbol = value.payload
            if self._is_current(left, target, statement):
                self._line(f"{target} {symbol}= {self.texts(right)[0]};")
                return
            if symbol in "+*&|^" and self._is_current(right, target, statement):
                self._line(f"{target} {symbol}= {self.texts(left)[0]};")
                return
        self._line(f"{target} = {self.texts(value)[0]};")

    def _is_current(self, node: Node, target: str, statement: Statement) -> bool:
        read = node.operands[0] if node.kind == "lane" else node
        return (
            not node.name
            and read.reads is not None
            and read.reads in statement.writes
            and self.texts.expression(node)[0] == target
        )

    def _declare(self, declare: Declare) -> None:
        """Declare the registers whose first use is not an assignment of the whole register."""
        block = declare.block
        first: dict[Register, Statement] = {}
        for item in block.items[block.items.index(declare) + 1 :]:
            if isinstance(item, Statement):
                for storage in item.writes:
                    if isinstance(storage, Register):
                        first.setdefault(storage, item)
        plain: list[Register] = []
        for register in declare.registers:
            start = first.get(register)
            if isinstance(start, Assign) and start.lane is None:
                self._initialised[start] = register
            elif start is not None:
                register.name = self.names.new(register.hint)
                plain.append(register)
        if plain:
            names = ", ".join(register.name for register in plain)
            self._line(f"{plain[0].ctype.text} {names};")

    def _declare_array(self, declare: DeclareArray) -> None:
        array = declare.array
        array.name = self.names.new(array.hint)
        space = "__local " if array.space == "local" else ""
        aligned = ""
        if self.texts.wide and array.space == "local":
            aligned = f" __attribute__((aligned({WIDE_BYTES})))"
        self._line(f"{space}{array.storage} {array.name}[{array.size}]{aligned};")

    def _declare_index(self, declare: DeclareIndex) -> None:
        declare.variable.name = self.names.new(declare.variable.hint)
        ctype = self.builder.index_type.text
        index = (
            self._indices[declare.axis]
            if self._is_called
            else f"{declare.function}({declare.axis})"
        )
        self._line(f"const {ctype} {declare.variable.name} = {index};")

    def _loop(self, loop: CountedLoop) -> None:
        ctype = self.builder.index_type.text
        steps: list[str] = []
        for node in loop.body.items:
            if isinstance(node, Node) and node.kind == "stepped" and self.placement.is_used(node):
                node.name = self.names.new(_hint(node))
                step = node.payload[1]
                steps.append(f", {node.name} {'-' if step < 0 else '+'}= {abs(step)}")
                self._line(f"{ctype} {node.name} = {self.texts.expression(node)[0]};")
        self.names.open()
        name = loop.variable.name = self.names.new(loop.variable.hint)
        end = loop.bound.name if loop.bound is not None else loop.extent
        if self._unrolls and (steps_at_once := unrolled_steps(loop)) > 1:
            number = "" if steps_at_once == loop.extent else f" {steps_at_once}"
            self._line(f"#pragma unroll{number}")
        self._line(f"for ({ctype} {name} = 0; {name} < {end}; {name}++{''.join(steps)}) {{")
        self._block(loop.body)
        self._line("}")
        self.names.close()

    def _fetch(self, fetch: Fetch) -> None:
        self.fetches = True
        pointer = self.texts.pointer(fetch.array, fetch.index, fetch.operands)
        self._line(f"{FETCH}({pointer});")

    def _barrier(self, barrier: Barrier) -> None:
        self._line("barrier(CLK_LOCAL_MEM_FENCE);")

    def _if(self, statement: If) -> None:
        self._line(f"if ({self.texts(statement.operands[0])[0]}) {{")
        self._block(statement.then)
        if statement.other is not None:
            self._line("} else {")
            self._block(statement.other)
        self._line("}")


def _wide_spaces(target: Target) -> Iterator[str]:
    """Yield the address spaces in which aligned vectors are accessed through vector pointers."""
    if target.compiler.wide_accesses != "off":
        yield "global"
    if target.compiler.wide_accesses == "all":
        yield "local"


def _break(text: str, limit: int) -> int:
    """Return the position of the space at which to break a long line, or 0.

    Spaces outside of parentheses are preferred, then spaces after a comma, then those far to the
    right.
    """
    best, choice, depth = 0, (0, False, 0), 0
    for position, character in enumerate(text[: limit + 1]):
        depth += (character in "([") - (character in ")]")
        if character == " " and position > limit // 3:
            candidate = (-depth, text[position - 1] == ",", position)
            if not best or candidate > choice:
                best, choice = position, candidate
    return best


def _longest(node: Node) -> int:
    """Return the length of text up to which a node that is used once gets no variable."""
    if node.kind == "binary" and node.payload == "*" and node.ctype.is_float:
        return sys.maxsize
    return _LONGEST_LOAD if node.kind in ("load", "quads", "texel") else _LONGEST_INLINE


def _hint(node: Node) -> str:
    if node.hint:
        return node.hint
    if node.kind == "division":
        return "q" if node.payload[0].kind is AffineBinaryOpKind.FloorDiv else "r"
    return "c" if node.ctype.is_bool else "t"
