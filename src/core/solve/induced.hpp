// The chain that a strategy leaves of a range of unknowns, solved component by component.
//
// What is one large component for all choices together falls apart when each state takes one row: most of it becomes a
// graph without cycles, which one pass solves. What is left are components that are small and, taken out, in order.
#pragma once

#include "solve/sweeps.hpp"

namespace galton {

// Solves in place to a relative residual of `tolerance`. The residual returned is that of the worst component; the sweeps
// are counted in passes over the range. With `fine`, rounding, which adds up over the steps to an exit, is undone: x is
// right to nearly the last digit, unless there are more than 1e8 steps or so.
Sweeps solve_induced(const System&, double* x, const int32_t* chosen, Range, double tolerance, bool fine);

}  // namespace galton
