#include "long_run/average.hpp"

#include <cfenv>
#include <cmath>
#include <limits>

namespace galton {

namespace {

// Relative error of one step on any number it changes, in units of 2^-53: the sum below (3), quotient, product, sum
// (3), and as much again for the second-order terms that this count leaves out.
constexpr double STEP = 8;

// Kahan's sum: off by less than 3 units for any number of positive terms that fits into memory.
double sum(const double* values, size_t n) {
    double total = 0, carry = 0;
    for (size_t i = 0; i < n; ++i) {
        double term = values[i] - carry, next = total + term;
        carry = (next - total) - term;
        total = next;
    }
    return total;
}

// The numbers of the states that are left: rates among them, what they earn, and the time it takes.
struct Dense {
    size_t n;
    std::vector<double> rates, reward, time;

    double* row(size_t i) { return rates.data() + i * n; }
};

template <class Rows>
Dense gather(const Rows& rows, const double* reward, const int32_t* members, size_t n, int32_t* position) {
    Dense chain{n, std::vector<double>(n * n), std::vector<double>(n), std::vector<double>(n, 1.0)};
    for (size_t i = 0; i < n; ++i) position[members[i]] = static_cast<int32_t>(i);
    for (size_t i = 0; i < n; ++i) {
        const auto s = static_cast<size_t>(members[i]);
        chain.reward[i] = reward[s];
        for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
            chain.row(i)[position[rows.columns[e]]] = rows.values[e];
        }
    }
    return chain;
}

[[gnu::noinline]] double reduce(Dense& chain) {
    for (size_t last = chain.n - 1; last > 0; --last) {
        const double* out = chain.row(last);
        const double total = sum(out, last);
        for (size_t i = 0; i < last; ++i) {
            double* row = chain.row(i);
            if (row[last] == 0) continue;
            const double visits = row[last] / total;
            for (size_t j = 0; j < last; ++j) row[j] += visits * out[j];
            chain.reward[i] += visits * chain.reward[last];
            chain.time[i] += visits * chain.time[last];
        }
    }
    return chain.reward[0] / chain.time[0];
}

}  // namespace

Average eliminate(const MatrixView& matrix, const double* reward, const int32_t* members, size_t n, int32_t* position) {
    Dense chain = visit(matrix, [&](const auto& rows) { return gather(rows, reward, members, n, position); });
    std::feclearexcept(FE_UNDERFLOW | FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO);
    const double value = reduce(chain);
    const bool left_range = std::fetestexcept(FE_UNDERFLOW | FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO);
    if (left_range || !std::isfinite(value)) return {value, std::numeric_limits<double>::infinity()};
    const auto size = static_cast<double>(n);
    // The sum of 2k steps of STEP units over all k <= n, and the last division; small, or nothing is claimed.
    const double error = (STEP * size * (size + 1) + STEP) * 0x1p-53;
    return {value, error < 1e-3 ? error * 1.01 : std::numeric_limits<double>::infinity()};
}

}  // namespace galton
