"""The tables of a model as readable C; the same model gives the same bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from ...dialects import cl, tir
from ...dialects.cl.program import Port
from ...dialects.nn.types import numpy_dtype
from ...errors import CloptError
from ..describe import channel_type
from ..kernel_source import Feature, features_of, split_kernels
from .c_text import INDENT, array, braces, comment, filled, initialiser, reference, string
from .tables import CopyRow, LaunchRow, OffloadRow, Root, RootKind, Slot, Tables

_DTYPES = {
    "bool": "CLOPT_BOOL",
    "float16": "CLOPT_F16",
    "float32": "CLOPT_F32",
    "float64": "CLOPT_F64",
    **{f"int{bits}": f"CLOPT_I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"CLOPT_U{bits}" for bits in (8, 16, 32, 64)},
}
_IMAGE_KINDS = {
    tir.ImageKind.Buffer: "CLOPT_IMAGE_BUFFER",
    tir.ImageKind.Image2D: "CLOPT_IMAGE_2D",
    tir.ImageKind.Array2D: "CLOPT_IMAGE_2D_ARRAY",
}
_VIEWS = {
    tir.ImageKind.Buffer: "CLOPT_VIEWS_1D",
    tir.ImageKind.Image2D: "CLOPT_VIEWS_2D",
}
_FEATURES = {
    Feature.FP16: "CLOPT_NEEDS_FP16",
    Feature.FP64: "CLOPT_NEEDS_FP64",
    Feature.IMAGES: "CLOPT_NEEDS_IMAGES",
    Feature.DOTS: "CLOPT_NEEDS_DOTS",
    Feature.PTX_DOTS: "CLOPT_NEEDS_PTX_DOTS",
    Feature.ROUNDING: "CLOPT_NEEDS_ROUNDING",
}


def print_tables(tables: Tables, source: str, offsets: Mapping[str, int]) -> str:
    """Return all tables of a plan.

    `source` is the OpenCL C of its kernels; `offsets` are byte offsets of constants in the weights
    file.
    """
    sections = [
        _tensors(tables),
        _roots(tables, offsets),
        _slots(tables),
        _program_files(tables),
        _kernels(tables, source),
        _commands(tables, _comments(source)),
        _repetitions(tables),
    ]
    return "\n".join(section for section in sections if section)


def print_info(
    tables: Tables, name: str, target: str, weights_bytes: int, arenas: tuple[str, int], dims: int
) -> str:
    """Return the initialiser of a `clopt_info`; `arenas` is a table of sizes and its length.

    `dims` is the number of open dimensions.
    """
    arena_sizes, arena_count = arenas
    ports = tables.program.ports
    rows = {
        "name": string(name),
        "target": string(target),
        "input_count": str(tables.program.input_count),
        "output_count": str(len(ports) - tables.program.input_count),
        "tensors": reference("tensors", ports),
        "arena_count": str(arena_count),
        "arena_sizes": arena_sizes if arena_count else "NULL",
        "weights_bytes": str(weights_bytes),
    }
    if dims:
        rows |= {"dim_count": str(dims), "dims": "dims"}
    return "\n".join(f"{INDENT}.{key} = {value}," for key, value in rows.items())


def print_program(
    tables: Tables,
    sources: Mapping[str, str],
    source: str,
    digest: bytes,
    names: Mapping[str, str],
    others: Mapping[str, str],
) -> str:
    """Return the initialiser of a `clopt_program`.

    `names` are the names of its info and sources; `others` are fields that only some programs have.
    """
    needs = [name for feature, name in _FEATURES.items() if feature in features_of(source)]
    digits = filled((f"0x{byte:02x}" for byte in digest), INDENT * 2, 50)
    rows = {
        "info": f"&{names['info']}",
        "digest": f"{{\n{INDENT * 2}{digits},\n{INDENT}}}",
        "needs": " | ".join(needs) or "0",
        "image_pitch": str(math.gcd(*tables.pitches)),
        "sources": reference(names["sources"], list(sources)),
        "source_count": str(len(sources)),
        **_file_rows(tables),
        "kernels": reference("kernels", tables.kernels),
        "kernel_count": str(len(tables.kernels)),
        "roots": reference("roots", tables.roots),
        "root_count": str(len(tables.roots)),
        "slots": reference("slots", tables.slots),
        "slot_count": str(len(tables.slots)),
        "commands": reference("commands", tables.commands),
        "command_count": str(len(tables.commands)),
        **_repetition_fields(tables),
        **others,
    }
    return "\n".join(f"{INDENT}.{key} = {value}," for key, value in rows.items())


def program_sources(tables: Tables, source: str) -> dict[str, str]:
    """Return the source text of each program: one program per kernel, as phones prefer it.

    If clopt did not print the kernels, there is one program for all, called "".
    """
    kernels = split_kernels(source)
    names = [kernel.function_name for kernel in tables.kernels if not kernel.program]
    if kernels.keys() >= set(names):
        return {name: kernels[name] for name in names}
    return {"": source} if names else {}


def print_sources(sources: Mapping[str, str], table: str) -> str:
    """Return the kernels as tables of strings, one per line: C99 may lack long literals."""
    tables: list[str] = []
    rows: list[str] = []
    for i, (kernel, text) in enumerate(sources.items()):
        lines = [f"{string(line + chr(10))}," for line in text.strip("\n").split("\n")]
        tables.append(array(f"static const char *const program_{i}", lines))
        rows.append(f"{{program_{i}, {len(lines)}}}, {comment(kernel or 'all kernels')}")
    declaration = f"const clopt_source {table}"
    if rows:
        tables.append(f"extern {declaration}[];\n{array(declaration, rows)}")
    return "\n".join(tables)


def _dtype(port: Port) -> str:
    """Return the constant of `clopt.h` for the elements of an input or output."""
    name = numpy_dtype(port.element_type).name
    if name not in _DTYPES:
        raise CloptError(
            f'A C package cannot have {name} elements in "{port.name}"; cast them to f32 or int8 '
            "in the model."
        )
    return _DTYPES[name]


def _tensors(tables: Tables) -> str:
    rows = [
        initialiser(
            {
                "name": string(port.name),
                "dtype": _dtype(port),
                "bytes": str(tables.roots[i].bytes),
            },
            {"rank": str(len(port.shape)), "shape": _sizes(port.shape)},
        )
        + ","
        for i, port in enumerate(tables.program.ports)
    ]
    sizes = [f"{arena.bytes}," for arena in tables.arenas]
    return array("static const clopt_tensor tensors", rows) + array(
        "static const size_t arena_sizes", sizes
    )


def _roots(tables: Tables, offsets: Mapping[str, int]) -> str:
    names = _enum("Memory objects of the device.", [f"root_{root.name}," for root in tables.roots])
    rows = [f"[root_{root.name}] = {_root(root, offsets)}," for root in tables.roots]
    return names + array("static const clopt_root roots", rows)


def _root(root: Root, offsets: Mapping[str, int]) -> str:
    constant = root.kind is RootKind.Constant
    return initialiser(
        {
            "kind": root.kind.value,
        },
        {
            "bytes": str(root.bytes),
            "weights_offset": str(offsets[root.key]) if constant else "",
        },
        {"image": _image(root.image)},
    )


def _slots(tables: Tables) -> str:
    names = _enum(
        "Values. Those with equal numbers share bytes: they are views of one another, computed in\n"
        " * place, or not needed at the same time.",
        [
            f"slot_{value.name} = {value.slot}, {comment(_type(value.type))}"
            for value in tables.values
        ],
    )
    first: dict[int, str] = {}
    for value in tables.values:
        first.setdefault(value.slot, value.name)
    rows = [_slot(first[i], slot, tables) for i, slot in enumerate(tables.slots)]
    return names + array("static const clopt_slot slots", rows)


def _slot(name: str, slot: Slot, tables: Tables) -> str:
    place = initialiser(
        {
            "name": string(name),
        },
        {
            "root": f"root_{tables.roots[slot.root].name}",
            "offset": str(slot.offset) if slot.offset else "",
            "bytes": str(slot.bytes),
        },
        {
            "image": _image(slot.image),
            "pitch": str(slot.pitch) if slot.pitch else "",
        },
        {
            "over_parts": " | ".join(_VIEWS[kind] for kind in slot.over_parts),
            "object": f"root_{tables.roots[slot.object].name}" if slot.over_parts else "",
            "object_offset": str(slot.object_offset) if slot.object_offset else "",
        },
    )
    return f"[slot_{name}] = {place},"


def _file_rows(tables: Tables) -> dict[str, str]:
    files = list(tables.programs)
    count = {"program_file_count": str(len(files))}
    return {"program_files": "program_files"} | count if files else {}


def _program_files(tables: Tables) -> str:
    rows = [f"{string(file)}," for file in tables.programs.values()]
    return array("static const char *const program_files", rows)


def _kernels(tables: Tables, source: str) -> str:
    numbers = {name: i for i, name in enumerate(program_sources(tables, source))}
    files = {key: len(numbers) + i for i, key in enumerate(tables.programs)}
    names = _enum("", [f"kernel_{name}," for name in tables.kernel_names])
    places = (_source_of(kernel, numbers, files) for kernel in tables.kernels)
    rows = [
        f"[kernel_{name}] = {_kernel(kernel, place)},"
        for name, kernel, place in zip(tables.kernel_names, tables.kernels, places, strict=True)
    ]
    return names + array("static const clopt_kernel kernels", rows)


def _source_of(kernel: cl.Kernel, sources: Mapping[str, int], files: Mapping[str, int]) -> int:
    return files[kernel.program] if kernel.program else sources.get(kernel.function_name, 0)


def _kernel(kernel: cl.Kernel, source: int) -> str:
    images = {i for i, type_ in enumerate(kernel.arg_types) if tir.is_texture(type_)}
    read, written = len(images - kernel.outputs), len(images & kernel.outputs)
    return initialiser(
        {
            "name": string(kernel.function_name),
            "source": str(source),
        },
        {
            "read_images": str(read) if read else "",
            "written_images": str(written) if written else "",
        },
    )


def _commands(tables: Tables, comments: Mapping[str, str]) -> str:
    rows: list[str] = []
    for command in tables.commands:
        match command:
            case LaunchRow():
                rows.append(_launch(command, tables, comments))
            case CopyRow():
                values = [command.source, command.destination]
                kind = {"kind": "CLOPT_COPY", "argument_count": "2"}
                steps = [(0, step) for step in command.steps] if any(command.steps) else []
                copy = initialiser(kind, _arguments(values, tables), _rows(steps))
                rows.append(f"{copy},")
            case OffloadRow():
                kind = {
                    "kind": "CLOPT_OFFLOAD",
                    "operation": str(command.number),
                    "argument_count": str(len(command.arguments)),
                }
                operation = initialiser(kind, _arguments(command.arguments, tables))
                rows.append(f"{comment(command.name)}\n{operation},")
    title = "/* The commands of an inference, in queue order. */\n" if rows else ""
    return title + array("static const clopt_command commands", rows)


def _repetition_fields(tables: Tables) -> dict[str, str]:
    """Return the fields of a program with repetitions."""
    count = str(len(tables.repetitions))
    return {"repetitions": "repetitions", "repetition_count": count} if tables.repetitions else {}


def _repetitions(tables: Tables) -> str:
    rows = [f"{braces(map(str, each))}," for each in tables.repetitions]
    title = "/* The commands that are repeated: from, up to, times. */\n" if rows else ""
    return title + array("static const clopt_repetition repetitions", rows)


def _rows(rows: Sequence[tuple[int, int]]) -> dict[str, str]:
    if not rows:
        return {}
    text = braces(braces(map(str, row)) for row in rows)
    return {"rows": f"(const clopt_row[]){text}", "row_count": str(len(rows))}


def _launch(launch: LaunchRow, tables: Tables, comments: Mapping[str, str]) -> str:
    kernel = tables.kernels[launch.kernel]
    assert kernel.global_size is not None, "the kernel must have an NDRange"
    ones = (1,) * (3 - len(kernel.global_size))  # the runtime multiplies all three dimensions
    local = braces(map(str, kernel.local_size + ones)) if kernel.local_size else ""
    lines: list[dict[str, str]] = [
        {
            "kind": "CLOPT_LAUNCH",
            "kernel": f"kernel_{tables.kernel_names[launch.kernel]}",
            "argument_count": str(len(launch.arguments)),
        },
        {
            "dimensions": str(len(kernel.global_size)),
            "global": braces(map(str, kernel.global_size + ones)),
            "local": local,
        },
        _arguments(launch.arguments, tables),
    ]
    if kernel.bounds:
        bounds = f"(const cl_int[]){braces(map(str, kernel.bounds))}"
        lines.append({"bounds": bounds, "bound_count": str(len(kernel.bounds))})
    lines.append(_rows(launch.rows))
    if launch.sizes is not None:
        ranged = braces(braces(map(str, size)) for size in launch.sizes)
        lines.append({"ranged": f"(const clopt_ranged_size[]){ranged}"})
    if kernel.scalars:
        rows = (braces([str(at), str(size), f"{value}u"]) for at, size, value in kernel.scalars)
        scalars = f"(const clopt_scalar[]){braces(rows)}"
        lines.append({"scalars": scalars, "scalar_count": str(len(kernel.scalars))})
    what = comments.get(kernel.function_name)
    return (f"{comment(what)}\n" if what else "") + f"{initialiser(*lines)},"


def _arguments(values: Sequence[int], tables: Tables) -> dict[str, str]:
    names = (f"slot_{tables.values[value].name}" for value in values)
    arguments = f"(const unsigned[]){{{filled(names, INDENT, 60)}}}"
    return {"arguments": arguments}


def _comments(source: str) -> dict[str, str]:
    """Return the comment above each kernel, which names the ONNX nodes that it computes."""
    return {
        name: " ".join(re.findall(r"(?m)^// (.*)$", text.partition("__kernel")[0]))
        for name, text in split_kernels(source).items()
    }


def _enum(title: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    lines = "\n".join(INDENT + row for row in rows)
    head = f"/* {title} */\n" if title else ""
    return f"{head}enum {{\n{lines}\n}};\n"


def _image(image: tir.Image | None) -> str:
    if image is None:
        return ""
    extents = (image.width, image.height, image.layers)
    return braces([_IMAGE_KINDS[image.kind], channel_type(image.element_type), *map(str, extents)])


def _sizes(shape: Sequence[int]) -> str:
    return f"(const size_t[]){braces(map(str, shape))}" if shape else "NULL"


def _type(type_: Attribute) -> str:
    return re.sub(r"^memref<(.*)>$", r"\1", str(type_))
