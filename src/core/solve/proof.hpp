// Proofs of bounds: sweeps with directed rounding. Everything that is claimed about an answer rests on this file.
//
// With F(x) = opt(Ax + b), monotone: u >= F(u) bounds the least solution from above, and l <= F(l) bounds the solution
// from below where it is unique (every strategy leaves the unknowns with probability 1, or has an infinite value). Sums
// are rounded up for u and down for l, and `slack` covers the relative rounding of scale and constant themselves.
#pragma once

#include "solve/sweeps.hpp"

namespace galton {

// Whether u >= F(u), 0 <= l <= F(l) < ∞ in the whole range; unknowns outside count with the bounds they have.
bool is_above(const System&, const double* upper, Range, double slack, int threads);
bool is_below(const System&, const double* lower, Range, double slack, int threads);

// Bounds of unknowns that depend on earlier ones only, in order: lower = F(lower), upper = F(upper), rounded outward.
void propagate(const System&, double* lower, double* upper, Range, double slack);

}  // namespace galton
