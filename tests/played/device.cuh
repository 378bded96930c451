// The kernels' device, played by one thread of a CPU: what device.cuh of the explorer declares, serially.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstring>

using std::ceil;
using std::fabs;
using std::floor;
using std::fma;
using std::fmod;
using std::log1p;

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using i32 = int;
using u64 = unsigned long long;
using i64 = long long;

#define DEVICE [[maybe_unused]] static inline
#define OUTLINE [[maybe_unused]] static
#define KERNEL extern "C" void
#define TABLE [[maybe_unused]] static const
#define FILLED(name, count) extern "C" { alignas(16) u64 name[count]; }
#define DEVICE_MEMBER inline
#define SHARED static

DEVICE u32 block() { return 0; }
DEVICE u32 blocks() { return 1; }
DEVICE u32 block_thread() { return 0; }
DEVICE u32 block_threads() { return 1; }
DEVICE u64 thread() { return 0; }
DEVICE u64 threads() { return 1; }
DEVICE u64 threads_to_share() { return 64; }  // one after the other

DEVICE void meet_block() {}
DEVICE void fence() {}
DEVICE void pause() {}

template <class T>
DEVICE T exchange(T* at, T value) {
    const T before = *at;
    *at = value;
    return before;
}
DEVICE u64 fetch_add(u64* at, u64 by) { return exchange(at, *at + by); }
DEVICE u32 fetch_add(u32* at, u32 by) { return exchange(at, *at + by); }
DEVICE u64 fetch_or(u64* at, u64 bits) { return exchange(at, *at | bits); }
DEVICE u64 fetch_and(u64* at, u64 bits) { return exchange(at, *at & bits); }
DEVICE u64 exchange_word(u64* at, u64 value) { return exchange(at, value); }
DEVICE u64 swap_if(u64* at, u64 expected, u64 wanted) { return exchange(at, *at == expected ? wanted : *at); }

DEVICE u64 load_fresh(const u64* at) { return *at; }
DEVICE u64 load_volatile(const u64* at) { return *at; }
DEVICE u32 load_volatile(const u32* at) { return *at; }
DEVICE void store_volatile(u64* at, u64 value) { *at = value; }
DEVICE void store_volatile(u32* at, u32 value) { *at = value; }
DEVICE u64 load_acquire(const u64* at) { return *at; }
DEVICE void store_release(u64* at, u64 value) { *at = value; }
DEVICE void load_pair(const u64* at, u64& first, u64& second) {
    first = at[0];
    second = at[1];
}
DEVICE void load_cached_pair(const u64* at, u64& first, u64& second) { load_pair(at, first, second); }
DEVICE void load_both(const double* at, double& first, double& second) {
    first = at[0];
    second = at[1];
}
template <class T>
DEVICE T load_constant(const T* at) { return *at; }
DEVICE void load_constant_pair(const u64* at, u64& first, u64& second) { load_pair(at, first, second); }

DEVICE int lowest_bit(u64 bits) { return __builtin_ctzll(bits); }
DEVICE int count_bits(u64 bits) { return __builtin_popcountll(bits); }
DEVICE u32 bits_of_float(float value) {
    u32 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
DEVICE u64 bits_of(double value) {
    u64 bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
DEVICE double double_of(u64 bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class Operation>
DEVICE double rounded(bool up, Operation&& operation) {
    std::fesetround(up ? FE_UPWARD : FE_DOWNWARD);
    const volatile double result = operation();
    std::fesetround(FE_TONEAREST);
    return result;
}
DEVICE double add_rounded(volatile double a, volatile double b, bool up) {
    return rounded(up, [&] { return a + b; });
}
DEVICE double divide_rounded(volatile double a, volatile double b, bool up) {
    return rounded(up, [&] { return a / b; });
}
DEVICE double fma_rounded(volatile double a, volatile double b, volatile double c, bool up) {
    return rounded(up, [&] { return fma(a, b, c); });
}
