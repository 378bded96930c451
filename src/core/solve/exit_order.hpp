// The order of the states of a component in which Gauss–Seidel sweeps do most: by their distance to where the component
// is left. What a sweep computes first is then what the rest waits for, which makes a sweep the preconditioner that
// Krylov methods need.
#pragma once

#include <vector>

#include "matrix/matrix.hpp"

namespace galton {

// Reorder the part of `order` of each component; `order` holds the states, component by component, as `starts` tells.
// Only the rows to `keep` lead anywhere, all if null. Where a component can be left at all, every state of it then has a
// row that may lead out or to an earlier state.
void order_by_exit(const MatrixView& matrix, const int32_t* component, const int32_t* starts, size_t count, const uint8_t* keep,
                   int32_t* order);

}  // namespace galton
