// The extremes of a step: see `Seen` of backend/steps.py.
//
// Every thread keeps the extremes of its own states; in the end a warp writes one of each, where it is beyond what is there.
#pragma once

#include "numbers.cuh"

#define FAINT 0x1p-960        // below this, what is lost under 2^-1022 would show in a quotient
#define FAINT_SINGLE 0x1p-90  // and what vectors of floats lose under 2^-126

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

// Raise a maximum, which all threads share, to a value. All threads of a warp must call it.
__device__ inline void raise_maximum(double value, unsigned long long* maximum) {
#ifdef __CUDA_ARCH__
    for (int step = 16; step; step /= 2) value = greater(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (threadIdx.x % 32 != 0) return;
#endif
    const unsigned long long key = ordered(value);
    if (key > *(volatile unsigned long long*)maximum) atomicMax(maximum, key);
}

// Places in the array of extremes. The least numbers are there as their negations, so that all places hold a maximum. The last
// place counts blocks that have met.
enum { LEAST, MOST, LEAST_RATIO, MOST_RATIO, LEAST_CHANGE, MOST_CHANGE, FAINTEST, MEETINGS };

struct Extremes {
    double least, most, least_ratio, most_ratio, least_change, most_change;

    __device__ Extremes()
        : least(INFINITE), most(-INFINITE), least_ratio(INFINITE), most_ratio(-INFINITE), least_change(INFINITE),
          most_change(-INFINITE) {}

    __device__ void add(double before, double after, double faint) {
        least = lesser(least, after);
        most = greater(most, after);
        least_change = lesser(least_change, after - before);
        most_change = greater(most_change, after - before);
        if (before == 0 && after == 0) return;
        const bool digits = before > faint && after > faint;
        least_ratio = lesser(least_ratio, digits ? after / before : 0);
        most_ratio = greater(most_ratio, digits ? after / before : INFINITE);
    }
    __device__ void write(unsigned long long* extremes) const {
        raise_maximum(-least, extremes + LEAST);
        raise_maximum(most, extremes + MOST);
        raise_maximum(-least_ratio, extremes + LEAST_RATIO);
        raise_maximum(most_ratio, extremes + MOST_RATIO);
        raise_maximum(-least_change, extremes + LEAST_CHANGE);
        raise_maximum(most_change, extremes + MOST_CHANGE);
    }
};
