// From a model and what is known about some of its states to equations for the others.
//
// Every unknown stands for one state, or for several that are one as far as the question goes (an end component). Entries
// that lead to states of known value become constants, those that lead back to the unknown itself are divided out:
// (1 - p) x = rest, where 1 - p is the sum of the other entries, not a difference that would lose the digits of a p
// close to 1. Rates of a CTMC need nothing else: dividing by what leaves a state makes them probabilities.
#pragma once

#include "base/memory.hpp"
#include "solve/sweeps.hpp"

namespace galton {

struct Question {
    MatrixView matrix;
    bool rates;               // of a CTMC; otherwise rows are distributions
    const int32_t* number;    // (states) the unknown that stands for each state, or -1
    const double* known;      // (states) values of the states without a number
    const double* reward;     // (rows) or null: collected whenever the row is taken (per unit of time for rates)
    const uint8_t* keep;      // (rows) or null: whether the row may be taken
    size_t unknowns;
    const int32_t* members;   // states, unknown by unknown
    const int32_t* starts;    // (unknowns + 1) into members; null when each unknown is one state
};

struct Equations {
    Pages<int32_t> groups;  // empty when every unknown has exactly one row and the model is a chain
    Pages<int32_t> starts;
    Pages<int64_t> wide_starts;  // instead, where there are too many entries for the former
    Pages<int32_t> columns;
    Pages<double> plain;
    Pages<uint8_t> bytes;
    Pages<uint16_t> shorts;
    Pages<double> scale;  // empty when it is 1 everywhere
    Pages<double> constant;
    Pages<int32_t> rows;  // (rows) the row of the model that each row came from
    // (unknowns) a row of each that may lead to a known state or to an earlier unknown: taken everywhere, such rows leave
    // the unknowns with probability 1 if the numbering allows it at all.
    Pages<int32_t> progress;
    size_t longest = 0;   // entries of the longest row of the model among them
};

Equations restrict(const Question&, int threads);

}  // namespace galton
