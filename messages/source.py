"""MLIR text and errors in it: each error names the file, line and column, or the ONNX node."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FileLineColLoc,
    IndexType,
    IntegerType,
    ModuleOp,
    NameLoc,
)
from xdsl.ir import Operation
from xdsl.parser import AttrParser, Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ..errors import CloptError

# A comment, a string, or a quote without a closing quote on its line. xDSL's lexer would search for
# that closing quote in exponential time.
_QUOTES = re.compile(r'//[^\n]*|"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"|"')

ELIDED = "__elided__"
"""The name of a constant whose elements were not printed."""

_LEFT_OUT = "; --elide-larger-than left the constant out"

_EXCERPT = 100
"""Maximum columns of a line in an excerpt."""


class SourceError(CloptError):
    """A mistake in the input, at a position if it is known.

    A note of the exception has the line with a caret below the position.
    """

    def __init__(self, source: Source, position: int | None, message: str) -> None:
        self.source = source
        self.position = position
        self.sentence = _with_hint(message.strip().split("\n", 1)[0])
        self.line: int | None = None
        place = source.name
        if position is not None:
            # The parser has skipped the line breaks at the end, where a caret would show nothing.
            if not source.text[position:].strip():
                position = len(source.text.rstrip())
            self.line, column = source.line_and_column(position)
            place += f":{self.line}:{column}"
        named = self.sentence.startswith(source.name)
        super().__init__(self.sentence if named else f"{place}: {self.sentence}")
        if position is not None and source.text.strip():
            self.add_note(source.excerpt(position))

    def during(self, stage: str) -> SourceError:
        """Return the same error with the name of a pass in front."""
        return SourceError(self.source, self.position, f"{stage}: {self.sentence}")


class Source(NamedTuple):
    """A piece of input: its file, its text and the number of lines before it in the file."""

    name: str
    text: str = ""
    line_offset: int = 0

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Return the line in the whole file and the column of a position, both counted from 1."""
        column = position - self.text.rfind("\n", 0, position)
        return self.text.count("\n", 0, position) + 1 + self.line_offset, column

    def excerpt(self, position: int) -> str:
        """Return the line around a position, and a line with a caret below it."""
        begin = self.text.rfind("\n", 0, position) + 1
        line, caret = self.text[begin:].split("\n", 1)[0], position - begin
        # A line may contain a large constant, so only the part around the caret is shown.
        first = max(0, min(caret - _EXCERPT // 2, len(line) - _EXCERPT))
        shown, indent = line[first : first + _EXCERPT], line[first:caret]
        # Control characters and direction marks could change what the terminal shows.
        shown = "".join(c if c.isprintable() or c == "\t" else "?" for c in shown)
        return shown + "\n" + "".join(c if c == "\t" else " " for c in indent) + "^"


# xDSL has no public name for the class of elements.
_XDSLElement = AttrParser._TensorLiteralElement  # pyright: ignore[reportPrivateUsage]


class _Element(_XDSLElement):
    """An element of a dense constant.

    MLIR prints infinities as bits, and xDSL reads these as integers.
    """

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> Any:
        if isinstance(type, AnyFloat) and self.span.text.lower().startswith("0x"):
            return type.unpack(self.to_int(parser).to_bytes(type.size, "little"), 1)[0]
        return super().to_type(parser, type)


class _PositionParser(Parser):
    """Stores where each operation starts, because xDSL's operations do not."""

    def _parse_tensor_literal_element(self) -> _XDSLElement:
        element = super()._parse_tensor_literal_element()
        return _Element(element.is_negative, element.value, element.span)

    def __init__(self, ctx: Context, source: Source) -> None:
        super().__init__(ctx, source.text, source.name)
        self.starts: dict[Operation, int] = {}
        self.last_start = 0

    def parse_operation(self) -> Operation:
        start = self.last_start = self._current_token.span.start
        op = super().parse_operation()
        self.starts[op] = start
        return op

    def position(self, error: ParseError) -> int:
        """Return the position of a mistake, even if xDSL detects it later in the text."""
        if error.msg.startswith("Operation "):  # "… is not registered"
            return self.last_start
        if error.msg.startswith("values used but not defined"):
            for name, values in self.forward_ssa_references.items():
                users = [use.operation for value in values.values() for use in value.uses]
                for user in users:
                    if user in self.starts:
                        return self.lexer.input.content.find(f"%{name}", self.starts[user])
        return error.span.start


@dataclass
class SourceModule:
    """A module and the position of each operation in its source."""

    module: ModuleOp
    source: Source
    starts: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @classmethod
    def parse(cls, ctx: Context, source: Source, implicit_module: bool = True) -> SourceModule:
        """Parse MLIR text; raise a `SourceError` for a mistake."""
        for quote in _QUOTES.finditer(source.text):
            if quote.group() == '"':
                message = "a string that begins here does not end on its line"
                raise SourceError(source, quote.start(), message)
        parser: _PositionParser | None = None
        try:
            parser = _PositionParser(ctx, source)
            module = parser.parse_module(implicit_module)
        except ParseError as error:
            position = parser.position(error) if parser else error.span.start
            raise SourceError(source, position, error.msg) from error
        except Exception as error:
            position = parser.last_start if parser else 0
            raise SourceError(source, position, _complaint(error)) from error
        return cls(module, source, parser.starts)

    def verify(self) -> None:
        """Verify the module; raise an error about the first operation that is wrong."""
        try:
            self.module.verify()
        except Exception as error:  # xDSL's memref raises plain exceptions
            raise self.locate(error) from error

    def locate(self, error: Exception) -> SourceError:
        """Return the same error with the position of its operation, if known.

        A failing pass may leave other operations broken, too; the error is not about those.
        """
        for op in self.module.walk():
            try:
                op.verify(verify_nested_ops=False)
            except Exception as found:
                if str(found) not in str(error):
                    continue
                message = f"'{op.name}'{_node(op)}: {found}"
                return SourceError(self.source, self._position(op), message)
        return SourceError(self.source, None, str(error))

    def error_at(self, op: Operation, sentence: str) -> SourceError:
        """Return an error about an operation of the text."""
        return SourceError(self.source, self._position(op), sentence)

    def _position(self, op: Operation) -> int | None:
        """Return the position of an operation, or of the nearest enclosing one in the text."""
        owner: Operation | None = op
        while owner and owner not in self.starts:
            owner = owner.parent_op()
        return None if owner is None else self.starts[owner]


def _with_hint(message: str) -> str:
    """Return a message, with a hint if the text lacks the elements of a constant."""
    if ELIDED not in message or message.endswith(_LEFT_OUT):
        return message
    return f"{message}{_LEFT_OUT}"


def _complaint(error: Exception) -> str:
    """Return the message for an operation at which the parser raised `error`."""
    match error:
        case DiagnosticException() | NotImplementedError():
            return str(error)
        case RecursionError():
            return "brackets are nested too deeply here"
        case _:
            # xDSL assumes that numbers are small and strings are text.
            return f"xDSL cannot read this operation ({type(error).__name__}: {error})"


def _node(op: Operation) -> str:
    match op.location:
        case NameLoc(desc=name):
            return f" of node {name.data}"
        case FileLineColLoc() as location:
            return f" from {location.filename.data}:{location.line.data}"
        case _:
            return ""
