// Numbers as one-byte codes into the distinct ones, where there are no more than 256.
//
// Execution plan: a thread per number. The first kernel collects the distinct ones in a small table: nearly every thread finds its
// number there already, and reads nothing else. The second finds each number's place in the sorted list.
#include "../../graph/cuda/pattern.cuh"

#define SLOTS 1024
#define NOTHING 0xffffffffffffffffull  // the bits of no number that is computed

extern "C" __global__ void collect(const unsigned long long* numbers, count_t n, unsigned long long* table,
                                   unsigned long long* distinct) {
    const count_t i = thread_number();
    if (i >= n || *(volatile unsigned long long*)distinct > 256) return;
    const unsigned long long bits = numbers[i];
    unsigned slot = unsigned((bits * 0x9E3779B97F4A7C15ull) >> 54);
    while (true) {
        unsigned long long found = *(volatile unsigned long long*)(table + slot);
        if (found == NOTHING) found = atomicCAS(table + slot, NOTHING, bits);
        if (found == bits) return;
        if (found == NOTHING) {
            atomicAdd(distinct, 1ull);
            return;
        }
        if (*(volatile unsigned long long*)distinct > 256) return;
        slot = (slot + 1) % SLOTS;
    }
}

extern "C" __global__ void encode(const unsigned long long* numbers, count_t n, const unsigned long long* sorted, count_t distinct,
                                  byte* codes) {
    const count_t i = thread_number();
    if (i >= n) return;
    const unsigned long long bits = numbers[i];
    int low = 0, high = int(distinct) - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < bits) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    codes[i] = byte(low);
}
