// The drift of a vector along a chain, with proof: bounds on r(s) + sum over t of R(s,t) (h(t) - h(s)), rounding
// included. In an MDP every choice of a state has its own.
//
// R holds the rates of a CTMC or the probabilities of a DTMC; loops do not matter, and neither does a row of
// probabilities that sums to 1 only up to rounding: what stays in s is what does not leave. This one number per state
// proves long-run averages (for any h the gain lies between its smallest and its largest value; in an MDP the best gain
// lies between those of the best choices) and bounds on values until absorption (u is above where its drift is at most
// 0). Nothing depends on where h came from.
#pragma once

#include "matrix/matrix.hpp"

namespace galton {

// `state` and `choice` are the two parts of the reward, and h is the sum of `high` and `low`, which together hold more
// digits than one number can: in a stiff chain h is large beside its differences. All but `high` may be null, for zero.
// `choice`, `lower` and `upper` have a number per row, which in a chain is one per state.
void drift_bounds(const MatrixView& matrix, const double* state, const double* choice, const double* high, const double* low,
                  double* lower, double* upper, int threads);

}  // namespace galton
