"""The exponential function of floats in plain arithmetic.

OpenCL libraries for CPUs compute `exp` lane by lane, or by a call that is opaque to the compiler.
Such a call costs more than the sums and products around it. These functions compute whole vectors,
and are small enough to be printed in every program.

`exp(x) = 2^n exp(r)`, where n is the nearest integer to `x / ln 2`: adding `1.5 * 2^23` leaves n in
the lowest bits of the float. `exp(r) = 1 + r + r^2 P(r)`, where P is a least-squares fit reweighted
to minimise the largest relative error, 3.1e-9. Two products scale the result, so that subnormal
results are rounded once. Over all floats the error is at most 1.01 ulp; OpenCL allows 3.

GPUs get a shorter version in multiply-adds, because the accuracy of native functions is up to the
device. Its relative error is at most 1.2e-7, whether or not `mad` rounds the product, and it
returns 0 where the result is below 1.9e-38. It evaluates a polynomial of `2 exp(r)`, fitted in the
same way, so that the scale `2^(n-1)` is still a float where the result is close to the largest
float.
"""

from __future__ import annotations

EXP = "vector_exp"
SHORT_EXP = "short_exp"

FUNCTIONS = {
    EXP: """\
// e^x by arithmetic alone.
static {type} {name}(const {type} x) {{
    // Beyond these ends the result is infinite or 0. Comparisons with NaN fail, so that one stays.
    const {type} low = x > 89.0f ? ({type})(89.0f) : x;
    const {type} a = low < -104.0f ? ({type})(-104.0f) : low;
    const {type} shifted = a * 1.442695041f + 12582912.0f;
    const {type} n = shifted - 12582912.0f;
    const {type} r = a - n * 0.693359375f + n * 2.12194440e-4f;
    {type} p = r * 1.381459879e-3f + 8.368716575e-3f;
    p = p * r + 4.166838899e-2f;
    p = p * r + 0.1666652113f;
    p = p * r + 0.4999999404f;
    p = p * (r * r) + r + 1.0f;
    const {itype} bits = as_{itype}(shifted) - 0x4b400000, half_bits = bits >> 1;
    return p * as_{type}((half_bits + 127) << 23) * as_{type}((bits - half_bits + 127) << 23);
}}
""",
    SHORT_EXP: """\
// e^x by multiply-adds.
static {type} {name}(const {type} x) {{
    const {type} shifted = mad(x, ({type})(1.442695041f), ({type})(12582912.0f));
    const {type} n = shifted - 12582912.0f;
    const {type} high = mad(n, ({type})(-0.693359375f), x);
    const {type} r = mad(n, ({type})(2.12194440e-4f), high);
    {type} p = mad(r, ({type})(2.767365193e-3f), ({type})(1.674966328e-2f));
    p = mad(p, r, ({type})(8.333645016e-2f));
    p = mad(p, r, ({type})(0.3333283961f));
    p = mad(p, r, ({type})(0.9999998212f));
    p = mad(p, r, ({type})(2.0f));
    p = mad(p, r, ({type})(2.0f));
    // The lowest bits of the sum are n: shifted, they are an exponent.
    p *= as_{type}((as_{itype}(shifted) << 23) + 0x3f000000);
    // Comparisons with NaN fail, so that one stays.
    p = select(p, ({type})(INFINITY), x > 88.8f);
    return select(p, ({type})(0.0f), x < -86.8f);
}}
""",
}
