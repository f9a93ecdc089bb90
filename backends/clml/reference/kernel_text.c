/* What stands before the text of every kernel.
 *
 * A kernel has its tensors first, then its scalars:
 *
 *     kernel void binary(TENSOR(a), TENSOR(b), RESULT(c), float alpha) {
 *         ELEMENT(c);                                    - int n, c, h, w of this work-item, if any
 *         WRITE(c, n, c, h, w, alpha * READ(a, n, c, h, w) + READ(b, n, c, h, w));
 *     }
 *
 * READ(x, n, c, h, w)          an element, as a float, whatever the layout and type of x
 * WRITE(x, n, c, h, w, value)  rounds to the nearest
 * READ_FLAT(x, i)              element i in the order of NCHW, whatever the layout; WRITE_FLAT too
 * SIZE_N(x) SIZE_C(x) ...      its sizes
 * HAS(x)                       1, or 0 where clml_use got NULL: x is then never read
 *
 * The parameters of a tensor are a pointer and an int4 of its sizes; its layout is a macro that
 * clml_use defines. OPTIMAL are blocks of 4 channels, their rows padded to 64 bytes.
 */
#include "reference.h"

const char clml_kernel_text[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define TENSOR(t) global const DATA *t, const int4 t##_size\n"
    "#define RESULT(t) global DATA *t, const int4 t##_size\n"
    "#define SIZE_N(t) (t##_size.x)\n"
    "#define SIZE_C(t) (t##_size.y)\n"
    "#define SIZE_H(t) (t##_size.z)\n"
    "#define SIZE_W(t) (t##_size.w)\n"
    "#define HAS(t) (t##_HAS)\n"
    "#define ELEMENT(t) \\\n"
    "    const int element = (int)get_global_id(0); \\\n"
    "    const int w = element % SIZE_W(t), h = element / SIZE_W(t) % SIZE_H(t); \\\n"
    "    const int c = element / (SIZE_W(t) * SIZE_H(t)) % SIZE_C(t); \\\n"
    "    const int n = element / (SIZE_W(t) * SIZE_H(t)) / SIZE_C(t); \\\n"
    "    if (n >= SIZE_N(t)) \\\n"
    "        return\n"
    "\n"
    "int index_NCHW(int4 size, int n, int c, int h, int w) {\n"
    "    return ((n * size.y + c) * size.z + h) * size.w + w;\n"
    "}\n"
    "int index_NHWC(int4 size, int n, int c, int h, int w) {\n"
    "    return ((n * size.z + h) * size.w + w) * size.y + c;\n"
    "}\n"
    "int index_OPTIMAL(int4 size, int n, int c, int h, int w) {\n"
    "    const int row = (size.w * 4 + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS;\n"
    "    const int block = n * ((size.y + 3) / 4) + c / 4;\n"
    "    return (block * size.z + h) * row + w * 4 + c % 4;\n"
    "}\n"
    "#define JOIN(a, b) a##b\n"
    "#define INDEX_OF(layout, size, n, c, h, w) JOIN(index_, layout)(size, n, c, h, w)\n"
    "#define INDEX(t, n, c, h, w) INDEX_OF(t##_LAYOUT, t##_size, n, c, h, w)\n"
    "#define FLAT(t, i) \\\n"
    "    INDEX(t, (i) / (SIZE_C(t) * SIZE_H(t) * SIZE_W(t)), \\\n"
    "          (i) / (SIZE_H(t) * SIZE_W(t)) % SIZE_C(t), (i) / SIZE_W(t) % SIZE_H(t), \\\n"
    "          (i) % SIZE_W(t))\n"
    "#define READ(t, n, c, h, w) LOAD(t, INDEX(t, n, c, h, w))\n"
    "#define WRITE(t, n, c, h, w, value) STORE(t, INDEX(t, n, c, h, w), value)\n"
    "#define READ_FLAT(t, i) LOAD(t, FLAT(t, i))\n"
    "#define WRITE_FLAT(t, i, value) STORE(t, FLAT(t, i), value)\n"
    "#if IS_HALF\n"
    "#define LOAD(t, i) vload_half(i, t)\n"
    "#define STORE(t, i, value) vstore_half_rte(value, i, t)\n"
    "#else\n"
    "#define LOAD(t, i) (t)[i]\n"
    "#define STORE(t, i, value) (t)[i] = (value)\n"
    "#endif\n";
