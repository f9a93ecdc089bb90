// The VTA core: executes streams of encoded instructions on any OpenCL 1.2 device.
//
// Each work-group is a core with its own scratchpads and stream. A lane is a work-item, and owns
// columns: VECTOR output channels of one batch row. GEMM and ALU instructions access ACC and OUT
// only in the lane's own columns, so no barrier is needed inside an instruction. If there are more
// lanes than columns, several replicas share a column and split the iterations. The host decides
// which loops may be split and where a barrier is needed (schedule.py). Between barriers lanes may
// run ahead, so that loads of one tile overlap with the computation of another.
//
// core.py defines BATCH, BLOCK_IN, BLOCK_OUT (multiples of 16), LOG_{UOP,INP,WGT,ACC}_DEPTH,
// LANES, VECTOR (1 or 16) and LOCAL_SCRATCHPADS.

#define GROUPS (BLOCK_OUT / VECTOR)
#define COLUMNS (BATCH * GROUPS)
#define REPLICAS (LANES > COLUMNS ? LANES / COLUMNS : 1)

// Bytes of an element; vector lanes keep the int8 of INP and WGT as floats.
#define INP_BYTES (BATCH * BLOCK_IN)
#define WGT_BYTES (BLOCK_OUT * BLOCK_IN)
#define OUT_BYTES (BATCH * BLOCK_OUT)
#define ACC_BYTES (4 * OUT_BYTES)
#define OPERAND_BYTES (VECTOR > 1 ? 4 : 1)

// Byte offsets in a core's scratchpads; pads with small elements come last, for alignment.
#define WGT_START 0
#define ACC_START (WGT_START + (OPERAND_BYTES * WGT_BYTES << LOG_WGT_DEPTH))
#define INP_START (ACC_START + (ACC_BYTES << LOG_ACC_DEPTH))
#define OUT_START (INP_START + (OPERAND_BYTES * INP_BYTES << LOG_INP_DEPTH))
#define UOP_START (OUT_START + (OUT_BYTES << LOG_ACC_DEPTH))
#define SCRATCH_BYTES (UOP_START + (4 << LOG_UOP_DEPTH))

#define UOP_SRC_BITS (LOG_ACC_DEPTH > LOG_INP_DEPTH ? LOG_ACC_DEPTH : LOG_INP_DEPTH)

#if LOCAL_SCRATCHPADS
#define PAD __local
#else
#define PAD __global
#endif

#if LANES > 1
#define WAIT() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#else
#define WAIT()
#endif

enum { LOAD, STORE, GEMM, FINISH, ALU };         // opcodes
enum { UOP, WGT, INP, ACC, OUT, ACC_8BIT };      // memories
enum { MIN, MAX, ADD, SHR, MUL };                // functions of the ALU
enum { SPLIT_OUT = 1, SPLIT_IN = 2, SPLIT_UOPS = 4, WAIT_BEFORE = 8 };  // schedule.Share

#if VECTOR == 16
typedef float operand;
#else
typedef char operand;
#endif

typedef struct {
    PAD operand *wgt;
    PAD int *acc;
    PAD operand *inp;
    PAD char *out;
    PAD uint *uop;
} scratchpads;

typedef struct {
    __global const char *uop, *wgt, *acc, *inp, *acc8;
    __global char *out;
} drams;

static uint bits(ulong word, uint low, uint count) {
    return (uint)((word >> low) & ((1ul << count) - 1));
}

typedef struct {
    uint memory, sram, dram, y_size, x_size, x_stride, y_pad, x_pad;
    uint rows, row;  // size of the rectangle in the scratchpad, including padding
} rectangle;

static rectangle decode_rectangle(ulong2 word) {
    rectangle r;
    r.memory = bits(word.x, 7, 3);
    r.sram = bits(word.x, 10, 16);
    r.dram = bits(word.x, 26, 32);
    r.y_size = bits(word.y, 0, 16);
    r.x_size = bits(word.y, 16, 16);
    r.x_stride = bits(word.y, 32, 16);
    r.y_pad = bits(word.y, 48, 4);
    r.x_pad = bits(word.y, 56, 4);
    r.rows = r.y_pad + r.y_size + bits(word.y, 52, 4);
    r.row = r.x_pad + r.x_size + bits(word.y, 60, 4);
    if (r.x_size == 0) r.rows = 0;  // an instruction that only handles tokens
    return r;
}

// How the lanes iterate over a rectangle with `width` items per row: lanes cover a row side by
// side, and lanes beyond one row take the rows below.
typedef struct {
    uint x, y, across, down;
} walk;

static walk share_rows(uint width, uint lane) {
    walk w;
    w.across = min(max(width, 1u), (uint)LANES);
    w.down = LANES / w.across;
    w.x = lane % w.across;
    w.y = lane / w.across;
    if (w.y >= w.down) w.y = UINT_MAX;  // a surplus lane
    return w;
}

// Returns whether the scratchpad's element (x, y) is not padding; *dram is its element in DRAM.
static bool in_dram(rectangle r, uint x, uint y, uint *dram) {
    const uint dx = x - r.x_pad, dy = y - r.y_pad;  // huge, by wrap-around, for leading padding
    *dram = r.dram + dy * r.x_stride + dx;
    return dx < r.x_size && dy < r.y_size;
}

// Loads elements of `units` * 16 bytes.
static void load(PAD void *pad, __global const char *dram, uint units, rectangle r, uint lane) {
    PAD uint4 *to = (PAD uint4 *)pad + r.sram * units;
    __global const uint4 *from = (__global const uint4 *)dram;
    const walk w = share_rows(r.row * units, lane);
    for (uint y = w.y; y < r.rows; y += w.down)
        for (uint n = w.x; n < r.row * units; n += w.across) {
            uint element;
            const bool inside = in_dram(r, n / units, y, &element);
            to[y * r.row * units + n] =
                inside ? from[(size_t)element * units + n % units] : (uint4)(0);
        }
}

// Loads int8 elements as int32, 16 at a time.
static void load_acc_8bit(PAD int *acc, __global const char *dram, rectangle r, uint lane) {
    const uint units = OUT_BYTES / 16;
    const walk w = share_rows(r.row * units, lane);
    for (uint y = w.y; y < r.rows; y += w.down)
        for (uint n = w.x; n < r.row * units; n += w.across) {
            uint element;
            const bool inside = in_dram(r, n / units, y, &element);
            const size_t unit = (size_t)element * units + n % units;
            const int16 value = inside ? convert_int16(vload16(unit, dram)) : (int16)(0);
            vstore16(value, r.sram * units + y * r.row * units + n, acc);
        }
}

static void load_uops(PAD uint *uop, __global const uint *dram, rectangle r, uint lane) {
    for (uint n = lane; n < r.x_size; n += LANES) uop[r.sram + n] = dram[(size_t)r.dram + n];
}

static void store(__global char *dram, PAD const char *out, rectangle r, uint lane) {
    const uint units = OUT_BYTES / 16;
    __global uint4 *to = (__global uint4 *)dram;
    PAD const uint4 *from = (PAD const uint4 *)out + r.sram * units;
    const walk w = share_rows(r.x_size * units, lane);
    for (uint y = w.y; y < r.rows; y += w.down)
        for (uint n = w.x; n < r.x_size * units; n += w.across)
            to[((size_t)r.dram + y * r.x_stride) * units + n] = from[y * r.x_size * units + n];
}

#if VECTOR == 16
typedef int16 ints;
#define UINTS(value) as_uint16(value)
#define INTS(value) as_int16(value)
#define LOAD_INTS(place, from) vload16(place, from)
#define STORE_INTS(value, place, to) vstore16(value, place, to)
#define STORE_BYTES(value, place, to) vstore16(convert_char16(value), place, to)

static uchar16 zip_low(uchar16 a, uchar16 b) {
    return (uchar16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3,
                     a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
}

static uchar16 zip_high(uchar16 a, uchar16 b) {
    return (uchar16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb,
                     a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf);
}

// Stores the weights of 16 output channels side by side: [group][ic][16], from [oc][ic] in DRAM.
// Zipping rows i and i + 8 four times transposes 16 x 16 bytes.
static void load_wgt(PAD float *wgt, __global const char *dram, rectangle r, uint lane) {
    const uint squares = WGT_BYTES / 256;
    const walk w = share_rows(r.row * squares, lane);
    for (uint y = w.y; y < r.rows; y += w.down)
        for (uint n = w.x; n < r.row * squares; n += w.across) {
            const uint element = n / squares, square = n % squares;
            const uint group = square / (BLOCK_IN / 16), ic = square % (BLOCK_IN / 16) * 16;
            uint source;
            const bool inside = in_dram(r, element, y, &source);
            __global const uchar *from = (__global const uchar *)dram +
                                         (size_t)source * WGT_BYTES + group * 16 * BLOCK_IN + ic;
            PAD float *to = wgt + (r.sram + y * r.row + element) * WGT_BYTES +
                            (group * BLOCK_IN + ic) * 16;
            uchar16 a[16], b[16];
#pragma unroll
            for (uint i = 0; i < 16; ++i)
                a[i] = inside ? vload16(0, from + i * BLOCK_IN) : (uchar16)(0);
#pragma unroll
            for (uint step = 0; step < 4; step += 2) {
#pragma unroll
                for (uint i = 0; i < 8; ++i) {
                    b[2 * i] = zip_low(a[i], a[i + 8]);
                    b[2 * i + 1] = zip_high(a[i], a[i + 8]);
                }
#pragma unroll
                for (uint i = 0; i < 8; ++i) {
                    a[2 * i] = zip_low(b[i], b[i + 8]);
                    a[2 * i + 1] = zip_high(b[i], b[i + 8]);
                }
            }
#pragma unroll
            for (uint i = 0; i < 16; ++i) vstore16(convert_float16(as_char16(a[i])), i, to);
        }
}

static void load_inp(PAD float *inp, __global const char *dram, rectangle r, uint lane) {
    const uint units = INP_BYTES / 16;
    const walk w = share_rows(r.row * units, lane);
    for (uint y = w.y; y < r.rows; y += w.down)
        for (uint n = w.x; n < r.row * units; n += w.across) {
            uint element;
            const bool inside = in_dram(r, n / units, y, &element);
            const size_t unit = (size_t)element * units + n % units;
            const float16 value = inside ? convert_float16(vload16(unit, dram)) : (float16)(0);
            vstore16(value, r.sram * units + y * r.row * units + n, inp);
        }
}

// Floats are exact up to 2^24, and each product is at most 2^14, so 1024 products may be summed.
typedef float16 partial;
#define MOST_UOPS (1024 / BLOCK_IN)
#define TILE 7
#define TO_INTS(sum) convert_int16(sum)

// Computes one element; four sums hide the latency of an addition.
static partial dot(PAD const float *inp, PAD const float *wgt) {
    partial a = 0, b = 0, c = 0, d = 0;
#pragma unroll
    for (uint ic = 0; ic < BLOCK_IN; ic += 4) {
        a += inp[ic] * vload16(ic, wgt);
        b += inp[ic + 1] * vload16(ic + 1, wgt);
        c += inp[ic + 2] * vload16(ic + 2, wgt);
        d += inp[ic + 3] * vload16(ic + 3, wgt);
    }
    return a + b + (c + d);
}

#else
typedef int ints;
#define UINTS(value) ((uint)(value))
#define INTS(value) ((int)(value))
#define LOAD_INTS(place, from) (from)[place]
#define STORE_INTS(value, place, to) (to)[place] = (value)
#define STORE_BYTES(value, place, to) (to)[place] = (char)(value)

static void load_wgt(PAD char *wgt, __global const char *dram, rectangle r, uint lane) {
    load(wgt, dram, WGT_BYTES / 16, r, lane);
}

static void load_inp(PAD char *inp, __global const char *dram, rectangle r, uint lane) {
    load(inp, dram, INP_BYTES / 16, r, lane);
}

typedef int partial;
#define MOST_UOPS UINT_MAX
#define TILE 1
#define TO_INTS(sum) (sum)

static partial dot(PAD const char *inp, PAD const char *wgt) {
    partial sum = 0;
#pragma unroll
    for (uint ic = 0; ic < BLOCK_IN; ic += 16) {
        const char16 x = *(PAD const char16 *)(inp + ic);
        const char16 w = *(PAD const char16 *)(wgt + ic);
        sum += x.s0 * w.s0; sum += x.s1 * w.s1; sum += x.s2 * w.s2; sum += x.s3 * w.s3;
        sum += x.s4 * w.s4; sum += x.s5 * w.s5; sum += x.s6 * w.s6; sum += x.s7 * w.s7;
        sum += x.s8 * w.s8; sum += x.s9 * w.s9; sum += x.sa * w.sa; sum += x.sb * w.sb;
        sum += x.sc * w.sc; sum += x.sd * w.sd; sum += x.se * w.se; sum += x.sf * w.sf;
    }
    return sum;
}
#endif

typedef struct {
    uint begin, end;
} range;

typedef struct {
    range out, in, uops;
} loops;

static loops decode_loops(ulong2 word) {
    loops l;
    l.uops.begin = bits(word.x, 8, LOG_UOP_DEPTH);
    l.uops.end = max(l.uops.begin, bits(word.x, 8 + LOG_UOP_DEPTH, LOG_UOP_DEPTH + 1));
    l.out.begin = 0;
    l.out.end = bits(word.x, 9 + 2 * LOG_UOP_DEPTH, 14);
    l.in.begin = 0;
    l.in.end = bits(word.x, 23 + 2 * LOG_UOP_DEPTH, 14);
    return l;
}

static uint extent(range r) { return r.end - r.begin; }

static uint count_parts(loops l, uint schedule) {
    return (schedule & SPLIT_OUT ? extent(l.out) : 1) * (schedule & SPLIT_IN ? extent(l.in) : 1) *
           (schedule & SPLIT_UOPS ? extent(l.uops) : 1);
}

// Returns one iteration of a split loop, or all of another loop.
static range take(range whole, uint is_split, uint *part) {
    if (!is_split) return whole;
    const uint iterations = extent(whole);
    range one;
    one.begin = whole.begin + *part % iterations;
    one.end = one.begin + 1;
    *part /= iterations;
    return one;
}

static loops take_part(loops l, uint schedule, uint part) {
    l.in = take(l.in, schedule & SPLIT_IN, &part);
    l.out = take(l.out, schedule & SPLIT_OUT, &part);
    l.uops = take(l.uops, schedule & SPLIT_UOPS, &part);
    return l;
}

// Sums wrap around; C guarantees that only for unsigned integers.
static ints add(ints x, ints y) { return INTS(UINTS(x) + UINTS(y)); }

static void write_back(scratchpads pads, uint place, ints value) {
    STORE_INTS(value, place, pads.acc);
    STORE_BYTES(value, place, pads.out);
}

typedef struct {
    uint dst, src, wgt;
} indices;

static indices move(indices from, indices step, uint times) {
    from.dst += step.dst * times;
    from.src += step.src * times;
    from.wgt += step.wgt * times;
    return from;
}

static indices decode_uop(uint uop, indices base) {
    base.dst += bits(uop, 0, LOG_ACC_DEPTH);
    base.src += bits(uop, LOG_ACC_DEPTH, UOP_SRC_BITS);
    base.wgt += bits(uop, LOG_ACC_DEPTH + UOP_SRC_BITS, LOG_WGT_DEPTH);
    return base;
}

// Adds the products of all micro-ops to `count` elements, `step` apart, which share their weights.
// The sums stay in registers while consecutive micro-ops add to the same element, and are then
// added to ACC. After inlining `count` is a constant, so that the loops over it unroll.
static inline __attribute__((always_inline))
void gemm_block(scratchpads pads, range uops, indices base, indices step, const uint count,
                uint column) {
    PAD const operand *inp = pads.inp + column / GROUPS * BLOCK_IN;
    PAD const operand *wgt = pads.wgt + column % GROUPS * VECTOR * BLOCK_IN;
    partial sums[TILE];
    uint held = 0;
    indices at = base;
#pragma unroll
    for (uint t = 0; t < count; ++t) sums[t] = 0;
    for (uint k = uops.begin; k < uops.end; ++k) {
        at = decode_uop(pads.uop[k], base);
        PAD const operand *x = inp + at.src * INP_BYTES, *w = wgt + at.wgt * WGT_BYTES;
        if (count == 1)
            sums[0] += dot(x, w);
#if TILE > 1
        else
#pragma unroll
            for (uint ic = 0; ic < BLOCK_IN; ++ic) {
                const partial weights = vload16(ic, w);
#pragma unroll
                for (uint t = 0; t < count; ++t)
                    sums[t] = fma((partial)(x[t * step.src * INP_BYTES + ic]), weights, sums[t]);
            }
#endif
        ++held;
        const bool last = k + 1 == uops.end;
        if (last || held == MOST_UOPS || decode_uop(pads.uop[k + 1], base).dst != at.dst) {
#pragma unroll
            for (uint t = 0; t < count; ++t) {
                const uint place = (at.dst + t * step.dst) * COLUMNS + column;
                write_back(pads, place, add(LOAD_INTS(place, pads.acc), TO_INTS(sums[t])));
                sums[t] = 0;
            }
            held = 0;
        }
    }
}

static void reset_block(scratchpads pads, range uops, indices base, uint column) {
    for (uint k = uops.begin; k < uops.end; ++k)
        write_back(pads, decode_uop(pads.uop[k], base).dst * COLUMNS + column, 0);
}

static void gemm_part(scratchpads pads, ulong2 word, loops l, uint column) {
    const bool reset = bits(word.x, 7, 1);
    const uint wgt_low = 2 * LOG_ACC_DEPTH + 2 * LOG_INP_DEPTH;
    indices out, in, zero;
    zero.dst = zero.src = zero.wgt = 0;
    out.dst = bits(word.y, 0, LOG_ACC_DEPTH);
    in.dst = bits(word.y, LOG_ACC_DEPTH, LOG_ACC_DEPTH);
    out.src = bits(word.y, 2 * LOG_ACC_DEPTH, LOG_INP_DEPTH);
    in.src = bits(word.y, 2 * LOG_ACC_DEPTH + LOG_INP_DEPTH, LOG_INP_DEPTH);
    out.wgt = bits(word.y, wgt_low, LOG_WGT_DEPTH);
    in.wgt = bits(word.y, wgt_low + LOG_WGT_DEPTH, LOG_WGT_DEPTH);
    const bool tiled_in = in.wgt == 0 && extent(l.in) >= TILE;
    const bool tiled_out = out.wgt == 0 && !tiled_in;
    const uint in_tile = tiled_in ? TILE : 1, out_tile = tiled_out ? TILE : 1;
    const indices step = tiled_in ? in : out;
    for (uint o = l.out.begin; o < l.out.end; o += out_tile)
        for (uint i = l.in.begin; i < l.in.end; i += in_tile) {
            const uint count = min(out_tile, l.out.end - o) * min(in_tile, l.in.end - i);
            const indices base = move(move(zero, out, o), in, i);
            if (reset)
                for (uint t = 0; t < count; ++t)
                    reset_block(pads, l.uops, move(base, step, t), column);
            else if (count == TILE)
                gemm_block(pads, l.uops, base, step, TILE, column);
            else
                for (uint t = 0; t < count; ++t)
                    gemm_block(pads, l.uops, move(base, step, t), step, 1, column);
        }
}

// Shifts by the low five bits of the amount, which are signed; negative amounts shift left.
static ints shift_right(ints x, ints amount) {
    const ints n = INTS(UINTS(amount) << 27) >> 27;
    return n >= 0 ? x >> (n & 31) : INTS(UINTS(x) << UINTS(-n & 31));
}

static ints apply(uint function, ints x, ints y) {
    switch (function) {
    case MIN: return min(x, y);
    case MAX: return max(x, y);
    case ADD: return add(x, y);
    case SHR: return shift_right(x, y);
    default: return INTS(UINTS(x) * UINTS(y));
    }
}

static void alu_part(scratchpads pads, ulong2 word, loops l, uint column) {
    const uint dst_out = bits(word.y, 0, LOG_ACC_DEPTH);
    const uint dst_in = bits(word.y, LOG_ACC_DEPTH, LOG_ACC_DEPTH);
    const uint src_out = bits(word.y, 2 * LOG_ACC_DEPTH, LOG_ACC_DEPTH);
    const uint src_in = bits(word.y, 3 * LOG_ACC_DEPTH, LOG_ACC_DEPTH);
    const uint function = bits(word.y, 4 * LOG_ACC_DEPTH, 3);
    const bool use_imm = bits(word.y, 4 * LOG_ACC_DEPTH + 3, 1);
    const ints imm = (int)(short)bits(word.y, 4 * LOG_ACC_DEPTH + 4, 16);
    for (uint o = l.out.begin; o < l.out.end; ++o)
        for (uint i = l.in.begin; i < l.in.end; ++i)
            for (uint k = l.uops.begin; k < l.uops.end; ++k) {
                const uint uop = pads.uop[k];
                const uint dst = bits(uop, 0, LOG_ACC_DEPTH) + o * dst_out + i * dst_in;
                const uint src = bits(uop, LOG_ACC_DEPTH, UOP_SRC_BITS) + o * src_out + i * src_in;
                const ints x = LOAD_INTS(dst * COLUMNS + column, pads.acc);
                const ints y = use_imm ? imm : LOAD_INTS(src * COLUMNS + column, pads.acc);
                write_back(pads, dst * COLUMNS + column, apply(function, x, y));
            }
}

static void compute(scratchpads pads, ulong2 word, bool is_gemm, uint schedule, uint lane) {
    const loops all = decode_loops(word);
    const uint parts = count_parts(all, schedule);
    for (uint column = lane % COLUMNS; column < COLUMNS; column += LANES)
        for (uint part = lane / COLUMNS; part < parts; part += REPLICAS) {
            const loops l = take_part(all, schedule, part);
            if (is_gemm)
                gemm_part(pads, word, l, column);
            else
                alu_part(pads, word, l, column);
        }
}

static void execute_load(scratchpads pads, drams dram, rectangle r, uint lane) {
    switch (r.memory) {
    case UOP: load_uops(pads.uop, (__global const uint *)dram.uop, r, lane); break;
    case WGT: load_wgt(pads.wgt, dram.wgt, r, lane); break;
    case INP: load_inp(pads.inp, dram.inp, r, lane); break;
    case ACC: load(pads.acc, dram.acc, ACC_BYTES / 16, r, lane); break;
    default: load_acc_8bit(pads.acc, dram.acc8, r, lane);
    }
}

static void execute(scratchpads pads, drams dram, ulong2 word, uint schedule, uint lane) {
    switch (bits(word.x, 0, 3)) {
    case LOAD: execute_load(pads, dram, decode_rectangle(word), lane); break;
    case STORE: store(dram.out, pads.out, decode_rectangle(word), lane); break;
    case GEMM: compute(pads, word, true, schedule, lane); break;
    default: compute(pads, word, false, schedule, lane);
    }
}

static scratchpads scratchpads_at(PAD char *start) {
    scratchpads pads;
    pads.wgt = (PAD operand *)(start + WGT_START);
    pads.acc = (PAD int *)(start + ACC_START);
    pads.inp = (PAD operand *)(start + INP_START);
    pads.out = start + OUT_START;
    pads.uop = (PAD uint *)(start + UOP_START);
    return pads;
}

// `ranges` has the first instruction and the end of each core's part of each launch. The
// scratchpads of all cores are in `scratch` and persist between launches. Each memory starts at
// byte `*_at` of its buffer, a multiple of 16; all may share one buffer.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void vta_core(__global const ulong2 *instructions, __global const uchar *schedule,
              __global const uint2 *ranges, const uint launch, __global char *scratch,
              __global const char *uop, const ulong uop_at, __global const char *wgt,
              const ulong wgt_at, __global const char *acc, const ulong acc_at,
              __global const char *inp, const ulong inp_at, __global const char *acc8,
              const ulong acc8_at, __global char *out, const ulong out_at) {
    const uint lane = get_local_id(0), core = get_group_id(0);
    const uint2 part = ranges[launch * get_num_groups(0) + core];
    __global char *own = scratch + (size_t)core * SCRATCH_BYTES;
    drams dram;
    dram.uop = uop + uop_at;
    dram.wgt = wgt + wgt_at;
    dram.acc = acc + acc_at;
    dram.inp = inp + inp_at;
    dram.acc8 = acc8 + acc8_at;
    dram.out = out + out_at;
#if LOCAL_SCRATCHPADS
    __local uint4 near[SCRATCH_BYTES / 16];
    for (uint n = lane; n < SCRATCH_BYTES / 16; n += LANES) near[n] = ((__global uint4 *)own)[n];
    WAIT();
    const scratchpads pads = scratchpads_at((__local char *)near);
#else
    const scratchpads pads = scratchpads_at(own);
#endif
    for (uint n = part.x; n < part.y; ++n) {
        if (schedule[n] & WAIT_BEFORE) WAIT();
        const ulong2 word = instructions[n];
        if (bits(word.x, 0, 3) == FINISH) break;
        execute(pads, dram, word, schedule[n], lane);
    }
#if LOCAL_SCRATCHPADS
    WAIT();
    for (uint n = lane; n < SCRATCH_BYTES / 16; n += LANES) ((__global uint4 *)own)[n] = near[n];
#endif
}
