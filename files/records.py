"""Frozen dataclasses as JSON: written without defaults, read strictly, described by a schema.

A field is an integer, a string, a `Literal`, a dataclass, a tuple of these, or one of them or None.
It may also be one of several dataclasses, each with a `Literal` field `op` that identifies it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

_TAG = "op"


class RecordError(ValueError):
    """JSON does not match a dataclass; the message says where."""


def record_as_json(record: object) -> Any:
    """Return a dataclass as JSON values, without fields that have their default."""
    if isinstance(record, tuple):
        return [record_as_json(each) for each in cast("tuple[object, ...]", record)]
    if not is_dataclass(record):
        return record
    written: dict[str, Any] = {}
    for name, default, is_literal in _columns(type(record)):
        value = getattr(record, name)
        if is_literal or value != default:
            written[name] = record_as_json(value)
    return written


def read_record(cls: type[Record], table: object) -> Record:
    """Read the result of `record_as_json` for a `cls`; raise RecordError if types differ."""
    return _reader(cls)(table)


@cache
def _columns(cls: type) -> list[tuple[str, object, bool]]:
    """Return the name and default of each field, and whether it is a constant; these come first."""
    types = get_type_hints(cls)
    columns = [(f.name, f.default, _is_constant(types[f.name])) for f in _fields(cls)]
    return sorted(columns, key=lambda column: not column[2])


def _is_constant(type_: object) -> bool:
    return get_origin(type_) is Literal and len(get_args(type_)) == 1


def _fields(cls: type) -> tuple[Field[Any], ...]:
    return fields(cast("Any", cls))


@cache
def _reader(type_: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(type_), get_args(type_)
    if type_ in _SCALARS:
        return _scalar_reader(type_)
    if origin is Literal:
        return _literal_reader(args)
    if origin is tuple:
        return _tuple_reader(args)
    if origin in (Union, UnionType):
        others = [each for each in args if each is not NoneType]
        return _tagged_reader(others) if len(others) > 1 else _optional_reader(others[0])
    return _dataclass_reader(type_)


_SCALARS: dict[type, str] = {int: "an integer", str: "a string"}


def _scalar_reader(type_: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not type_:
            raise RecordError(f": expected {_SCALARS[type_]}, found {_kind(value)}")
        return value

    return read


def _literal_reader(words: tuple[Any, ...]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        for word in words:
            if value == word and type(value) is type(word):
                return word
        raise RecordError(f": expected one of {', '.join(map(repr, words))}")

    return read


def _tuple_reader(args: tuple[Any, ...]) -> Callable[[Any], Any]:
    read_item = _reader(args[0])
    count = None if args[-1] is Ellipsis else len(args)

    def read(value: Any) -> Any:
        if type(value) is not list:
            raise RecordError(f": expected a list, found {_kind(value)}")
        items = cast("list[Any]", value)
        if count is not None and len(items) != count:
            raise RecordError(f": expected {count} elements, found {len(items)}")
        try:
            return tuple(map(read_item, items))
        except RecordError:
            for number, item in enumerate(items):
                _read_at(f"[{number}]", read_item, item)
            raise

    return read


def _optional_reader(type_: Any) -> Callable[[Any], Any]:
    read_value = _reader(type_)
    return lambda value: None if value is None else read_value(value)


def _tagged_reader(classes: list[type]) -> Callable[[Any], Any]:
    readers: dict[str, Callable[[Any], Any]] = {}
    for each in classes:
        (tag,) = get_args(get_type_hints(each)[_TAG])
        readers[tag] = _reader(each)

    def read(value: Any) -> Any:
        tag = cast("dict[str, Any]", value).get(_TAG) if isinstance(value, dict) else None
        if not isinstance(tag, str) or tag not in readers:
            raise RecordError(f".{_TAG}: expected one of {', '.join(map(repr, readers))}")
        return readers[tag](value)

    return read


def _dataclass_reader(cls: type) -> Callable[[Any], Any]:
    types = get_type_hints(cls)
    columns = [(f.name, f.default, _reader(types[f.name])) for f in _fields(cls)]

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise RecordError(f": expected an object, found {_kind(value)}")
        table = cast("dict[str, Any]", value)
        values: list[Any] = []
        for name, default, read_value in columns:
            if name in table:
                try:
                    values.append(read_value(table[name]))
                except RecordError as error:
                    raise RecordError(f".{name}{error}") from error
            elif default is MISSING:
                raise RecordError(f": the field {name} is missing")
            else:
                values.append(default)
        return cls(*values)

    return read


def _read_at(place: str, read: Callable[[Any], Any], value: Any) -> None:
    try:
        read(value)
    except RecordError as error:
        raise RecordError(f"{place}{error}") from error


def _kind(value: object) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "a list", **_SCALARS}
    return kinds.get(type(value), "something else")


def schema_of(cls: type) -> dict[str, Any]:
    """Return the JSON schema of a dataclass, with docstrings as descriptions."""
    definitions: dict[str, Any] = {}
    _define(cls, definitions)
    top = definitions.pop(cls.__name__)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": cls.__name__,
        **top,
        "definitions": dict(sorted(definitions.items())),
    }


def _define(cls: type, definitions: dict[str, Any]) -> None:
    """Add the schemas of a dataclass and of the dataclasses in its fields."""
    definitions[cls.__name__] = {}
    types, comments = get_type_hints(cls), dict(_comments(cls))
    properties: dict[str, Any] = {}
    for field in _fields(cls):
        found = _schema(types[field.name], definitions)
        if field.name in comments:
            found = {"description": comments[field.name], **found}
        properties[field.name] = found
    constants = {name for name, _, is_constant in _columns(cls) if is_constant}
    required = [f.name for f in _fields(cls) if f.default is MISSING or f.name in constants]
    definitions[cls.__name__] = {
        "description": " ".join((cls.__doc__ or "").split()),
        "type": "object",
        "properties": properties,
        "required": required,
    }


def _schema(type_: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, args = get_origin(type_), get_args(type_)
    if type_ in _SCALARS:
        return {"type": {int: "integer", str: "string"}[type_]}
    if origin is Literal:
        return {"enum": list(args)}
    if origin is tuple:
        items = {"type": "array", "items": _schema(args[0], definitions)}
        limits = {} if args[-1] is Ellipsis else {"minItems": len(args), "maxItems": len(args)}
        return items | limits
    if origin in (Union, UnionType):
        choices = [_schema(each, definitions) for each in args if each is not NoneType]
        return {"oneOf": choices} if len(choices) > 1 else choices[0]
    if type_.__name__ not in definitions:
        _define(type_, definitions)
    return {"$ref": f"#/definitions/{type_.__name__}"}


def _comments(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class with their docstrings."""
    (definition,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(definition, ast.ClassDef)
    for field, comment in pairwise(definition.body):
        match field, comment:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                yield name, " ".join(text.split())
            case _:
                pass
