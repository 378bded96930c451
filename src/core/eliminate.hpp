// Solving a component directly, with bounds: state elimination without a subtraction.
//
// The elimination of Grassmann, Taksar and Heyman (1985), sparse and in interval arithmetic. A row is kept as rates,
// d x = Σ a x + c with d the sum of all rates, those that leave the component included; eliminating a state adds and
// multiplies positive numbers only. So every result has nearly all its digits however badly conditioned the system is
// (O'Cinneide 1993), and rounding outward proves them.
#pragma once

#include "restrict.hpp"

namespace galton {

// `rows` are the rows of the model that the unknowns take, in order. Bounds of the unknowns of a range, from those of earlier unknowns. False when it would take more than `operations`.
bool eliminate(const Question&, const int32_t* rows, Range, double* lower, double* upper, size_t operations);

}  // namespace galton
