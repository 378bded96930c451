// Compiled with -frounding-math: every operation below rounds down, and the compiler must not assume otherwise.
// An upper bound is the negative of a lower bound on the negative.
#include "drift.hpp"

#include <cfenv>

#include "parallel.hpp"

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
template <class Rows>
[[gnu::noinline]] void bound_rows(const Rows& rows, const double* state, const double* choice, const double* h,
                                  double* lower, double* upper, size_t first, size_t last) {
    for (size_t s = first; s < last; ++s) {
        double below = 0, above = 0;  // above is negated
        if (state) below += state[s], above -= state[s];
        if (choice) below += choice[s], above -= choice[s];
        const double here = h[s];
        for (size_t e = rows.first_entry(s), end = rows.first_entry(s + 1); e < end; ++e) {
            const double rate = rows.values[e], there = h[static_cast<size_t>(rows.columns[e])];
            below += rate * (there - here);
            above += rate * (here - there);
        }
        lower[s] = below;
        upper[s] = -above;
    }
}

}  // namespace

void drift_bounds(const MatrixView& matrix, const double* state, const double* choice, const double* h, double* lower,
                  double* upper, int threads) {
    visit(matrix, [&](const auto& rows) {
        run_on_threads(matrix.n_entries < 50000 ? 1 : threads, [&](int thread) {
            auto [first, last] = share(rows.n_states, thread, matrix.n_entries < 50000 ? 1 : threads);
            RoundDown rounding;
            bound_rows(rows, state, choice, h, lower, upper, first, last);
        });
    });
}

}  // namespace galton
