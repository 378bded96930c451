// The rows of a state, and who goes over them.
//
// Execution plan: LANES threads go over the rows of a state, one after the other. Where all states are alike that is best; but an
// end component that has become one unknown may have a hundred thousand rows, and a sweep would wait for it. States with more
// than MANY_ROWS are therefore *wide*. Where there are any, the usual launch leaves them out, and a second one, compiled with WIDE,
// has nothing else: a block for each CHUNK_ROWS of their rows, in which LANES threads take a row at a time. What is best in a chunk
// is found by its block, what is best of a state by whichever of its blocks comes last, so that no block waits for another.
// The same row is summed by as many threads in the same order, wide or not: its value has the same bits.
#pragma once

#include "rows.cuh"

#define MANY_ROWS 256  // as in backend/formats.py
#define NOBODY (-1)

// A row counted from the first of its state, and what it is worth.
struct Best {
    double value;
    int row;
};

#ifdef WIDE

// Which of the LANES threads that take a row together these are, and how many there are in a block. Without a device threads run one
// after the other: the first of each block goes over all of its rows, and the others have nothing to do.
#ifdef __CUDA_ARCH__
__device__ inline count_t team() { return threadIdx.x / LANES; }
__device__ inline count_t teams() { return blockDim.x / LANES; }
__device__ inline bool has_work() { return true; }
#else
inline count_t team() { return 0; }
inline count_t teams() { return 1; }
inline bool has_work() { return threadIdx.x == 0; }
#endif

// The state of a thread among those from `first` to `last`, or NOBODY: the same for all threads of a block. `down` is the order of
// narrow states; that of these does not matter.
__device__ inline count_t own_state(const Rows& rows, count_t first, count_t last, count_t = 0) {
    if (!has_work()) return NOBODY;
    const count_t state = rows.chunks[blockIdx.x].state;
    return first <= state && state < last ? state : NOBODY;
}

// `use(row)` for the rows of the chunk.
template <class Use>
__device__ inline void each_row(const Rows& rows, count_t state, Use&& use) {
    const count_t first = rows.pattern.first_row(state) + count_t(rows.chunks[blockIdx.x].number) * CHUNK_ROWS;
    const count_t all = rows.pattern.first_row(state + 1), last = first + CHUNK_ROWS < all ? first + CHUNK_ROWS : all;
    for (count_t number = first + team(); number < last; number += teams()) use(rows.row(number));
}

// Of rows that are worth the same, the first.
template <class Better>
__device__ inline bool leads(const Best& one, const Best& other, Better&& better) {
    return better(one.value, other.value) || (one.value == other.value && one.row < other.row);
}

// The best that any thread of the block has; all of them get it, and all have to call it.
template <class Better>
__device__ inline Best best_of_block(Best mine, Better&& better) {
#ifdef __CUDA_ARCH__
    __shared__ double values[32];
    __shared__ int numbers[32];
    for (int step = 16; step; step /= 2) {
        const Best other{__shfl_xor_sync(0xffffffffu, mine.value, step), __shfl_xor_sync(0xffffffffu, mine.row, step)};
        if (leads(other, mine, better)) mine = other;
    }
    __syncthreads();  // what was there before has been read
    if (threadIdx.x % 32 == 0) {
        values[threadIdx.x / 32] = mine.value;
        numbers[threadIdx.x / 32] = mine.row;
    }
    __syncthreads();
    mine = {values[0], numbers[0]};
    for (int warp = 1; warp < int(blockDim.x / 32); ++warp) {
        const Best other{values[warp], numbers[warp]};
        if (leads(other, mine, better)) mine = other;
    }
#endif
    return mine;
}

// Leave what is best in a chunk for whoever comes last of the blocks of its state, and say whether that is this one. All threads of
// the block have to call it, once in a launch; then what the others left is theirs to read.
__device__ inline bool comes_last(Chunk* first, Chunk* own, int chunks, const Best& best) {
#ifdef __CUDA_ARCH__
    __shared__ bool last;
    if (threadIdx.x == 0) {
#else
    bool last = false;
    {
#endif
        own->value = best.value;
        own->row = best.row;
        __threadfence();
        last = atomicAdd(&first->arrived, 1u) == unsigned(chunks - 1);
        if (last) first->arrived = 0;  // for the next launch: all have come
        __threadfence();
    }
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
    return last;
}

// `use(best)` by the first LANES threads of the block that comes last, for the best of what `value(row)` says of the rows of a state.
template <class Value, class Better, class Use>
__device__ inline void with_best(const Rows& rows, count_t state, double worst, Better&& better, Value&& value, Use&& use) {
    const count_t origin = rows.pattern.first_row(state);
    Best best{worst, 0};
    each_row(rows, state, [&](const Row& row) {
        const Best other{value(row), int(row.number - origin)};
        if (better(other.value, best.value)) best = other;
    });
    best = best_of_block(best, better);
    const int chunks = int((rows.pattern.first_row(state + 1) - origin + CHUNK_ROWS - 1) / CHUNK_ROWS);
    if (chunks > 1) {
        Chunk* const own = rows.chunks + blockIdx.x;
        Chunk* const first = own - own->number;
        if (!comes_last(first, own, chunks, best)) return;
        best = {worst, 0};
        for (count_t k = chunks - 1 - team(); k >= 0; k -= teams()) {
            const volatile Chunk& chunk = first[k];  // not as a cache may know it
            const Best other{chunk.value, chunk.row};
            if (leads(other, best, better)) best = other;
        }
        best = best_of_block(best, better);
    }
    if (team() == 0) use(best);
}

// The same for proofs: what is not a number is best, so that nothing is proved by leaving it out.
template <class Value, class Use>
__device__ inline void with_best_bound(const Rows& rows, count_t state, Value&& value, Use&& use) {
    const auto better = [&](double a, double b) { return a != a || rows.better(a, b); };
    with_best(rows, state, rows.worst(), better, value, [&](const Best& best) { use(best.value); });
}

#else

// Whether a state is left to another launch. Where there is none, there are no chunks either.
__device__ inline bool is_wide(const Rows& rows, count_t state) {
    return rows.chunks && rows.pattern.first_row(state + 1) - rows.pattern.first_row(state) > MANY_ROWS;
}

// The state of a thread among those from `first` to `last`, or NOBODY; `down` for the last first. Blocks start in the order of their
// numbers: what an upward sweep in place cannot pass on, a downward one can. Slices keep their order inside.
__device__ inline count_t own_state(const Rows& rows, count_t first, count_t last, count_t down = 0) {
    const count_t place = thread_number() / LANES, slice = place / (32 / LANES), slices = (last - first - 1) / (32 / LANES);
    const count_t state = first + (down ? place + (slices - 2 * slice) * (32 / LANES) : place);
    return first <= state && state < last && !is_wide(rows, state) ? state : NOBODY;
}

// `use(row)` for the rows of a state.
template <class Use>
__device__ inline void each_row(const Rows& rows, count_t state, Use&& use) {
    const count_t last = rows.pattern.first_row(state + 1);
    for (count_t number = rows.pattern.first_row(state); number < last; ++number) use(rows.row(number));
}

// `use(best)` for the best of what `value(row)` says of the rows of a state.
template <class Value, class Use>
__device__ inline void with_best_bound(const Rows& rows, count_t state, Value&& value, Use&& use) {
    double best = 0;
    bool any = false;
    each_row(rows, state, [&](const Row& row) {
        const double other = value(row);
        if (!any || rows.better(other, best)) best = other;
        any = true;
    });
    use(best);
}

#endif
