#include "solve/sweeps.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "solve/operator.hpp"
#include "solve/split.hpp"

namespace galton {

namespace {

inline double change(double before, double after, bool relative) {
    const double difference = std::abs(after - before);
    if (!relative || difference == 0) return difference;
    return difference / std::abs(after);
}

// Where an unknown has its value before the sweep: of the range, where the last sweep wrote it; of others, in x.
struct Before {
    const double* x;
    const double* old;
    uint32_t first, size;

    double operator()(int32_t c) const { return (static_cast<uint32_t>(c) - first < size ? old : x)[c]; }
};

// Runs `part(thread, read, write) -> largest change` on all parts, sweep after sweep. Two copies of the unknowns of the
// range take turns; in the end both hold the result.
template <class Part>
Sweeps in_turns(const std::vector<size_t>& cuts, double* x, double* copy, Range range, const Stopping& stop, Part&& part) {
    const auto begin = static_cast<uint32_t>(range.first), size = static_cast<uint32_t>(range.last - range.first);
    const int parts = static_cast<int>(cuts.size()) - 1;
    std::vector<double> largest(static_cast<size_t>(parts));
    Sweeps sweeps;
    double* read = x;
    double* write = copy;
    bool go = stop.sweeps > 0;
    auto finish = [&]() noexcept {
        sweeps.residual = *std::max_element(largest.begin(), largest.end());
        ++sweeps.done;
        std::swap(read, write);
        go = sweeps.done < stop.sweeps && sweeps.residual > stop.tolerance;
    };
    std::barrier barrier(parts, finish);
    run_on_threads(parts, [&](int t) {
        while (go) {  // NOLINT(bugprone-infinite-loop): finish, which the barrier calls, changes it
            largest[static_cast<size_t>(t)] = part(t, Before{x, read, begin, size}, write);
            barrier.arrive_and_wait();
        }
    });
    std::copy(read + range.first, read + range.last, write + range.first);
    return sweeps;
}

template <class R>
double sweep_in_place(const Operator<R>& op, double* x, Range range, bool forward, double omega, bool relative) {
    double largest = 0;
    auto at = [x](int32_t c) { return x[c]; };
    auto step = [&](size_t s) {
        const double before = x[s];
        double after = op(s, at);
        if (omega != 1) after = before + omega * (after - before);
        largest = std::max(largest, change(before, after, relative));
        x[s] = after;
    };
    if (forward) {
        for (size_t s = range.first; s < range.last; ++s) step(s);
    } else {
        for (size_t s = range.last; s-- > range.first;) step(s);
    }
    return largest;
}

}  // namespace

Sweeps gauss_seidel(const System& system, double* x, double* copy, const int32_t* chosen, Range range, Stopping stop,
                    bool forward, double omega, int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        Operator op(system, rows, chosen);
        const std::vector<size_t> cuts = split(rows, range, threads);
        if (cuts.size() == 2) {
            Sweeps sweeps;
            while (sweeps.done < stop.sweeps) {
                ++sweeps.done;
                sweeps.residual = sweep_in_place(op, x, range, forward, omega, stop.relative);
                if (sweeps.residual <= stop.tolerance) break;
            }
            return sweeps;
        }
        return in_turns(cuts, x, copy, range, stop, [&](int t, const Before& before, double* now) {
            const auto first = static_cast<uint32_t>(cuts[static_cast<size_t>(t)]);
            const auto last = static_cast<uint32_t>(cuts[static_cast<size_t>(t) + 1]);
            double largest = 0;
            auto step = [&](uint32_t s, auto&& at) {
                double after = op(s, at);
                if (omega != 1) after = before.old[s] + omega * (after - before.old[s]);
                largest = std::max(largest, change(before.old[s], after, stop.relative));
                now[s] = after;
            };
            if (forward) {
                for (uint32_t s = first; s < last; ++s)
                    step(s, [=](int32_t c) { return static_cast<uint32_t>(c) - first < s - first ? now[c] : before(c); });
            } else {
                for (uint32_t s = last; s-- > first;)
                    step(s, [=](int32_t c) { return static_cast<uint32_t>(c) - s - 1 < last - s - 1 ? now[c] : before(c); });
            }
            return largest;
        });
    });
}

Sweeps jacobi(const System& system, double* x, double* copy, const int32_t* chosen, Range range, Stopping stop, double omega,
              int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        Operator op(system, rows, chosen);
        const std::vector<size_t> cuts = split(rows, range, threads);
        return in_turns(cuts, x, copy, range, stop, [&](int t, const Before& before, double* now) {
            double largest = 0;
            for (size_t s = cuts[static_cast<size_t>(t)]; s < cuts[static_cast<size_t>(t) + 1]; ++s) {
                double after = op(s, before);
                if (omega != 1) after = before.old[s] + omega * (after - before.old[s]);
                largest = std::max(largest, change(before.old[s], after, stop.relative));
                now[s] = after;
            }
            return largest;
        });
    });
}

Improvement improve(const System& system, double* x, double* copy, int32_t* chosen, Range range, double noise, int threads) {
    Improvement improvement;
    visit(system.matrix, [&](const auto& rows) {
        Operator op(system, rows, nullptr);
        const std::vector<size_t> cuts = split(rows, range, threads);
        std::vector<size_t> changed(cuts.size() - 1);
        auto choose = [&](size_t s, size_t t, auto&& at) {
            auto [value, which] = op.best(s, at);
            // The row taken so far is kept unless another is better by more than rounding: without a reason a strategy
            // must not change, or it would change for ever.
            const auto kept = static_cast<size_t>(chosen[s]);
            if (which != kept && std::abs(op.row(kept, at) - value) <= noise * std::abs(value)) which = kept;
            changed[t] += which != kept;
            chosen[s] = static_cast<int32_t>(which);
            return value;
        };
        if (cuts.size() == 2) {
            for (size_t s = range.first; s < range.last; ++s) {
                const double value = choose(s, 0, [x](int32_t c) { return x[c]; });
                improvement.residual = std::max(improvement.residual, change(x[s], value, true));
                x[s] = value;
            }
        } else {
            const Stopping once{1, 0, true};
            auto sweeps = in_turns(cuts, x, copy, range, once, [&](int t, const Before& before, double* now) {
                const auto part = static_cast<size_t>(t);
                const auto first = static_cast<uint32_t>(cuts[part]), last = static_cast<uint32_t>(cuts[part + 1]);
                double largest = 0;
                for (uint32_t s = first; s < last; ++s) {
                    now[s] = choose(
                        s, part, [=](int32_t c) { return static_cast<uint32_t>(c) - first < s - first ? now[c] : before(c); });
                    largest = std::max(largest, change(before.old[s], now[s], true));
                }
                return largest;
            });
            improvement.residual = sweeps.residual;
        }
        for (size_t n : changed) improvement.changed += n;
    });
    return improvement;
}

double defect(const System& system, const double* x, Range range, int threads) {
    return visit(system.matrix, [&](const auto& rows) {
        Operator op(system, rows, nullptr);
        const std::vector<size_t> cuts = split(rows, range, threads);
        std::vector<double> largest(cuts.size() - 1);
        run_on_threads(static_cast<int>(largest.size()), [&](int t) {
            double worst = 0;
            for (size_t s = cuts[static_cast<size_t>(t)]; s < cuts[static_cast<size_t>(t) + 1]; ++s) {
                const double difference = std::abs(op(s, [x](int32_t c) { return x[c]; }) - x[s]);
                if (difference > 0) worst = std::max(worst, difference / x[s]);
            }
            largest[static_cast<size_t>(t)] = worst;
        });
        return *std::max_element(largest.begin(), largest.end());
    });
}

double middles(const double* lower, const double* upper, double* x, Range range, double tiny) {
    double width = 0;
    for (size_t s = range.first; s < range.last; ++s) {
        const double middle = (lower[s] + upper[s]) / 2;
        x[s] = middle;
        // Without a division where it is not the widest; 0 and infinity are exact, whatever their bounds' difference is.
        if (upper[s] - middle > width * middle && upper[s] > tiny) width = (upper[s] - middle) / middle;
    }
    return width;
}

void row_values(const System& system, const double* x, double* values, Range range, int threads) {
    visit(system.matrix, [&](const auto& rows) {
        Operator op(system, rows, nullptr);
        const std::vector<size_t> cuts = split(rows, range, threads);
        const size_t first = rows.first_row(range.first);
        run_on_threads(static_cast<int>(cuts.size()) - 1, [&](int t) {
            const size_t last = rows.first_row(cuts[static_cast<size_t>(t) + 1]);
            for (size_t r = rows.first_row(cuts[static_cast<size_t>(t)]); r < last; ++r)
                values[r - first] = op.row(r, [x](int32_t c) { return x[c]; });
        });
    });
}

}  // namespace galton
