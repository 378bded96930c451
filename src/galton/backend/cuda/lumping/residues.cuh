// Sums of doubles without rounding: modulo primes 2^64 - lacking. src/core/lump/residues.hpp says why that is exact.
#pragma once
#include "../graph/pattern.cuh"

typedef unsigned long long word_t;

__device__ inline word_t high_product(word_t a, word_t b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return word_t((unsigned __int128)a * b >> 64);
#endif
}

struct PrimeField {
    word_t lacking;

    __device__ word_t modulus() const { return 0 - lacking; }
    __device__ word_t sum(word_t a, word_t b) const {
        const word_t both = a + b;
        return both < a ? both + lacking : both >= modulus() ? both - modulus() : both;
    }
    __device__ word_t product(word_t a, word_t b) const {
        const word_t high = high_product(a, b), low = a * b;
        const word_t folded = low + high * lacking;
        const word_t left = high_product(high, lacking) + (folded < low);
        word_t last = folded + left * lacking;
        if (last < folded) last += lacking;
        return last >= modulus() ? last - modulus() : last;
    }
};

// Bits well stirred (Steele, Lea and Flood 2014, the end of SplitMix64).
__device__ inline word_t stirred(word_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

// A positive double as a whole number times 2^(power - 1074).
struct Binary {
    word_t whole;
    int power;

    __device__ explicit Binary(word_t bits) {
        const int exponent = int(bits >> 52 & 0x7ff);
        whole = bits & 0xfffffffffffffull;
        if (exponent) whole |= 1ull << 52;
        power = exponent ? exponent - 1 : 0;
    }
};
