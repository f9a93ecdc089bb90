"""The exponential function of floats by arithmetic, for CPUs.

Their libraries of OpenCL compute `exp` lane by lane, or by a call that no compiler sees through: it
then costs more than the sums and products around it. A function computes whole vectors, and is
small where many kernels call it.

`exp(x) = 2^n exp(r)`, where n is the nearest integer to `x / ln 2`; a float near `1.5 * 2^23` holds
it in its lowest bits. `exp(r) = 1 + r + r^2 P(r)`, P fitted by weighted least squares until the
largest relative error was least: 3.1e-9. Two products scale the result, so that subnormal numbers
are rounded once. Of all floats none gives a result more than 1.01 ulp off; OpenCL allows 3.
"""

from __future__ import annotations

EXP = "vector_exp"

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
}
