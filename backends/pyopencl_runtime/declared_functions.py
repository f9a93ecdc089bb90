"""Declarations of the builtin functions that a source calls, instead of a header with all of them.

PoCL parses clang's `opencl-c.h`, 18,000 lines, for each program: 0.22 of the 0.25 s that a program
with one small kernel takes (PoCL 3.1, Zen 3). The option `WITHOUT_HEADER` defines the include guard
of this header, so the program has to declare what it calls. The types, and macros such as
`as_int4`, come from another header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..kernel_source import Feature, features_of

WITHOUT_HEADER = "-D_OPENCL_H_"
"""The build option for a text that `with_declarations` returns."""

_WIDTHS = ("", "2", "3", "4", "8", "16")
_SIGNED = ("char", "short", "int", "long")
_UNSIGNED = tuple(f"u{base}" for base in _SIGNED)
_INTEGERS = _SIGNED + _UNSIGNED
_FLOATS = ("float", "double")
_NUMBERS = _INTEGERS + _FLOATS
_SPACES = ("__global", "__local", "__private")

# The attributes of the header.
_CONSTANT = "__attribute__((overloadable, const)) "
_PURE = "__attribute__((overloadable, pure)) "
_EFFECTS = "__attribute__((overloadable)) "
_CONVERGENT = "__attribute__((overloadable, convergent)) "


@dataclass(frozen=True)
class _Overloads:
    """Overloads of some functions, for some scalar types and all widths.

    A form is the type of the result, then the types of the parameters: T stands for the vector
    itself, E for its element; S and U for signed and unsigned integers of the same size, I for
    `int`, in vectors of the same width; R is `int` for a scalar and else S.
    """

    names: str
    forms: tuple[str, ...]
    types: tuple[str, ...] = _FLOATS


_OVERLOADS = (
    _Overloads(
        "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi degrees "
        "erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 log1p log2 logb radians rint "
        "round rsqrt sign sin sinh sinpi sqrt tan tanh tanpi tgamma trunc",
        ("T T",),
    ),
    _Overloads(
        "atan2 atan2pi copysign fdim fmod hypot maxmag minmag nextafter pow powr remainder",
        ("T T T",),
    ),
    _Overloads("fmax fmin", ("T T T", "T T E")),
    _Overloads("step", ("T T T", "T E T")),
    _Overloads("fma mad", ("T T T T",)),
    _Overloads("mix", ("T T T T", "T T T E")),
    _Overloads("smoothstep", ("T T T T", "T E E T")),
    _Overloads("pown", ("T T I",)),
    _Overloads("ldexp", ("T T I", "T T int")),
    _Overloads("frexp", tuple(f"T T {space}:I*" for space in _SPACES)),
    _Overloads("isfinite isinf isnan isnormal signbit", ("R T",)),
    _Overloads(
        "native_cos native_exp native_exp10 native_exp2 native_log native_log10 native_log2 "
        "native_recip native_rsqrt native_sin native_sqrt native_tan",
        ("T T",),
        ("float",),
    ),
    _Overloads("native_divide native_powr", ("T T T",), ("float",)),
    _Overloads("clz popcount", ("T T",), _INTEGERS),
    _Overloads("abs", ("U T",), _INTEGERS),
    _Overloads("abs_diff", ("U T T",), _INTEGERS),
    _Overloads("add_sat hadd mul_hi rotate sub_sat", ("T T T",), _INTEGERS),
    _Overloads("max min", ("T T T", "T T E"), _NUMBERS),
    _Overloads("clamp", ("T T T T", "T T E E"), _NUMBERS),
    _Overloads("all any", ("int T",), _SIGNED),
    _Overloads("select", ("T T T S", "T T T U"), _NUMBERS),
)
_BY_NAME = {name: row for row in _OVERLOADS for name in row.names.split()}

_WORK_ITEMS = frozenset(
    "get_global_id get_global_size get_group_id get_local_id get_local_size get_num_groups".split()
)
_CONVERSION = re.compile(r"convert_([a-z]+)(\d*)(?:_sat)?(?:_rt[enpz])?")
_ACCESS = re.compile(r"v(load|store)(\d+)")
_HALF_ACCESS = re.compile(r"v(load|store)a?_half(\d*)(?:_rt[enpz])?")

_CALL = re.compile(r"\b([a-z]\w*)\s*\(")
_DEFINITION = re.compile(r"^(?:static \w+|.*__kernel void) (\w+)\(", re.MULTILINE)
_COMMENT = re.compile(r"//.*|/\*(?s:.*?)\*/")
_MACRO = "as_"
_WORDS = frozenset("for if reqd_work_group_size return sizeof switch while".split())
# The declarations leave out the types of these features.
_UNKNOWN = (Feature.FP16, Feature.IMAGES, Feature.DOTS, Feature.PTX_DOTS)
# Macros and conditions may hide calls.
_DIRECTIVE = re.compile(r"^\s*#\s*(?!pragma)", re.MULTILINE)


def with_declarations(source: str) -> str | None:
    """Return `source` after declarations of all builtins that it calls.

    Return None if it may call functions that this module does not know.
    """
    if _DIRECTIVE.search(source) or not features_of(source).isdisjoint(_UNKNOWN):
        return None
    called = set(_CALL.findall(_COMMENT.sub(" ", source)))
    called -= _WORDS | set(_DEFINITION.findall(source))
    lines: list[str] = []
    for name in sorted(name for name in called if not name.startswith(_MACRO)):
        found = _declarations(name)
        if not found:
            return None
        lines += found
    return "\n".join((*lines, "#line 1", source))


@lru_cache(maxsize=256)
def _declarations(name: str) -> tuple[str, ...]:
    """Return the lines that declare a builtin; no lines for other names."""
    plain = [line for line in _overloads_of(name) if "double" not in line]
    wide = [line for line in _overloads_of(name) if "double" in line]
    return (*plain, *(("#ifdef cl_khr_fp64", *wide, "#endif") if wide else ()))


def _overloads_of(name: str) -> Iterator[str]:
    if row := _BY_NAME.get(name):
        attributes = _EFFECTS if name == "frexp" else _CONSTANT
        for base in row.types:
            for width in _WIDTHS:
                types = {_typed(form, base, width) for form in row.forms}
                yield from (_declared(attributes, name, *each) for each in sorted(types))
    elif name in _WORK_ITEMS:
        yield _declared(_CONSTANT, name, "size_t", "uint")
    elif name == "barrier":
        yield _declared(_CONVERGENT, name, "void", "cl_mem_fence_flags")
    elif name == "mem_fence":
        yield _declared(_EFFECTS, name, "void", "cl_mem_fence_flags")
    elif name == "atomic_inc":
        yield _declared(_EFFECTS, name, "int", "volatile __global int *")
    elif name == "atomic_add":
        yield _declared(_EFFECTS, name, "int", "volatile __global int *", "int")
    elif match := _CONVERSION.fullmatch(name):
        to, width = match.groups()
        if to in _NUMBERS:
            for base in _NUMBERS:
                yield _declared(_CONSTANT, name, f"{to}{width}", f"{base}{width}")
    elif match := _ACCESS.fullmatch(name):
        for base in _NUMBERS:
            yield from _accesses(name, match[1], f"{base}{match[2]}", base)
    elif match := _HALF_ACCESS.fullmatch(name):
        for base in _FLOATS if match[1] == "store" else ("float",):
            yield from _accesses(name, match[1], f"{base}{match[2]}", "half")


def _accesses(name: str, kind: str, vector: str, element: str) -> Iterator[str]:
    """Yield the declarations of a load or store of a vector, by address space."""
    if kind == "store":
        for space in _SPACES:
            yield _declared(_EFFECTS, name, "void", vector, "size_t", f"{space} {element} *")
        return
    for space in (*_SPACES, "__constant"):
        yield _declared(_PURE, name, vector, "size_t", f"const {space} {element} *")


def _typed(form: str, base: str, width: str) -> tuple[str, ...]:
    """Return the types of a form for one vector."""
    size = {"float": "int", "double": "long"}.get(base, base).removeprefix("u")
    meanings = {
        "T": f"{base}{width}",
        "E": base,
        "S": f"{size}{width}",
        "U": f"u{size}{width}",
        "I": f"int{width}",
        "R": f"{size}{width}" if width else "int",
    }
    types: list[str] = []
    for letter in form.split():
        space, _, pointer = letter.rpartition(":")
        types.append(
            f"{space} {meanings['I']} *" if pointer == "I*" else meanings.get(letter, letter)
        )
    return tuple(types)


def _declared(attributes: str, name: str, result: str, *parameters: str) -> str:
    return f"{attributes}{result} {name}({', '.join(parameters)});"
