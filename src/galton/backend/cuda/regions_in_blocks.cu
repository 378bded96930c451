// Steps of a parametric chain for many boxes of parameters at once, a block each.
//
// Execution plan: a block keeps both vectors of its box, before and after a step, and the rates in shared memory; a thread has a row,
// or every so many rows. All steps are one launch, in which blocks never meet. What the memory holds is 32 bytes a state.
#include "region.cuh"

// So many steps of the box of each block; x gets the vectors after them, other those before the last.
extern "C" __global__ void __launch_bounds__(1024) steps_in_blocks(REGION_PARAMETERS, count_t steps) {
    extern __shared__ double memory[];
    const Region region = REGION;
    const count_t box = blockIdx.x;
    Bounds *from = reinterpret_cast<Bounds*>(memory), *to = from + n_states, *bounds = to + n_states;
    for (count_t state = threadIdx.x; state < n_states; state += blockDim.x) from[state] = to[state] = pair_at(x, state, boxes, box);
    for (count_t term = threadIdx.x; term < n_terms; term += blockDim.x) bounds[term] = pair_at(rates, term, boxes, box);
    __syncthreads();
    for (count_t k = 0; k < steps; ++k) {
        const double weight = weights ? weights[k * boxes + box] : 0;
        for (count_t place = threadIdx.x; weight != 0 && place < n_watched; place += blockDim.x) {
            const Bounds now = from[watched[place]], sum = pair_at(sums, place, boxes, box);
            write_pair(sums, place, boxes, box, {sum.below + weight * now.below, sum.above + weight * now.above});
        }
        for (count_t row = threadIdx.x; row < n_rows; row += blockDim.x) {
            const int state = states[row];
            to[state] = region.step(
                row, from[state], [&](int other_state) { return from[other_state]; }, [&](int term) { return bounds[term]; });
        }
        __syncthreads();
        Bounds* const after = to;
        to = from;
        from = after;
    }
    for (count_t state = threadIdx.x; state < n_states; state += blockDim.x) {
        write_pair(x, state, boxes, box, from[state]);
        write_pair(other, state, boxes, box, to[state]);
    }
}
