#include "long_run/incomplete_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>

#include "base/parallel.hpp"

namespace galton {

namespace {

// A state that hardly has a transition to those still there would keep everything that arises without this.
constexpr double LEAST_ONWARD = 0.01;

constexpr double LEAST = 1e-30;  // no threshold is below this: floats must hold it

// Until `ready()`: a few looks in a row, then the processor is left to others between looks.
template <class Ready>
void wait_until(const Ready& ready) {
    for (int looks = 0; !ready(); ++looks) {
        if (looks > 200) std::this_thread::yield();
    }
}

// A positive number m 2^(RANGE e) of any size.
struct Large {
    double m = 0;
    int64_t e = 0;

    static constexpr int RANGE = 256;
    void add(const Large& other) {
        if (m == 0 || other.e > e + 1) {
            *this = other;
        } else if (other.e >= e - 1) {
            const auto shift = static_cast<int>(other.e - e);
            m += std::ldexp(other.m, shift * RANGE);
            normalise();
        }
    }
    void scale(double factor) {
        m *= factor;
        normalise();
    }
    double log2() const { return std::log2(m) + static_cast<double>(RANGE * e); }

  private:
    void normalise() {
        if (m > 0x1p128 || (m < 0x1p-128 && m > 0)) {
            const int shift = m > 1 ? 1 : -1;
            m = std::ldexp(m, -shift * RANGE);
            e += shift;
        }
    }
};

// Threads take turns at chunks, in one direction; each says how many of its own it has done.
class Turns {
  public:
    explicit Turns(int threads) : done_(static_cast<size_t>(threads)) {}
    void finished(int thread) { done_[static_cast<size_t>(thread)].value.fetch_add(1, std::memory_order_release); }
    // Until the first `turns` turns are over.
    void wait(size_t turns) const {
        const size_t threads = done_.size();
        for (size_t t = 0; t < threads; ++t) {
            const size_t needed = turns > t ? (turns - t - 1) / threads + 1 : 0;
            wait_until([&] { return done_[t].value.load(std::memory_order_acquire) >= needed; });
        }
    }

  private:
    struct alignas(64) Counter {
        std::atomic<size_t> value = 0;
    };
    std::vector<Counter> done_;
};

}  // namespace

// The row at hand: `weight` is zero but for `columns`, of which those before the row wait in `earlier`, a heap.
struct IncompleteElimination::Workspace {
    std::vector<double> weight;
    std::vector<int32_t> columns, earlier;
    std::vector<int32_t> kept;  // the states before the row, in their order

    explicit Workspace(size_t n) : weight(n) {}
    void wait_in_order(int32_t column) {
        earlier.push_back(column);
        std::push_heap(earlier.begin(), earlier.end(), std::greater<>());
    }
    int32_t take_first() {
        std::pop_heap(earlier.begin(), earlier.end(), std::greater<>());
        int32_t column = earlier.back();
        earlier.pop_back();
        return column;
    }
};

IncompleteElimination::~IncompleteElimination() = default;

IncompleteElimination::IncompleteElimination(const MatrixView& matrix, const double* exit_rates, const int32_t* order,
                                             double threshold, size_t capacity, size_t operations, int threads, bool ending)
    : matrix_(matrix), exit_rates_(exit_rates), threshold_(threshold), ending_(ending), n_(matrix.n_states),
      chunks_((n_ + CHUNK - 1) / CHUNK), operations_(operations), eliminating_(threads), solving_(threads),
      order_(order, order + n_), rank_(n_), parts_(static_cast<size_t>(threads)), rows_(n_), scale_(n_), time_(n_),
      done_(new std::atomic<uint32_t>[chunks_]()), before_(chunks_, 0), behind_(chunks_, chunks_), y_(n_) {
    for (size_t k = 0; k < n_; ++k) rank_[static_cast<size_t>(order[k])] = static_cast<int32_t>(k);
    for (Part& part : parts_) {
        part.columns = Pages<int32_t>(capacity / parts_.size() + n_);
        part.values = Pages<float>(capacity / parts_.size() + n_);
    }
}

size_t IncompleteElimination::entries() const {
    size_t total = 0;
    for (const Part& part : parts_) total += part.size;
    return total;
}

void IncompleteElimination::wait_for(size_t row) const {
    const auto& done = done_[row / CHUNK];
    const size_t needed = row % CHUNK;
    wait_until([&] { return done.load(std::memory_order_acquire) > needed || !fits_.load(std::memory_order_relaxed); });
}

bool IncompleteElimination::advance() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    const size_t batch = std::max<size_t>(16, chunks_ / 100);
    while (fits_ && next_chunk_ < chunks_ && std::chrono::steady_clock::now() < end) {
        const size_t first = next_chunk_;
        next_chunk_ = std::min(first + batch, chunks_);
        eliminating_.run([&](int threads) {
            eliminate_chunks(first, next_chunk_, threads);
            return next_chunk_ - first;
        });
    }
    const bool more = fits_ && next_chunk_ < chunks_;
    if (!more) work_.clear();
    return more;
}

void IncompleteElimination::eliminate_chunks(size_t first, size_t last, int threads) {
    while (work_.size() < static_cast<size_t>(threads)) work_.push_back(std::make_unique<Workspace>(n_));
    run_on_threads(threads, [&](int thread) {
        try {
            const auto t = static_cast<size_t>(thread), all = static_cast<size_t>(threads);
            for (size_t chunk = first + t; chunk < last && fits_; chunk += all) {
                visit(matrix_, [&](const auto& rows) { eliminate(rows, chunk, *work_[t]); });
            }
        } catch (...) {
            fits_ = false;  // nobody shall wait for this thread
            throw;
        }
    });
}

template <class Rows>
void IncompleteElimination::eliminate(const Rows& rows, size_t chunk, Workspace& work) {
    double* const weight = work.weight.data();
    size_t operations = 0;
    for (size_t k = chunk * CHUNK; k < end_of(chunk) && fits_; ++k) {
        const auto s = static_cast<size_t>(order_[k]);
        const auto here = static_cast<int32_t>(k);
        work.columns.clear();
        work.kept.clear();
        double onward = 0;
        for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
            const int32_t column = rank_[static_cast<size_t>(rows.columns[e])];
            if (column == here) continue;
            weight[column] = rows.values[e] / exit_rates_[s];
            work.columns.push_back(column);
            if (column < here) {
                work.wait_in_order(column);
            } else {
                onward += weight[column];
            }
        }
        const int32_t always = ending_ ? static_cast<int32_t>(n_ - 1) : -1;
        const double least = std::max(threshold_ * std::max(onward, LEAST_ONWARD), LEAST);
        double time = 1 / exit_rates_[s];
        while (!work.earlier.empty()) {
            const int32_t column = work.take_first();
            const auto q = static_cast<size_t>(column);
            wait_for(q);
            const double visits = weight[column];
            work.kept.push_back(column);
            time += visits * time_[q];
            const Part& part = part_of(q / CHUNK);
            operations += rows_[q].end - rows_[q].middle;
            for (size_t e = rows_[q].middle; e < rows_[q].end; ++e) {
                const int32_t target = part.columns[e];
                const double more = visits * static_cast<double>(part.values[e]);
                if ((more < least && target != always) || target == here) continue;
                if (weight[target] == 0) {
                    work.columns.push_back(target);
                    if (target < here) work.wait_in_order(target);
                }
                weight[target] += more;
            }
        }
        finish_row(k, parts_[chunk % parts_.size()], work, time);
        done_[chunk].fetch_add(1, std::memory_order_release);
    }
    if (done_operations_.fetch_add(operations) > operations_) fits_ = false;
}

// Write the row down, its probabilities to go on divided by their sum.
void IncompleteElimination::finish_row(size_t k, Part& part, Workspace& work, double time) {
    const size_t chunk = k / CHUNK;
    auto later = [&](int32_t column) { return static_cast<size_t>(column) > k; };
    if (part.size + work.columns.size() > part.columns.size()) {
        fits_ = false;
        return;
    }
    double onward = 0;
    for (int32_t column : work.columns) {
        if (later(column)) onward += work.weight[static_cast<size_t>(column)];
    }
    if (onward == 0) onward = 1;  // the last state
    auto keep = [&](int32_t column) {
        part.columns[part.size] = column;
        part.values[part.size++] = static_cast<float>(work.weight[static_cast<size_t>(column)] / onward);
        return static_cast<size_t>(column) / CHUNK;
    };
    Row& row = rows_[k];
    row.begin = part.size;
    for (int32_t column : work.kept) {
        const size_t other = keep(column);
        if (other < chunk) before_[chunk] = std::max(before_[chunk], other + 1);
    }
    row.middle = part.size;
    for (int32_t column : work.columns) {
        if (!later(column)) continue;
        const size_t other = keep(column);
        if (other > chunk) behind_[chunk] = std::min(behind_[chunk], other);
    }
    for (int32_t column : work.columns) work.weight[static_cast<size_t>(column)] = 0;
    row.end = part.size;
    scale_[k] = 1 / (exit_rates_[static_cast<size_t>(order_[k])] * onward);
    time_[k] = time / onward;
}

double IncompleteElimination::share_of_last() const {
    return 1 / (exit_rates_[static_cast<size_t>(order_[n_ - 1])] * time_[n_ - 1]);
}

std::pair<int32_t, double> IncompleteElimination::busiest() const {
    std::vector<Large> visits(n_);
    visits[n_ - 1].m = 1;
    size_t best = n_ - 1;
    double last = 0, most = 0;
    for (size_t k = n_; k-- > 0;) {
        const double rate = exit_rates_[static_cast<size_t>(order_[k])], onward = 1 / (scale_[k] * rate);
        if (k + 1 < n_) visits[k].scale(1 / onward);
        const double weight = visits[k].log2() - std::log2(rate);
        if (k + 1 == n_) last = most = weight;
        if (weight > most) most = weight, best = k;
        const Part& part = part_of(k / CHUNK);
        for (size_t e = rows_[k].begin; e < rows_[k].middle; ++e) {
            Large more = visits[k];
            more.scale(static_cast<double>(part.values[e]) * onward);
            visits[static_cast<size_t>(part.columns[e])].add(more);
        }
    }
    return {order_[best], most - last};
}

void IncompleteElimination::solve(const double* b, double* h) {
    solving_.run([&](int threads) {
        solve(b, h, false, threads);
        return 1;
    });
}

void IncompleteElimination::solve_ending(const double* b, double* h) {
    solving_.run([&](int threads) {
        solve(b, h, true, threads);
        return 1;
    });
}

void IncompleteElimination::solve(const double* b, double* h, bool ending, int threads) {
    Turns forward(threads), backward(threads);
    const auto all = static_cast<size_t>(threads);
    run_on_threads(threads, [&](int thread) {
        for (auto chunk = static_cast<size_t>(thread); chunk < chunks_; chunk += all) {
            const Part& part = part_of(chunk);
            forward.wait(before_[chunk]);
            for (size_t k = chunk * CHUNK; k < end_of(chunk); ++k) {
                double sum = b[order_[k]] * scale_[k];
                for (size_t e = rows_[k].begin; e < rows_[k].middle; ++e) {
                    sum += static_cast<double>(part.values[e]) * y_[static_cast<size_t>(part.columns[e])];
                }
                y_[k] = sum;
            }
            forward.finished(thread);
        }
    });
    const double gain = ending ? 0 : y_[n_ - 1] / time_[n_ - 1];
    run_on_threads(threads, [&](int thread) {
        for (auto turn = static_cast<size_t>(thread); turn < chunks_; turn += all) {
            const size_t chunk = chunks_ - 1 - turn;
            const Part& part = part_of(chunk);
            backward.wait(chunks_ - behind_[chunk]);
            for (size_t k = end_of(chunk); k-- > chunk * CHUNK;) {
                double sum = k + 1 == n_ ? 0 : y_[k] - gain * time_[k];
                for (size_t e = rows_[k].middle; e < rows_[k].end; ++e) {
                    sum += static_cast<double>(part.values[e]) * y_[static_cast<size_t>(part.columns[e])];
                }
                y_[k] = sum;
                h[order_[k]] = sum;
            }
            backward.finished(thread);
        }
    });
}

}  // namespace galton
