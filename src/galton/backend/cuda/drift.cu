// The drift of a vector along a chain: the sum over t of R(s,t) (h(t) - h(s)), which loops and rounded row sums do not touch.
//
// Execution plan: LANES threads to a state, as in sweeps.cu. A product reads the matrix and the vector once and writes one
// vector; a smoothing step also reads what it smooths towards, and the exit rates.
#include "chain.cuh"

// What flows out of a state: the sum of R(s,t) (x(s) - x(t)).
__device__ inline double outflow_of(const Rows& rows, count_t state, const double* x) {
    const double mine = x[state];
    double sum = 0;
    const count_t end = rows.pattern.starts[state + 1];
    for (count_t e = rows.pattern.starts[state] + first_lane(); e < end; e += LANE_STEP)
        sum += rows.value(e) * (mine - x[rows.pattern.columns[e]]);
    return over_lanes(sum, [](double a, double b) { return a + b; });
}

extern "C" __global__ void outflow(CHAIN_PARAMETERS, const double* x, double* y) {
    const count_t state = state_of_thread(0);
    if (state >= n_states) return;
    const double sum = outflow_of(CHAIN, state, x);
    if (lane() == 0) y[state] = sum;
}

// One damped step of Jacobi's method on the equation that the outflow of x is y.
extern "C" __global__ void smooth(CHAIN_PARAMETERS, const double* rates, double damping, const double* y, const double* x,
                                  double* better) {
    const count_t state = state_of_thread(0);
    if (state >= n_states) return;
    const double sum = outflow_of(CHAIN, state, x);
    if (lane() == 0) better[state] = x[state] + damping * (y[state] - sum) / rates[state];
}

// The rate at which a state is left.
extern "C" __global__ void leaving_rates(CHAIN_PARAMETERS, double* rates) {
    const count_t state = state_of_thread(0);
    if (state >= n_states) return;
    const Rows rows = CHAIN;
    double sum = 0;
    const count_t end = starts[state + 1];
    for (count_t e = starts[state] + first_lane(); e < end; e += LANE_STEP)
        if (columns[e] != state) sum += rows.value(e);
    sum = over_lanes(sum, [](double a, double b) { return a + b; });
    if (lane() == 0) rates[state] = sum;
}

// Bounds on r + Qh in every row, rounding included: what src/core/long_run/drift.cpp proves. h is the sum of `high` and `low`, the
// reward that of `state` and `choice`; all but `high` may be null. `owners` has the state of each row of an MDP, and is null for
// a chain; rows are counted as states are.
extern "C" __global__ void drift_bounds(CHAIN_PARAMETERS, const int* owners, const double* state_reward,
                                        const double* choice_reward, const double* high, const double* low, double* lower,
                                        double* upper) {
    const count_t row = state_of_thread(0);
    if (row >= n_states) return;
    const count_t state = owners ? owners[row] : row;
    const Rows rows = CHAIN;
    double below = 0, above = 0;
    const count_t end = starts[row + 1];
    for (count_t e = starts[row] + first_lane(); e < end; e += LANE_STEP) {
        const count_t to = columns[e];
        if (to == state) continue;
        double least = Down::add(high[to], -high[state]), most = Up::add(high[to], -high[state]);
        if (low) {
            least = Down::add(least, Down::add(low[to], -low[state]));
            most = Up::add(most, Up::add(low[to], -low[state]));
        }
        below = Down::multiply_add(rows.value(e), least, below);
        above = Up::multiply_add(rows.value(e), most, above);
    }
    below = over_lanes(below, [](double a, double b) { return Down::add(a, b); });
    above = over_lanes(above, [](double a, double b) { return Up::add(a, b); });
    if (state_reward) {
        below = Down::add(below, state_reward[state]);
        above = Up::add(above, state_reward[state]);
    }
    if (choice_reward) {
        below = Down::add(below, choice_reward[row]);
        above = Up::add(above, choice_reward[row]);
    }
    if (lane() != 0) return;
    lower[row] = below;
    upper[row] = above;
}

// Where walkers are after so many jumps: a thread each, with a generator of its own (Marsaglia 2003).
extern "C" __global__ void walk(CHAIN_PARAMETERS, const double* rates, count_t from, count_t walkers, count_t jumps, int* ends) {
    const count_t walker = thread_number();
    if (walker >= walkers) return;
    unsigned long long bits = 0x9E3779B97F4A7C15ull * (unsigned long long)(walker + 1);
    count_t state = from;
    const Rows rows = CHAIN;
    for (count_t jump = 0; jump < jumps; ++jump) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double left = rates[state] * double(bits >> 11) * 1.1102230246251565e-16;
        count_t next = state;
        for (count_t e = starts[state]; e < starts[state + 1]; ++e) {
            if (columns[e] == state) continue;
            next = columns[e];
            left -= rows.value(e);
            if (left < 0) break;
        }
        state = next;
    }
    ends[walker] = int(state);
}
