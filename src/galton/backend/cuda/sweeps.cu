// Sweeps over equations x = opt(Ax + b), on the states from `first` to `last`.
//
// Execution plan, the same for both: LANES threads to a state, states in order, so that a warp reads neighbouring rows; states with
// very many rows have blocks of their own (groups.cuh). A sweep must read the matrix once (codes, columns, offsets, constants) and x,
// and write x: nothing is staged, because states are numbered by the values of their variables and most successors are near, in the
// cache. Written into x itself, a sweep is an asynchronous one: some threads see what others have just written, which can only help.
// (Frommer and Szyld 2000.)
#include "states.cuh"

// In CSR, a sweep may be by the rows chosen.
template <class Use>
__device__ inline void with_swept(const Rows& rows, count_t state, const int* chosen, const real* x, Use&& use) {
#if (LAYOUT == CSR || LAYOUT == SUMS) && !defined(WIDE)
    if (chosen) return use(row_value(rows, rows.row(chosen[state]), x));
#endif
    with_value(rows, state, x, use);
}

extern "C" __global__ void sweep(ROWS_PARAMETERS, const int* chosen, const real* x, real* y, double omega, count_t down,
                                 count_t first, count_t last, count_t relative, unsigned long long* largest) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last, down);
    double change = 0;
    if (state != NOBODY) {
        const double before = x[state];
        with_swept(rows, state, chosen, x, [&](double after) {
            if (omega != 1) after = before + omega * (after - before);
            if (lane() == 0) y[state] = real(after);
            change = relative_change(before, after, relative);
        });
    }
    if (largest) keep_largest(change, largest);
}

// A sweep in place that also writes the best rows. The row taken so far is kept unless another is better by more than rounding:
// without a reason a strategy must not change, or it would change for ever.
extern "C" __global__ void improve(ROWS_PARAMETERS, real* x, int* chosen, count_t first, count_t last,
                                   unsigned long long* largest, unsigned long long* changed) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    double change = 0;
    if (state != NOBODY) {
        const double before = x[state];
        const int origin = int(rows.pattern.first_row(state)), kept = chosen[state] - origin;
        with_best_row_and(rows, state, kept, x, [&](const Best& best, double so_far) {
            const double after = best.value, apart = so_far > after ? so_far - after : after - so_far;
            const int which = apart <= 1e-13 * (after < 0 ? -after : after) ? kept : best.row;
            if (lane() == 0) {
                x[state] = real(after);
                if (which != kept) {
                    chosen[state] = origin + which;
                    *changed = 1;
                }
            }
            change = relative_change(before, after, true);
        });
    }
    keep_largest(change, largest);
}
