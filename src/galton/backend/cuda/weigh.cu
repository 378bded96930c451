// The weights of a proof: what src/core/solve/weigh.cpp does. Execution plan as in sweeps.cu.
#include "states.cuh"

extern "C" __global__ void weigh_rows(ROWS_PARAMETERS, const double* x, const int* chosen, double near, double share,
                                      double* weights, count_t first, count_t last) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    if (state == NOBODY) return;
    const double value = x[state];
    each_row(rows, state, [&](const Row& row) {
        bool matters = !groups || chosen[state] == int(row.number);
        if (!matters && rows.constant[row.number] <= share * value) {
            const double apart = row_value(rows, row, x) - value;
            matters = (apart < 0 ? -apart : apart) <= near * value;
        }
        if (lane() == 0) weights[row.number] = matters ? value : -INFINITE;
    });
}

extern "C" __global__ void left_to_delta(ROWS_PARAMETERS, const double* x, const double* w, const double* weights, double share,
                                         count_t first, count_t last, unsigned long long* largest) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    double needed = 0;
    if (state != NOBODY) {
        each_row(rows, state, [&](const Row& row) {
            const double least = rows.constant[row.number];
            if (weights[row.number] != -INFINITE || !(least > share * x[state]) || least == INFINITE) return;
            const double more = (row_product(rows, row, w) - w[state] + x[state]) / least;
            if (more > needed) needed = more;
        });
    }
    keep_largest(needed, largest);
}

// The largest (F(w) - w) / x of the equations of w.
extern "C" __global__ void growth(ROWS_PARAMETERS, const double* w, const double* x, count_t first, count_t last,
                                  unsigned long long* largest) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    double found = 0;
    if (state != NOBODY) {
        with_value(rows, state, w, [&](double value) {
            const double excess = value - w[state];
            if (excess > 0) found = excess / x[state];
        });
    }
    keep_largest(found, largest);
}

// Where x is 0, the first row that is worth 0.
extern "C" __global__ void take_free_rows(ROWS_PARAMETERS, const double* x, int* chosen, count_t first, count_t last) {
    const Rows rows = ROWS;
    const count_t state = own_state(rows, first, last);
    if (state == NOBODY || x[state] != 0) return;
    const count_t origin = rows.pattern.first_row(state);
#ifdef WIDE
    const auto price = [&](const Row& row) { return row_value(rows, row, x) == 0 ? 0 : INFINITE; };
    with_best(rows, state, INFINITE, [](double a, double b) { return a < b; }, price, [&](const Best& best) {
        if (lane() == 0 && best.value == 0) chosen[state] = int(origin) + best.row;
    });
#else
    const count_t end = rows.pattern.first_row(state + 1);
    for (count_t row = origin; row < end; ++row) {
        if (row_value(rows, rows.row(row), x) != 0) continue;
        if (lane() == 0) chosen[state] = int(row);
        return;
    }
#endif
}
