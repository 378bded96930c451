// Rows of a matrix, copied in another order and with other column numbers.
//
// Execution plan: LANES threads to a row that is written, rows in the order of the copy. Every entry is read and written once.
#include "chain.cuh"

extern "C" __global__ void select_rows(CHAIN_PARAMETERS, const int* rows, const int* rank, count_t n_rows,
                                       const offset_t* new_starts, int* new_columns, code_t* new_codes) {
    const count_t number = state_of_thread(0);
    if (number >= n_rows) return;
    const offset_t from = starts[rows[number]], to = new_starts[number], length = starts[rows[number] + 1] - from;
    for (offset_t k = first_lane(); k < length; k += LANE_STEP) {
        const int column = columns[from + k];
        new_columns[to + k] = rank ? rank[column] : column;
        new_codes[to + k] = codes[from + k];
    }
}
