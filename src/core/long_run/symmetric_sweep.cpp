#include "long_run/symmetric_sweep.hpp"

#include "base/parallel.hpp"

namespace galton {

void SymmetricSweep::solve(const double* b, double* h) {
    visit(matrix_, [&](const auto& rows) {
        run_on_threads(threads_, [&](int thread) {
            auto [first, last] = share(rows.n_states, thread, threads_);
            // The columns of a row ascend.
            for (size_t s = first; s < last; ++s) {
                double sum = b[s];
                for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
                    const auto t = static_cast<size_t>(rows.columns[e]);
                    if (t >= s) break;
                    if (t >= first) sum += rows.values[e] * h[t];
                }
                h[s] = sum / exit_rates_[s];
            }
            for (size_t s = last; s-- > first;) {
                double sum = 0;
                for (size_t e = rows.first_entry(s + 1); e-- > rows.first_entry(s);) {
                    const auto t = static_cast<size_t>(rows.columns[e]);
                    if (t <= s) break;
                    if (t < last) sum += rows.values[e] * h[t];
                }
                h[s] += sum / exit_rates_[s];
            }
        });
    });
}

}  // namespace galton
