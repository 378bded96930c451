// Sweeps over equations x = opt(Ax + b), on the states from `first` to `last`.
//
// Execution plan, the same for both: LANES threads to a state, states in order, so that a warp reads neighbouring rows. A
// sweep must read the matrix once (codes, columns, offsets, constants) and x, and write x: nothing is staged, because
// states are numbered by the values of their variables and most successors are near, in the cache. Written into x itself, a
// sweep is an asynchronous one: some threads see what others have just written, which can only help. (Frommer and Szyld 2000.)
#include "states.cuh"

// In CSR, a sweep may be by the rows chosen.
__device__ inline double swept(const Rows& rows, count_t state, const int* chosen, const real* x) {
#if LAYOUT == CSR || LAYOUT == SUMS
    if (chosen) return row_value(rows, rows.row(chosen[state]), x);
#endif
    return state_value(rows, state, x);
}

extern "C" __global__ void sweep(ROWS_PARAMETERS, const int* chosen, const real* x, real* y, double omega, count_t down,
                                 count_t first, count_t last, count_t relative, unsigned long long* largest) {
    // Blocks start in the order of their numbers: what an upward sweep in place cannot pass on, a downward one can.
    // Slices keep their order inside.
    const count_t place = thread_number() / LANES, slice = place / (32 / LANES), slices = (last - first - 1) / (32 / LANES);
    const count_t state = first + (down ? place + (slices - 2 * slice) * (32 / LANES) : place);
    double change = 0;
    if (first <= state && state < last) {
        const Rows rows = ROWS;
        const double before = x[state];
        double after = swept(rows, state, chosen, x);
        if (omega != 1) after = before + omega * (after - before);
        if (lane() == 0) y[state] = real(after);
        change = relative_change(before, after, relative);
    }
    if (largest) keep_largest(change, largest);
}

// A sweep in place that also writes the best rows. The row taken so far is kept unless another is better by more than rounding:
// without a reason a strategy must not change, or it would change for ever.
extern "C" __global__ void improve(ROWS_PARAMETERS, real* x, int* chosen, count_t first, count_t last,
                                   unsigned long long* largest, unsigned long long* changed) {
    const count_t state = state_of_thread(first);
    double change = 0;
    if (state < last) {
        const Rows rows = ROWS;
        const double before = x[state];
        const int origin = int(rows.pattern.first_row(state)), kept = chosen[state] - origin;
        int which = 0;
        double after = rows.worst(), so_far = after;
        over_rows(rows, state, x, [&](int row, double value, bool ends) {
            const bool leads = ends && rows.better(value, after);
            after = leads ? value : after;
            which = leads ? row : which;
            so_far = ends && row == kept ? value : so_far;
        });
        const double apart = so_far > after ? so_far - after : after - so_far;
        if (apart <= 1e-13 * (after < 0 ? -after : after)) which = kept;
        if (lane() == 0) {
            x[state] = real(after);
            if (which != kept) {
                chosen[state] = origin + which;
                *changed = 1;
            }
        }
        change = relative_change(before, after, true);
    }
    keep_largest(change, largest);
}
