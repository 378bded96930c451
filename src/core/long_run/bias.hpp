// The bias h of an irreducible chain: Poisson's equation g = r + Qh, by BiCGStab (van der Vorst 1992) with a
// preconditioner.
//
// The gain g is not known beforehand: it is what the equation of one state z says. So the residual of a vector h is (r
// + Qh)(s) - (r + Qh)(z), and the method works in the space of vectors that vanish in z. The proof of an answer is not
// made here (drift.hpp).
#pragma once

#include <vector>

#include "long_run/preconditioner.hpp"
#include "matrix/matrix.hpp"

namespace galton {

class Bias {
  public:
    struct Step {
        double gain, least, most;  // that of z; how far others are below and above it, as the recursion knows
        bool broken;               // the recursion has come to an end: begin anew

        double width() const { return most - least; }
    };

    Bias(const MatrixView& matrix, size_t z, int threads);

    // Start from h, which stays where it is and is improved in place.
    Step begin(const double* reward, double* h);
    // One step: two products with Q, two with the preconditioner.
    Step advance(Preconditioner& preconditioner);

  private:
    struct Sums {
        double a = 0, b = 0, least = 0, most = 0;
    };
    template <class Body>
    Sums over_states(const Body& body) const;
    struct Product {
        double left, square, drift;  // out·left, out·out, (Qx)(z)
    };
    // out = -Qx, minus its entry at z.
    Product product(const std::vector<double>& x, std::vector<double>& out, const std::vector<double>& left) const;

    const MatrixView matrix_;
    const size_t n_, z_;
    const int threads_;
    double* h_ = nullptr;
    double gain_ = 0, rho_ = 0, alpha_ = 1, omega_ = 1, beta_ = 0;
    std::vector<double> residual_, shadow_, direction_, v_, t_, direction_solved_, residual_solved_;
};

}  // namespace galton
