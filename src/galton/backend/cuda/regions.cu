// Steps of a parametric chain for many boxes of parameters at once, where their vectors are too long for shared memory.
//
// Execution plan: a warp has a row and 32 boxes side by side, so that an entry of the matrix is read once for all of them. The
// threads of the whole device meet after each step.
#include "region.cuh"
#include "bits.cuh"
#include "meeting.cuh"

// Steps `first` to `last`; the vectors are in x before even steps, in other before odd ones.
extern "C" __global__ void interleaved_steps(REGION_PARAMETERS, count_t first, count_t last, unsigned long long* arrived) {
    const Region region = REGION;
    const count_t parts = boxes / 32, warps = thread_count() / 32, lane = threadIdx.x % 32;
    for (count_t k = first; k < last; ++k) {
        if (k > first) meet(arrived, k - first);
        const double* from = k % 2 ? other : x;
        double* to = k % 2 ? x : other;
        for (count_t item = thread_number() / 32; weights && item < n_watched * parts; item += warps) {
            const count_t place = item / parts, box = item % parts * 32 + lane;
            const double weight = weights[k * boxes + box];
            const Bounds now = pair_at(from, watched[place], boxes, box), sum = pair_at(sums, place, boxes, box);
            write_pair(sums, place, boxes, box, {sum.below + weight * now.below, sum.above + weight * now.above});
        }
        for (count_t item = thread_number() / 32; item < n_rows * parts; item += warps) {
            const count_t row = item / parts, box = item % parts * 32 + lane;
            const Bounds own = pair_at(from, states[row], boxes, box);
            const Bounds after = region.step(
                row, own, [&](int state) { return pair_at(from, state, boxes, box); },
                [&](int term) { return pair_at(rates, term, boxes, box); });
            write_pair(to, states[row], boxes, box, after);
        }
    }
}

// The largest change of each box between two vectors, as bits: numbers that are not negative have the same order so. A warp has 32
// boxes and every so many rows.
extern "C" __global__ void largest_changes(const int* states, count_t n_rows, const double* x, const double* other, count_t boxes,
                                           unsigned long long* changes) {
    const count_t parts = boxes / 32, warps = thread_count() / 32 / parts, box = thread_number() / 32 % parts * 32 + threadIdx.x % 32;
    Bounds largest{0, 0};
    for (count_t row = thread_number() / 32 / parts; row < n_rows; row += warps) {
        const Bounds a = pair_at(x, states[row], boxes, box), b = pair_at(other, states[row], boxes, box);
        const double below = a.below > b.below ? a.below - b.below : b.below - a.below;
        const double above = a.above > b.above ? a.above - b.above : b.above - a.above;
        if (below > largest.below) largest.below = below;
        if (above > largest.above) largest.above = above;
    }
    atomicMax(changes + box, bits_of(largest.below));
    atomicMax(changes + boxes + box, bits_of(largest.above));
}
