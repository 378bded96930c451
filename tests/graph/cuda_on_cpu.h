// What g++ needs to compile CUDA kernels for tests without a device: threads run one after the other.
#pragma once

#define __global__
#define __device__
#define __align__(bytes) alignas(bytes)

namespace cuda_on_cpu {
struct Index {
    unsigned x;
};
}  // namespace cuda_on_cpu

static cuda_on_cpu::Index threadIdx, blockIdx, blockDim;

template <class Number>
Number atomicAdd(Number* place, Number by) {
    const Number before = *place;
    *place += by;
    return before;
}

template <class Number>
Number atomicOr(Number* place, Number bits) {
    const Number before = *place;
    *place |= bits;
    return before;
}

template <class Number>
Number atomicMax(Number* place, Number other) {
    const Number before = *place;
    if (other > before) *place = other;
    return before;
}

template <class Number>
Number atomicMin(Number* place, Number other) {
    const Number before = *place;
    if (other < before) *place = other;
    return before;
}

inline void __threadfence() {}
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
