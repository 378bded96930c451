// What the kernels ask of the device, each thing once; tests bring their own version and run the kernels on a CPU.
//
// Every kernel is a loop over its work in strides of all threads, so any number of threads will do, even one.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using i32 = int;
using u64 = unsigned long long;
using i64 = long long;

#define DEVICE static __device__ __forceinline__
#define OUTLINE static __device__ __noinline__
#define KERNEL extern "C" __global__ void
#define TABLE static __device__ __align__(16) const
#define FILLED(name, count) extern "C" { __device__ __align__(16) u64 name[count]; }  // when the text is loaded
#define DEVICE_MEMBER __device__ __forceinline__
#define SHARED __shared__

DEVICE u32 block() { return blockIdx.x; }
DEVICE u32 blocks() { return gridDim.x; }
DEVICE u32 block_thread() { return threadIdx.x; }
DEVICE u32 block_threads() { return blockDim.x; }
DEVICE u64 thread() { return u64{blockIdx.x} * blockDim.x + threadIdx.x; }
DEVICE u64 threads() { return u64{gridDim.x} * blockDim.x; }
DEVICE u64 threads_to_share() { return threads(); }  // among the states of a frontier

DEVICE void meet_block() { __syncthreads(); }
DEVICE void fence() { __threadfence(); }
DEVICE void pause() { __nanosleep(40); }

DEVICE u64 fetch_add(u64* at, u64 by) { return atomicAdd(at, by); }
DEVICE u32 fetch_add(u32* at, u32 by) { return atomicAdd(at, by); }
DEVICE u64 fetch_or(u64* at, u64 bits) { return atomicOr(at, bits); }
DEVICE u64 fetch_and(u64* at, u64 bits) { return atomicAnd(at, bits); }
DEVICE u64 exchange_word(u64* at, u64 value) { return atomicExch(at, value); }
DEVICE u64 swap_if(u64* at, u64 expected, u64 wanted) { return atomicCAS(at, expected, wanted); }

// Loads and stores that see, and show, what other blocks write while the kernel runs: past the caches of one processor.
DEVICE u64 load_fresh(const u64* at) { return __ldcg(at); }
DEVICE u64 load_volatile(const u64* at) { return *(const volatile u64*)at; }
DEVICE u32 load_volatile(const u32* at) { return *(const volatile u32*)at; }
DEVICE void store_volatile(u64* at, u64 value) { *(volatile u64*)at = value; }
DEVICE void store_volatile(u32* at, u32 value) { *(volatile u32*)at = value; }
DEVICE u64 load_acquire(const u64* at) {
    u64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
DEVICE void store_release(u64* at, u64 value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
// Two neighbours, the first at an even place, in one access.
DEVICE void load_pair(const u64* at, u64& first, u64& second) {
    const ulonglong2 pair = __ldcg((const ulonglong2*)at);
    first = pair.x;
    second = pair.y;
}
// The same, but an old copy in the processor's own cache will do.
DEVICE void load_cached_pair(const u64* at, u64& first, u64& second) {
    const ulonglong2 pair = *(const ulonglong2*)at;
    first = pair.x;
    second = pair.y;
}
// Two numbers side by side in one access; who writes them meanwhile writes one at a time.
DEVICE void load_both(const double* at, double& first, double& second) {
    const double2 both = *(const double2*)at;
    first = both.x;
    second = both.y;
}
// Of memory that nobody writes while the kernel runs.
template <class T>
DEVICE T load_constant(const T* at) { return __ldg(at); }
DEVICE void load_constant_pair(const u64* at, u64& first, u64& second) {
    const ulonglong2 pair = __ldg((const ulonglong2*)at);
    first = pair.x;
    second = pair.y;
}

DEVICE int lowest_bit(u64 bits) { return __ffsll((i64)bits) - 1; }
DEVICE int count_bits(u64 bits) { return __popcll(bits); }
DEVICE u32 bits_of_float(float value) { return __float_as_uint(value); }
DEVICE u64 bits_of(double value) { return (u64)__double_as_longlong(value); }
DEVICE double double_of(u64 bits) { return __longlong_as_double((i64)bits); }

// Rounded down, or up, whatever is asked for.
DEVICE double add_rounded(double a, double b, bool up) { return up ? __dadd_ru(a, b) : __dadd_rd(a, b); }
DEVICE double divide_rounded(double a, double b, bool up) { return up ? __ddiv_ru(a, b) : __ddiv_rd(a, b); }
DEVICE double fma_rounded(double a, double b, double c, bool up) { return up ? __fma_ru(a, b, c) : __fma_rd(a, b, c); }
