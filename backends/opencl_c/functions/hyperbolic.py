"""The hyperbolic tangent of floats in plain arithmetic.

PoCL 3.1 returns -0.99999994 for large negative numbers, so `1 + tanh(x)` times a large number, as
in a GELU, is far from 0. Below 0.625 this is a polynomial of Cephes (S. Moshier); above, it is
`1 - 2 / (exp(2 x) + 1)` with the exponential of `exponential`, whose relative error matters less
there. From 9.02 on the result is 1. The error is at most 1.4 ulp; OpenCL allows 5. Compared with
the builtin function, a kernel takes 0.7 times as long on PoCL 3.1 and 0.8 times on Intel's runtime
(10^6 floats, Zen 5).
"""

from __future__ import annotations

TANH = "vector_tanh"

FUNCTIONS = {
    TANH: """\
// The hyperbolic tangent by arithmetic alone.
static {type} {name}(const {type} x) {{
    const {type} a = fabs(x), z = x * x;
    {type} q = z * -5.70498872745e-3f + 2.06390887954e-2f;
    q = q * z - 5.37397155531e-2f;
    q = q * z + 0.133314422036f;
    q = q * z - 0.333332819422f;
    const {type} small = a * z * q + a;
    // Comparisons with NaN fail, so that one stays.
    const {type} end = a > 10.0f ? ({type})(10.0f) : a;
    const {type} shifted = end * 2.885390082f + 12582912.0f;
    const {type} n = shifted - 12582912.0f;
    const {type} r = end + end - n * 0.693359375f + n * 2.12194440e-4f;
    {type} p = r * 1.381459879e-3f + 8.368716575e-3f;
    p = p * r + 4.166838899e-2f;
    p = p * r + 0.1666652113f;
    p = p * r + 0.4999999404f;
    p = p * (r * r) + r + 1.0f;
    p *= as_{type}((as_{itype}(shifted) << 23) + 0x3f800000);
    return copysign(a < 0.625f ? small : 1.0f - 2.0f / (p + 1.0f), x);
}}
""",
}
