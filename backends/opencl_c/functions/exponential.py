"""The exponential function of floats by arithmetic.

Libraries of OpenCL for CPUs compute `exp` lane by lane, or by a call that no compiler sees through:
it then costs more than the sums and products around it. A function computes whole vectors, and is
small where many kernels call it.

`exp(x) = 2^n exp(r)`, where n is the nearest integer to `x / ln 2`; a float near `1.5 * 2^23` holds
it in its lowest bits. `exp(r) = 1 + r + r^2 P(r)`, P fitted by weighted least squares until the
largest relative error was least: 3.1e-9. Two products scale the result, so that subnormal numbers
are rounded once. Of all floats none gives a result more than 1.01 ulp off; OpenCL allows 3.

GPUs get a shorter one, written in multiply-adds. What native functions lose is up to the device;
this is at most 1.2e-7 of the result off, whether or not products are rounded before they are added,
and gives 0 where the result is below 1.9e-38. A polynomial of `2 exp(r)`, fitted in the same way,
leaves a scale of `2^(n-1)`, which is a float also where the result is near the largest one.
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
