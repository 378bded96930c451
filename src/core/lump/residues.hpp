// Sums of doubles without rounding: modulo primes.
//
// A double is m * 2^e with whole m and e, and 2 has an inverse modulo an odd prime: so each double has a residue, and the
// residue of a sum is the sum of the residues, in any order and exactly. Equal sums have equal residues. Different ones
// have equal residues modulo one prime by rare chance; modulo primes whose product is larger than any difference that can
// come up, never.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace galton {

// The largest primes below 2^64, by what they lack of it. Each stands for 63 bits; doubles reach over less than 2,176.
inline constexpr std::array<uint32_t, 35> LACKING{59,   83,   95,   179,  189,  257,  279,  323,  353,  363,  425,  453,
                                                  503,  743,  825,  843,  845,  897,  899,  935,  945,  1023, 1025, 1077,
                                                  1079, 1235, 1275, 1323, 1379, 1469, 1475, 1487, 1505, 1517, 1569};

// Arithmetic modulo 2^64 - lacking, by 2^64 = lacking.
struct PrimeField {
    uint64_t lacking;

    uint64_t modulus() const { return 0 - lacking; }
    uint64_t reduced(unsigned __int128 x) const {
        x = static_cast<uint64_t>(x) + (x >> 64) * lacking;
        x = static_cast<uint64_t>(x) + (x >> 64) * lacking;
        uint64_t low = static_cast<uint64_t>(x);
        if (x >> 64) low += lacking;
        return low >= modulus() ? low - modulus() : low;
    }
    uint64_t sum(uint64_t a, uint64_t b) const {
        const uint64_t both = a + b;
        return both < a ? both + lacking : both >= modulus() ? both - modulus() : both;
    }
    uint64_t product(uint64_t a, uint64_t b) const { return reduced(static_cast<unsigned __int128>(a) * b); }
};

// A sum of products, reduced once.
class ProductSum {
  public:
    void add(uint64_t a, uint64_t b) {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        sum_ += product;
        carries_ += sum_ < product;
    }
    uint64_t reduced(const PrimeField& field) const {
        return field.sum(field.reduced(sum_), field.product(carries_, field.lacking * field.lacking));
    }

  private:
    unsigned __int128 sum_ = 0;
    uint64_t carries_ = 0;
};

inline constexpr int LEAST_EXPONENT = -1074;  // of the last bit of a double

// The residues of doubles modulo one prime.
class Residues {
  public:
    explicit Residues(uint64_t lacking) : field_{lacking}, powers_(2046) {
        const uint64_t half = field_.modulus() / 2 + 1;
        uint64_t power = 1;
        for (int e = 0; e > LEAST_EXPONENT; --e) power = field_.product(power, half);
        for (uint64_t& p : powers_) {
            p = power;
            power = field_.sum(power, power);
        }
    }
    const PrimeField& field() const { return field_; }
    uint64_t operator()(double value) const {
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const uint64_t exponent = bits >> 52 & 0x7ff, fraction = bits & 0xfffffffffffff;
        const uint64_t whole = exponent ? fraction | uint64_t{1} << 52 : fraction;
        const uint64_t residue = field_.product(whole, powers_[exponent ? exponent - 1 : 0]);
        return bits >> 63 && residue ? field_.modulus() - residue : residue;
    }

  private:
    PrimeField field_;
    std::vector<uint64_t> powers_;
};

// How many bits the numbers of a matrix reach over, from the last bit of any to the first.
class Reach {
  public:
    void add(double value) {
        if (value == 0) return;
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
        const uint64_t fraction = bits & 0xfffffffffffff, whole = exponent ? fraction | uint64_t{1} << 52 : fraction;
        const int unit = LEAST_EXPONENT + std::max(exponent - 1, 0);
        last_ = std::min(last_, unit + std::countr_zero(whole));
        first_ = std::max(first_, unit + 64 - std::countl_zero(whole));
    }
    void add(const Reach& other) {
        last_ = std::min(last_, other.last_);
        first_ = std::max(first_, other.first_);
    }
    // Primes enough to tell apart all sums of so many of the numbers: two of them differ by less than
    // 2 * terms * 2^first, in whole units of 2^last.
    size_t primes(size_t terms) const {
        const int bits = std::max(first_ - last_, 0) + std::bit_width(terms) + 1;
        return std::min(static_cast<size_t>(bits / 63 + 1), LACKING.size());
    }

  private:
    int first_ = LEAST_EXPONENT, last_ = 1024;
};

// Bits well stirred (Steele, Lea and Flood 2014, the end of SplitMix64).
inline uint64_t stirred(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

}  // namespace galton
