// The part of a matrix that is about some of its states: their rows, and the entries whose columns they are.
//
// Execution plan: a thread per row that is kept counts the entries that stay and, after a prefix sum, writes them. `position`
// has the new number of each state, -1 for one that is left out; `rows` are the old numbers of the rows, `owners` the new
// numbers of their states, null where row i is that of state i.
#include "graph/pattern.cuh"

typedef CODE code_t;

__device__ inline bool stays(const int* position, int column, count_t owner, count_t loops) {
    const int target = position[column];
    return target >= 0 && (loops || target != owner);
}

extern "C" __global__ void count_part(const offset_t* starts, const int* columns, const int* position, const int* rows,
                                      const int* owners, count_t loops, count_t n_rows, int* counts) {
    const count_t i = thread_number();
    if (i >= n_rows) return;
    const count_t row = rows[i], owner = owners ? owners[i] : i;
    int count = 0;
    for (count_t e = starts[row]; e < starts[row + 1]; ++e) count += stays(position, columns[e], owner, loops);
    counts[i] = count;
}

extern "C" __global__ void write_part(const offset_t* starts, const int* columns, const code_t* codes, const int* position,
                                      const int* rows, const int* owners, count_t loops, count_t n_rows,
                                      const offset_t* new_starts, int* new_columns, code_t* new_codes) {
    const count_t i = thread_number();
    if (i >= n_rows) return;
    const count_t row = rows[i], owner = owners ? owners[i] : i;
    count_t to = new_starts[i];
    for (count_t e = starts[row]; e < starts[row + 1]; ++e) {
        if (!stays(position, columns[e], owner, loops)) continue;
        new_columns[to] = position[columns[e]];
        new_codes[to++] = codes[e];
    }
}
