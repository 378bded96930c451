// Between states and their choices. A thread per state, or per choice.
#include "../../graph/cuda/pattern.cuh"

extern "C" __global__ void owners(const int* groups, count_t n_states, int* owner) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    for (int row = groups[state]; row < groups[state + 1]; ++row) owner[row] = int(state);
}

extern "C" __global__ void every_successor_in(const offset_t* starts, const int* columns, const byte* states, count_t n_rows,
                                              byte* inside) {
    const count_t row = thread_number();
    if (row >= n_rows) return;
    bool all = true;
    for (count_t e = starts[row]; all && e < starts[row + 1]; ++e) all = states[columns[e]];
    inside[row] = all;
}
