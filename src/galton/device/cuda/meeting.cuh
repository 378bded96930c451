// All blocks of a launch wait for each other: what each wrote before is seen by all after it. They must be on the device
// together, which a cooperative launch guarantees.
#pragma once
#include "threads.cuh"

#ifdef __CUDA_ARCH__
// `arrived` counts the blocks that came since the launch, `meeting` the times they met, this one included.
__device__ inline void meet(unsigned long long* arrived, count_t meeting) {
    __syncthreads();
    if (threadIdx.x == 0 && gridDim.x > 1) {
        __threadfence();
        atomicAdd(arrived, 1ull);
        while (*(volatile unsigned long long*)arrived < (unsigned long long)(meeting * gridDim.x)) {
        }
        __threadfence();
    }
    __syncthreads();
}
#else
__device__ inline void meet(unsigned long long*, count_t) {}
#endif
