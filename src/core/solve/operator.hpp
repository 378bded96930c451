// The operator F of the equations x = opt(Ax + b), row by row.
#pragma once

#include <utility>

#include "solve/sweeps.hpp"

namespace galton {

// Σ v_e x_e of one row, with the unknowns read by `at`.
template <class R, class At>
inline double row_sum(const R& rows, size_t row, At&& at) {
    double sum = 0;
    const size_t end = rows.first_entry(row + 1);
    for (size_t e = rows.first_entry(row); e < end; ++e) sum += rows.values[e] * at(rows.columns[e]);
    return sum;
}

template <class R>
class Operator {
  public:
    Operator(const System& system, const R& rows, const int32_t* chosen) : system_(system), rows_(rows), chosen_(chosen) {}

    // The value of a row without its constant, and with it.
    template <class At>
    double scaled_sum(size_t row, At&& at) const {
        const double sum = row_sum(rows_, row, at);
        return system_.scale ? system_.scale[row] * sum : sum;
    }

    template <class At>
    double row(size_t row, At&& at) const {
        return scaled_sum(row, at) + system_.constant[row];
    }

    // The value of a state, by the row chosen for it or by the best.
    template <class At>
    double operator()(size_t state, At&& at) const {
        if (!rows_.groups) return row(state, at);
        if (chosen_) return row(static_cast<size_t>(chosen_[state]), at);
        return best(state, at).first;
    }

    template <class At>
    std::pair<double, size_t> best(size_t state, At&& at) const {
        const size_t first = rows_.first_row(state), last = rows_.first_row(state + 1);
        double value = row(first, at);
        size_t which = first;
        for (size_t r = first + 1; r < last; ++r) {
            const double other = row(r, at);
            if (system_.optimum == Optimum::Min ? other < value : other > value) {
                value = other;
                which = r;
            }
        }
        return {value, which};
    }

  private:
    const System& system_;
    const R& rows_;
    const int32_t* chosen_;
};

}  // namespace galton
