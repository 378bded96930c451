// Many steps of a chain or an MDP: x <- A x, what is summed on the way, and the extremes of the last step.
//
// Execution plan: LANES threads a row. A launch makes the steps `first` up to `last` of a call of `end` steps. Where a step
// takes no longer than a launch, one launch makes all of them: it has no more threads than the device holds at once, they go
// over the states again and again and meet after each step. Otherwise every step is a launch with threads for all states.
// The extremes of the last step are found by a kernel of its own: these need their registers to have many threads. States with very
// many rows have blocks of their own (groups.cuh), in another launch after that of each step.
//
// A step reads the matrix once. The vector before and the vector after it are both at hand, so that every second step adds
// both to the sum, and the others need not touch it.
//
// Numbers are rounded to the nearest; those below 2^-1022 keep what digits they have, which is better than losing them. Vectors may
// be floats (REAL): sums are of doubles all the same, and rounded when they are stored. What is told of the faintest number is told
// of what it was before that.
#include "states.cuh"
#include "../../device/cuda/meeting.cuh"
#include "step_extremes.cuh"

struct Steps {
    real *x, *y;  // the vector is in x before even steps, in y before odd ones
    count_t size, first, last;
    const int* watched;  // states whose numbers before each step are kept in (steps, n_watched) `record`
    count_t n_watched;
    double* record;
    unsigned long long* extremes;

    // Run `one(step, state, vector, done)` for all, which calls `done(after)` with the number after the step; only lane 0 writes it.
    template <class One>
    __device__ void run(const Rows& rows, bool find_faintest, One&& one) const {
        double faintest = INFINITE;
        for (count_t k = first; k < last; ++k) {
            const real* from = k % 2 ? y : x;
            real* to = k % 2 ? x : y;
            const auto step = [&](count_t state) {
                one(k, state, from, [&](double after) {
                    if (lane() == 0) to[state] = real(after);
                    if (after > 0) faintest = lesser(faintest, after);
                });
            };
#ifdef WIDE
            const count_t state = own_state(rows, 0, size);  // in a launch for one step
            if (state != NOBODY) step(state);
#else
            if (k > first) meet(extremes + MEETINGS, k - first);
            for (count_t i = thread_number(); i < n_watched; i += thread_count()) record[k * n_watched + i] = from[watched[i]];
            for (count_t state = thread_number() / LANES; state < size; state += thread_count() / LANES) {
                if (!is_wide(rows, state)) step(state);
            }
#endif
        }
        if (find_faintest) raise_maximum(-faintest, extremes + FAINTEST);
    }
};

#define STEPS_PARAMETERS \
    real *x, real *y, count_t size, count_t first, count_t last, count_t end, const int *watched, count_t n_watched, \
        double *record, unsigned long long *extremes
#define STEPS \
    Steps { x, y, size, first, last, watched, n_watched, record, extremes }

// x <- factor · Ax + stay · x, or x <- Ax without `stay`; sum += weight · x before each step. The faintest number is not looked
// for where there is a `stay`.
extern "C" __global__ void chain_steps(ROWS_PARAMETERS, double factor, const real* stay, const double* weights, double* sum,
                                       STEPS_PARAMETERS) {
    const Rows rows = ROWS;
    STEPS.run(rows, !stay, [&](count_t k, count_t state, const real* from, auto&& done) {
        double after = chain_value(rows, state, from);
        if (stay) after = factor * after + stay[state] * from[state];
        if (sum && k % 2 == 0 && lane() == 0) {
            double more = weights[k] * from[state];
            if (k + 1 < end) more += weights[k + 1] * after;
            sum[state] += more;
        }
        done(after);
    });
}

// x <- opt (Ax + constant), the constant being 0 where it is null.
extern "C" __global__ void bellman_steps(ROWS_PARAMETERS, STEPS_PARAMETERS) {
    const Rows rows = ROWS;
    STEPS.run(rows, true, [&](count_t, count_t state, const real* from, auto&& done) { with_value(rows, state, from, done); });
}

// x <- opt (Ax + constant), and the first row that is best for each state, step after step.
extern "C" __global__ void bellman_choices(ROWS_PARAMETERS, int* choices, STEPS_PARAMETERS) {
    const Rows rows = ROWS;
    STEPS.run(rows, true, [&](count_t k, count_t state, const real* from, auto&& done) {
        with_best_row(rows, state, from, [&](const Best& best) {
            if (lane() == 0) choices[k * size + state] = int(rows.pattern.first_row(state)) + best.row;
            done(best.value);
        });
    });
}

// The extremes of the last of `steps` steps, after which the vector is in x if these are even, in y if odd.
extern "C" __global__ void last_step_extremes(const real* x, const real* y, count_t size, count_t steps,
                                              unsigned long long* extremes) {
    const real *before = steps % 2 ? x : y, *after = steps % 2 ? y : x;
    constexpr double faint = sizeof(real) == sizeof(float) ? FAINT_SINGLE : FAINT;
    Extremes own;
    for (count_t state = thread_number(); state < size; state += thread_count()) own.add(before[state], after[state], faint);
    own.write(extremes);
}
