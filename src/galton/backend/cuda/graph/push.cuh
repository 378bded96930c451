// Searches along edges: from states that have been added to those that can be added because of them.
#pragma once

#include "pattern.cuh"

// A state is OPEN (may be added), FOUND, both (it was open and has been added) or neither (closed).
#define OPEN 1
#define FOUND 2

__device__ inline bool is_found(const byte* status, count_t state) { return status[state] & FOUND; }

// Numbers that threads put one after the other.
struct Queue {
    int* numbers;
    unsigned long long* tail;

    // One lane of a warp makes room for all that have something to put.
    __device__ inline void put(int number) const {
#ifdef __CUDA_ARCH__
        const unsigned lanes = __activemask();
        const int leader = __ffs(lanes) - 1;
        unsigned before;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
        unsigned long long place = 0;
        if (__popc(lanes & before) == 0) place = atomicAdd(tail, (unsigned long long)__popc(lanes));
        place = __shfl_sync(lanes, place, leader) + __popc(lanes & before);
#else
        const unsigned long long place = atomicAdd(tail, 1ull);
#endif
        numbers[place] = number;
    }
};

// The states in the order in which they are added; the array may be null. A state is listed before anybody can see that it
// is added, so that whatever is added because of it comes after it.
struct Order {
    Queue states;

    __device__ void put(count_t state) const {
        if (!states.numbers) return;
        states.put(int(state));
        __threadfence();
    }
};

__device__ inline bool set_bit(unsigned* bits, count_t number) {
    const unsigned bit = 1u << (number & 31);
    return !(atomicOr(&bits[number >> 5], bit) & bit);
}

// Add an open state; true for the one thread that did. There are no atomic operations on bytes, so the word around it is
// changed: masks begin at a multiple of four bytes.
__device__ inline bool add(byte* status, count_t state) {
    const unsigned shift = unsigned(state & 3) * 8;
    return !(atomicOr(reinterpret_cast<unsigned*>(status) + (state >> 2), unsigned(FOUND) << shift) >> shift & FOUND);
}

// What it takes to get from a source that an edge was followed to, to the state that may be added.
struct Step {
    byte* status;
    const int* owner;  // of rows; null where sources are states
    unsigned* met;     // rows counted already; null where edges are counted
    int* missing;      // rows or edges to be counted, of each state; null where one is enough
    int* strategy;     // where the row is written; may be null
    Order order;

    // The state added, or -1.
    __device__ int follow(int source) const {
        const int state = owner ? owner[source] : source;
        if (status[state] != OPEN) return -1;
        if (met && !set_bit(met, source)) return -1;
        if (missing && atomicAdd(&missing[state], -1) != 1) return -1;
        if (!add(status, state)) return -1;
        if (strategy) strategy[state] = source;
        order.put(state);
        return state;
    }
};

// Pushes from one state and, `chase` times at most, from the last state it added: along a narrow path no thread waits for
// another. The other states added go to the queue; states with more than `wide` edges to `wide_states`, to get a thread
// for each edge. `rows` are those whose edges are followed, null for all.
struct Pushes {
    Pattern graph;
    Step step;
    const byte* rows;
    Queue queue, wide_states;
    count_t wide;

    __device__ void from(int state, count_t chase) const {
        for (count_t k = 0; k < chase; ++k) {
            if (!rows && count_t(graph.end(state)) - count_t(graph.begin(state)) > wide) {
                wide_states.put(state);
                return;
            }
            int next = -1;
            for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
                if (rows && !rows[row]) continue;
                for (offset_t entry = graph.starts[row]; entry < graph.starts[row + 1]; ++entry) {
                    const int added = step.follow(graph.columns[entry]);
                    if (added < 0) continue;
                    if (next >= 0) queue.put(next);
                    next = added;
                }
            }
            if (next < 0) return;
            state = next;
        }
        queue.put(state);
    }
};
