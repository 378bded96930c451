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
    const int32_t* landing;    // of each state: its place among those where rows that spend may lead, -1 for others
    size_t n_landings;
    int optimum;               // -1 for the least value, 1 for the greatest, 0 for a chain
};

struct LevelOutcome {
    size_t sweeps;
    bool close;  // whether all components came as close as they were asked to
};

// Rows are copied in the order in which they are solved, without those that are known, skipped, or lead back: nothing of the
// question is looked at afterwards.
class Levels {
  public:
    explicit Levels(const LevelQuestion& question);

    // Solve a level. `level` has a lower and an upper bound for each state: those of known states must be there already, and
    // sweeps begin with what others have, which must be finite. `kept` has the bounds of landings for each level that is kept;
    // those of this one are written to place `own`. `targets` has the place of the level that each class leads to, -1 where it
    // is out of budget: then a row is worth nothing and earns nothing. Policies are kept from call to call, so one at a time.
    LevelOutcome solve(double* level, double* kept, size_t own, const int64_t* targets, double tolerance, size_t most_sweeps,
                       int threads);

    size_t n_states() const { return n_states_; }
    size_t n_landings() const { return landings_.size(); }
    size_t n_classes() const { return stays_.size(); }
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
        std::vector<size_t> rows;
        FactoredPolicy policies[2];
    };
    struct Pair {
        double low, high;
    };
    // A level that is being solved, and those that it leads to.
    struct Place {
        double* level;
        const double* kept;
        const int64_t* targets;
    };

    template <class R>
    void number(const R& rows, const LevelQuestion& question);
    template <class R>
    void pack(const R& rows, const LevelQuestion& question);
    void weigh();
    bool weigh_by_sweeps(Block& block);
    bool weigh_directly(Block& block);
    bool double_weights(const Block& block);
    double longest(const Block& block, size_t unknown) const;
    template <bool STAYING, bool LEAVING>
    bool best(size_t unknown, const Place& place, Pair& found) const;
    Pair row_value(size_t row, const double* from) const;
    LevelOutcome solve_block(const Block& block, const Place& place, double tolerance, size_t most_sweeps);
    void guess_directly(const Block& block, double* level, const std::vector<Pair>& outside,
                        const std::vector<uint8_t>& leaves);
    void better(Pair& found, Pair other, bool& any) const;
    void write(double* level, size_t unknown, Pair value) const;
    double value(size_t entry) const { return dictionary_.empty() ? plain_[entry] : dictionary_[codes_[entry]]; }
    bool inside(const Block& block, int32_t state) const {
        const int32_t unknown = unknown_of_[static_cast<size_t>(state)];
        return unknown >= 0 && static_cast<size_t>(unknown) >= block.first && static_cast<size_t>(unknown) < block.last;
    }

    size_t n_states_;
    int optimum_;
    bool earns_;
    std::vector<uint8_t> stays_;
    std::vector<int32_t> landings_;              // the states
    std::vector<int32_t> members_, unknown_of_;  // the states of each unknown, and the unknown of each state
    std::vector<size_t> starts_;                 // where the members of each unknown begin
    std::vector<uint32_t> first_rows_;           // of each unknown
    std::vector<uint16_t> kinds_;                // the class of each row
    std::vector<Pair> earned_;                   // by each row, loops included
    std::vector<size_t> first_entries_;          // of each row
    std::vector<int32_t> columns_;               // a state in rows that stay, a landing in others
    std::vector<uint16_t> codes_;                // numbers in the dictionary
    std::vector<double> dictionary_, plain_;
    std::vector<double> weights_;  // w, of unknowns in blocks
    std::vector<Layer> layers_;
    std::vector<Block> blocks_;
    std::vector<Direct> directs_;
    size_t hard_ = 0;
};

}  // namespace galton
