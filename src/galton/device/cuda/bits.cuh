// Doubles as their bits: of numbers that are not negative, these have the same order.
#pragma once

#ifdef __CUDA_ARCH__
__device__ inline unsigned long long bits_of(double number) { return (unsigned long long)__double_as_longlong(number); }
__device__ inline double number_of(unsigned long long bits) { return __longlong_as_double((long long)bits); }
#else
inline unsigned long long bits_of(double number) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &number, sizeof bits);
    return bits;
}
inline double number_of(unsigned long long bits) {
    double number;
    __builtin_memcpy(&number, &bits, sizeof number);
    return number;
}
#endif
