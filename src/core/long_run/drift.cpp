// Compiled with -frounding-math: every operation below rounds down, and the compiler must not assume otherwise.
// An upper bound is the negative of a lower bound on the negative.
#include "long_run/drift.hpp"

#include <cfenv>

#include "base/parallel.hpp"

namespace galton {

namespace {

class RoundDown {
  public:
    RoundDown() : before_(std::fegetround()) { std::fesetround(FE_DOWNWARD); }
    ~RoundDown() { std::fesetround(before_); }
    RoundDown(const RoundDown&) = delete;
    RoundDown& operator=(const RoundDown&) = delete;

  private:
    int before_;
};

// Not inlined, so that no operation moves out of where the rounding is set.
template <bool TwoParts, class Rows>
[[gnu::noinline]] void bound_rows(const Rows& rows, const double* state, const double* choice, const double* high,
                                  const double* low, double* lower, double* upper, size_t first, size_t last) {
    for (size_t s = first; s < last; ++s) {
        for (size_t row = rows.first_row(s), rows_end = rows.first_row(s + 1); row < rows_end; ++row) {
            double below = 0, above = 0;  // above is negated
            if (state) below += state[s], above -= state[s];
            if (choice) below += choice[row], above -= choice[row];
            for (size_t e = rows.first_entry(row), end = rows.first_entry(row + 1); e < end; ++e) {
                const auto t = static_cast<size_t>(rows.columns[e]);
                const double rate = rows.values[e];
                double gained = high[t] - high[s], lost = high[s] - high[t];
                if constexpr (TwoParts) {
                    gained += low[t] - low[s];
                    lost += low[s] - low[t];
                }
                below += rate * gained;
                above += rate * lost;
            }
            lower[row] = below;
            upper[row] = -above;
        }
    }
}

}  // namespace

void drift_bounds(const MatrixView& matrix, const double* state, const double* choice, const double* high, const double* low,
                  double* lower, double* upper, int threads) {
    if (matrix.n_entries < 50000) threads = 1;
    visit(matrix, [&](const auto& rows) {
        run_on_threads(threads, [&](int thread) {
            auto [first, last] = share(rows.n_states, thread, threads);
            RoundDown rounding;
            if (low) {
                bound_rows<true>(rows, state, choice, high, low, lower, upper, first, last);
            } else {
                bound_rows<false>(rows, state, choice, high, low, lower, upper, first, last);
            }
        });
    });
}

}  // namespace galton
