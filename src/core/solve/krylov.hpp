// BiCGStab (van der Vorst 1992) on the equations of a range of unknowns, preconditioned by a Gauss–Seidel sweep.
//
// One sweep is the map G(x) = (I - L)⁻¹(Ux + b); the method solves x = G(x), so that one application of operator and
// preconditioner together reads the matrix once. Inner products weigh every unknown by the inverse square of its size:
// small probabilities count as much as large ones. Sizes are those of x, which must be positive where it matters, unless
// `sizes` says otherwise.
#pragma once

#include "solve/sweeps.hpp"

namespace galton {

// Starts from x, and stops when no unknown has a residual of more than `tolerance` of its size. Ends early, with x as good
// as it was, when the recurrence breaks down.
Sweeps bicgstab(const System&, double* x, const int32_t* chosen, Range, int sweeps, double tolerance, int threads,
                const double* sizes = nullptr);

}  // namespace galton
