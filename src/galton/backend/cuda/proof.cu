// Proofs of bounds on the device: what src/core/solve/proof.cpp does, with rounding chosen per instruction.
//
// u >= F(u) bounds the least solution from above, and l <= F(l) from below where the solution is unique. `slack` covers the
// relative rounding of scale and constant. Execution plan as in sweeps.cu; a state that fails sets a flag, and nothing else is
// written.
#include "groups.cuh"

__device__ inline double row_above(const Rows& rows, const Row& row, const double* upper, double slack) {
    double sum = row_sum<Up>(rows, row, upper);
    if (rows.scale.values) sum = Up::multiply(sum, rows.scale[row.number]);
    const double constant = rows.constant[row.number];
    return Up::add(Up::multiply_add(sum, slack, sum), Up::multiply_add(constant, slack, constant));
}

__device__ inline double row_below(const Rows& rows, const Row& row, const double* lower, double slack) {
    double sum = row_sum<Down>(rows, row, lower);
    if (rows.scale.values) sum = Down::multiply(sum, rows.scale[row.number]);
    const double less = Down::add(1, -slack);
    return Down::multiply_add(sum, less, Down::multiply(rows.constant[row.number], less));
}

// `use(bound)` for what a state is worth at most, or at least.
template <class Use>
__device__ inline void with_above(const Rows& rows, count_t state, const double* upper, double slack, Use&& use) {
    with_best_bound(rows, state, [&](const Row& row) { return row_above(rows, row, upper, slack); }, use);
}
template <class Use>
__device__ inline void with_below(const Rows& rows, count_t state, const double* lower, double slack, Use&& use) {
    with_best_bound(rows, state, [&](const Row& row) { return row_below(rows, row, lower, slack); }, use);
}

extern "C" __global__ void is_above(ROWS_PARAMETERS, const double* upper, double slack, count_t first, count_t last,
                                    unsigned long long* failed) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    if (state == NOBODY) return;
    with_above(rows, state, upper, slack, [&](double above) {
        if (!(upper[state] >= above)) *failed = 1;
    });
}

extern "C" __global__ void is_below(ROWS_PARAMETERS, const double* lower, double slack, count_t first, count_t last,
                                    unsigned long long* failed) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    if (state == NOBODY) return;
    with_below(rows, state, lower, slack, [&](double below) {
        // Infinity on a cycle would prove itself, and the sums want numbers that are not negative.
        const bool good = lower[state] >= 0 && lower[state] < INFINITE && lower[state] <= below;
        if (!good) *failed = 1;
    });
}

// Bounds from bounds: lower = F(lower), upper = F(upper), rounded outward. Bounds they were, bounds they are. Either may be null,
// and one has to be for wide states: the blocks of a state meet once.
extern "C" __global__ void propagate(ROWS_PARAMETERS, double* lower, double* upper, double slack, count_t first, count_t last) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    if (state == NOBODY) return;
    if (upper) {
        with_above(rows, state, upper, slack, [&](double above) {
            if (lane() == 0 && above < upper[state]) upper[state] = above;
        });
    }
    if (lower) {
        with_below(rows, state, lower, slack, [&](double below) {
            if (lane() == 0 && below > lower[state]) lower[state] = below;
        });
    }
}
