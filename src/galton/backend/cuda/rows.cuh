// The rows of equations x = opt(Ax + b), as every kernel of a system takes them.
//
// LANES threads go over a row together: one where rows are short, as in most models, up to a warp where they are long.
// CODE is the type of the matrix values: double, or numbers into a dictionary of one or two bytes.
#pragma once

#include "../../graph/cuda/pattern.cuh"

typedef CODE code_t;

// A number per row: plain, or one-byte codes into the distinct ones, an eighth of the bytes.
struct RowNumbers {
    const double* values;
    const byte* codes;  // null where the values are plain

    __device__ double operator[](count_t row) const { return codes ? values[codes[row]] : values[row]; }
};

struct Rows {
    Pattern pattern;
    const code_t* codes;
    const double* dictionary;  // null where codes are the values
    RowNumbers scale;          // without values: 1 everywhere
    RowNumbers constant;       // without values: 0 everywhere
    count_t optimum;           // -1 for the least, 1 for the greatest

    __device__ double value(count_t entry) const { return dictionary ? dictionary[(int)codes[entry]] : double(codes[entry]); }
    __device__ double scaled(count_t row, double sum) const { return scale.values ? scale[row] * sum : sum; }
    __device__ double with_constant(count_t row, double sum) const { return constant.values ? sum + constant[row] : sum; }
    __device__ bool better(double a, double b) const { return optimum < 0 ? a < b : a > b; }
};

#define ROWS_PARAMETERS                                                                                              \
    const offset_t *starts, const int *columns, const int *groups, const code_t *codes, const double *dictionary,    \
        const double *scales, const byte *scale_codes, const double *constants, const byte *constant_codes,         \
        count_t optimum
#define ROWS \
    Rows { Pattern{starts, columns, groups}, codes, dictionary, {scales, scale_codes}, {constants, constant_codes}, optimum }

// The state a thread works on, among those from `first` on, and its place in the group of threads that share it.
__device__ inline count_t state_of_thread(count_t first) { return first + thread_number() / LANES; }
__device__ inline int lane() { return int(threadIdx.x % LANES); }

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

// Σ v x of a row; every lane gets the whole.
template <class Rounding>
__device__ inline double row_sum(const Rows& rows, count_t row, const double* x) {
    double sum = 0;
    const count_t end = rows.pattern.starts[row + 1];
    for (count_t e = rows.pattern.starts[row] + lane(); e < end; e += LANES)
        sum = Rounding::multiply_add(rows.value(e), x[rows.pattern.columns[e]], sum);
    return over_lanes(sum, [](double a, double b) { return Rounding::add(a, b); });
}

__device__ inline double row_value(const Rows& rows, count_t row, const double* x) {
    return rows.with_constant(row, rows.scaled(row, row_sum<Nearest>(rows, row, x)));
}

// The best of what `value(row)` says of the rows of a state, and the first row that has it.
template <class Value>
__device__ inline double best_of(const Rows& rows, count_t state, int& which, Value&& value) {
    which = int(rows.pattern.first_row(state));
    const int last = int(rows.pattern.first_row(state + 1));
    double best = value(which);
    for (int row = which + 1; row < last; ++row) {
        const double other = value(row);
        if (rows.better(other, best)) {
            best = other;
            which = row;
        }
    }
    return best;
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
    const auto bits = (unsigned long long)__double_as_longlong(value);
#else
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
#endif
    if (value > 0 && bits > *(volatile unsigned long long*)largest) atomicMax(largest, bits);
}

__device__ inline double relative_change(double before, double after, bool relative) {
    const double difference = after > before ? after - before : before - after;
    if (!relative || difference == 0) return difference;
    return difference / (after < 0 ? -after : after);
}
