"""Programs for the runner in C as named fields, so that a test can change one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from clopt.backends.host_c.runner_files import number, program_content, sized
from clopt.compiled_model import CompiledModel

Fields: TypeAlias = dict[str, int | bytes]
"""Numbers and bytes by name, in the order of the message; `slots` is how many rows follow it, and
`slots.1.offset` a number of the second."""

_IMAGE = ("kind", "channel", "width", "height", "layers")
_PLACE = ("pitch", "over_parts", "object", "object_offset")
_SIZES = ("global.0", "global.1", "global.2", "local.0", "local.1", "local.2")

# A name is a number, in brackets bytes; a tuple is a list, whose name comes first.
_GRAMMAR = (
    *("needs", "image_pitch", "inputs"),
    ("tensors", "[name]", "bytes"),
    ("arenas", "bytes"),
    ("sources", "[text]"),
    ("kernels", "[name]", "source", "read_images", "written_images"),
    ("roots", "kind", "bytes", "weights_offset", *(f"image.{each}" for each in _IMAGE)),
    (
        *("slots", "[name]", "root", "offset", "bytes"),
        *(f"image.{each}" for each in _IMAGE),
        *_PLACE,
    ),
    (
        "commands",
        "kind",
        "kernel",
        "dimensions",
        *_SIZES,
        ("arguments", "slot"),
        ("bounds", "bound"),
    ),
    *("[digest]", "[weights]"),
)


def fields_of(model: CompiledModel) -> Fields:
    """Return the fields of a compiled model as the runner loads it."""
    content = program_content(model.module, model.source, model.weights)
    fields: Fields = {}
    rest = _read(fields, "", _GRAMMAR, content)
    assert not rest
    assert message(fields) == content
    return fields


def message(fields: Fields) -> bytes:
    """Return the message of these fields, without the number of its request."""
    return b"".join(
        number(each) if isinstance(each, int) else sized(each) for each in fields.values()
    )


def numbers_in(fields: Fields) -> Iterator[str]:
    """Yield the names of the fields that are numbers."""
    yield from (name for name, value in fields.items() if isinstance(value, int))


def _read(fields: Fields, prefix: str, grammar: tuple[object, ...], content: bytes) -> bytes:
    """Read fields from the start of `content`; return the rest."""
    for item in grammar:
        value, content = int.from_bytes(content[:8], "little"), content[8:]
        match item:
            case (name, *row):
                fields[f"{prefix}{name}"] = value
                for i in range(value):
                    content = _read(fields, f"{prefix}{name}.{i}.", tuple(row), content)
            case str() if item.startswith("["):
                fields[prefix + item.strip("[]")] = content[:value]
                content = content[value:]
            case _:
                fields[f"{prefix}{item}"] = value
    return content
