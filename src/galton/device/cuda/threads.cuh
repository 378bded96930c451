// What every kernel counts with: threads, bytes of masks, numbers of things.
#pragma once

typedef unsigned char byte;
typedef long long count_t;

__device__ inline count_t thread_number() { return count_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline count_t thread_count() { return count_t(gridDim.x) * blockDim.x; }
