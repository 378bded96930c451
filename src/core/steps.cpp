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

// Run body(k, x, y, first, last) for each step k and each thread's share of the work, and swap x and y in between; it
// returns the least positive y. A share that begins with `first` begins with the state state_of(first).
template <class StateOf, class Body>
bool run_steps(const std::vector<size_t>& shares, const StateOf& state_of, size_t steps, double* x, double* other,
               int threads, Extremes& extremes, const Body& body) {
    std::vector<Extremes> found(static_cast<size_t>(threads), NOTHING);
    std::barrier<> all(threads);
    run_on_threads(threads, [&](int t) {
        FlushToZero flush;
        double *from = x, *to = other;
        const auto thread = static_cast<size_t>(t);
        Extremes seen = NOTHING;
        for (size_t k = 0; k < steps; ++k) {
            seen.faintest = std::min(seen.faintest, body(k, from, to, shares[thread], shares[thread + 1]));
            if (threads > 1) all.arrive_and_wait();
            std::swap(from, to);
        }
        if (steps)
            for (size_t s = state_of(shares[thread]); s < state_of(shares[thread + 1]); ++s) watch(seen, to[s], from[s]);
        found[thread] = seen;
    });
    extremes = NOTHING;
    for (const Extremes& part : found) widen(extremes, part);
    return steps % 2 == 1;
}

// The products of the rows of a segment.
template <class R>
void multiply(const R& rows, const Segment& segment, const double* x, double* y) {
    if (!segment.alike) {
        for (size_t s = segment.first; s < segment.last; ++s) y[s] = product(rows, s, x);
        return;
    }
    const Stencil stencil = stencil_of(rows, segment.first);
    switch (stencil.entries) {
        case 0: std::fill(y + segment.first, y + segment.last, 0.0); break;
        case 1: apply<1>(stencil, x, y, segment.first, segment.last); break;
        case 2: apply<2>(stencil, x, y, segment.first, segment.last); break;
        case 3: apply<3>(stencil, x, y, segment.first, segment.last); break;
        case 4: apply<4>(stencil, x, y, segment.first, segment.last); break;
        case 5: apply<5>(stencil, x, y, segment.first, segment.last); break;
        case 6: apply<6>(stencil, x, y, segment.first, segment.last); break;
        case 7: apply<7>(stencil, x, y, segment.first, segment.last); break;
        case 8: apply<8>(stencil, x, y, segment.first, segment.last); break;
    }
}

// What is left to do for rows that have their products: while they are in the cache, in loops that are vectorised.
double finish(const ChainStep& step, double weight, const double* __restrict x, double* __restrict y, double* __restrict sum,
              size_t first, size_t last) {
    const double scale = step.scale;
    const double* __restrict stay = step.stay;
    if (stay)
        for (size_t s = first; s < last; ++s) y[s] = scale * y[s] + stay[s] * x[s];
    if (sum)
        for (size_t s = first; s < last; ++s) sum[s] += weight * x[s];
    if (stay) return 0;
    double faintest = INF;
    for (size_t s = first; s < last; ++s) faintest = std::min(faintest, y[s] > 0 ? y[s] : INF);
    return faintest;
}

// Where each thread's segments begin. A row of a run costs about as much as an entry of another.
template <class R>
std::vector<size_t> fair_shares(const R& rows, const std::vector<Segment>& segments, int threads) {
    auto cost = [&](const Segment& s) {
        return s.last - s.first + (s.alike ? 0 : s.last - s.first + rows.first_entry(s.last) - rows.first_entry(s.first));
    };
    size_t all = 0, so_far = 0;
    for (const Segment& segment : segments) all += cost(segment);
    std::vector<size_t> bounds{0};
    for (size_t i = 0; i < segments.size(); ++i) {
        so_far += cost(segments[i]);
        while (bounds.size() < static_cast<size_t>(threads) && so_far * static_cast<size_t>(threads) >= all * bounds.size())
            bounds.push_back(i + 1);
    }
    bounds.resize(static_cast<size_t>(threads) + 1, segments.size());
    return bounds;
}

}  // namespace

ChainStepper::ChainStepper(const ChainStep& step) : step_(step) {
    visit(step_.matrix, [&](const auto& rows) { segments_ = segments_of(rows, step_.stay, BLOCK_ROWS); });
}

bool ChainStepper::run(size_t steps, const double* weights, double* x, double* other, double* sum, int threads,
                       Extremes& extremes) const {
    threads = useful_threads(step_.matrix, threads);
    return visit(step_.matrix, [&](const auto& rows) {
        auto one_step = [&](size_t k, const double* from, double* to, size_t first, size_t last) {
            double faintest = INF;
            for (size_t i = first; i < last; ++i) {
                const Segment& segment = segments_[i];
                multiply(rows, segment, from, to);
                const double weight = sum ? weights[k] : 0;
                faintest = std::min(faintest, finish(step_, weight, from, to, sum, segment.first, segment.last));
            }
            return faintest;
        };
        auto states = [&](size_t share) { return share < segments_.size() ? segments_[share].first : rows.n_states; };
        return run_steps(fair_shares(rows, segments_, threads), states, steps, x, other, threads, extremes, one_step);
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
        auto state = [](size_t s) { return s; };
        return run_steps(fair_shares(rows, threads), state, steps, x, other, threads, extremes, one_step);
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
