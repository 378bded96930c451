#include "long_run/bias.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace galton {

Bias::Bias(const MatrixView& matrix, size_t z, int threads)
    : matrix_(matrix), n_(matrix.n_states), z_(z), threads_(matrix.n_entries < 50000 ? 1 : threads), residual_(n_), shadow_(n_),
      direction_(n_), v_(n_), t_(n_), direction_solved_(n_), residual_solved_(n_) {}

template <class Body>
Bias::Sums Bias::over_states(const Body& body) const {
    struct alignas(64) Padded {
        Sums sums;
    };
    std::vector<Padded> all(static_cast<size_t>(threads_));
    run_on_threads(threads_, [&](int thread) {
        auto [first, last] = share(n_, thread, threads_);
        Sums sums;
        body(first, last, sums);
        all[static_cast<size_t>(thread)].sums = sums;
    });
    Sums total;
    for (const Padded& part : all) {
        total.a += part.sums.a;
        total.b += part.sums.b;
        total.least = std::min(total.least, part.sums.least);
        total.most = std::max(total.most, part.sums.most);
    }
    return total;
}

namespace {

template <class Rows>
double drift(const Rows& rows, const double* x, size_t s) {
    double sum = 0;
    const double here = x[s];
    for (size_t e = rows.first_entry(s), end = rows.first_entry(s + 1); e < end; ++e) {
        sum += rows.values[e] * (x[static_cast<size_t>(rows.columns[e])] - here);
    }
    return sum;
}

}  // namespace

Bias::Product Bias::product(const std::vector<double>& x, std::vector<double>& out, const std::vector<double>& left) const {
    return visit(matrix_, [&](const auto& rows) {
        const double at_z = drift(rows, x.data(), z_);
        Sums sums = over_states([&](size_t first, size_t last, Sums& part) {
            for (size_t s = first; s < last; ++s) {
                const double value = at_z - drift(rows, x.data(), s);
                out[s] = value;
                part.a += value * left[s];
                part.b += value * value;
            }
        });
        return Product{sums.a, sums.b, at_z};
    });
}

Bias::Step Bias::begin(const double* reward, double* h) {
    h_ = h;
    Sums sums = visit(matrix_, [&](const auto& rows) {
        gain_ = reward[z_] + drift(rows, h, z_);
        return over_states([&](size_t first, size_t last, Sums& part) {
            for (size_t s = first; s < last; ++s) {
                const double value = (reward[s] - gain_) + drift(rows, h, s);
                residual_[s] = shadow_[s] = value;
                direction_[s] = v_[s] = 0;
                part.a += value * value;
                part.least = std::min(part.least, value);
                part.most = std::max(part.most, value);
            }
        });
    });
    rho_ = sums.a;
    alpha_ = omega_ = 1;
    beta_ = 0;
    return {gain_, sums.least, sums.most, !(rho_ > 0 && std::isfinite(rho_))};
}

Bias::Step Bias::advance(Preconditioner& preconditioner) {
    over_states([&](size_t first, size_t last, Sums&) {
        for (size_t s = first; s < last; ++s) {
            direction_[s] = residual_[s] + beta_ * (direction_[s] - omega_ * v_[s]);
        }
    });
    preconditioner.solve(direction_.data(), direction_solved_.data());
    const Product along = product(direction_solved_, v_, shadow_);
    alpha_ = rho_ / along.left;
    over_states([&](size_t first, size_t last, Sums&) {
        for (size_t s = first; s < last; ++s) residual_[s] -= alpha_ * v_[s];
    });
    preconditioner.solve(residual_.data(), residual_solved_.data());
    const Product rest = product(residual_solved_, t_, residual_);
    omega_ = rest.square > 0 ? rest.left / rest.square : 0;
    gain_ += alpha_ * along.drift + omega_ * rest.drift;
    Sums sums = over_states([&](size_t first, size_t last, Sums& part) {
        for (size_t s = first; s < last; ++s) {
            h_[s] += alpha_ * direction_solved_[s] + omega_ * residual_solved_[s];
            const double value = residual_[s] - omega_ * t_[s];
            residual_[s] = value;
            part.a += value * shadow_[s];
            part.b += value * value;
            part.least = std::min(part.least, value);
            part.most = std::max(part.most, value);
        }
    });
    beta_ = sums.a / rho_ * (alpha_ / omega_);
    rho_ = sums.a;
    return {gain_, sums.least, sums.most, !(std::isfinite(beta_) && std::isfinite(sums.b) && beta_ != 0)};
}

}  // namespace galton
