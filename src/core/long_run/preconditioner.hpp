// What a Krylov method on Poisson's equation takes for Q, because it is quickly solved.
#pragma once

namespace galton {

class Preconditioner {
  public:
    virtual ~Preconditioner() = default;
    // An h with, roughly, b = -Qh + a constant.
    virtual void solve(const double* b, double* h) = 0;
};

}  // namespace galton
