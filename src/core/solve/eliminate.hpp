// Solving chains directly, with bounds that hold however hard the chain is to leave: elimination without a subtraction.
//
// A row is kept as rates, d x = Σ a x + c with d the sum of all rates, those that leave included. Eliminating a state
// adds, multiplies and divides positive numbers only (Grassmann, Taksar and Heyman 1985), so that each number it changes
// is off by a few units in its last place. What do these errors do to the solution? By the matrix tree theorem for
// forests (Chaiken 1982) every x is a quotient of two sums of products of positive numbers, in which each product takes at
// most one number of each row. So relative errors up to η in the numbers of *one* row move x by a factor of at most
// (1+η)/(1-η), whatever the other rows are (O'Cinneide 1993). Adding up over all rows that all states change when they
// are eliminated bounds the error beforehand: 16 units for each, and no condition number anywhere. Intervals would do worse:
// they take the errors of a state's rates and of their sum for independent, and double with every state.
//
// The same holds for the long-run average of an irreducible chain, a quotient of two such sums (long_run/average.hpp).
#pragma once

#include <array>
#include <queue>
#include <vector>

#include "solve/restrict.hpp"
#include "solve/scaled.hpp"

namespace galton {

class Elimination {
  public:
    enum class Status { Busy, Done, Closed };  // closed: some states are never left, so there is no solution
    static constexpr size_t COLUMNS = 2;       // right-hand sides, solved together
    using Constants = std::array<Scaled, COLUMNS>;

    explicit Elimination(size_t states);

    // The chain. Rates from a state to itself count for nothing, several to one state are added up.
    void add(size_t from, size_t to, double rate);
    void leave(size_t from, double rate) { rows_[from].leaving += Scaled::of(rate), rows_[from].units += 1; }
    void collect(size_t state, size_t column, const Scaled& value) {
        rows_[state].constant[column] += value;
        rows_[state].units += 2;  // the product that it is, and the sum
    }

    // What is in the numbers of a state already, in units of 2^-53.
    void rounded(size_t state, double units) { rows_[state].units += units; }

    // Eliminates states, those with the fewest pairs of neighbours first, until `keep` are left or that much work is done.
    Status advance(size_t operations, size_t keep = 0);

    // The solution, one column as it is bounded from below and the other from above. When all states are eliminated.
    void solve(double* lower, double* upper);

    // What the two columns of the last state that is left amount to, one divided by the other. When one is left.
    Scaled quotient() const;

    // A bound on the relative error of what was computed so far; infinite where it is too large to be of use.
    double error() const;
    size_t left() const { return left_; }

  private:
    struct Entry {
        int32_t to;
        Scaled rate;  // zero where it was eliminated
    };
    struct Row {
        std::vector<Entry> entries;  // by `to`, once sorted
        Scaled leaving, total;
        Constants constant;
        double units = 0;  // rounding of what was added up in this row
        size_t deleted = 0;
    };
    using Cost = std::pair<size_t, int32_t>;

    void begin();
    size_t cost(int32_t state) const;
    bool remove(int32_t state, size_t& operations);
    size_t add_row(int32_t into, int32_t state);
    Scaled total(const Row&) const;

    std::vector<Row> rows_;
    std::vector<std::vector<int32_t>> before_;  // predecessors, some of them gone
    std::vector<size_t> live_;                  // how many are not
    std::vector<bool> gone_;
    std::vector<int32_t> order_;
    std::vector<Entry> fresh_;
    std::priority_queue<Cost, std::vector<Cost>, std::greater<>> queue_;
    size_t left_;
    double units_ = 0, depth_ = 0;  // of errors, in 2^-53: of the rows, and of the solution given those
    bool begun_ = false;
};

// The equations of the unknowns of a range, given bounds of the earlier ones; `rows` are the rows of the model that they take.
Elimination elimination_of(const Question&, const int32_t* rows, Range, const double* lower, const double* upper);

// An irreducible chain, its reward and the time that it takes, for the long-run average.
Elimination elimination_of(const MatrixView&, const double* reward);

}  // namespace galton
