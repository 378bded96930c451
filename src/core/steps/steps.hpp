// Many steps of a chain or an MDP per call: x <- A x, and what is summed and watched on the way.
//
// All numbers are non-negative, so the error of a step is relative and known beforehand; see solve/power_sums.py for what is
// made of it. Numbers below 2^-1022 count as zero here: they are slow, and too small to matter.
#pragma once

#include "base/memory.hpp"
#include "matrix/matrix.hpp"
#include "steps/segments.hpp"

namespace galton {

// What the last step of a call saw: the range of the new vector, of its quotients by the old one, and of its differences
// to it. Quotients of zeros do not count; those of numbers below 2^-960 may be anything. The faintest is the least number
// above zero that any of the steps gave: it tells whether something can have been lost.
struct Extremes {
    double least, most;
    double least_ratio, most_ratio;
    double least_change, most_change;
    double faintest;
};

// What to keep of the vectors before each step: the numbers of some states, one step after the other.
struct Watched {
    const int32_t* states = nullptr;  // in ascending order
    size_t count = 0;
    double* record = nullptr;  // (steps, count)
};

// y = scale * (A x) + stay .* x: one step of a uniformised CTMC (scale 1/q, stay 1 - E/q); or y = A x, without `stay`.
struct ChainStep {
    MatrixView matrix;
    double scale;
    const double* stay;  // null for none
};

// Steps of one chain, which is looked at beforehand.
class ChainStepper {
  public:
    explicit ChainStepper(const ChainStep& step);

    // `steps` times: sum += weight * x, x <- step(x); no sum where `sum` is null. Returns whether x ended in `other`. The
    // faintest number is not looked for where there is a `stay`, and none of the extremes where they are null.
    bool run(size_t steps, const double* weights, double* x, double* other, double* sum, const Watched& watched, int threads,
             Extremes* extremes) const;

    const MatrixView& matrix() const { return step_.matrix; }
    size_t width() const { return width_; }  // numbers that a vector must have: rows of a part may lead past its own states
    size_t n_segments() const { return rows_.segments.size(); }
    // Rows that a stencil is applied to.
    size_t n_alike() const {
        size_t alike = 0;
        for (const Segment& segment : rows_.segments) alike += segment.stencil < 0 ? 0 : segment.last - segment.first;
        return alike;
    }

  private:
    ChainStep step_;
    Segments rows_;
    size_t width_, reach_, bytes_per_state_;
};

// y_s = the least or the greatest, over the rows r of s, of (A x)_r + constant_r.
struct BellmanStep {
    MatrixView matrix;
    const double* constant;  // null for none
    bool maximise;
};

// Steps of one MDP, likewise.
class BellmanStepper {
  public:
    explicit BellmanStepper(const BellmanStep& step);

    // `steps` times x <- step(x). `choices`, unless null, gets the first row that attains the optimum, for each step and
    // state. Returns as above.
    bool run(size_t steps, double* x, double* other, int32_t* choices, const Watched& watched, int threads,
             Extremes* extremes) const;

    const MatrixView& matrix() const { return step_.matrix; }

  private:
    BellmanStep step_;
    size_t reach_;
};

// The part of a matrix that is about some of its states: their rows, and the entries whose columns they are.
struct Part {
    Pages<int32_t> groups, columns;  // no groups for a chain
    Pages<int64_t> starts;
    Pages<double> plain;  // one of these three, as in the matrix
    Pages<uint8_t> bytes;
    Pages<uint16_t> shorts;
};

// `position` has the new number of each state, -1 for one that is left out; `states` are the old numbers of the others.
Part part_of(const MatrixView& matrix, const int32_t* states, size_t n_states, const int32_t* position, bool loops,
             int threads);

// y = A x, a number per row.
void row_products(const MatrixView& matrix, const double* x, double* y, int threads);

// The sum of the entries of each row of a chain, with its loop or without, as the unevaluated sum of two numbers: exact to
// some hundred bits, because uniformisation subtracts it from a number not much larger.
void exit_rates(const MatrixView& matrix, bool loops, double* high, double* low, int threads);

}  // namespace galton
