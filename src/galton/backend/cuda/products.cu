// Sums over the rows of a model.
#include "rows.cuh"

// y = Ax, a number per row; LANES threads each.
extern "C" __global__ void row_products(ROWS_PARAMETERS, const double* x, double* y, count_t n_rows) {
    const count_t row = state_of_thread(0);
    if (row >= n_rows) return;
    const Rows rows = ROWS;
    const double sum = row_sum<Nearest>(rows, rows.row(row), x);
    if (lane() == 0) y[row] = sum;
}

// The sum of the entries of each row of a chain, with its loop or without, as the unevaluated sum of two numbers: exact to
// some hundred bits, because uniformisation subtracts it from a number not much larger. A thread per row: what an addition
// loses is itself a number (Knuth's two-sum), and these are added up in their order.
extern "C" __global__ void exit_rates(ROWS_PARAMETERS, count_t loops, count_t n_rows, double* high, double* low) {
    const count_t row = thread_number();
    if (row >= n_rows) return;
    const Rows rows = ROWS;
    double sum = 0, rest = 0;
    for (count_t e = starts[row]; e < starts[row + 1]; ++e) {
        if (!loops && columns[e] == row) continue;
        const double value = rows.value(e), total = sum + value, part = total - sum;
        rest += (sum - (total - part)) + (value - part);
        sum = total;
    }
    high[row] = sum + rest;
    low[row] = rest - (high[row] - sum);
}
