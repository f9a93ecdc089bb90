"""Products of bytes, four to each sum: a function for each way in which devices compute them."""

from __future__ import annotations

PLAIN = "dot_bytes"
WIDTH = 16
"""The lanes of AVX-512's instruction."""

OF_TARGET = {"plain": PLAIN, "asm": "vpdpbusd", "intrinsic": "llvm_vpdpbusd"}
"""The function for each value of the fact `dot_product`."""

FUNCTIONS = {
    PLAIN: """\
// To each sum four products of bytes, unsigned ones in a and signed ones in b.
static {itype} {name}(const {itype} sum, const {itype} a, const {itype} b) {{
    return sum + (a & 255) * ((b << 24) >> 24) + ((a >> 8) & 255) * ((b << 16) >> 24)
        + ((a >> 16) & 255) * ((b << 8) >> 24) + ((a >> 24) & 255) * (b >> 24);
}}
""",
    OF_TARGET["asm"]: """\
// To each sum four products of bytes, unsigned ones in a and signed ones in b.
static {itype} {name}({itype} sum, const {itype} a, const {itype} b) {{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}}
""",
    OF_TARGET["intrinsic"]: """\
// To each sum four products of bytes, unsigned ones in a and signed ones in b.
typedef char bytes64 __attribute__((ext_vector_type(64)));
{itype} llvm_dot(const {itype} sum, const bytes64 a, const bytes64 b)
    __asm("llvm.x86.avx512.vpdpbusd.512");
static {itype} {name}(const {itype} sum, const {itype} a, const {itype} b) {{
    return llvm_dot(sum, __builtin_astype(a, bytes64), __builtin_astype(b, bytes64));
}}
""",
}
