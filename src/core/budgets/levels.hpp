// One level of a model unfolded by budgets: the values of all states with so much left, from those of states with less.
//
// Rows that spend nothing stay in the level, and make it a system of equations; all others lead to levels that are known.
// The graph of a level is that of every level like it, so it is looked at once: components are solved successors first, and
// those without a cycle in one pass. Values are pairs of bounds, rounded outwards. In a component with a cycle x is swept
// over until it hardly changes; with w >= 1 + A w, which is the same in every level, x - ew and x + ew are bounds where x
// violates its equations by at most e.
#pragma once

#include <cstdint>
#include <vector>

#include "budgets/direct.hpp"
#include "matrix/matrix.hpp"

namespace galton {

// What is asked in each level. Probabilities of a row are meant to be divided by their sum.
struct LevelQuestion {
    MatrixView matrix;
    const int32_t* component;  // of each state, successors first, in the graph of the rows that spend nothing; -1 for known
    size_t n_components;
    const int32_t* merged;     // states with the same number from 0 are one unknown; null where none are
    const uint8_t* skip;       // rows that are never taken; null for none
    const uint16_t* classes;   // of each row: rows of a class spend the same
    const uint8_t* stays;      // of each class: whether it spends nothing
    size_t n_classes;
    const double* earned;      // by each row; null for nothing
    int optimum;               // -1 for the least value, 1 for the greatest, 0 for a chain
};

struct LevelOutcome {
    size_t sweeps;
    bool close;  // whether all components came as close as they were asked to
};

class Levels {
  public:
    explicit Levels(const LevelQuestion& question);

    // Solve the level `own`. Level k of `values` begins at k · 2 · states and has a lower and an upper bound for each state;
    // those of known states must be there already, and sweeps begin with what others have, which must be finite. `targets`
    // has the level that each class leads to, -1 where it is out of budget: then a row is worth nothing and earns nothing.
    // Policies are kept from call to call, so one call at a time.
    LevelOutcome solve(double* values, size_t own, const int64_t* targets, double tolerance, size_t most_sweeps,
                       int threads);

    size_t n_states() const { return question_.matrix.n_states; }
    size_t n_classes() const { return question_.n_classes; }
    size_t n_unknowns() const { return starts_.size() - 1; }
    size_t n_layers() const { return layers_.size(); }
    size_t n_cyclic() const { return blocks_.size(); }
    size_t n_hard() const { return hard_; }  // components with a cycle for which no w was found

  private:
    struct Layer {
        size_t first, last;              // unknowns that depend on earlier layers only
        size_t first_block, last_block;  // components with a cycle that do
    };
    struct Block {
        size_t first, last;
        double longest;  // the largest w
        int direct;      // which equations to solve directly; -1 for sweeps
    };
    // A component that is left so seldom that sweeps would take too long. The lower and the upper bounds have a policy each.
    struct Direct {
        DirectEquations equations;
        std::vector<size_t> rows;  // of the matrix, for each of the equations'
        FactoredPolicy policies[2];
    };
    struct Pair {
        double low, high;
    };

    template <class R> void number(const R& rows);
    template <class R> void weigh(const R& rows);
    template <class R> Pair row_value(const R& rows, size_t row, size_t unknown, const double* from, bool stays) const;
    template <class R, bool STAYING, bool LEAVING>
    bool best(const R& rows, size_t unknown, const double* values, size_t own, const int64_t* targets, Pair& found) const;
    template <class R> bool weigh_by_sweeps(const R& rows, Block& block);
    template <class R> bool weigh_directly(const R& rows, Block& block);
    template <class R> double longest(const R& rows, const Block& block, size_t unknown) const;
    template <class R> bool double_weights(const R& rows, const Block& block);
    template <class R>
    LevelOutcome solve_block(const R& rows, const Block& block, double* values, size_t own, const int64_t* targets,
                             double tolerance, size_t most_sweeps);
    template <class R>
    void guess_directly(const R& rows, const Block& block, double* level, const std::vector<Pair>& outside,
                        const std::vector<uint8_t>& leaves);
    bool inside(const Block& block, int32_t unknown) const {
        return unknown >= 0 && static_cast<size_t>(unknown) >= block.first && static_cast<size_t>(unknown) < block.last;
    }

    template <class R> bool owns(const R& rows, size_t unknown, size_t row) const;
    void better(Pair& found, Pair other, bool& any) const;
    void write(double* level, size_t unknown, Pair value) const;

    LevelQuestion question_;
    std::vector<int32_t> members_, unknown_of_;
    std::vector<size_t> starts_;   // where the members of each unknown begin
    std::vector<uint8_t> loops_;   // rows that stay in the level and lead back to their own unknown
    std::vector<double> weights_;  // w, of unknowns in blocks
    std::vector<Layer> layers_;
    std::vector<Block> blocks_;
    std::vector<Direct> directs_;
    size_t hard_ = 0;
};

}  // namespace galton
