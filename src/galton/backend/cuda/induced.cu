// Equations x = k Ax + b of a chain, k being a number per row or null for 1: what BiCGStab needs of them.
//
// Execution plan: LANES threads to a state, as in sweeps.cu. The matrix and x are read once, one vector is written.
#include "chain.cuh"

__device__ inline double sum_of(const Rows& rows, count_t state, const double* x) {
    double sum = 0;
    const count_t end = rows.pattern.starts[state + 1];
    for (count_t e = rows.pattern.starts[state] + first_lane(); e < end; e += LANE_STEP)
        sum += rows.value(e) * (x ? x[rows.pattern.columns[e]] : 1.0);
    return over_lanes(sum, [](double a, double b) { return a + b; });
}

// y = x - kAx or, given b, what x leaves of the equations: y = b + kAx - x.
extern "C" __global__ void difference(CHAIN_PARAMETERS, const double* k, const double* b, const double* x, double* y) {
    const count_t state = state_of_thread(0);
    if (state >= n_states) return;
    double sum = sum_of(CHAIN, state, x);
    if (k) sum *= k[state];
    if (lane() == 0) y[state] = b ? b[state] + sum - x[state] : x[state] - sum;
}

// The states that the chain may leave for good: those whose probabilities do not add up to 1.
extern "C" __global__ void leaks(CHAIN_PARAMETERS, const double* k, double least, byte* found) {
    const count_t state = state_of_thread(0);
    if (state >= n_states) return;
    double sum = sum_of(CHAIN, state, nullptr);
    if (k) sum *= k[state];
    if (lane() == 0) found[state] = 1 - sum > least;
}
