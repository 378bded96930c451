// What a proof needs besides a proposal x: the weights w, about x + Aw, by which x is shifted to become a bound, and how
// well a w does. See solve/sound.py.
#pragma once

#include "solve/sweeps.hpp"

namespace galton {

// The constants of the equations of w: x for the row that a state takes, for rows whose value is within `near` of x and
// whose constant is at most `share` of it; minus infinity for the others, which have room to spare or are left to δ. A
// chain has one row per state.
void weigh_rows(const System&, const double* x, const int32_t* chosen, double near, double share, double* constants, Range,
                int threads);

// How much larger than ε δ must be for the rows that were left to it: the largest (Aw - w + x) / constant.
double left_to_delta(const System&, const double* x, const double* w, const double* constants, double share, Range,
                     int threads);

// The largest (F(w) - w) / x of the equations of w.
double growth(const System&, const double* w, const double* x, Range, int threads);

// Where x is 0, take the first row that is worth 0.
void take_free_rows(const System&, const double* x, int32_t* chosen, Range, int threads);

}  // namespace galton
