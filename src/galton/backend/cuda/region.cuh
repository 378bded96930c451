// A step of a parametric chain for one box of parameters; src/core/regions/regions.hpp says what it is.
//
// Vectors are [state][box] pairs of bounds, rates are [term][box] pairs of the least and the greatest. Entries of the matrix are asked
// for several at a time, then the values that they lead to: a thread waits twice for so many, not twice for each. Its instructions
// count as well: INDEX, the type of places in vectors, has 32 bits wherever that is enough.
#pragma once

#include "graph/pattern.cuh"

#ifndef AT_A_TIME
#define AT_A_TIME 2
#endif

typedef INDEX index_t;

struct alignas(16) Bounds {
    double below, above;
};

// `term` is that of the entry and of those before it since the last one that has a term; -1 for the others.
struct alignas(16) Entry {
    int column, term;
    double coefficient;
};

struct Row {
    offset_t first, apart;  // its entries
    int count, state;
};

// One after the other for each row, or, where `starts` is null, those with the same number of all rows side by side (ELL).
struct Rows {
    const int* states;
    const offset_t* starts;
    const Entry* entries;
    count_t n_rows, longest;

    __device__ Row at(index_t row) const {
        if (!starts) return {offset_t(row), offset_t(n_rows), int(longest), states[row]};
        const offset_t first = starts[row];
        return {first, 1, int(starts[row + 1] - first), states[row]};
    }
    // The entries from number k on; the last one again where there are no more.
    __device__ void load(const Row& row, int k, Entry (&batch)[AT_A_TIME]) const {
#pragma unroll
        for (int i = 0; i < AT_A_TIME; ++i) {
            const int number = k + i < row.count ? k + i : row.count - 1;
            batch[i] = number < 0 ? Entry{row.state, -1, 0} : entries[row.first + number * row.apart];
        }
    }
    // A state's bounds after a step, given its first entries. `value(state)` is a pair of bounds, `rate(term)` a pair of rates.
    template <class Value, class Rate>
    __device__ Bounds step(const Row& row, Entry (&batch)[AT_A_TIME], const Bounds& own, Value&& value, Rate&& rate) const {
        Bounds change{0, 0}, gain{0, 0};
        for (int k = 0; k < row.count; k += AT_A_TIME) {
            if (k > 0) load(row, k, batch);
            Bounds targets[AT_A_TIME];
#pragma unroll
            for (int i = 0; i < AT_A_TIME; ++i) targets[i] = value(batch[i].column);
#pragma unroll
            for (int i = 0; i < AT_A_TIME; ++i) {
                if (k + i >= row.count) break;
                gain.below += batch[i].coefficient * (targets[i].below - own.below);
                gain.above += batch[i].coefficient * (targets[i].above - own.above);
                if (batch[i].term < 0) continue;
                const Bounds bounds = rate(batch[i].term);
                change.below += (gain.below > 0 ? bounds.below : bounds.above) * gain.below;
                change.above += (gain.above > 0 ? bounds.above : bounds.below) * gain.above;
                gain = {0, 0};
            }
        }
        return {own.below + change.below, own.above + change.above};
    }
};

// The weights of the steps for one box: `before` up to `left`, then those of a table, then none.
struct Weights {
    double before;
    count_t left, end;
    const double* values;

    __device__ double at(count_t step) const { return step >= end ? 0 : step < left ? before : values[step - left]; }
};

#define REGION_PARAMETERS                                                                                                     \
    const int *states, const offset_t *starts, const Entry *entries, count_t n_rows, count_t longest, count_t n_states,     \
        count_t n_terms, const Bounds *rates, const double *before, const count_t *left, const count_t *ends,               \
        const count_t *offsets, const double *values, const int *watched, count_t n_watched, Bounds *sums, Bounds *x,       \
        Bounds *other, count_t boxes
#define ROWS \
    Rows { states, starts, entries, n_rows, longest }
#define WEIGHTS(box) \
    Weights { before[box], left[box], ends[box], values + offsets[box] }

__device__ inline void add_weighted(Bounds& sum, double weight, const Bounds& now) {
    sum = {sum.below + weight * now.below, sum.above + weight * now.above};
}
