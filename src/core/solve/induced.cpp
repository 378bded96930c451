#include "solve/induced.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "solve/krylov.hpp"

namespace galton {

namespace {

constexpr int EASY = 20;              // sweeps that a component is given before it is taken out
constexpr int KRYLOV_SWEEPS = 2'000;  // for one that was
constexpr double CLOSE = 1e-8;        // residuals from which a solution is worth refining
constexpr int REFINEMENTS = 6;
constexpr double GAIN = 1e-6;   // of a refinement
constexpr double LAST = 1e-20;  // a relative change that is none

// One component as a system of its own, from its exits inwards; what leads out of it has become a constant.
class Extract {
  public:
    template <class R>
    Sweeps solve(const System& system, const R& rows, const int32_t* chosen, double* x, const std::vector<int32_t>& members,
                 std::vector<int32_t>& local, double tolerance, bool fine) {
        const size_t n = members.size();
        for (size_t i = 0; i < n; ++i) local[static_cast<size_t>(members[i])] = static_cast<int32_t>(i);
        order(rows, chosen, members, local);
        auto state_at = [&](size_t k) { return static_cast<size_t>(members[static_cast<size_t>(order_[k])]); };
        for (size_t k = 0; k < n; ++k) local[state_at(k)] = static_cast<int32_t>(k);
        starts_.assign(1, 0);
        columns_.clear();
        values_.clear();
        constant_.resize(n);
        x_.resize(n);
        copy_.resize(n);
        for (size_t k = 0; k < n; ++k) {
            const size_t state = state_at(k);
            const auto row = static_cast<size_t>(chosen[state]);
            const double scale = system.scale ? system.scale[row] : 1.0;
            double constant = system.constant[row];
            for (size_t e = rows.first_entry(row); e < rows.first_entry(row + 1); ++e) {
                const auto column = static_cast<size_t>(rows.columns[e]);
                const int32_t to = local[column];
                if (to < 0) {
                    constant += scale * rows.values[e] * x[column];
                } else {
                    columns_.push_back(to);
                    values_.push_back(scale * rows.values[e]);
                }
            }
            starts_.push_back(static_cast<int32_t>(columns_.size()));
            constant_[k] = constant;
            x_[k] = x[state];
        }
        System inner;
        inner.matrix.n_states = inner.matrix.n_rows = n;
        inner.matrix.n_entries = columns_.size();
        inner.matrix.starts = starts_.data();
        inner.matrix.columns = columns_.data();
        inner.matrix.plain = values_.data();
        inner.constant = constant_.data();
        const Range all{0, n};
        Sweeps done = gauss_seidel(inner, x_.data(), copy_.data(), nullptr, all, {5, tolerance, true}, true, 1.0, 1);
        if (done.residual > tolerance) {
            Sweeps more = bicgstab(inner, x_.data(), nullptr, all, KRYLOV_SWEEPS, tolerance, 1);
            done.done += more.done;
            done.residual = more.residual;
        }
        if (fine && done.residual <= CLOSE) done.done += refine(inner, all);
        for (size_t k = 0; k < n; ++k) {
            const size_t state = state_at(k);
            x[state] = x_[k];
            local[state] = -1;
        }
        return done;
    }

  private:
    // Corrects x by solutions for what is left of the equations, computed with twice the digits, x + rest being the solution
    // so far (iterative refinement: Higham 2002, chapter 12). Otherwise rounding adds up over the steps to an exit, and
    // rows that are worth the same look different by what it has added up to: strategies would change for ever.
    int refine(const System& system, Range all) {
        const size_t n = x_.size();
        rest_.assign(n, 0);
        left_.resize(n);
        change_.resize(n);
        System inner = system;
        inner.constant = left_.data();
        int done = 0;
        for (int round = 0; round < REFINEMENTS; ++round) {
            double largest = 0, moved = 0;
            for (size_t k = 0; k < n; ++k) {
                left_[k] = what_is_left(k);
                if (x_[k] > 0) largest = std::max(largest, std::abs(left_[k]) / x_[k]);
            }
            if (!(largest > 0)) break;
            std::fill(change_.begin(), change_.end(), 0.0);
            done += 1 + bicgstab(inner, change_.data(), nullptr, all, KRYLOV_SWEEPS, GAIN * largest, 1, x_.data()).done;
            for (size_t k = 0; k < n; ++k) {
                if (!std::isfinite(change_[k])) return done;
                if (x_[k] > 0) moved = std::max(moved, std::abs(change_[k]) / x_[k]);
            }
            for (size_t k = 0; k < n; ++k) {
                const double more = rest_[k] + change_[k], sum = x_[k] + more;
                rest_[k] = more - (sum - x_[k]);
                x_[k] = sum;
            }
            if (moved < LAST) break;
        }
        return done;
    }

    // constant + A(x + rest) - (x + rest), rounded only at the end, or nearly.
    double what_is_left(size_t k) const {
        double sum = constant_[k], low = 0;
        auto add = [&](double term) {
            const double before = sum;
            sum += term;
            const double back = sum - before;
            low += (before - (sum - back)) + (term - back);
        };
        for (auto e = static_cast<size_t>(starts_[k]); e < static_cast<size_t>(starts_[k + 1]); ++e) {
            const auto to = static_cast<size_t>(columns_[e]);
            const double term = values_[e] * x_[to];
            low += std::fma(values_[e], x_[to], -term) + values_[e] * rest_[to];
            add(term);
        }
        add(-x_[k]);
        return sum + (low - rest_[k]);
    }

    // Backwards from the members with a row that leads out, breadth first; `order_` are positions in members.
    template <class R>
    void order(const R& rows, const int32_t* chosen, const std::vector<int32_t>& members, const std::vector<int32_t>& local) {
        const size_t n = members.size();
        auto successors = [&](size_t i, auto&& visit) {
            const auto row = static_cast<size_t>(chosen[members[i]]);
            bool exit = rows.first_entry(row) == rows.first_entry(row + 1);
            for (size_t e = rows.first_entry(row); e < rows.first_entry(row + 1); ++e) {
                const int32_t to = local[static_cast<size_t>(rows.columns[e])];
                if (to < 0) {
                    exit = true;
                } else {
                    visit(static_cast<size_t>(to));
                }
            }
            return exit;
        };
        counts_.assign(n + 1, 0);
        order_.clear();
        seen_.assign(n, false);
        for (size_t i = 0; i < n; ++i) {
            if (successors(i, [&](size_t to) { ++counts_[to + 1]; })) push(static_cast<int32_t>(i));
        }
        if (order_.empty()) push(static_cast<int32_t>(n - 1));
        for (size_t i = 0; i < n; ++i) counts_[i + 1] += counts_[i];
        sources_.resize(static_cast<size_t>(counts_[n]));
        fill_.assign(counts_.begin(), counts_.end());
        for (size_t i = 0; i < n; ++i) {
            successors(i, [&](size_t to) { sources_[static_cast<size_t>(fill_[to]++)] = static_cast<int32_t>(i); });
        }
        for (size_t next = 0; next < order_.size(); ++next) {
            const auto i = static_cast<size_t>(order_[next]);
            for (int32_t k = counts_[i]; k < counts_[i + 1]; ++k) push(sources_[static_cast<size_t>(k)]);
        }
    }

    void push(int32_t i) {
        if (seen_[static_cast<size_t>(i)]) return;
        seen_[static_cast<size_t>(i)] = true;
        order_.push_back(i);
    }

    std::vector<int32_t> starts_, columns_, order_, counts_, fill_, sources_;
    std::vector<double> values_, constant_, x_, copy_, rest_, left_, change_;
    std::vector<bool> seen_;
};

// Tarjan's search along the chosen rows; components come out successors first, and are solved as they come.
template <class R>
class Induced {
  public:
    Induced(const System& system, const R& rows, double* x, const int32_t* chosen, Range range, double tolerance, bool fine)
        : system_(system), rows_(rows), x_(x), chosen_(chosen), range_(range), tolerance_(tolerance), fine_(fine),
          low_(range.last - range.first, 0), local_(rows.n_states, -1) {}

    Sweeps run() {
        for (size_t s = range_.first; s < range_.last; ++s)
            if (!low_[s - range_.first]) search(s);
        const auto size = static_cast<double>(range_.last - range_.first);
        return {static_cast<int>(std::ceil(static_cast<double>(updates_) / size)), worst_};
    }

  private:
    static constexpr uint32_t DONE = 0xffffffff;
    struct Frame {
        size_t state, entry, end;
        uint32_t number;
    };

    void open(size_t state) {
        const auto row = static_cast<size_t>(chosen_[state]);
        low_[state - range_.first] = ++counter_;
        path_.push_back({state, rows_.first_entry(row), rows_.first_entry(row + 1), counter_});
        stack_.push_back(static_cast<int32_t>(state));
    }

    void search(size_t root) {
        open(root);
        while (!path_.empty()) {
            Frame& frame = path_.back();
            if (frame.entry < frame.end) {
                const auto to = static_cast<size_t>(rows_.columns[frame.entry++]);
                if (to - range_.first >= low_.size()) continue;
                const uint32_t seen = low_[to - range_.first];
                if (!seen) {
                    open(to);
                } else if (seen != DONE) {
                    uint32_t& mine = low_[frame.state - range_.first];
                    mine = std::min(mine, seen);
                }
                continue;
            }
            const Frame closed = frame;
            path_.pop_back();
            const uint32_t low = low_[closed.state - range_.first];
            if (!path_.empty() && low < closed.number) {
                uint32_t& above = low_[path_.back().state - range_.first];
                above = std::min(above, low);
            }
            if (low == closed.number) finish(closed.state);
        }
    }

    double value(size_t state) const {
        const auto row = static_cast<size_t>(chosen_[state]);
        double sum = 0;
        for (size_t e = rows_.first_entry(row); e < rows_.first_entry(row + 1); ++e)
            sum += rows_.values[e] * x_[rows_.columns[e]];
        return (system_.scale ? system_.scale[row] * sum : sum) + system_.constant[row];
    }

    void finish(size_t root) {
        members_.clear();
        for (int32_t state = -1; state != static_cast<int32_t>(root);) {
            state = stack_.back();
            stack_.pop_back();
            low_[static_cast<size_t>(state) - range_.first] = DONE;
            members_.push_back(state);
        }
        if (members_.size() == 1) {
            x_[root] = value(root);
            ++updates_;
            return;
        }
        double residual = 0;
        for (int sweep = 0; sweep < EASY; ++sweep) {
            residual = 0;
            for (int32_t state : members_) {
                const double after = value(static_cast<size_t>(state)), difference = std::abs(after - x_[state]);
                if (difference > 0) residual = std::max(residual, difference / std::abs(after));
                x_[state] = after;
            }
            updates_ += members_.size();
            if (residual <= tolerance_) break;
        }
        // What sweeps change little may still be far from the solution.
        if (residual > tolerance_ || fine_) {
            Sweeps more = extract_.solve(system_, rows_, chosen_, x_, members_, local_, tolerance_, fine_);
            updates_ += static_cast<size_t>(more.done) * members_.size();
            residual = more.residual;
        }
        worst_ = std::max(worst_, residual);
    }

    const System& system_;
    const R& rows_;
    double* x_;
    const int32_t* chosen_;
    const Range range_;
    const double tolerance_;
    const bool fine_;
    std::vector<uint32_t> low_;  // Tarjan's numbers; 0: not seen yet
    std::vector<int32_t> local_, stack_, members_;
    std::vector<Frame> path_;
    uint32_t counter_ = 0;
    size_t updates_ = 0;
    double worst_ = 0;
    Extract extract_;
};

}  // namespace

Sweeps solve_induced(const System& system, double* x, const int32_t* chosen, Range range, double tolerance, bool fine) {
    return visit(system.matrix,
                 [&](const auto& rows) { return Induced(system, rows, x, chosen, range, tolerance, fine).run(); });
}

}  // namespace galton
