/* What stands before the text of every kernel.
 *
 * A kernel has its tensors first, then its scalars:
 *
 *     kernel void binary(TENSOR(a), TENSOR(b), RESULT(c), float alpha) {
 *         ELEMENT(c);                                    - int n, c, h, w of this work-item
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
    "#define TENSOR(x) global const DATA *x, const int4 x##_size\n"
    "#define RESULT(x) global DATA *x, const int4 x##_size\n"
    "#define SIZE_N(x) (x##_size.x)\n"
    "#define SIZE_C(x) (x##_size.y)\n"
    "#define SIZE_H(x) (x##_size.z)\n"
    "#define SIZE_W(x) (x##_size.w)\n"
    "#define HAS(x) (x##_HAS)\n"
    "#define ELEMENT(x) \\\n"
    "    const int n = (int)get_global_id(2) / SIZE_C(x); \\\n"
    "    const int c = (int)get_global_id(2) % SIZE_C(x); \\\n"
    "    const int h = (int)get_global_id(1); \\\n"
    "    const int w = (int)get_global_id(0)\n"
    "\n"
    "inline int index_NCHW(int4 size, int n, int c, int h, int w) {\n"
    "    return ((n * size.y + c) * size.z + h) * size.w + w;\n"
    "}\n"
    "inline int index_NHWC(int4 size, int n, int c, int h, int w) {\n"
    "    return ((n * size.z + h) * size.w + w) * size.y + c;\n"
    "}\n"
    "inline int index_OPTIMAL(int4 size, int n, int c, int h, int w) {\n"
    "    const int row = (size.w * 4 + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS;\n"
    "    const int block = n * ((size.y + 3) / 4) + c / 4;\n"
    "    return (block * size.z + h) * row + w * 4 + c % 4;\n"
    "}\n"
    "#define JOIN(a, b) a##b\n"
    "#define INDEX_OF(layout, size, n, c, h, w) JOIN(index_, layout)(size, n, c, h, w)\n"
    "#define INDEX(x, n, c, h, w) INDEX_OF(x##_LAYOUT, x##_size, n, c, h, w)\n"
    "#define FLAT(x, i) \\\n"
    "    INDEX(x, (i) / (SIZE_C(x) * SIZE_H(x) * SIZE_W(x)), \\\n"
    "          (i) / (SIZE_H(x) * SIZE_W(x)) % SIZE_C(x), (i) / SIZE_W(x) % SIZE_H(x), \\\n"
    "          (i) % SIZE_W(x))\n"
    "#define READ(x, n, c, h, w) LOAD(x, INDEX(x, n, c, h, w))\n"
    "#define WRITE(x, n, c, h, w, value) STORE(x, INDEX(x, n, c, h, w), value)\n"
    "#define READ_FLAT(x, i) LOAD(x, FLAT(x, i))\n"
    "#define WRITE_FLAT(x, i, value) STORE(x, FLAT(x, i), value)\n"
    "#if IS_HALF\n"
    "#define LOAD(x, i) vload_half(i, x)\n"
    "#define STORE(x, i, value) vstore_half_rte(value, i, x)\n"
    "#else\n"
    "#define LOAD(x, i) (x)[i]\n"
    "#define STORE(x, i, value) (x)[i] = (value)\n"
    "#endif\n";
