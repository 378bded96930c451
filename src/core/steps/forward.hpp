// A distribution over the states of a CTMC, moved forward in time over the states that hold mass (Munsky and Khammash 2006,
// Didier et al. 2009). `solve/adaptive_uniformisation.py` says what for and why its bounds hold.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/matrix.hpp"

namespace galton {

// A CTMC, some of whose states are never left. Loops are no transitions here.
struct Leaving {
    MatrixView matrix;
    const uint8_t* moving;      // whether a state is left
    const double *high, *low;   // the rate at which it would be, as a double and what that lacks
};

// What is to be done: the steps of a Poisson process of this rate, whose number has the given distribution.
struct Jumps {
    double rate;
    size_t left;            // numbers below this have no weight
    const double* weights;  // of `left`, left + 1, …
    const double* tails;    // of all numbers above `left`, left + 1, …; 1 before
    size_t count;
    double keep;            // more mass than this makes a state one to follow, when it arrives in one step
    double standstill;      // the change in the first step with which no more are made
    const double* earning;  // per state; null for nothing
    const double* worth;    // per state; null for nothing. What the vector before each step is worth is kept
    double most_states;     // to meet, those around the ones that are followed included, before giving up
    double most_entries;    // to go over, all steps together, before giving up
};

struct Moved {
    std::vector<int32_t> states;
    std::vector<double> mass;
    double lost = 0;       // mass that went to states which are not followed
    double earned = 0;     // the sum over all steps of tail · mass · earning
    std::vector<double> worths;  // the sum of mass · worth before each step, and after the last
    double change = INFINITY;  // a bound on what the first step moves, all states together: no later one moves more
    double too_fast = 0;   // the rate of a state that has to be followed and is left faster than the steps come …
    bool too_much = false; // … or whether it was given up: then there are no states
    size_t steps = 0;
    size_t entries = 0;    // gone over, all steps together
    size_t met = 0;        // states that were followed or might have been
    size_t widest = 0;     // the most terms of a sum that a step makes
};

class Forward {
  public:
    explicit Forward(const Leaving& chain) : chain_(chain), place_(chain.matrix.n_states, -1) {}

    size_t n_states() const { return place_.size(); }
    Moved advance(const int32_t* states, const double* mass, size_t count, const Jumps& jumps);

  private:
    Leaving chain_;
    std::vector<int32_t> place_;  // of each state among those that were met, -1 for the others
};

}  // namespace galton
