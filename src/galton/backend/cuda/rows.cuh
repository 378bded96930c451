// The rows of equations x = opt(Ax + b), as every kernel of a system takes them.
//
// LANES threads go over a row together: one where rows are short, as in most models, up to a warp where they are long.
// CODE is the type of the matrix values: double, or numbers into a dictionary of one or two bytes.
//
// LAYOUT says where the entries of a row are.
//   CSR     Row after row, row r from starts[r] on.
//   SUMS    The sums of the rows are there already, in the place of the dictionary; segmented.cu has made them.
//   SLICED  Not row after row, and only the values of states can be asked for: see states.cuh.
//   ELL     The same.
#pragma once

#include "graph/pattern.cuh"
#include "../../device/cuda/bits.cuh"
#include "numbers.cuh"

typedef CODE code_t;

// The numbers of vectors: those of sweeps may be floats, to move fewer bytes. All arithmetic is with doubles.
#ifndef REAL
#define REAL double
#endif
typedef REAL real;

#define CSR 0
#define SLICED 1
#define ELL 2
#define SUMS 3
#ifndef LAYOUT
#define LAYOUT CSR
#endif

// How many entries a thread asks for at a time. It waits for memory and for nothing else: for columns and codes first, then for
// x in these columns.
#ifndef UNROLL
#define UNROLL 4
#endif

// A number per row: plain, or one-byte codes into the distinct ones, an eighth of the bytes.
struct RowNumbers {
    const double* values;
    const byte* codes;  // null where the values are plain

    __device__ double operator[](count_t row) const { return codes ? values[codes[row]] : values[row]; }
};

// A row and, in CSR, where its entries are.
struct Row {
    count_t number;
    offset_t begin, end;
};

// What a block has of a state with many rows (groups.cuh): the chunk of that number. The best of its rows is left here, and the first
// chunk of a state counts the blocks that have come.
struct Chunk {
    int state, number, row;
    unsigned arrived;
    double value;
};

struct Rows {
    Pattern pattern;
    const code_t* codes;
    const double* dictionary;  // null where codes are the values
    RowNumbers scale;          // without values: 1 everywhere
    RowNumbers constant;       // without values: 0 everywhere
    count_t optimum;           // -1 for the least, 1 for the greatest
    Chunk* chunks;             // of the wide states (groups.cuh), which have a launch of their own; null where they have none

    __device__ double decoded(code_t code) const { return dictionary ? dictionary[(int)code] : double(code); }
    __device__ double value(count_t entry) const { return decoded(codes[entry]); }
    __device__ bool better(double a, double b) const { return optimum < 0 ? a < b : a > b; }
    __device__ double worst() const { return optimum < 0 ? INFINITE : -INFINITE; }

#if LAYOUT == SUMS
    __device__ Row row(count_t number) const { return {number, 0, 0}; }
#else
    __device__ Row row(count_t number) const { return {number, pattern.starts[number], pattern.starts[number + 1]}; }
#endif
};

#define ROWS_PARAMETERS                                                                                              \
    const offset_t *starts, const int *columns, const int *groups, const code_t *codes, const double *dictionary,    \
        const double *scales, const byte *scale_codes, const double *constants, const byte *constant_codes,         \
        count_t optimum, Chunk *chunks
#define ROWS \
    Rows { Pattern{starts, columns, groups}, codes, dictionary, {scales, scale_codes}, {constants, constant_codes}, optimum, chunks }

// The state a thread works on, among those from `first` on, and its place in the group of threads that share it.
__device__ inline count_t state_of_thread(count_t first) { return first + thread_number() / LANES; }
__device__ inline int lane() { return int(threadIdx.x % LANES); }

// The entries of a row that a thread adds up: every LANES-th. Without a device threads run one after the other, and each goes over
// the whole row.
#ifdef __CUDA_ARCH__
#define LANE_STEP LANES
__device__ inline int first_lane() { return lane(); }
#else
#define LANE_STEP 1
inline int first_lane() { return 0; }
#endif

#if defined(__CUDA_ARCH__) && LANES > 1
__device__ inline unsigned lanes_of_row() {
    return LANES == 32 ? 0xffffffffu : ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES);
}
template <class Add>
__device__ inline double over_lanes(double part, Add&& add) {
    for (int step = LANES / 2; step; step /= 2) part = add(part, __shfl_xor_sync(lanes_of_row(), part, step));
    return part;
}
#else
template <class Add>
__device__ inline double over_lanes(double part, Add&&) {
    return part;
}
#endif

// How a row is summed: to the nearest, or with every operation rounded up or down.
struct Nearest {
    __device__ static double add(double a, double b) { return a + b; }
    __device__ static double multiply(double a, double b) { return a * b; }
    __device__ static double multiply_add(double a, double b, double c) { return a * b + c; }
};
struct Up {
    __device__ static double add(double a, double b) { return __dadd_ru(a, b); }
    __device__ static double multiply(double a, double b) { return __dmul_ru(a, b); }
    __device__ static double multiply_add(double a, double b, double c) { return __fma_ru(a, b, c); }
};
struct Down {
    __device__ static double add(double a, double b) { return __dadd_rd(a, b); }
    __device__ static double multiply(double a, double b) { return __dmul_rd(a, b); }
    __device__ static double multiply_add(double a, double b, double c) { return __fma_rd(a, b, c); }
};

// Σ v x of the entries from `begin` to `end`, by one thread alone.
template <class Rounding>
__device__ inline double sum_alone(const Rows& rows, offset_t begin, offset_t end, const real* x) {
    double sum = 0;
    for (offset_t e = begin; e < end; ++e) sum = Rounding::multiply_add(rows.value(e), x[rows.pattern.columns[e]], sum);
    return sum;
}

// Σ v x of the entries from `begin` to `end`; every lane gets the whole.
template <class Rounding>
__device__ inline double sum_of(const Rows& rows, offset_t begin, offset_t end, const real* x) {
#if LANES == 1
    return sum_alone<Rounding>(rows, begin, end, x);  // most rows are shorter than what could be asked for together
#else
    double sum = 0;
    const int* column = rows.pattern.columns + begin + first_lane();
    const code_t* code = rows.codes + begin + first_lane();
    for (offset_t left = end - begin - first_lane(); left > 0; left -= UNROLL * LANE_STEP) {
        int columns[UNROLL];
        code_t codes[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            columns[k] = k * LANE_STEP < left ? column[k * LANE_STEP] : 0;
            codes[k] = k * LANE_STEP < left ? code[k * LANE_STEP] : code_t(0);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const double more = Rounding::multiply_add(rows.decoded(codes[k]), x[columns[k]], sum);
            sum = k * LANE_STEP < left ? more : sum;
        }
        column += UNROLL * LANE_STEP;
        code += UNROLL * LANE_STEP;
    }
    return over_lanes(sum, [](double a, double b) { return Rounding::add(a, b); });
#endif
}

template <class Rounding>
__device__ inline double row_sum(const Rows& rows, const Row& row, const real* x) {
#if LAYOUT == SUMS
    return rows.dictionary[row.number];
#else
    return sum_of<Rounding>(rows, row.begin, row.end, x);
#endif
}

// What a row is worth without its constant, and with it.
__device__ inline double row_product(const Rows& rows, const Row& row, const real* x) {
    const double sum = row_sum<Nearest>(rows, row, x);
    return rows.scale.values ? rows.scale[row.number] * sum : sum;
}
__device__ inline double row_value(const Rows& rows, const Row& row, const real* x) {
    const double product = row_product(rows, row, x);
    return rows.constant.values ? product + rows.constant[row.number] : product;
}

// The largest of numbers that are not negative: as bits they have the same order. All threads of a warp must call it; a warp
// has one number to keep, and most have none that is new.
__device__ inline void keep_largest(double value, unsigned long long* largest) {
#ifdef __CUDA_ARCH__
    for (int step = 16; step; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, value, step);
        if (other > value) value = other;
    }
    if (threadIdx.x % 32 != 0) return;
#endif
    const unsigned long long bits = bits_of(value);
    if (value > 0 && bits > *(volatile unsigned long long*)largest) atomicMax(largest, bits);
}

// A change is that of the numbers as they are kept. In single precision those of states that are next to impossible are below
// what a float holds exactly: they swing for ever there, so the smallest exact one is what they are measured by.
__device__ inline double relative_change(double before, double after, bool relative) {
    const double kept = real(after), difference = kept > before ? kept - before : before - kept;
    if (!relative || difference == 0) return difference;
    const double size = kept < 0 ? -kept : kept, smallest = sizeof(real) == sizeof(float) ? 0x1p-126 : 0;
    return difference / (size > smallest ? size : smallest);
}
