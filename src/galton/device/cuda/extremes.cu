// The least and the greatest number of each group.
//
// Execution plan: a thread per number. It reads what its group has so far, and only what is beyond that is an atomic operation, so
// that one large group does not wait for itself. Numbers are compared as integers that have their order: CuPy's own
// atomic operations on doubles, those of `minimum.at` and `maximum.at`, round to single precision.
#include "threads.cuh"
#include "bits.cuh"

#define SIGN 0x8000000000000000ull

__device__ inline unsigned long long ordered(double number) {
    const unsigned long long bits = bits_of(number);
    return bits & SIGN ? ~bits : bits | SIGN;
}

__device__ inline double from_ordered(unsigned long long key) { return number_of(key & SIGN ? key & ~SIGN : ~key); }

// `least` is all ones before, `greatest` zero.
extern "C" __global__ void extremes(const double* numbers, const int* groups, count_t n, unsigned long long* least,
                                    unsigned long long* greatest) {
    const count_t i = thread_number();
    if (i >= n) return;
    const unsigned long long key = ordered(numbers[i]);
    const int group = groups[i];
    if (key < *(volatile unsigned long long*)(least + group)) atomicMin(least + group, key);
    if (key > *(volatile unsigned long long*)(greatest + group)) atomicMax(greatest + group, key);
}

extern "C" __global__ void decode(const unsigned long long* keys, count_t n, double* numbers) {
    const count_t i = thread_number();
    if (i < n) numbers[i] = from_ordered(keys[i]);
}
