#include "solve/proof.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "solve/split.hpp"

// This file is compiled with -frounding-math: arithmetic happens in the mode that is set.

namespace galton {

namespace {

class RoundUp {
  public:
    RoundUp() : mode_(std::fegetround()) { std::fesetround(FE_UPWARD); }
    ~RoundUp() { std::fesetround(mode_); }

  private:
    int mode_;
};

// Above F_r(u). Must run with rounding upward.
template <class R>
double row_above(const System& system, const R& rows, size_t row, const double* upper, double slack) {
    double sum = 0;
    const size_t end = rows.first_entry(row + 1);
    for (size_t e = rows.first_entry(row); e < end; ++e) sum += rows.values[e] * upper[rows.columns[e]];
    if (system.scale) sum *= system.scale[row];
    return sum + sum * slack + (system.constant[row] + system.constant[row] * slack);
}

// Below F_r(l): the sum of the negated terms, rounded upward, is the negated sum rounded downward.
template <class R>
double row_below(const System& system, const R& rows, size_t row, const double* lower, double slack) {
    double sum = 0;
    const size_t end = rows.first_entry(row + 1);
    for (size_t e = rows.first_entry(row); e < end; ++e) sum += rows.values[e] * -lower[rows.columns[e]];
    if (system.scale) sum *= system.scale[row];
    // Multiplying by -(1 - slack), which is rounded towards zero, keeps the sign of the error.
    return -(-sum * (slack - 1) + system.constant[row] * (slack - 1));
}

template <class R, class Row>
double optimum(const System& system, const R& rows, size_t state, Row&& row) {
    const size_t first = rows.first_row(state), last = rows.first_row(state + 1);
    double value = row(first);
    for (size_t r = first + 1; r < last; ++r) {
        const double other = row(r);
        if (system.optimum == Optimum::Min ? other < value : other > value) value = other;
    }
    return value;
}

template <class R, class Test>
bool all_of(const R& rows, Range range, int threads, Test&& test) {
    const std::vector<size_t> cuts = split(rows, range, threads);
    std::atomic<bool> good{true};
    run_on_threads(static_cast<int>(cuts.size()) - 1, [&](int t) {
        RoundUp mode;
        const size_t last = cuts[static_cast<size_t>(t) + 1];
        for (size_t s = cuts[static_cast<size_t>(t)]; s < last && good.load(std::memory_order_relaxed); ++s)
            if (!test(s)) good = false;
    });
    return good;
}

}  // namespace

bool is_above(const System& system, const double* upper, Range range, double slack, int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        return all_of(rows, range, threads, [&](size_t s) {
            return upper[s] >= optimum(system, rows, s, [&](size_t r) { return row_above(system, rows, r, upper, slack); });
        });
    });
}

bool is_below(const System& system, const double* lower, Range range, double slack, int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        return all_of(rows, range, threads, [&](size_t s) {
            // Infinity on a cycle would prove itself, and the sums below want numbers that are not negative.
            return lower[s] >= 0 && lower[s] < HUGE_VAL &&
                   lower[s] <= optimum(system, rows, s, [&](size_t r) { return row_below(system, rows, r, lower, slack); });
        });
    });
}

void propagate(const System& system, double* lower, double* upper, Range range, double slack) {
    RoundUp mode;
    visit(system.matrix, [&](const auto& rows) {
        for (size_t s = range.first; s < range.last; ++s) {
            const double above = optimum(system, rows, s, [&](size_t r) { return row_above(system, rows, r, upper, slack); });
            const double below = optimum(system, rows, s, [&](size_t r) { return row_below(system, rows, r, lower, slack); });
            upper[s] = above;
            lower[s] = std::max(0.0, below);
        }
    });
}

}  // namespace galton
