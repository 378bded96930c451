// What is asked of equations x = opt(Ax + b) without changing x: defect, products, values of rows. Execution plan as in sweeps.cu.
// Slices have nothing for a single row of several.
#include "states.cuh"

// The largest |F(x) - x| / x.
extern "C" __global__ void defect(ROWS_PARAMETERS, const double* x, count_t first, count_t last, unsigned long long* largest) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    double found = 0;
    if (state != NOBODY) {
        const double before = x[state];
        with_value(rows, state, x, [&](double after) {
            const double difference = after > before ? after - before : before - after;
            if (difference > 0) found = difference / before;
        });
    }
    keep_largest(found, largest);
}

// y = Ax or, `from_x`, x - Ax; with b or without, by the row chosen or, in a chain, by the only one.
extern "C" __global__ void multiply(ROWS_PARAMETERS, const int* chosen, const double* x, double* y, count_t with_constant,
                                    count_t from_x, count_t first, count_t last) {
    const count_t state = state_of_thread(first);
    if (state >= last) return;
    const Rows rows = ROWS;
    const double value = chain_value(rows, chosen ? chosen[state] : state, x, with_constant);
    if (lane() == 0) y[state] = from_x ? x[state] - value : value;
}

// The value of every row of the states; the first gets place 0.
extern "C" __global__ void row_values(ROWS_PARAMETERS, const double* x, double* values, count_t first, count_t last) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    if (state == NOBODY) return;
    double* mine = values + (rows.pattern.first_row(state) - rows.pattern.first_row(first));
    over_rows(rows, state, x, [&](int row, double value, bool) {
        if (lane() == 0) mine[row] = value;
    });
}
