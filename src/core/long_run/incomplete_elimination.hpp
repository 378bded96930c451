// Elimination without subtraction that forgets what hardly matters: a preconditioner for Poisson's equation.
//
// States are taken out of a chain one after the other, as in average.hpp; transitions that arise on the way and are
// improbable beside those that the state had to states still there are forgotten, so that the rest stays sparse (the
// incomplete factorisation ILUT of Saad 1994; what is forgotten is missing on the diagonal as well, as in the modified
// factorisation of Gustafsson 1978). What is left at every step is the generator of a chain again: nothing can break
// down, whatever the threshold, and constants stay solutions of Qh = 0. With threshold 0 the solution is exact.
//
// Rows depend on earlier rows only. Threads take turns at chunks of rows and wait where they need a row that is not
// there yet; the result is the same for any number of threads. Whether one thread is quicker, as on a busy machine, is
// tried.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/memory.hpp"
#include "long_run/preconditioner.hpp"
#include "matrix/matrix.hpp"

namespace galton {

// How many threads do a job that is done again and again: all, then one, then whatever was quicker.
class Pace {
  public:
    explicit Pace(int threads) : all_(threads) {}
    // Call job(threads), which returns how much it has done.
    template <class Job>
    void run(const Job& job) {
        const bool trying = all_ > 1 && tries_ < 2;
        const int threads = tries_ == 1 && trying ? 1 : all_;
        const auto start = std::chrono::steady_clock::now();
        const double done = static_cast<double>(job(threads));
        if (!trying) return;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        speed_[tries_++] = done / took.count();
        if (tries_ == 2 && speed_[1] > speed_[0]) all_ = 1;
    }

  private:
    int all_, tries_ = 0;
    double speed_[2] = {};
};

class IncompleteElimination : public Preconditioner {
  public:
    // `order`: all states, first the one to be eliminated first; every state but the last has a successor behind it.
    // At most `capacity` transitions are kept, and at most `operations` done. With `ending`, transitions to the last
    // state are never forgotten: where all states end there, but slowly, that is what takes the longest time.
    IncompleteElimination(const MatrixView& matrix, const double* exit_rates, const int32_t* order, double threshold,
                          size_t capacity, size_t operations, int threads, bool ending = false);
    ~IncompleteElimination() override;

    // Eliminate further states for about a tenth of a second. False when there are no more, or when it was too much.
    bool advance();
    bool fits() const { return fits_; }
    size_t entries() const;

    // Of the time that the chain spends anywhere, how much in the last state, nearly.
    double share_of_last() const;
    // The state where the chain spends most of its time, nearly, and how much longer than in the last one (as a power
    // of two). The last state should be one of the busiest: with another one the numbers of a solution may be beyond
    // doubles.
    std::pair<int32_t, double> busiest() const;

    // h is 0 in the last state.
    void solve(const double* b, double* h) override;
    // The same for a chain that ends in the last state: b = -Qh everywhere else, without a constant.
    void solve_ending(const double* b, double* h);

  private:
    static constexpr size_t CHUNK = 128;  // rows

    // What one thread has made: of each of its rows, transitions to states before it, then to states behind it.
    struct Part {
        Pages<int32_t> columns;
        Pages<float> values;
        size_t size = 0;
    };
    // The transitions of a row, and where they change from the states before it to those behind it.
    struct Row {
        size_t begin, middle, end;
    };
    struct Workspace;

    const Part& part_of(size_t chunk) const { return parts_[chunk % parts_.size()]; }
    size_t end_of(size_t chunk) const { return std::min(n_, (chunk + 1) * CHUNK); }
    void eliminate_chunks(size_t first, size_t last, int threads);
    template <class Rows>
    void eliminate(const Rows& rows, size_t chunk, Workspace& work);
    void finish_row(size_t k, Part& part, Workspace& work, double time);
    void wait_for(size_t row) const;
    void solve(const double* b, double* h, bool ending, int threads);

    const MatrixView matrix_;
    const double* exit_rates_;
    const double threshold_;
    const bool ending_;
    const size_t n_, chunks_, operations_;
    std::atomic<size_t> done_operations_ = 0;
    Pace eliminating_, solving_;
    size_t next_chunk_ = 0;
    std::atomic<bool> fits_ = true;
    std::vector<int32_t> order_, rank_;
    std::vector<Part> parts_;
    std::vector<Row> rows_;
    std::vector<double> scale_, time_;  // 1 / (exit rate * probability to go on), expected time until going on
    std::unique_ptr<std::atomic<uint32_t>[]> done_;  // rows of each chunk
    std::vector<size_t> before_, behind_;  // a chunk needs those before before_, and those from behind_ on
    std::vector<std::unique_ptr<Workspace>> work_;
    std::vector<double> y_;
};

}  // namespace galton
