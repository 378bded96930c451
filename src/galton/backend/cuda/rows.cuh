// The rows of equations x = opt(Ax + b), as every kernel of a system takes them.
//
// LANES threads go over a row together: one where rows are short, as in most models, up to a warp where they are long.
// CODE is the type of the matrix values: double, or numbers into a dictionary of one or two bytes.
//
// LAYOUT says where the entries of a row are; kernels ask a Walk and do not know.
//   CSR     Row after row, row r from starts[r] on.
//   SLICED  Slices of 32 / LANES states, slice s from starts[s] on. A state has LANES columns of its slice, which is 32 wide: its
//           entries one below the other, row after row, so that a warp reads 32 neighbours at a time. Every row begins with a new
//           line. A column number has two bits on top: ROW_ENDS in the last line of a row, NO_ENTRY where nothing is (column and
//           code are 0).
//           One lane: the full-warp format of Wijs and Bošnački (2012); two lanes: their half-warp format.
//   ELL     The same with one slice of all states: starts[0] is how wide it is, starts[1] the number of its places.
//   SUMS    The sums of the rows are there already, in the place of the dictionary; merge.cu has made them.
#pragma once

#include "../../graph/cuda/pattern.cuh"

typedef CODE code_t;

#define CSR 0
#define SLICED 1
#define ELL 2
#define SUMS 3
#ifndef LAYOUT
#define LAYOUT CSR
#endif

#define ROW_ENDS 0x80000000u
#define NO_ENTRY 0x40000000u
#define COLUMN 0x3fffffffu

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

    __device__ double decoded(code_t code) const { return dictionary ? dictionary[(int)code] : double(code); }
    __device__ double value(count_t entry) const { return decoded(codes[entry]); }
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

#if LAYOUT == SLICED || LAYOUT == ELL

// What a warp reads of a slice, nobody reads again before the next sweep: it should not push the vector out of the cache. With
// CACHED it is left to the device, to see what that is worth.
template <class Number>
__device__ inline Number streamed(const Number* place) {
#if defined(__CUDA_ARCH__) && !defined(CACHED)
    return __ldcs(place);
#else
    return *place;
#endif
}

// Over the rows of a state, in their order. The next column number is asked for before the one at hand is used: where a row ends is
// written in it, so that nothing else could be on its way from memory meanwhile.
class Walk {
    count_t next_row, entry, end;
    unsigned ahead;

#if LAYOUT == SLICED
    __device__ static constexpr count_t width() { return 32; }
#else
    __device__ count_t width() const { return rows.pattern.starts[0]; }
#endif

    __device__ unsigned word(count_t at) const { return unsigned(streamed(rows.pattern.columns + at)); }

    // What is in this line, and on to the next.
    __device__ unsigned pass() {
        const unsigned found = ahead;
        entry += width();
        ahead = entry < end ? word(entry) : ROW_ENDS;
        return found;
    }

    // Places without an entry have a column and a value too, which are read and then not taken: a branch would keep the next ones
    // from being read at the same time.
    template <class Rounding>
    __device__ double with(double sum, unsigned word, count_t at, const double* x) const {
        const double value = rows.decoded(streamed(rows.codes + at));
        const double more = Rounding::multiply_add(value, x[word & COLUMN], sum);
        return word & NO_ENTRY ? sum : more;
    }

    template <class Rounding>
    __device__ double with_lanes(double sum, unsigned word, count_t at, const double* x) const {
        sum = with<Rounding>(sum, word, at, x);
#ifndef __CUDA_ARCH__
        for (int other = 1; other < LANES; ++other) sum = with<Rounding>(sum, this->word(at + other), at + other, x);
#endif
        return sum;
    }

public:
    const Rows& rows;

    __device__ Walk(const Rows& rows, count_t state) : rows(rows), next_row(rows.pattern.first_row(state)) {
        const count_t slice = state / (32 / LANES), place = state % (32 / LANES) * LANES + first_lane();
#if LAYOUT == SLICED
        entry = rows.pattern.starts[slice] + place;
        end = rows.pattern.starts[slice + 1];
#else
        entry = slice * 32 + place;
        end = rows.pattern.starts[1];
#endif
        if (rows.pattern.groups) ahead = word(entry);
    }

    // Σ v x of a row; every lane gets the whole. Rows before it are passed over, and cannot be asked for any more.
    template <class Rounding>
    __device__ double sum(count_t row, const double* x) {
        double sum = 0;
        if (!rows.pattern.groups) {
            // A row has all lines of its slice: nothing has to be known before the next ones are asked for, four at a time.
#if LANES == 1
            for (; entry < end; entry += 4 * width()) {
                count_t at[4];
                unsigned words[4];
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    const count_t there = entry + k * width();
                    at[k] = there < end ? there : entry;
                    words[k] = there < end ? word(there) : NO_ENTRY;
                }
#pragma unroll
                for (int k = 0; k < 4; ++k) sum = with<Rounding>(sum, words[k], at[k], x);
            }
#else
#pragma unroll 4
            for (; entry < end; entry += width()) sum = with_lanes<Rounding>(sum, word(entry), entry, x);
#endif
        } else {
            for (; next_row < row; ++next_row)
                while (!(pass() & ROW_ENDS)) {}
            ++next_row;
            unsigned found;
            do {
                const count_t at = entry;
                found = pass();
                sum = with_lanes<Rounding>(sum, found, at, x);
            } while (!(found & ROW_ENDS));
        }
        return over_lanes(sum, [](double a, double b) { return Rounding::add(a, b); });
    }
};

#elif LAYOUT == SUMS

struct Walk {
    const Rows& rows;

    __device__ Walk(const Rows& rows, count_t) : rows(rows) {}

    template <class Rounding>
    __device__ double sum(count_t row, const double*) const {
        return rows.dictionary[row];
    }
};

#else

struct Walk {
    const Rows& rows;

    __device__ Walk(const Rows& rows, count_t) : rows(rows) {}

    template <class Rounding>
    __device__ double sum(count_t row, const double* x) const {
        double sum = 0;
        const count_t end = rows.pattern.starts[row + 1];
        for (count_t e = rows.pattern.starts[row] + first_lane(); e < end; e += LANE_STEP)
            sum = Rounding::multiply_add(rows.value(e), x[rows.pattern.columns[e]], sum);
        return over_lanes(sum, [](double a, double b) { return Rounding::add(a, b); });
    }
};

#endif

__device__ inline double row_value(Walk& walk, count_t row, const double* x) {
    return walk.rows.with_constant(row, walk.rows.scaled(row, walk.sum<Nearest>(row, x)));
}

// The best of what `value(walk, row)` says of the rows of a state, and the first row that has it.
template <class Value>
__device__ inline double best_of(const Rows& rows, count_t state, int& which, Value&& value) {
    Walk walk(rows, state);
    which = int(rows.pattern.first_row(state));
    const int last = int(rows.pattern.first_row(state + 1));
    double best = value(walk, which);
    for (int row = which + 1; row < last; ++row) {
        const double other = value(walk, row);
        if (rows.better(other, best)) {
            best = other;
            which = row;
        }
    }
    return best;
}

__device__ inline double best_value(const Rows& rows, count_t state, int& which, const double* x) {
    return best_of(rows, state, which, [&](Walk& walk, int row) { return row_value(walk, row, x); });
}

#ifdef __CUDA_ARCH__
__device__ inline unsigned long long bits_of(double number) { return (unsigned long long)__double_as_longlong(number); }
__device__ inline double number_of(unsigned long long bits) { return __longlong_as_double((long long)bits); }
#else
inline unsigned long long bits_of(double number) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    return bits;
}
inline double number_of(unsigned long long bits) {
    double number;
    __builtin_memcpy(&number, &bits, sizeof number);
    return number;
}
#endif

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

__device__ inline double relative_change(double before, double after, bool relative) {
    const double difference = after > before ? after - before : before - after;
    if (!relative || difference == 0) return difference;
    return difference / (after < 0 ? -after : after);
}
