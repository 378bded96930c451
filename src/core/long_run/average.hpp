// Long-run averages of small irreducible chains by elimination without subtraction (Grassmann, Taksar and Heyman 1985).
//
// A state is taken out of the chain: its rewards and its time go to the states before it, and their rates to it become
// rates to the states behind it. What is left in the end earns the average. Only positive numbers are added, multiplied
// and divided, so every step makes relative errors of a few units in the last place of rates, rewards and times; by the
// Markov chain tree theorem the average is a ratio of two sums of products of n of those, so that a relative error e of
// each moves it by at most a factor ((1+e)/(1-e))^n (O'Cinneide 1993). Hence an error bound that needs no condition.
#pragma once

#include <vector>

#include "matrix/matrix.hpp"

namespace galton {

struct Average {
    double value;
    double relative_error;  // of value; infinite where numbers left the range of doubles
};

// The average of a reward that is nowhere negative over the states `members`, which must be irreducible and closed.
// `position` is scratch space, one entry per state of the chain.
Average eliminate(const MatrixView& matrix, const double* reward, const int32_t* members, size_t n, int32_t* position);

}  // namespace galton
