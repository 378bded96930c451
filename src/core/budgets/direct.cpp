#include "budgets/direct.hpp"

#include <cmath>
#include <utility>

namespace galton {

namespace {

constexpr int MOST_POLICIES = 200;
constexpr double BETTER = 1e-13;  // relatively, so that rounding does not look like an improvement

}  // namespace

double DirectEquations::worth(size_t row, const std::vector<double>& constants, const std::vector<double>& x) const {
    double sum = constants[row];
    for (size_t e = first_entries_[row]; e < first_entries_[row + 1]; ++e)
        sum += weights_[e] * x[static_cast<size_t>(columns_[e])];
    return sum;
}

// Gauss's elimination with the largest pivot of each column.
bool DirectEquations::factor(FactoredPolicy& policy) const {
    const size_t n = size_;
    std::vector<double>& a = policy.factors;
    a.assign(n * n, 0.0);
    policy.pivots.resize(n);
    for (size_t i = 0; i < n; ++i) {
        a[i * n + i] = 1;
        if (policy.rows[i] < 0) continue;
        const auto row = static_cast<size_t>(policy.rows[i]);
        for (size_t e = first_entries_[row]; e < first_entries_[row + 1]; ++e)
            a[i * n + static_cast<size_t>(columns_[e])] -= weights_[e];
    }
    for (size_t k = 0; k < n; ++k) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
        policy.pivots[k] = pivot;
        if (a[pivot * n + k] == 0) return false;
        if (pivot != k)
            for (size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
        for (size_t i = k + 1; i < n; ++i) {
            const double factor = a[i * n + k] /= a[k * n + k];
            if (factor == 0) continue;
            for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return true;
}

void DirectEquations::evaluate(const FactoredPolicy& policy, std::vector<double>& x) const {
    const size_t n = size_;
    const std::vector<double>& a = policy.factors;
    for (size_t k = 0; k < n; ++k) std::swap(x[k], x[policy.pivots[k]]);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j) x[i] -= a[i * n + j] * x[j];
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; ++j) x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

bool DirectEquations::solve(int optimum, const std::vector<double>& constants, const std::vector<double>& outside,
                            const std::vector<uint8_t>& leaves, std::vector<double>& x, FactoredPolicy& policy) const {
    bool factored = !policy.rows.empty();
    if (!factored) {
        policy.rows.resize(size_);
        for (size_t i = 0; i < size_; ++i) policy.rows[i] = leaves[i] ? -1 : static_cast<int32_t>(first_rows_[i]);
    }
    for (int count = 0; count < MOST_POLICIES; ++count) {
        if (!factored && !factor(policy)) {
            policy.rows.clear();
            return false;
        }
        factored = true;
        x.resize(size_);
        for (size_t i = 0; i < size_; ++i)
            x[i] = policy.rows[i] < 0 ? outside[i] : constants[static_cast<size_t>(policy.rows[i])];
        evaluate(policy, x);
        bool changed = false;
        for (size_t i = 0; i < size_; ++i) {
            double best = x[i];
            auto consider = [&](double value, int32_t row) {
                const double room = BETTER * std::abs(best);
                if (optimum < 0 ? value < best - room : value > best + room) {
                    best = value;
                    policy.rows[i] = row;
                    changed = true;
                }
            };
            if (leaves[i]) consider(outside[i], -1);
            for (size_t r = first_rows_[i]; r < first_rows_[i + 1]; ++r)
                consider(worth(r, constants, x), static_cast<int32_t>(r));
        }
        if (!changed) return true;
        factored = false;
    }
    return true;  // a guess is a guess
}

}  // namespace galton
