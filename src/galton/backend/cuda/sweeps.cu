// Sweeps over equations x = opt(Ax + b), on the states from `first` to `last`.
//
// Execution plan, the same for all: LANES threads to a state, states in order, so that a warp reads neighbouring rows. A
// sweep must read the matrix once (codes, columns, offsets, constants) and x, and write x: nothing is staged, because
// states are numbered by the values of their variables and most successors are near, in the cache. Written into x itself, a
// sweep is an asynchronous one: some threads see what others have just written, which can only help. (Frommer and Szyld 2000.)
#include "rows.cuh"

// The value of a state by the row chosen, or in a chain by its only one.
__device__ inline double value_of(const Rows& rows, count_t state, const int* chosen, const double* x) {
    Walk walk(rows, state);
    return row_value(walk, chosen ? chosen[state] : state, x);
}

extern "C" __global__ void sweep(ROWS_PARAMETERS, const int* chosen, const double* x, double* y, double omega, count_t down,
                                 count_t first, count_t last, count_t relative, unsigned long long* largest) {
    // Blocks start in the order of their numbers: what an upward sweep in place cannot pass on, a downward one can.
    // Slices keep their order inside.
    const count_t place = thread_number() / LANES, slice = place / (32 / LANES), slices = (last - first - 1) / (32 / LANES);
    const count_t state = first + (down ? place + (slices - 2 * slice) * (32 / LANES) : place);
    double change = 0;
    if (first <= state && state < last) {
        const Rows rows = ROWS;
        const double before = x[state];
        int which;
        double after = groups && !chosen ? best_value(rows, state, which, x) : value_of(rows, state, chosen, x);
        if (omega != 1) after = before + omega * (after - before);
        if (lane() == 0) y[state] = after;
        change = relative_change(before, after, relative);
    }
    if (largest) keep_largest(change, largest);
}

// A sweep in place that also writes the best rows. The row taken so far is kept unless another is better by more than rounding:
// without a reason a strategy must not change, or it would change for ever.
extern "C" __global__ void improve(ROWS_PARAMETERS, double* x, int* chosen, count_t first, count_t last,
                                   unsigned long long* largest, unsigned long long* changed) {
    const count_t state = state_of_thread(first);
    double change = 0;
    if (state < last) {
        const Rows rows = ROWS;
        const double before = x[state];
        int which;
        const double after = best_value(rows, state, which, x);
        const int kept = chosen[state];
        if (which != kept) {
            const double so_far = value_of(rows, state, chosen, x), apart = so_far > after ? so_far - after : after - so_far;
            if (apart <= 1e-13 * (after < 0 ? -after : after)) which = kept;
        }
        if (lane() == 0) {
            x[state] = after;
            if (which != kept) {
                chosen[state] = which;
                *changed = 1;
            }
        }
        change = relative_change(before, after, true);
    }
    keep_largest(change, largest);
}

// The largest |F(x) - x| / x.
extern "C" __global__ void defect(ROWS_PARAMETERS, const double* x, count_t first, count_t last, unsigned long long* largest) {
    const count_t state = state_of_thread(first);
    double found = 0;
    if (state < last) {
        const Rows rows = ROWS;
        int which;
        const double before = x[state];
        const double after = best_value(rows, state, which, x);
        const double difference = after > before ? after - before : before - after;
        if (difference > 0) found = difference / before;
    }
    keep_largest(found, largest);
}

// y = Ax, with b or without, by the rows chosen or, in a chain, by all.
extern "C" __global__ void multiply(ROWS_PARAMETERS, const int* chosen, const double* x, double* y, count_t with_constant,
                                    count_t first, count_t last) {
    const count_t state = state_of_thread(first);
    if (state >= last) return;
    const Rows rows = ROWS;
    const count_t row = chosen ? chosen[state] : state;
    Walk walk(rows, state);
    const double product = rows.scaled(row, walk.sum<Nearest>(row, x));
    if (lane() == 0) y[state] = with_constant ? rows.with_constant(row, product) : product;
}

// The value of every row of the states; the first gets place 0.
extern "C" __global__ void row_values(ROWS_PARAMETERS, const double* x, double* values, count_t first, count_t last) {
    const count_t state = state_of_thread(first);
    if (state >= last) return;
    const Rows rows = ROWS;
    Walk walk(rows, state);
    const count_t origin = rows.pattern.first_row(first), end = rows.pattern.first_row(state + 1);
    for (count_t row = rows.pattern.first_row(state); row < end; ++row) {
        const double value = row_value(walk, row, x);
        if (lane() == 0) values[row - origin] = value;
    }
}
