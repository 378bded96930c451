// A step of a parametric chain for one box of parameters; src/core/regions.hpp says what it is.
//
// Vectors are [state][below, above][box], rates are [term][least, greatest][box], weights [step][box].
#pragma once

#include "../../graph/cuda/pattern.cuh"

struct Bounds {
    double below, above;
};

struct Region {
    const int* states;            // of each row
    const offset_t* starts;       // the groups of each row
    const int* terms;             // of each group
    const offset_t* group_starts;  // the entries of each group
    const int* columns;
    const double* coefficients;

    // A state's bounds after a step. `value(state)` is a pair of bounds, `rate(term)` a pair of rates.
    template <class Value, class Rate>
    __device__ Bounds step(count_t row, const Bounds& own, Value&& value, Rate&& rate) const {
        Bounds change{0, 0};
        const offset_t last = starts[row + 1];
        for (offset_t group = starts[row]; group < last; ++group) {
            double down = 0, up = 0;
            const offset_t end = group_starts[group + 1];
            for (offset_t e = group_starts[group]; e < end; ++e) {
                const Bounds target = value(columns[e]);
                down += coefficients[e] * (target.below - own.below);
                up += coefficients[e] * (target.above - own.above);
            }
            const Bounds bounds = rate(terms[group]);
            change.below += (down > 0 ? bounds.below : bounds.above) * down;
            change.above += (up > 0 ? bounds.above : bounds.below) * up;
        }
        return {own.below + change.below, own.above + change.above};
    }
};

#define REGION_PARAMETERS                                                                                                  \
    const int *states, const offset_t *starts, const int *terms, const offset_t *group_starts, const int *columns,       \
        const double *coefficients, count_t n_rows, count_t n_states, count_t n_terms, const double *rates,              \
        const double *weights, const int *watched, count_t n_watched, double *sums, double *x, double *other, count_t boxes
#define REGION \
    Region { states, starts, terms, group_starts, columns, coefficients }

__device__ inline Bounds pair_at(const double* values, count_t place, count_t boxes, count_t box) {
    return {values[2 * place * boxes + box], values[(2 * place + 1) * boxes + box]};
}
__device__ inline void write_pair(double* values, count_t place, count_t boxes, count_t box, const Bounds& pair) {
    values[2 * place * boxes + box] = pair.below;
    values[(2 * place + 1) * boxes + box] = pair.above;
}
