#include "solve/weigh.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "solve/operator.hpp"
#include "solve/split.hpp"

namespace galton {

namespace {

// The largest of what `visit(operator, state)` says of the states of a range, at least 0.
template <class Visit>
double largest(const System& system, Range range, int threads, Visit&& visit_state) {
    return visit(system.matrix, [&](const auto& rows) {
        const Operator op(system, rows, nullptr);
        const std::vector<size_t> cuts = split(rows, range, threads);
        std::vector<double> found(cuts.size() - 1);
        run_on_threads(static_cast<int>(found.size()), [&](int t) {
            double most = 0;
            for (size_t s = cuts[static_cast<size_t>(t)]; s < cuts[static_cast<size_t>(t) + 1]; ++s)
                most = std::max(most, visit_state(rows, op, s));
            found[static_cast<size_t>(t)] = most;
        });
        return *std::max_element(found.begin(), found.end());
    });
}

}  // namespace

void weigh_rows(const System& system, const double* x, const int32_t* chosen, double near, double share, double* constants,
                Range range, int threads) {
    largest(system, range, threads, [&](const auto& rows, const auto& op, size_t s) {
        for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
            const bool taken = !rows.groups || chosen[s] == static_cast<int32_t>(r);
            const bool matters = taken || (system.constant[r] <= share * x[s] &&
                                           std::abs(op.row(r, [x](int32_t c) { return x[c]; }) - x[s]) <= near * x[s]);
            constants[r] = matters ? x[s] : -HUGE_VAL;
        }
        return 0.0;
    });
}

double left_to_delta(const System& system, const double* x, const double* w, const double* constants, double share, Range range,
                     int threads) {
    return largest(system, range, threads, [&](const auto& rows, const auto& op, size_t s) {
        double needed = 0;
        for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
            const double constant = system.constant[r];
            // Rows with a small constant that are far from the best do not need it.
            if (constants[r] != -HUGE_VAL || !(constant > share * x[s]) || constant == HUGE_VAL) continue;
            needed = std::max(needed, (op.scaled_sum(r, [w](int32_t c) { return w[c]; }) - w[s] + x[s]) / constant);
        }
        return needed;
    });
}

double growth(const System& system, const double* w, const double* x, Range range, int threads) {
    return largest(system, range, threads, [&](const auto&, const auto& op, size_t s) {
        const double excess = op(s, [w](int32_t c) { return w[c]; }) - w[s];
        return excess > 0 ? excess / x[s] : 0.0;
    });
}

void take_free_rows(const System& system, const double* x, int32_t* chosen, Range range, int threads) {
    largest(system, range, threads, [&](const auto& rows, const auto& op, size_t s) {
        if (x[s] != 0) return 0.0;
        for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
            if (op.row(r, [x](int32_t c) { return x[c]; }) != 0) continue;
            chosen[s] = static_cast<int32_t>(r);
            break;
        }
        return 0.0;
    });
}

}  // namespace galton
