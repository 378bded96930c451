// The places where a mask is set, in order.
//
// Execution plan: a thread per element; `before` counts those set up to and with each.
#include "../../graph/cuda/pattern.cuh"

extern "C" __global__ void list_positions(const byte* mask, const int* before, count_t n, int* positions) {
    const count_t i = thread_number();
    if (i < n && mask[i]) positions[before[i] - 1] = int(i);
}
