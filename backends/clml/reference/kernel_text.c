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
 * READ_OPTIMAL(x, n, c, h, w)  the same, where the layout is known to be OPTIMAL: twice as fast
 * WRITE(x, n, c, h, w, value)  rounds to the nearest
 * READ_FLAT(x, i)              element i in the order of NCHW, whatever the layout; WRITE_FLAT too
 * LOAD(x, i)                   element i of the memory, as a float; STORE too
 * SIZE_N(x) SIZE_C(x) ...      its sizes
 * HAS(x)                       1, or 0 where clml_use got NULL: x is then never read
 *
 * The parameters of a tensor are a pointer and an int8: four sizes, the layout, HAS. As arguments
 * they cost time at each element. As macros they would make a program for each combination, and
 * drivers take longer to compile one than to run most networks that are tried here. OPTIMAL are
 * blocks of 4 channels, their rows padded to 64 bytes.
 */
#include "reference.h"

const char clml_kernel_text[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define TENSOR(t) global const DATA *t, const int8 t##_shape\n"
    "#define RESULT(t) global DATA *t, const int8 t##_shape\n"
    "#define SIZE_N(t) (t##_shape.s0)\n"
    "#define SIZE_C(t) (t##_shape.s1)\n"
    "#define SIZE_H(t) (t##_shape.s2)\n"
    "#define SIZE_W(t) (t##_shape.s3)\n"
    "#define HAS(t) (t##_shape.s5)\n"
    "#define ELEMENT(t) \\\n"
    "    const int element = (int)get_global_id(0); \\\n"
    "    const int w = element % SIZE_W(t), h = element / SIZE_W(t) % SIZE_H(t); \\\n"
    "    const int c = element / (SIZE_W(t) * SIZE_H(t)) % SIZE_C(t); \\\n"
    "    const int n = element / (SIZE_W(t) * SIZE_H(t)) / SIZE_C(t); \\\n"
    "    if (n >= SIZE_N(t)) \\\n"
    "        return\n"
    "\n"
    "int optimal_index(int8 shape, int n, int c, int h, int w) {\n"
    "    const int row = (shape.s3 * 4 + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS;\n"
    "    const int block = n * ((shape.s1 + 3) / 4) + c / 4;\n"
    "    return (block * shape.s2 + h) * row + w * 4 + c % 4;\n"
    "}\n"
    "int index_of(int8 shape, int n, int c, int h, int w) {\n"
    "    if (shape.s4 == NCHW)\n"
    "        return ((n * shape.s1 + c) * shape.s2 + h) * shape.s3 + w;\n"
    "    if (shape.s4 == NHWC)\n"
    "        return ((n * shape.s2 + h) * shape.s3 + w) * shape.s1 + c;\n"
    "    return optimal_index(shape, n, c, h, w);\n"
    "}\n"
    "#define INDEX(t, n, c, h, w) index_of(t##_shape, n, c, h, w)\n"
    "#define FLAT(t, i) \\\n"
    "    INDEX(t, (i) / (SIZE_C(t) * SIZE_H(t) * SIZE_W(t)), \\\n"
    "          (i) / (SIZE_H(t) * SIZE_W(t)) % SIZE_C(t), (i) / SIZE_W(t) % SIZE_H(t), \\\n"
    "          (i) % SIZE_W(t))\n"
    "#define READ(t, n, c, h, w) LOAD(t, INDEX(t, n, c, h, w))\n"
    "#define WRITE(t, n, c, h, w, value) STORE(t, INDEX(t, n, c, h, w), value)\n"
    "#define READ_OPTIMAL(t, n, c, h, w) LOAD(t, optimal_index(t##_shape, n, c, h, w))\n"
    "#define READ_FLAT(t, i) LOAD(t, FLAT(t, i))\n"
    "#define WRITE_FLAT(t, i, value) STORE(t, FLAT(t, i), value)\n"
    "#if IS_HALF\n"
    "#define LOAD(t, i) vload_half(i, t)\n"
    "#define STORE(t, i, value) vstore_half_rte(value, i, t)\n"
    "#else\n"
    "#define LOAD(t, i) (t)[i]\n"
    "#define STORE(t, i, value) (t)[i] = (value)\n"
    "#endif\n";
