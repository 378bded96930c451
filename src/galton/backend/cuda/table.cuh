// A table of distinct numbers, by their bits, made by many threads: nearly all find theirs there already and read nothing else.
#pragma once

#include "graph/pattern.cuh"

#define NOTHING 0xffffffffffffffffull  // the bits of no number that is computed

struct Table {
    unsigned long long* slots;  // 2^bits of them, at first NOTHING
    int bits;
    unsigned long long* distinct;  // how many there are; from more than a quarter of the slots on, numbers may be missing

    __device__ bool is_full() const { return *(volatile unsigned long long*)distinct > 1ull << (bits - 2); }

    __device__ void add(unsigned long long number) const {
        auto slot = (number * 0x9E3779B97F4A7C15ull) >> (64 - bits);
        while (!is_full()) {
            unsigned long long found = *(volatile unsigned long long*)(slots + slot);
            if (found == NOTHING) found = atomicCAS(slots + slot, NOTHING, number);
            if (found == number) return;
            if (found == NOTHING) {
                atomicAdd(distinct, 1ull);
                return;
            }
            slot = (slot + 1) & ((1ull << bits) - 1);
        }
    }
};

// The place of a number in a sorted list that has it.
__device__ inline int place_of(unsigned long long number, const unsigned long long* sorted, count_t count) {
    int low = 0, high = int(count) - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
