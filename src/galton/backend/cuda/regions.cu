// Steps of a parametric chain for many boxes of parameters at once, where their vectors are too long for shared memory.
//
// Execution plan: a thread has a box, and every so many rows of those of its block; threads beside each other have the boxes of one
// row, so that an entry of the matrix is read once for all of them and the vectors side by side. The rows of a block follow each
// other, so that what neighbours need is in the cache of its multiprocessor. The threads of the whole device meet after each step;
// the first entries that each needs then are the same each time, and it keeps them.
#include "region.cuh"
#include "../../device/cuda/bits.cuh"
#include "../../device/cuda/meeting.cuh"

// The part of `count` things that a block has.
struct Share {
    count_t begin, end;
};
__device__ inline Share share_of(count_t count) {
    return {count * blockIdx.x / gridDim.x, count * (blockIdx.x + 1) / gridDim.x};
}

// Steps `first` to `last`, of which `begin` is that with the vectors in x. A block has a multiple of so many threads as there are boxes.
extern "C" __global__ void __launch_bounds__(1024) interleaved_steps(REGION_PARAMETERS, count_t begin, count_t first, count_t last,
                                                                     unsigned long long* arrived) {
    const Rows rows = ROWS;
    const index_t width = index_t(boxes), box = threadIdx.x % unsigned(boxes);
    const index_t beside = blockDim.x / unsigned(boxes), place = threadIdx.x / unsigned(boxes);
    const Weights weights = WEIGHTS(box);
    const Share mine = share_of(n_rows), watched_share = share_of(n_watched);
    const index_t first_row = mine.begin + place, end_row = mine.end;
    const Row first_one = first_row < end_row ? rows.at(first_row) : Row{0, 0, 0, 0};
    for (count_t k = first; k < last; ++k) {
        if (k > first) meet(arrived, k - first);
        const Bounds* from = ((k - begin) % 2 ? other : x) + box;
        Bounds* to = ((k - begin) % 2 ? x : other) + box;
        const double weight = weights.at(k);
        for (count_t i = watched_share.begin + place; weight != 0 && i < watched_share.end; i += beside)
            add_weighted(sums[i * boxes + box], weight, from[index_t(watched[i]) * width]);
        Row row = first_one;
        for (index_t number = first_row; number < end_row; number += beside) {
            Entry batch[AT_A_TIME];
            rows.load(row, 0, batch);
            const Row next = number + beside < end_row ? rows.at(number + beside) : Row{0, 0, 0, 0};
            to[index_t(row.state) * width] = rows.step(
                row, batch, from[index_t(row.state) * width], [&](int state) { return from[index_t(state) * width]; },
                [&](int term) { return rates[index_t(term) * width + box]; });
            row = next;
        }
    }
}

// The largest change of each box between two vectors, as bits: numbers that are not negative have the same order so. A thread
// has a box and every so many rows.
extern "C" __global__ void largest_changes(const int* states, count_t n_rows, const Bounds* x, const Bounds* other, count_t boxes,
                                           unsigned long long* changes) {
    const count_t box = thread_number() % boxes, stride = thread_count() / boxes;
    Bounds largest{0, 0};
    for (count_t row = thread_number() / boxes; row < n_rows; row += stride) {
        const Bounds a = x[states[row] * boxes + box], b = other[states[row] * boxes + box];
        const double below = a.below > b.below ? a.below - b.below : b.below - a.below;
        const double above = a.above > b.above ? a.above - b.above : b.above - a.above;
        if (below > largest.below) largest.below = below;
        if (above > largest.above) largest.above = above;
    }
    atomicMax(changes + box, bits_of(largest.below));
    atomicMax(changes + boxes + box, bits_of(largest.above));
}
