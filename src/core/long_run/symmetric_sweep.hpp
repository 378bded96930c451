// A Gauss–Seidel sweep through the states and one back (Sheldon 1955), as a preconditioner.
//
// Nothing to prepare and nothing to store. It is weak where a chain drifts or diffuses a long way, but does not mind
// flow that goes in circles, where incomplete elimination fails. Every thread sweeps through its own part of the
// states.
#pragma once

#include "long_run/preconditioner.hpp"
#include "matrix/matrix.hpp"

namespace galton {

class SymmetricSweep : public Preconditioner {
  public:
    SymmetricSweep(const MatrixView& matrix, const double* exit_rates, int threads)
        : matrix_(matrix), exit_rates_(exit_rates), threads_(threads) {}
    void solve(const double* b, double* h) override;

  private:
    const MatrixView matrix_;
    const double* exit_rates_;
    const int threads_;
};

}  // namespace galton
