// When a row of probabilities is finished: rounding is left as it is, what is more is divided out.
//
// Entries that are each rounded k times sum to 1 within k units of 2^-53, and adding equal targets up costs one more for
// each that was added: (entries + 4) units are what rounding explains, and no method asks for more (`slack` in
// galton/solve/equations.py). A row further off is divided by its sum, which is known to twice the precision of a double
// (Knuth's TwoSum), so that each entry is rounded once. cuda/finish.cuh does the same, bit for bit.
#pragma once

#include <cmath>
#include <cstddef>

namespace galton {

inline constexpr double UNIT = 0x1p-53;
inline constexpr double OFF_BY_MORE_THAN_ROUNDING = 1e-12;  // from here on somebody is told

struct RowSum {
    double high, low;  // unevaluated: the sum is both together

    double distance() const { return (high - 1) + low; }
    double share(double value) const {
        const double quotient = value / high;
        return quotient + (std::fma(-quotient, high, value) - quotient * low) / high;
    }
};

// The sum of a row; `value(i)` are its entries.
template <class Value>
RowSum sum_row(size_t size, const Value& value) {
    double sum = 0, low = 0;
    for (size_t i = 0; i < size; ++i) sum += value(i);
    if (std::abs(sum - 1) <= 4 * UNIT) return {1, 0};  // nearly always: adding up has cost at most a unit an entry
    double high = 0;
    for (size_t i = 0; i < size; ++i) {
        const double x = value(i), next = high + x, part = next - high;
        low += (high - (next - part)) + (x - part);
        high = next;
    }
    return {high, low};
}

// Whether a row is to be divided by its sum.
inline bool is_off(const RowSum& sum, size_t size) { return std::abs(sum.distance()) > static_cast<double>(size + 4) * UNIT; }

}  // namespace galton
