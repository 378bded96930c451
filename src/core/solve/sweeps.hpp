// Sweeps over the equations x = opt(Ax + b): the primitives that all iterative methods are made of.
//
// The unknowns are numbered so that a sweep in ascending order meets successors first where there is such an order, and
// every kernel works on a range of them, [first, last): components are solved one after the other in place.
#pragma once

#include "matrix/matrix.hpp"

namespace galton {

enum class Optimum { Min = -1, None = 0, Max = 1 };

// x_s = opt over the rows r of s of  scale_r · Σ v_re x_e + constant_r.  Self-loops have been divided out.
struct System {
    MatrixView matrix;
    const double* scale = nullptr;  // null: 1 everywhere
    const double* constant = nullptr;
    Optimum optimum = Optimum::None;
};

struct Range {
    size_t first, last;
};

// When to stop: after `sweeps`, or when no unknown changed by more than `tolerance`, relatively or not.
struct Stopping {
    int sweeps;
    double tolerance;
    bool relative;
};

struct Sweeps {
    int done = 0;
    double residual = 0;  // of the last sweep: the largest change
};

// Gauss–Seidel (omega = 1) or SOR, in place. With several threads each sweeps through a part of its own and sees the
// other parts as they were before the sweep: the result depends on the number of threads, but on nothing else.
// `chosen`, if not null, is the row each state takes; otherwise the best one is taken. `copy` is room for
// as many numbers as x has; what it holds does not matter, and is not to be relied on afterwards.
Sweeps gauss_seidel(const System&, double* x, double* copy, const int32_t* chosen, Range, Stopping, bool forward, double omega,
                    int threads);

// Jacobi (omega = 1) or JOR.
Sweeps jacobi(const System&, double* x, double* copy, const int32_t* chosen, Range, Stopping, double omega, int threads);

// One Gauss–Seidel sweep that also writes the best row of each state; returns how many states changed their mind, because a
// row is better by more than `noise`, relatively.
struct Improvement {
    size_t changed = 0;
    double residual = 0;
};
Improvement improve(const System&, double* x, double* copy, int32_t* chosen, Range, double noise, int threads);

// One sweep without an update: the largest |F(x) - x| / x.
double defect(const System&, const double* x, Range, int threads);

// The middles of bounds, and the largest half-width in parts of the middle. Numbers up to `tiny` have no digits to lose.
double middles(const double* lower, const double* upper, double* x, Range, double tiny);

// The value of every row of the range, F_r(x): one by one, before the best is taken.
void row_values(const System&, const double* x, double* values, Range, int threads);

}  // namespace galton
