// Steps of a parametric chain for many boxes of parameters at once, a block each.
//
// Execution plan: a block keeps both vectors of its box, before and after a step, and the rates in shared memory; a thread has a row,
// or every so many rows, of which it keeps the first. All steps are one launch, in which blocks never meet, and each ends when its box
// needs no more. What the memory holds is 32 bytes a state.
#include "region.cuh"

// Steps `first` to `last` of the box of each block; x gets the vectors after them, other those before the last.
extern "C" __global__ void __launch_bounds__(1024) steps_in_blocks(REGION_PARAMETERS, count_t first, count_t last) {
    extern __shared__ Bounds memory[];
    const Rows rows = ROWS;
    const count_t box = blockIdx.x;
    const Weights weights = WEIGHTS(box);
    if (last > weights.end) last = weights.end;
    if (first >= last) return;
    Bounds *from = memory, *to = from + n_states, *bounds = to + n_states;
    for (count_t state = threadIdx.x; state < n_states; state += blockDim.x) from[state] = to[state] = x[state * boxes + box];
    for (count_t term = threadIdx.x; term < n_terms; term += blockDim.x) bounds[term] = rates[term * boxes + box];
    const Row kept_row = threadIdx.x < n_rows ? rows.at(threadIdx.x) : Row{0, 0, 0, 0};
    Entry kept[AT_A_TIME];
    rows.load(kept_row, 0, kept);
    __syncthreads();
    for (count_t k = first; k < last; ++k) {
        const double weight = weights.at(k);
        for (count_t i = threadIdx.x; weight != 0 && i < n_watched; i += blockDim.x)
            add_weighted(sums[i * boxes + box], weight, from[watched[i]]);
        Row row = kept_row;
        Entry batch[AT_A_TIME];
#pragma unroll
        for (int i = 0; i < AT_A_TIME; ++i) batch[i] = kept[i];
        for (index_t number = threadIdx.x; number < n_rows; number += blockDim.x) {
            const Row next = number + blockDim.x < n_rows ? rows.at(number + blockDim.x) : Row{0, 0, 0, 0};
            to[row.state] = rows.step(
                row, batch, from[row.state], [&](int state) { return from[state]; }, [&](int term) { return bounds[term]; });
            row = next;
            rows.load(row, 0, batch);
        }
        __syncthreads();
        Bounds* const after = to;
        to = from;
        from = after;
    }
    for (count_t state = threadIdx.x; state < n_states; state += blockDim.x) {
        x[state * boxes + box] = from[state];
        other[state * boxes + box] = to[state];
    }
}
