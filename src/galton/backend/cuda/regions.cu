// Steps of a parametric chain for many boxes of parameters at once, where their vectors are too long for shared memory.
//
// Execution plan: a thread has a row and a box; threads beside each other have the boxes of one row, so that an entry of the matrix is
// read once for 32 of them (of a few boxes, once for all) and the vectors side by side. The threads of the whole device meet after
// each step.
#include "region.cuh"
#include "bits.cuh"
#include "meeting.cuh"

// Steps `first` to `last`; the vectors are in x before even steps, in other before odd ones.
extern "C" __global__ void interleaved_steps(REGION_PARAMETERS, count_t first, count_t last, unsigned long long* arrived) {
    const Region region = REGION;
    for (count_t k = first; k < last; ++k) {
        if (k > first) meet(arrived, k - first);
        const double* from = k % 2 ? other : x;
        double* to = k % 2 ? x : other;
        for (count_t item = thread_number(); weights && item < n_watched * boxes; item += thread_count()) {
            const count_t place = item / boxes, box = item % boxes;
            const double weight = weights[k * boxes + box];
            const Bounds now = pair_at(from, watched[place], boxes, box), sum = pair_at(sums, place, boxes, box);
            write_pair(sums, place, boxes, box, {sum.below + weight * now.below, sum.above + weight * now.above});
        }
        for (count_t item = thread_number(); item < n_rows * boxes; item += thread_count()) {
            const count_t row = item / boxes, box = item % boxes;
            const Bounds own = pair_at(from, states[row], boxes, box);
            const Bounds after = region.step(
                row, own, [&](int state) { return pair_at(from, state, boxes, box); },
                [&](int term) { return pair_at(rates, term, boxes, box); });
            write_pair(to, states[row], boxes, box, after);
        }
    }
}

// The largest change of each box between two vectors, as bits: numbers that are not negative have the same order so. A thread
// has a box and every so many rows.
extern "C" __global__ void largest_changes(const int* states, count_t n_rows, const double* x, const double* other, count_t boxes,
                                           unsigned long long* changes) {
    const count_t box = thread_number() % boxes, stride = thread_count() / boxes;
    Bounds largest{0, 0};
    for (count_t row = thread_number() / boxes; row < n_rows; row += stride) {
        const Bounds a = pair_at(x, states[row], boxes, box), b = pair_at(other, states[row], boxes, box);
        const double below = a.below > b.below ? a.below - b.below : b.below - a.below;
        const double above = a.above > b.above ? a.above - b.above : b.above - a.above;
        if (below > largest.below) largest.below = below;
        if (above > largest.above) largest.above = above;
    }
    atomicMax(changes + box, bits_of(largest.below));
    atomicMax(changes + boxes + box, bits_of(largest.above));
}
