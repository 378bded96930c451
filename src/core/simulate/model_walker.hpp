// Random paths through a model that is already built: a walk along rows of the matrix.
//
// The entries of a row are added up once, so that a draw is a search among few numbers; a state that leads only to itself
// ends a path. In a state with several choices each is as likely as the others: a strategy makes a chain of the model
// before.
#pragma once

#include "base/arrays.hpp"
#include "simulate/paths.hpp"

namespace galton {

struct ModelToWalk {
    size_t states = 0;
    bool rates = false;                     // of rows; else probabilities
    std::vector<int32_t> choice_starts;     // none: a choice for each state
    std::vector<int64_t> row_starts;
    std::vector<int32_t> columns;
    std::vector<double> sums;               // of entries of the row, up to each
    std::vector<int32_t> initial;
    std::vector<uint8_t> goal, through;     // masks; empty: nowhere, and everywhere
    std::vector<uint8_t> stuck;             // states that lead only to themselves
    std::vector<std::vector<double>> state_rewards, choice_rewards;  // by structure; empty for none

    void finish(const double* values);
};

class ModelWalker {
  public:
    explicit ModelWalker(const ModelToWalk& model) : model_(model), states_(LANES), choices_(LANES) {}

    void start(int lane, uint64_t path, Seed seed);
    void copy(int from, int to) { states_[static_cast<size_t>(to)] = states_[static_cast<size_t>(from)]; }
    void look(int n);
    Look look_at(int lane) const;
    static Verdict settled(int) { return Verdict::Open; }
    double exit_rate(int lane) const {
        return model_
            .sums[static_cast<size_t>(model_.row_starts[static_cast<size_t>(states_[static_cast<size_t>(lane)]) + 1]) - 1];
    }
    void move(const uint16_t* lanes, int count, Seed seed, const uint64_t* paths, const uint64_t* steps, const double* chances);
    double earned(int lane) const;
    void record(int lane, Trace& trace) const;
    void record_step(int lane, Trace& trace, size_t row) const;

  private:
    const ModelToWalk& model_;
    std::vector<int32_t> states_, choices_;
};

}  // namespace galton
