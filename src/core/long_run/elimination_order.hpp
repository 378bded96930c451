// Orders in which to eliminate the states of an irreducible chain.
//
// Incompletely: those that are far from where the chain spends its time first. "Far" is the time that the quickest path
// takes to a state that is visited often, counting 1/R(s,t) for a step. Flow that drifts towards that state then leaves
// eliminated states behind for good: little is passed on to predecessors, and few new transitions of any weight arise.
//
// Completely: by nested dissection (George 1973), so that few new transitions arise at all. Where flow goes in circles
// nothing that arises can be forgotten; chains that look like a plane are still solved quickly so.
#pragma once

#include <vector>

#include "matrix/matrix.hpp"

namespace galton {

// The state in which a random walk of that many steps spends most of its time. The same in every run.
int32_t busiest_state(const MatrixView& matrix, int32_t first, size_t steps);

// All states: first one half, then the other, then those between, and the halves likewise; `last` behind all.
std::vector<int32_t> nested_dissection(const MatrixView& matrix, int32_t last);

// All states, those with the longest quickest path to `last` first. Every state but the last has a successor behind it.
std::vector<int32_t> far_first(const MatrixView& matrix, int32_t last);

}  // namespace galton
