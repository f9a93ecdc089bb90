"""Reading a module so that every later complaint can name its file and line, or its ONNX node."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp, NameLoc
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from ..errors import CloptError

# A comment, a string, or a quote that no other quote closes on its line: there xDSL's lexer would
# look for the end for a time exponential in the length.
_QUOTES = re.compile(r'//[^\n]*|"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"|"')


class SourceError(CloptError):
    """A mistake at a known line of the input (line 0: it belongs to no line)."""

    def __init__(self, file: str, line: int, message: str) -> None:
        sentence = message.strip().split("\n", 1)[0]
        place = f"{file}:{line}: " if line else f"{file}: "
        super().__init__(sentence if sentence.startswith(file) else place + sentence)
        self.line = line
        self.sentence = sentence


class Source(NamedTuple):
    """One piece of input: the file it is from, its text and the lines of the file before it."""

    name: str
    text: str = ""
    line_offset: int = 0

    def error(self, position: int, message: str) -> SourceError:
        """A complaint about the line of a character position."""
        line = self.text.count("\n", 0, position) + 1 + self.line_offset
        return SourceError(self.name, line, message)


class _PositionParser(Parser):
    """Remembers where each operation starts, since xDSL's operations do not."""

    def __init__(self, ctx: Context, source: Source) -> None:
        super().__init__(ctx, source.text, source.name)
        self.starts: dict[Operation, int] = {}
        self.last_start = 0

    def parse_operation(self) -> Operation:
        start = self.last_start = self._current_token.span.start
        op = super().parse_operation()
        self.starts[op] = start
        return op


@dataclass
class SourceModule:
    """A module and where each of its operations comes from."""

    module: ModuleOp
    source: Source
    starts: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @classmethod
    def parse(cls, ctx: Context, source: Source, implicit_module: bool = True) -> SourceModule:
        """Parse MLIR text; a mistake in it raises a `SourceError`."""
        for quote in _QUOTES.finditer(source.text):
            if quote.group() == '"':
                raise source.error(
                    quote.start(), "a string that begins here does not end on its line"
                )
        parser: _PositionParser | None = None
        try:
            parser = _PositionParser(ctx, source)
            module = parser.parse_module(implicit_module)
        except ParseError as error:
            raise source.error(error.span.start, error.msg) from error
        except (DiagnosticException, NotImplementedError) as error:
            raise source.error(parser.last_start if parser else 0, str(error)) from error
        return cls(module, source, parser.starts)

    def verify(self) -> None:
        """Verify the module; complain about the line of the first operation that is wrong."""
        try:
            self.module.verify()
        except VerifyException as error:
            raise self.locate(error) from error

    def locate(self, error: DiagnosticException) -> SourceError:
        """The same complaint with the place of the operation it is about, when that is known."""
        for op in self.module.walk():
            try:
                op.verify(verify_nested_ops=False)
            except VerifyException as found:
                return self._error_at(op, f"'{op.name}'{_node(op)}: {found}")
        return SourceError(self.source.name, 0, str(error))

    def _error_at(self, op: Operation, message: str) -> SourceError:
        owner: Operation | None = op
        while owner and owner not in self.starts:
            owner = owner.parent_op()
        if owner is None:
            return SourceError(self.source.name, 0, message)
        return self.source.error(self.starts[owner], message)


def _node(op: Operation) -> str:
    match op.location:
        case NameLoc(desc=name):
            return f" of node {name.data}"
        case FileLineColLoc() as location:
            return f" from {location.filename.data}:{location.line.data}"
        case _:
            return ""
