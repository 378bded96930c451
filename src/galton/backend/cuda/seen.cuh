// What steps show: see `Seen` of backend/steps.py.
//
// Every thread keeps the extremes of its own states; in the end a warp has one of each to tell, and tells it if it is news.
#pragma once

#include "numbers.cuh"

#define FAINT 0x1p-960  // below this, what is lost under 2^-1022 would show in a quotient

__device__ inline double lesser(double a, double b) { return b < a ? b : a; }
__device__ inline double greater(double a, double b) { return b > a ? b : a; }

// A number that has the order of a double; that of NaN, 0, is that of nothing.
__device__ inline unsigned long long ordered(double value) {
#ifdef __CUDA_ARCH__
    const auto bits = (unsigned long long)__double_as_longlong(value);
#else
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
#endif
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// The greatest of all threads. All threads of a warp must call it.
__device__ inline void tell_greatest(double value, unsigned long long* told) {
#ifdef __CUDA_ARCH__
    for (int step = 16; step; step /= 2) value = greater(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (threadIdx.x % 32 != 0) return;
#endif
    const unsigned long long news = ordered(value);
    if (news > *(volatile unsigned long long*)told) atomicMax(told, news);
}

// Places in what is told: of the least numbers the negation, so that the greatest is what counts everywhere. The last one
// counts blocks that have met.
enum { LEAST, MOST, LEAST_RATIO, MOST_RATIO, LEAST_CHANGE, MOST_CHANGE, FAINTEST, MEETINGS };

struct Extremes {
    double least, most, least_ratio, most_ratio, least_change, most_change;

    __device__ Extremes()
        : least(INFINITE), most(-INFINITE), least_ratio(INFINITE), most_ratio(-INFINITE), least_change(INFINITE),
          most_change(-INFINITE) {}

    __device__ void watch(double before, double after) {
        least = lesser(least, after);
        most = greater(most, after);
        least_change = lesser(least_change, after - before);
        most_change = greater(most_change, after - before);
        if (before == 0 && after == 0) return;
        const bool digits = before > FAINT && after > FAINT;
        least_ratio = lesser(least_ratio, digits ? after / before : 0);
        most_ratio = greater(most_ratio, digits ? after / before : INFINITE);
    }
    __device__ void tell(unsigned long long* told) const {
        tell_greatest(-least, told + LEAST);
        tell_greatest(most, told + MOST);
        tell_greatest(-least_ratio, told + LEAST_RATIO);
        tell_greatest(most_ratio, told + MOST_RATIO);
        tell_greatest(-least_change, told + LEAST_CHANGE);
        tell_greatest(most_change, told + MOST_CHANGE);
    }
};
