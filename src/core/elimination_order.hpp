// An order in which to eliminate the states of an irreducible chain: those that are far from where it spends its time
// first.
//
// "Far" is the time that the quickest path takes to a state that is visited often, counting 1/R(s,t) for a step. Flow
// that drifts towards that state then leaves eliminated states behind for good: little is passed on to predecessors, and
// few new transitions of any weight arise.
#pragma once

#include <vector>

#include "matrix.hpp"

namespace galton {

// The state in which a random walk of that many steps spends most of its time. The same in every run.
int32_t busiest_state(const MatrixView& matrix, int32_t first, size_t steps);

// All states, those with the longest quickest path to `last` first. Every state but the last has a successor behind it.
std::vector<int32_t> far_first(const MatrixView& matrix, int32_t last);

}  // namespace galton
