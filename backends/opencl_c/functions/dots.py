"""Dot products of bytes, four per 32-bit sum: one function for each way that devices offer."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

KHR_DOT = "khr_dot"
WIDEST = 16
"""Maximum number of lanes of a call."""


@dataclass(frozen=True)
class Way:
    """A way to reach a device's byte dot-product instruction."""

    fact: str
    """The value of the target fact `dot_product` that selects it."""
    name: str
    """Name of the function."""
    widths: Container[int]
    """The vector widths that it supports."""
    text: str
    """The definition, with placeholders for its name, the type of its arguments, and the statements
    and sums of single lanes."""
    lane: str = ""
    """The statement of one lane."""


_COMMENT = "// To each sum four products of bytes, unsigned ones in a and signed ones in b.\n"

_BY_LANES = f"""\
{_COMMENT}static {{itype}} {{name}}(const {{itype}} sum, const {{itype}} a, const {{itype}} b) {{{{
{{lanes}}    return ({{itype}})({{sums}});
}}}}
"""

PLAIN = Way(
    "plain",
    "dot_bytes",
    range(1, 17),
    f"""\
{_COMMENT}static {{itype}} {{name}}(const {{itype}} sum, const {{itype}} a, const {{itype}} b) {{{{
    return sum + (a & 255) * ((b << 24) >> 24) + ((a >> 8) & 255) * ((b << 16) >> 24)
        + ((a >> 16) & 255) * ((b << 8) >> 24) + ((a >> 24) & 255) * (b >> 24);
}}}}
""",
)

WAYS = (
    PLAIN,
    Way(
        "asm",
        "vpdpbusd",
        (16,),
        f"""\
{_COMMENT}static {{itype}} {{name}}({{itype}} sum, const {{itype}} a, const {{itype}} b) {{{{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}}}}
""",
    ),
    Way(
        "intrinsic",
        "llvm_vpdpbusd",
        (16,),
        f"""\
{_COMMENT}typedef char bytes64 __attribute__((ext_vector_type(64)));
{{itype}} llvm_dot(const {{itype}} sum, const bytes64 a, const bytes64 b)
    __asm("llvm.x86.avx512.vpdpbusd.512");
static {{itype}} {{name}}(const {{itype}} sum, const {{itype}} a, const {{itype}} b) {{{{
    return llvm_dot(sum, __builtin_astype(a, bytes64), __builtin_astype(b, bytes64));
}}}}
""",
    ),
    # PTX ISA, "Integer Arithmetic Instructions: dp4a", from compute capability 6.1 on.
    Way(
        "ptx",
        "dp4a",
        (1, 2, 4, 8, 16),
        _BY_LANES,
        """\
    int s{i} = sum{at};
    asm volatile("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(s{i}) : "r"(a{at}), "r"(b{at}));
""",
    ),
    # cl_khr_integer_dot_product has variants for every combination of signed and unsigned bytes.
    Way(
        "khr",
        KHR_DOT,
        (1, 2, 4, 8, 16),
        _BY_LANES,
        """\
    const int s{i} = sum{at} + dot_4x8packed_us_int(as_uint(a{at}), as_uint(b{at}));
""",
    ),
)
"""One row per value of the target fact `dot_product`."""

_OF_FACT = {way.fact: way for way in WAYS}


def function_of(fact: str, width: int) -> str:
    """Return the name of the dot-product function for vectors of `width` on a target.

    `fact` is the target's `dot_product`; the portable function serves the widths it does not
    support.
    """
    way = _OF_FACT.get(fact, PLAIN)
    return way.name if width in way.widths else PLAIN.name
