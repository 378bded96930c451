#include "steps/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/flush.hpp"
#include "base/parallel.hpp"
#include "steps/tiling.hpp"

namespace galton {

namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr size_t SMALL = 50'000;  // entries below which a second thread costs more than it brings
constexpr size_t BLOCK_ROWS = 512;
constexpr double FAINT = 0x1p-960;  // below this, what is flushed to zero would show in a quotient

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

// About what a step reads and writes for a state: two vectors, a sum, something of its own, and so many rows and entries.
size_t bytes_per_state(const MatrixView& matrix, size_t rows, size_t entries) {
    const size_t entry = 4 + (matrix.bytes ? 1 : matrix.shorts ? 2 : 8);
    return 4 * 8 + (12 * rows + entry * entries) / std::max<size_t>(matrix.n_states, 1);
}

int useful_threads(const MatrixView& matrix, int threads) { return matrix.n_entries < SMALL ? 1 : threads; }

// Where the states of each thread begin and end, so that all have about as much to do: entries and rows.
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

// How far the successors of a state are from it, by number, at most.
template <class R>
size_t reach_of(const R& rows) {
    size_t reach = 0;
    for (size_t s = 0; s < rows.n_states; ++s) {
        for (size_t row = rows.first_row(s); row < rows.first_row(s + 1); ++row) {
            const size_t first = rows.first_entry(row), last = rows.first_entry(row + 1);
            if (first == last) continue;
            // Columns ascend within a row.
            const auto low = static_cast<size_t>(rows.columns[first]), high = static_cast<size_t>(rows.columns[last - 1]);
            reach = std::max({reach, s > low ? s - low : 0, high > s ? high - s : 0});
        }
    }
    return reach;
}

void note(const Watched& watched, size_t k, const double* x, size_t first, size_t last) {
    const int32_t* end = watched.states + watched.count;
    const int32_t* state = std::lower_bound(watched.states, end, static_cast<int32_t>(first));
    for (; state != end && static_cast<size_t>(*state) < last; ++state)
        watched.record[k * watched.count + static_cast<size_t>(state - watched.states)] = x[*state];
}

// Run body(k, from, to, first, last), which returns the least positive number it wrote, on the states that `tiling` says,
// and look at the last step unless `extremes` is null.
template <class Body>
bool run_steps(const Tiling& tiling, size_t steps, double* x, double* other, const Watched& watched, Extremes* extremes,
               const Body& body) {
    std::vector<Extremes> found(tiling.threads(), NOTHING);
    double* buffers[2] = {x, other};
    auto one_step = [&](size_t thread, size_t k, size_t first, size_t last) {
        FlushToZero flush;
        note(watched, k, buffers[k % 2], first, last);
        const double least = body(k, buffers[k % 2], buffers[(k + 1) % 2], first, last);
        found[thread].faintest = std::min(found[thread].faintest, least);
    };
    run_tiled(tiling, steps, one_step, [&](size_t thread, size_t first, size_t last) {
        if (steps == 0 || !extremes) return;
        const double *before = buffers[(steps + 1) % 2], *after = buffers[steps % 2];
        for (size_t s = first; s < last; ++s) watch(found[thread], before[s], after[s]);
    });
    if (extremes) {
        *extremes = NOTHING;
        for (const Extremes& part : found) widen(*extremes, part);
    }
    return steps % 2 == 1;
}

template <class R>
double product(const R& rows, size_t row, const double* x) {
    double total = 0;
    for (size_t e = rows.first_entry(row), end = rows.first_entry(row + 1); e < end; ++e)
        total += rows.values[e] * x[rows.columns[e]];
    return total;
}

double faintest_of(const double* y, size_t first, size_t last) {
    double faintest = INF;
    for (size_t s = first; s < last; ++s) faintest = std::min(faintest, y[s] > 0 ? y[s] : INF);
    return faintest;
}

// y[s] = A x for some rows. On its own, because the compiler then keeps all it needs in registers.
template <class R>
[[gnu::noinline]] void multiply(const R& matrix, const double* __restrict x, double* __restrict y, size_t first, size_t last) {
    const R rows = matrix;
    size_t entry = rows.first_entry(first);
    for (size_t s = first; s < last; ++s) {
        double total = 0;
        for (const size_t end = rows.first_entry(s + 1); entry < end; ++entry)
            total += rows.values[entry] * x[rows.columns[entry]];
        y[s] = total;
    }
}

void apply(const Stencil& stencil, const double* x, double* y, size_t first, size_t last) {
    switch (stencil.entries) {
        case 0: std::fill(y + first, y + last, 0.0); break;
        case 1: apply<1>(stencil, x, y, first, last); break;
        case 2: apply<2>(stencil, x, y, first, last); break;
        case 3: apply<3>(stencil, x, y, first, last); break;
        case 4: apply<4>(stencil, x, y, first, last); break;
        case 5: apply<5>(stencil, x, y, first, last); break;
        case 6: apply<6>(stencil, x, y, first, last); break;
        case 7: apply<7>(stencil, x, y, first, last); break;
        case 8: apply<8>(stencil, x, y, first, last); break;
        default: throw std::logic_error("a stencil has at most 8 entries");
    }
}

// What is left to do for rows that have their products: while they are in the cache, in loops that are vectorised.
GALTON_WIDE void finish(double scale, const double* __restrict stay, double weight, const double* __restrict x,
                        double* __restrict y, double* __restrict sum, size_t first, size_t last) {
    if (stay && sum) {
        for (size_t s = first; s < last; ++s) {
            y[s] = scale * y[s] + stay[s] * x[s];
            sum[s] += weight * x[s];
        }
    } else if (stay) {
        for (size_t s = first; s < last; ++s) y[s] = scale * y[s] + stay[s] * x[s];
    } else if (sum) {
        for (size_t s = first; s < last; ++s) sum[s] += weight * x[s];
    }
}

// One step for the rows first ≤ s < last, in blocks that stay in the nearest cache until they are finished.
template <class R>
double step_rows(const R& rows, const ChainStep& step, const Segments& all, double weight, const double* x, double* y,
                 double* sum, size_t first, size_t last) {
    double faintest = INF;
    auto segment = std::upper_bound(all.segments.begin(), all.segments.end(), first,
                                    [](size_t row, const Segment& s) { return row < s.last; });
    for (size_t block = first; block < last;) {
        const size_t block_end = std::min(block + BLOCK_ROWS, last);
        for (size_t row = block; row < block_end;) {
            const size_t end = std::min(segment->last, block_end);
            if (segment->stencil >= 0) {
                apply(all.stencils[static_cast<size_t>(segment->stencil)], x, y, row, end);
            } else {
                multiply(rows, x, y, row, end);
            }
            if (end == segment->last) ++segment;
            row = end;
        }
        finish(step.scale, step.stay, weight, x, y, sum, block, block_end);
        if (!step.stay) faintest = std::min(faintest, faintest_of(y, block, block_end));
        block = block_end;
    }
    return step.stay ? 0 : faintest;
}

}  // namespace

ChainStepper::ChainStepper(const ChainStep& step) : step_(step), width_(step.matrix.n_states) {
    for (size_t entry = 0; entry < step.matrix.n_entries; ++entry)
        width_ = std::max(width_, static_cast<size_t>(step.matrix.columns[entry]) + 1);
    visit(step_.matrix, [&](const auto& rows) {
        rows_ = segments_of(rows);
        reach_ = reach_of(rows);
        size_t read = 0, entries = 0;  // the rows and entries of runs are not read one by one
        for (const Segment& segment : rows_.segments) {
            if (segment.stencil >= 0) continue;
            read += segment.last - segment.first;
            entries += rows.first_entry(segment.last) - rows.first_entry(segment.first);
        }
        bytes_per_state_ = bytes_per_state(step_.matrix, read, entries);
    });
}

bool ChainStepper::run(size_t steps, const double* weights, double* x, double* other, double* sum, const Watched& watched,
                       int threads, Extremes* extremes) const {
    threads = useful_threads(step_.matrix, threads);
    return visit(step_.matrix, [&](const auto& rows) {
        auto one_step = [&](size_t k, const double* from, double* to, size_t first, size_t last) {
            return step_rows(rows, step_, rows_, sum ? weights[k] : 0.0, from, to, sum, first, last);
        };
        const Tiling tiling(fair_shares(rows, threads), reach_, bytes_per_state_);
        return run_steps(tiling, steps, x, other, watched, extremes, one_step);
    });
}

namespace {

// y_s for some states, and where `choices` is not null the first row that attains it. On its own like multiply().
template <bool Maximise, bool Choices, class R>
[[gnu::noinline]] void optimise(const R& matrix, const double* constant, const double* __restrict x, double* __restrict y,
                                int32_t* choices, size_t first, size_t last) {
    const R rows = matrix;
    size_t row = rows.first_row(first), entry = rows.first_entry(row);
    for (size_t s = first; s < last; ++s) {
        double best = Maximise ? -INF : INF;
        for (const size_t last_row = rows.first_row(s + 1); row < last_row; ++row) {
            double total = constant ? constant[row] : 0;
            for (const size_t end = rows.first_entry(row + 1); entry < end; ++entry)
                total += rows.values[entry] * x[rows.columns[entry]];
            if (Choices && (Maximise ? total > best : total < best)) choices[s] = static_cast<int32_t>(row);
            best = Maximise ? std::max(best, total) : std::min(best, total);
        }
        y[s] = best;
    }
}

}  // namespace

BellmanStepper::BellmanStepper(const BellmanStep& step) : step_(step) {
    visit(step_.matrix, [&](const auto& rows) { reach_ = reach_of(rows); });
}

bool BellmanStepper::run(size_t steps, double* x, double* other, int32_t* choices, const Watched& watched, int threads,
                         Extremes* extremes) const {
    threads = useful_threads(step_.matrix, threads);
    return visit(step_.matrix, [&](const auto& rows) {
        auto one_step = [&](size_t k, const double* from, double* to, size_t first, size_t last) {
            auto go = [&]<bool Maximise, bool Choices> {
                int32_t* chosen = Choices ? choices + k * rows.n_states : nullptr;
                optimise<Maximise, Choices>(rows, step_.constant, from, to, chosen, first, last);
            };
            if (step_.maximise) {
                choices ? go.template operator()<true, true>() : go.template operator()<true, false>();
            } else {
                choices ? go.template operator()<false, true>() : go.template operator()<false, false>();
            }
            return faintest_of(to, first, last);
        };
        const size_t bytes = bytes_per_state(step_.matrix, rows.n_rows, step_.matrix.n_entries);
        const Tiling tiling(fair_shares(rows, threads), reach_, bytes);
        return run_steps(tiling, steps, x, other, watched, extremes, one_step);
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
