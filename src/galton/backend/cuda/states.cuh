// The value of a state by its rows, wherever these are: row after row (rows.cuh), or in slices.
//
//   SLICED  Slices of 32 / LANES states, slice s from starts[s] on. A state has LANES columns of its slice, which is 32 wide: its
//           numbers one below the other, row after row, so that a warp reads 32 neighbours at a time. All that a row has is there:
//           its entries times its scale and, where it is not 0, its constant. Every row begins with a new line, and a state has at
//           least one. A column number has two bits on top: ROW_ENDS in the last line of a row, NO_ENTRY for a number that is
//           multiplied by 1 instead of by x; for a constant, and for the 0 where nothing is (column and code are 0).
//           One lane: the full-warp format of Wijs and Bošnački (2012); two lanes: their half-warp format.
//   ELL     The same with one slice of all states: starts[0] is how wide it is, starts[1] the number of its places.
#pragma once

#include "groups.cuh"

#define ROW_ENDS 0x80000000u
#define NO_ENTRY 0x40000000u
#define COLUMN 0x3fffffffu

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

__device__ inline double product(const Rows& rows, unsigned word, code_t code, const real* x, double unit) {
    const double factor = x[word & COLUMN];
    return rows.decoded(code) * (word & NO_ENTRY ? unit : factor);
}

// `visit(word, product)` for every line of a state, UNROLL lines at a time: what they have is asked for together, and no branch
// depends on it. A `unit` of 0 leaves constants out.
template <class Visit>
__device__ inline void over_lines(const Rows& rows, count_t state, const real* x, Visit&& visit, double unit = 1.0) {
    const offset_t* starts = rows.pattern.starts;
    const int slice = int(state / (32 / LANES)), place = int(state % (32 / LANES)) * LANES + first_lane();
#if LAYOUT == SLICED
    constexpr int width = 32;
    const offset_t begin = starts[slice];
    int left = int(starts[slice + 1] - begin) / width;
    const count_t at = begin + place;
#else
    const count_t width = starts[0], at = count_t(slice) * 32 + place;
    int left = int(starts[1] / width);
#endif
    const int* columns = rows.pattern.columns + at;
    const code_t* numbers = rows.codes + at;
    for (; left > 0; left -= UNROLL) {
        unsigned words[UNROLL];
        code_t codes[UNROLL];
        double products[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            words[k] = k < left ? unsigned(streamed(columns + k * width)) : NO_ENTRY;
            codes[k] = k < left ? streamed(numbers + k * width) : code_t(0);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            products[k] = product(rows, words[k], codes[k], x, unit);
#ifndef __CUDA_ARCH__
            for (int other = 1; other < LANES && k < left; ++other)
                products[k] += product(rows, unsigned(columns[k * width + other]), numbers[k * width + other], x, unit);
#endif
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) visit(words[k], products[k]);
        columns += UNROLL * width;
        numbers += UNROLL * width;
    }
}

__device__ inline double together(double part) {
    return over_lanes(part, [](double a, double b) { return a + b; });
}

// The value of a state that has one row, with its constant or without.
__device__ inline double chain_value(const Rows& rows, count_t state, const real* x, bool with_constant = true) {
    double sum = 0;
    over_lines(rows, state, x, [&](unsigned, double product) { sum += product; }, with_constant ? 1.0 : 0.0);
    return together(sum);
}

// `visit(row, value, ends)` for the rows of a state, counted from 0, and now and then where none ends.
template <class Visit>
__device__ inline void over_rows(const Rows& rows, count_t state, const real* x, Visit&& visit) {
    double sum = 0;
    int row = 0;
    over_lines(rows, state, x, [&](unsigned word, double product) {
        const bool ends = word & ROW_ENDS;
        sum += product;
        visit(row, together(sum), ends);
        sum = ends ? 0 : sum;
        row += ends;
    });
}

#else

__device__ inline double chain_value(const Rows& rows, count_t state, const real* x, bool with_constant = true) {
    const Row row = rows.row(state);
    return with_constant ? row_value(rows, row, x) : row_product(rows, row, x);
}

template <class Visit>
__device__ inline void over_rows(const Rows& rows, count_t state, const real* x, Visit&& visit) {
    const count_t origin = rows.pattern.first_row(state);
    each_row(rows, state, [&](const Row& row) { visit(int(row.number - origin), row_value(rows, row, x), true); });
}

#endif

// `use(value)` for what a state is worth, and `use(best)` for its first best row. Wide states: see groups.cuh.
#ifdef WIDE

template <class Use>
__device__ inline void with_best_row(const Rows& rows, count_t state, const real* x, Use&& use) {
    const auto better = [&](double a, double b) { return rows.better(a, b); };
    with_best(rows, state, rows.worst(), better, [&](const Row& row) { return row_value(rows, row, x); }, use);
}

template <class Use>
__device__ inline void with_value(const Rows& rows, count_t state, const real* x, Use&& use) {
    with_best_row(rows, state, x, [&](const Best& best) { use(best.value); });
}

// `use(best, kept)`, where `kept` is what another row is worth.
template <class Use>
__device__ inline void with_best_row_and(const Rows& rows, count_t state, int other, const real* x, Use&& use) {
    with_best_row(rows, state, x, [&](const Best& best) {
        use(best, row_value(rows, rows.row(rows.pattern.first_row(state) + other), x));
    });
}

#else

template <class Use>
__device__ inline void with_value(const Rows& rows, count_t state, const real* x, Use&& use) {
    if (!rows.pattern.groups) return use(chain_value(rows, state, x));
    double best = rows.worst();
    over_rows(rows, state, x, [&](int, double value, bool ends) { best = ends && rows.better(value, best) ? value : best; });
    use(best);
}

template <class Use>
__device__ inline void with_best_row_and(const Rows& rows, count_t state, int other, const real* x, Use&& use) {
    Best best{rows.worst(), 0};
    double kept = best.value;
    over_rows(rows, state, x, [&](int row, double value, bool ends) {
        const bool leads = ends && rows.better(value, best.value);
        best.value = leads ? value : best.value;
        best.row = leads ? row : best.row;
        kept = ends && row == other ? value : kept;
    });
    use(best, kept);
}

template <class Use>
__device__ inline void with_best_row(const Rows& rows, count_t state, const real* x, Use&& use) {
    with_best_row_and(rows, state, 0, x, [&](const Best& best, double) { use(best); });
}

#endif
