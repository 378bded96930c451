// The places where a mask is set, in order, and how many they are.
//
// Execution plan: to list, a thread per element; `before` counts those set up to and with each. To count, as many threads as
// the device holds, each with every so many words of eight elements; warps add up what their threads have found.
#include "threads.cuh"
#include "meeting.cuh"

extern "C" __global__ void list_positions(const byte* mask, const int* before, count_t n, int* positions) {
    const count_t i = thread_number();
    if (i < n && mask[i]) positions[before[i] - 1] = int(i);
}

// A mask that begins with a word; its elements are 0 or 1.
extern "C" __global__ void count_set(const byte* mask, count_t n, unsigned long long* found) {
    const unsigned long long* words = reinterpret_cast<const unsigned long long*>(mask);
    unsigned long long own = 0;
    for (count_t i = thread_number(); i < n / 8; i += thread_count()) own += (words[i] * 0x0101010101010101ull) >> 56;
    const count_t rest = n / 8 * 8 + thread_number();
    if (rest < n) own += mask[rest];
#ifdef __CUDA_ARCH__
    for (int step = 16; step; step /= 2) own += __shfl_xor_sync(0xffffffffu, own, step);
    if (threadIdx.x % 32 != 0) return;
#endif
    if (own) atomicAdd(found, own);
}
