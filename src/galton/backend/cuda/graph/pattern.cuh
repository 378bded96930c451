// The rows of a model without the numbers in them, as every kernel of the graph analysis takes them.
//
// OFFSET is the type of the offsets of rows, int or long long. `groups` is null for a chain, where row s is that of
// state s. Counts are long long, so that a Python int is passed as it is. Masks are a byte per element.
#pragma once
#include "../../../device/cuda/threads.cuh"

typedef OFFSET offset_t;

struct Pattern {
    const offset_t* starts;
    const int* columns;
    const int* groups;

    __device__ count_t first_row(count_t state) const { return groups ? groups[state] : state; }
    __device__ offset_t begin(count_t state) const { return starts[first_row(state)]; }
    __device__ offset_t end(count_t state) const { return starts[first_row(state + 1)]; }
};

// Element `number` of `count`, from the front or from the back: blocks start in the order of their numbers, so that a
// pass that works in place is, roughly, a sweep in one direction.
__device__ inline count_t in_order(count_t number, count_t count, count_t down) {
    return down ? count - 1 - number : number;
}

// Add to an offset; what it was before.
__device__ inline int add_to(int* offset, int by) { return atomicAdd(offset, by); }
__device__ inline long long add_to(long long* offset, int by) {
    // Adding in two's complement, which atomic operations know only without a sign.
    auto* word = reinterpret_cast<unsigned long long*>(offset);
    return (long long)(atomicAdd(word, (unsigned long long)(long long)by));
}
