"""The runner for boards without Python: its sources, and programs in its wire format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from hashlib import sha256

from xdsl.dialects.builtin import Float16Type, Float32Type, IntegerType, ModuleOp
from xdsl.ir import Attribute

from ...dialects import tir
from ...dialects.nn.types import numpy_dtype
from ...errors import CloptError
from ...files.resources import read_sources, read_text
from ...weights import Weights
from ..kernel_source import Feature, features_of
from ..programs import refuse_repetitions
from .model_source import program_sources
from .plans import make_plan
from .tables import Command, CopyRow, LaunchRow, Root, RootKind, Slot, Tables
from .weights_file import DIGEST_BYTES, gather

# Values of C's enumerations in runtime/clopt_tables.h.
_ROOTS = {kind: number for number, kind in enumerate(RootKind)}
_IMAGES = {tir.ImageKind.Buffer: 1, tir.ImageKind.Image2D: 2, tir.ImageKind.Array2D: 3}
_VIEWS = {tir.ImageKind.Buffer: 1, tir.ImageKind.Image2D: 2}
_FEATURES = {Feature.FP16: 1, Feature.FP64: 2, Feature.IMAGES: 4, Feature.ROUNDING: 8}
_LAUNCH, _COPY = 0, 1

# Values of OpenCL's cl_channel_type.
_HALF_FLOAT, _FLOAT = 0x10DD, 0x10DE
_SIGNED, _UNSIGNED = 0x10D7, 0x10DA
_INTEGERS = {8: 0, 16: 1, 32: 2}


def runner_files() -> dict[str, bytes]:
    """Return the files of the runner by path: C99, to be compiled for a board with CMake."""
    texts = {"CMakeLists.txt": read_text(__name__, "runner/CMakeLists.txt")}
    texts |= read_sources(__name__, "runner")
    runtime = read_sources(__name__, "runtime")
    texts |= {f"clopt_runtime/{path}": text for path, text in runtime.items()}
    return {path: text.encode() for path, text in texts.items()}


def number(value: int) -> bytes:
    """Return the encoding of a number in a message."""
    return (value % (1 << 64)).to_bytes(8, "little")


def numbers(*values: int) -> bytes:
    """Return the encodings of numbers, concatenated."""
    return b"".join(map(number, values))


def sized(content: bytes) -> bytes:
    """Return bytes of a message, preceded by their length."""
    return number(len(content)) + content


def program_content(module: ModuleOp, source: str, weights: Weights) -> bytes:
    """Return a compiled program in the runner's format: its tables, kernels and constants.

    `module` has planned memory; `source` is the OpenCL C of its kernels. Raises CloptError for a
    module that is not compiled.
    """
    plan = make_plan(module, source, weights)
    tables, constants = plan.tables, gather(weights, plan.keys)
    if tables.programs:
        raise CloptError(
            "A runner builds kernels from source, but this target names a program binary; tune the "
            "model for another target."
        )
    refuse_repetitions(tables.program, "a runner")
    sources = program_sources(tables, source)
    body = b"".join(
        (
            number(sum(bit for need, bit in _FEATURES.items() if need in features_of(source))),
            number(math.gcd(*tables.pitches)),
            _info(tables, plan.arenas),
            _list(_text(text) for text in sources.values()),
            _kernels(tables, {name: i for i, name in enumerate(sources)}),
            _list(_root(root, constants.offsets) for root in tables.roots),
            _list(_slot(i, slot, tables) for i, slot in enumerate(tables.slots)),
            _list(_command(command, tables) for command in tables.commands),
        )
    )
    digest = sha256(body + constants.payload).digest()[:DIGEST_BYTES]
    return body + sized(digest) + sized(constants.file(digest))


def _list(rows: Iterable[bytes]) -> bytes:
    encoded = list(rows)
    return number(len(encoded)) + b"".join(encoded)


def _text(text: str) -> bytes:
    return sized(text.encode() + b"\0")


def _info(tables: Tables, arenas: list[int]) -> bytes:
    program = tables.program
    ports = enumerate(program.ports)
    tensors = _list(_text(port.name) + number(tables.roots[i].bytes) for i, port in ports)
    return number(program.input_count) + tensors + _list(map(number, arenas))


def _kernels(tables: Tables, sources: Mapping[str, int]) -> bytes:
    rows: list[bytes] = []
    for kernel in tables.kernels:
        images = {i for i, type_ in enumerate(kernel.arg_types) if tir.is_texture(type_)}
        read, written = len(images - kernel.outputs), len(images & kernel.outputs)
        source = sources.get(kernel.function_name, 0)
        rows.append(_text(kernel.function_name) + numbers(source, read, written))
    return _list(rows)


def _root(root: Root, offsets: Mapping[str, int]) -> bytes:
    offset = offsets[root.key] if root.kind is RootKind.Constant else 0
    return numbers(_ROOTS[root.kind], root.bytes, offset) + _image(root.image)


def _slot(index: int, slot: Slot, tables: Tables) -> bytes:
    name = next(value.name for value in tables.values if value.slot == index)
    return b"".join(
        (
            _text(name),
            numbers(slot.root, slot.offset, slot.bytes),
            _image(slot.image),
            numbers(slot.pitch, sum(_VIEWS[kind] for kind in slot.over_parts)),
            numbers(slot.object, slot.object_offset),
        )
    )


def _image(image: tir.Image | None) -> bytes:
    if image is None:
        return numbers(0, 0, 0, 0, 0)
    channel = _channel(image.element_type)
    return numbers(_IMAGES[image.kind], channel, image.width, image.height, image.layers)


def _channel(element: Attribute) -> int:
    match element:
        case Float16Type():
            return _HALF_FLOAT
        case Float32Type():
            return _FLOAT
        case IntegerType():
            first = _UNSIGNED if numpy_dtype(element).kind == "u" else _SIGNED
            return first + _INTEGERS[element.width.data]
        case _:
            raise ValueError(f"no image format has elements of type {element}")


def _command(command: Command, tables: Tables) -> bytes:
    match command:
        case LaunchRow():
            return _launch(command, tables)
        case CopyRow():
            values = (command.source, command.destination)
            return numbers(_COPY, 0, 0, *[0] * 6) + _slots(values, tables) + number(0)
        case _:
            raise ValueError("a runner cannot call a vendor's library")


def _launch(launch: LaunchRow, tables: Tables) -> bytes:
    kernel = tables.kernels[launch.kernel]
    assert kernel.global_size is not None, "the kernel must have an NDRange"
    ones = (1,) * (3 - len(kernel.global_size))
    local = kernel.local_size + ones if kernel.local_size else (0, 0, 0)
    head = (_LAUNCH, launch.kernel, len(kernel.global_size), *kernel.global_size, *ones, *local)
    return numbers(*head) + _slots(launch.arguments, tables) + _list(map(number, kernel.bounds))


def _slots(values: Iterable[int], tables: Tables) -> bytes:
    return _list(number(tables.values[value].slot) for value in values)
