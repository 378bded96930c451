// Numbers with the digits of a double and a range that nothing leaves.
//
// A chain that is hard to leave has rates whose products are far below the least double (7^-2500), and a number that
// underflows has lost all its digits. Here the exponent is a 64-bit integer of its own. Every operation rounds as that of
// doubles does, by at most one unit of 2^-53, and there is no case in which it does worse.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace galton {

// m · 2^e with 1 <= m < 2, or zero. Never negative.
struct Scaled {
    double m = 0;
    int64_t e = 0;

    static Scaled of(double value) {
        if (value == 0) return {};
        int exponent;
        const double fraction = std::frexp(value, &exponent);
        return {2 * fraction, exponent - 1};
    }
    bool zero() const { return m == 0; }

    friend Scaled operator*(const Scaled& a, const Scaled& b) {
        if (a.zero() || b.zero()) return {};
        return normal(a.m * b.m, a.e + b.e);
    }
    friend Scaled operator/(const Scaled& a, const Scaled& b) {
        if (a.zero()) return {};
        const double m = a.m / b.m;
        return m < 1 ? Scaled{2 * m, a.e - b.e - 1} : Scaled{m, a.e - b.e};
    }
    friend Scaled operator+(const Scaled& a, const Scaled& b) {
        if (b.zero()) return a;
        if (a.zero() || a.e < b.e) return a.zero() ? b : b + a;
        const int64_t apart = a.e - b.e;
        if (apart > 60) return a;  // less than a hundredth of a unit
        return normal(a.m + std::ldexp(b.m, static_cast<int>(-apart)), a.e);
    }
    Scaled& operator+=(const Scaled& b) { return *this = *this + b; }

    // Bounds as doubles of a number that differs from this one by at most `error` of itself; doubles that have lost digits
    // to their range are none.
    double below(double error) const {
        if (zero()) return 0;
        if (e > 1023) return std::numeric_limits<double>::max();
        if (e < -1021) return 0;
        return std::ldexp(std::nextafter(m * (1 - error), 0.0), static_cast<int>(e));
    }
    double above(double error) const {
        if (zero()) return 0;
        if (e > 1023) return HUGE_VAL;
        if (e < -1021) return 4 * std::numeric_limits<double>::min();
        return std::ldexp(std::nextafter(m * (1 + error), HUGE_VAL), static_cast<int>(e));
    }

  private:
    static Scaled normal(double m, int64_t e) { return m >= 2 ? Scaled{m / 2, e + 1} : Scaled{m, e}; }
};

// A sum of many, off by less than 3 units whatever their number (Kahan 1965): first the largest exponent, then doubles.
class ScaledSum {
  public:
    explicit ScaledSum(int64_t largest) : exponent_(largest) {}

    void add(const Scaled& term) {
        const int64_t below = exponent_ - term.e;
        if (term.zero() || below > 1000) return;  // nothing, beside a sum of 1 and more
        const double value = std::ldexp(term.m, static_cast<int>(-below)) - carry_, next = total_ + value;
        carry_ = (next - total_) - value;
        total_ = next;
    }
    Scaled value() const {
        Scaled sum = Scaled::of(total_);
        if (!sum.zero()) sum.e += exponent_;
        return sum;
    }

  private:
    int64_t exponent_;
    double total_ = 0, carry_ = 0;
};

}  // namespace galton
