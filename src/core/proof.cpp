#include "proof.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cfloat>
#include <vector>

#include "parallel.hpp"

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
    const double constant = system.constant[row];
    return -((sum + -sum * slack) + (-constant + constant * slack));
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

template <class Test>
bool all_of_range(Range range, size_t entries, int threads, Test&& test) {
    constexpr size_t worth_a_thread = 50'000;
    const int parts = static_cast<int>(std::clamp<size_t>(entries / worth_a_thread, 1, static_cast<size_t>(threads)));
    std::atomic<bool> good{true};
    run_on_threads(parts, [&](int t) {
        RoundUp mode;
        auto [from, to] = share(range.last - range.first, t, parts);
        for (size_t i = from; i < to && good.load(std::memory_order_relaxed); ++i)
            if (!test(range.first + i)) good = false;
    });
    return good;
}

}  // namespace

bool is_above(const System& system, const double* upper, Range range, double slack, int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        return all_of_range(range, rows.n_rows, threads, [&](size_t s) {
            return upper[s] >= optimum(system, rows, s, [&](size_t r) { return row_above(system, rows, r, upper, slack); });
        });
    });
}

bool is_below(const System& system, const double* lower, Range range, double slack, int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        return all_of_range(range, rows.n_rows, threads, [&](size_t s) {
            return lower[s] <= optimum(system, rows, s, [&](size_t r) { return row_below(system, rows, r, lower, slack); });
        });
    });
}

void propagate(const System& system, double* lower, double* upper, Range range, double slack) {
    RoundUp mode;
    visit(system.matrix, [&](const auto& rows) {
        for (size_t s = range.first; s < range.last; ++s) {
            const double above =
                optimum(system, rows, s, [&](size_t r) { return row_above(system, rows, r, upper, slack); });
            const double below =
                optimum(system, rows, s, [&](size_t r) { return row_below(system, rows, r, lower, slack); });
            upper[s] = above;
            lower[s] = std::max(below, 0.0);
        }
    });
}

}  // namespace galton
