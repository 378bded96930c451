// Searches along edges whose every step has to wait for the one before: all threads stay, and wait for each other.
#include "push.cuh"

#define FEW 64  // states; a path so narrow is followed by single threads
#define FAR 64  // edges one after the other

// The last block to come opens the gate for all, when it has written down how far the queue goes. `gate` holds how many
// blocks have come, and how often it has been opened.
__device__ inline void wait_for_all(unsigned* gate, unsigned long long* tail, unsigned long long* limit) {
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile unsigned* opened = gate + 1;
        const unsigned before = *opened;
        __threadfence();
        if (atomicAdd(gate, 1u) == gridDim.x - 1) {
            *gate = 0;
            *limit = atomicAdd(tail, 0ull);
            __threadfence();
            atomicAdd(gate + 1, 1u);
        } else {
            while (*opened == before) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

// Execution plan: no more blocks than fit on the device at once, two on each multiprocessor, so that whatever else runs
// there ends and lets them in. In each step the threads share the states that the step before put into the queue.
extern "C" __global__ void __launch_bounds__(512, 2)
    push_together(const offset_t* starts, const int* edges, const int* groups, byte* status, const int* owner,
                  unsigned* met, int* missing, int* strategy, int* order, unsigned long long* order_tail, int* queue,
                  unsigned long long* tail, const byte* rows, int* wide_states, unsigned long long* wide_tail,
                  unsigned* gate, unsigned long long* limit, count_t head, count_t chase, count_t wide) {
    const Step step{status, owner, met, missing, strategy, {{order, order_tail}}};
    const Pushes pushes{{starts, edges, groups}, step, rows, {queue, tail}, {wide_states, wide_tail}, wide};
    const volatile int* states = queue;  // others write it meanwhile
    while (true) {
        wait_for_all(gate, tail, limit);
        const count_t end = count_t(*(volatile unsigned long long*)limit);
        if (head == end) return;
        const count_t far = end - head <= FEW ? FAR : chase;
        for (count_t k = head + thread_number(); k < end; k += count_t(gridDim.x) * blockDim.x) {
            pushes.from(states[k], far);
        }
        head = end;
    }
}
