#include "steps.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace galton {

namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr size_t SMALL = 50'000;  // entries below which a second thread costs more than it brings
constexpr double FAINT = 0x1p-960;  // below this, what is flushed to zero would show in a quotient

// Treat numbers that are not normal as zero while this lives.
class FlushToZero {
  public:
#if defined(__SSE2__)
    FlushToZero() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
    ~FlushToZero() { _mm_setcsr(saved_); }

  private:
    unsigned saved_;
#endif
};

constexpr Extremes NOTHING{INF, -INF, INF, -INF, INF, -INF, INF};

void widen(Extremes& a, const Extremes& b) {
    a.least = std::min(a.least, b.least);
    a.most = std::max(a.most, b.most);
    a.least_ratio = std::min(a.least_ratio, b.least_ratio);
    a.most_ratio = std::max(a.most_ratio, b.most_ratio);
    a.least_change = std::min(a.least_change, b.least_change);
    a.most_change = std::max(a.most_change, b.most_change);
    a.faintest = std::min(a.faintest, b.faintest);
}

void watch(Extremes& extremes, double before, double after) {
    extremes.least = std::min(extremes.least, after);
    extremes.most = std::max(extremes.most, after);
    extremes.least_change = std::min(extremes.least_change, after - before);
    extremes.most_change = std::max(extremes.most_change, after - before);
    if (before == 0 && after == 0) return;
    const bool digits = before > FAINT && after > FAINT;
    extremes.least_ratio = std::min(extremes.least_ratio, digits ? after / before : 0);
    extremes.most_ratio = std::max(extremes.most_ratio, digits ? after / before : INF);
}

int useful_threads(const MatrixView& matrix, int threads) { return matrix.n_entries < SMALL ? 1 : threads; }

// Where each thread's states begin, so that all have about as many entries and rows.
template <class R>
std::vector<size_t> fair_shares(const R& rows, int threads) {
    std::vector<size_t> bounds{0};
    const size_t work = rows.first_entry(rows.n_rows) + rows.n_rows;
    for (int t = 1; t < threads; ++t) {
        size_t low = bounds.back(), high = rows.n_states;
        while (low < high) {
            const size_t middle = low + (high - low) / 2, row = rows.first_row(middle);
            if ((rows.first_entry(row) + row) * static_cast<size_t>(threads) < work * static_cast<size_t>(t)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        bounds.push_back(low);
    }
    bounds.push_back(rows.n_states);
    return bounds;
}

template <class R>
double product(const R& rows, size_t row, const double* x) {
    double total = 0;
    for (size_t e = rows.first_entry(row), end = rows.first_entry(row + 1); e < end; ++e)
        total += rows.values[e] * x[rows.columns[e]];
    return total;
}

// Run body(k, x, y, first, last) for each step k and each thread's states, and swap x and y in between; it returns the
// least positive y.
template <class R, class Body>
bool run_steps(const R& rows, size_t steps, double* x, double* other, int threads, Extremes& extremes, const Body& body) {
    const std::vector<size_t> bounds = fair_shares(rows, threads);
    std::vector<Extremes> found(static_cast<size_t>(threads), NOTHING);
    std::barrier<> all(threads);
    run_on_threads(threads, [&](int t) {
        FlushToZero flush;
        double *from = x, *to = other, faintest = INF;
        const auto thread = static_cast<size_t>(t);
        for (size_t k = 0; k < steps; ++k) {
            faintest = std::min(faintest, body(k, from, to, bounds[thread], bounds[thread + 1]));
            if (threads > 1) all.arrive_and_wait();
            std::swap(from, to);
        }
        if (steps)
            for (size_t s = bounds[thread]; s < bounds[thread + 1]; ++s) watch(found[thread], to[s], from[s]);
        found[thread].faintest = faintest;
    });
    extremes = NOTHING;
    for (const Extremes& part : found) widen(extremes, part);
    return steps % 2 == 1;
}

template <bool Stay, bool Sum, class R>
bool chain(const R& rows, const ChainStep& step, size_t steps, const double* weights, double* x, double* other, double* sum,
           int threads, Extremes& extremes) {
    return run_steps(rows, steps, x, other, threads, extremes,
                     [&](size_t k, const double* from, double* to, size_t first, size_t last) {
                         const double weight = Sum ? weights[k] : 0;
                         double faintest = INF;
                         for (size_t s = first; s < last; ++s) {
                             double y = step.scale * product(rows, s, from);
                             if (Stay) y += step.stay[s] * from[s];
                             if (Sum) sum[s] += weight * from[s];
                             to[s] = y;
                             faintest = std::min(faintest, y > 0 ? y : INF);
                         }
                         return faintest;
                     });
}

}  // namespace

bool chain_steps(const ChainStep& step, size_t steps, const double* weights, double* x, double* other, double* sum,
                 int threads, Extremes& extremes) {
    threads = useful_threads(step.matrix, threads);
    return visit(step.matrix, [&](const auto& rows) {
        auto run = [&]<bool Stay, bool Sum>() {
            return chain<Stay, Sum>(rows, step, steps, weights, x, other, sum, threads, extremes);
        };
        if (step.stay) return sum ? run.template operator()<true, true>() : run.template operator()<true, false>();
        return sum ? run.template operator()<false, true>() : run.template operator()<false, false>();
    });
}

bool bellman_steps(const BellmanStep& step, size_t steps, double* x, double* other, int32_t* choices, int threads,
                   Extremes& extremes) {
    threads = useful_threads(step.matrix, threads);
    return visit(step.matrix, [&](const auto& rows) {
        auto one_step = [&](size_t k, const double* from, double* to, size_t first, size_t last) {
            double faintest = INF;
            for (size_t s = first; s < last; ++s) {
                size_t best = rows.first_row(s);
                double value = step.maximise ? -INF : INF;
                for (size_t row = best, end = rows.first_row(s + 1); row < end; ++row) {
                    double y = product(rows, row, from);
                    if (step.constant) y += step.constant[row];
                    if (step.maximise ? y > value : y < value) {
                        value = y;
                        best = row;
                    }
                }
                to[s] = value;
                faintest = std::min(faintest, value > 0 ? value : INF);
                if (choices) choices[k * rows.n_states + s] = static_cast<int32_t>(best);
            }
            return faintest;
        };
        return run_steps(rows, steps, x, other, threads, extremes, one_step);
    });
}

Part part_of(const MatrixView& matrix, const int32_t* states, size_t n_states, const int32_t* position, bool loops,
             int threads) {
    threads = useful_threads(matrix, threads);
    return visit(matrix, [&](const auto& rows) {
        Part part;
        std::vector<size_t> first_rows(n_states + 1);
        for (size_t i = 0; i < n_states; ++i) {
            const auto s = static_cast<size_t>(states[i]);
            first_rows[i + 1] = first_rows[i] + rows.first_row(s + 1) - rows.first_row(s);
        }
        if (rows.groups) {
            part.groups = Pages<int32_t>(n_states + 1);
            for (size_t i = 0; i <= n_states; ++i) part.groups[i] = static_cast<int32_t>(first_rows[i]);
        }
        part.starts = Pages<int64_t>(first_rows[n_states] + 1);
        // Call visit_entry(new row, entry) for all that stay, the states of one thread after another.
        auto for_all = [&](const auto& visit_entry) {
            run_on_threads(threads, [&](int t) {
                auto [first, last] = share(n_states, t, threads);
                for (size_t i = first; i < last; ++i) {
                    const auto s = static_cast<size_t>(states[i]);
                    const size_t old = rows.first_row(s), n = first_rows[i + 1] - first_rows[i];
                    for (size_t r = 0; r < n; ++r)
                        for (size_t e = rows.first_entry(old + r); e < rows.first_entry(old + r + 1); ++e)
                            if (position[rows.columns[e]] >= 0 && (loops || rows.columns[e] != states[i]))
                                visit_entry(first_rows[i] + r, e);
                }
            });
        };
        for_all([&](size_t row, size_t) { ++part.starts[row + 1]; });
        for (size_t row = 0; row < first_rows[n_states]; ++row) part.starts[row + 1] += part.starts[row];
        const auto n_entries = static_cast<size_t>(part.starts[first_rows[n_states]]);
        part.columns = Pages<int32_t>(n_entries);
        if (matrix.bytes) part.bytes = Pages<uint8_t>(n_entries);
        if (matrix.shorts) part.shorts = Pages<uint16_t>(n_entries);
        if (matrix.plain) part.plain = Pages<double>(n_entries);
        std::vector<int64_t> next(part.starts.data(), part.starts.data() + first_rows[n_states]);
        for_all([&](size_t row, size_t entry) {
            const auto to = static_cast<size_t>(next[row]++);
            part.columns[to] = position[rows.columns[entry]];
            if (matrix.bytes) part.bytes[to] = matrix.bytes[entry];
            if (matrix.shorts) part.shorts[to] = matrix.shorts[entry];
            if (matrix.plain) part.plain[to] = matrix.plain[entry];
        });
        return part;
    });
}

void row_products(const MatrixView& matrix, const double* x, double* y, int threads) {
    threads = useful_threads(matrix, threads);
    visit(matrix, [&](const auto& rows) {
        run_on_threads(threads, [&](int t) {
            FlushToZero flush;
            auto [first, last] = share(rows.n_rows, t, threads);
            for (size_t row = first; row < last; ++row) y[row] = product(rows, row, x);
        });
    });
}

void exit_rates(const MatrixView& matrix, bool loops, double* high, double* low, int threads) {
    threads = useful_threads(matrix, threads);
    visit(matrix, [&](const auto& rows) {
        run_on_threads(threads, [&](int t) {
            auto [first, last] = share(rows.n_rows, t, threads);
            for (size_t row = first; row < last; ++row) {
                double sum = 0, rest = 0;
                for (size_t e = rows.first_entry(row); e < rows.first_entry(row + 1); ++e) {
                    if (!loops && static_cast<size_t>(rows.columns[e]) == row) continue;
                    // What the addition loses is itself a number (Knuth's two-sum).
                    const double value = rows.values[e], total = sum + value, part = total - sum;
                    rest += (sum - (total - part)) + (value - part);
                    sum = total;
                }
                high[row] = sum + rest;
                low[row] = rest - (high[row] - sum);
            }
        });
    });
}

}  // namespace galton
