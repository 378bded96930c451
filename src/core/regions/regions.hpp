// Steps of a parametric CTMC over boxes of parameters: for each box, a vector below all it can be and one above.
//
// A transition's rate is a number times a term, a polynomial in the parameters that lies between two numbers. Each step
// takes for each term of a state the one that is worse (below) or better (above), by the sign of the differences of
// values that its transitions lead to, added up: they share the term, so it has one value for all of them. (Češka et al.
// 2014 choose for each transition by itself, which is wider.) Boxes come in bundles of LANES, side by side in memory, so
// that an entry of the matrix is read once for all of them and the loop over boxes is one vector instruction.
//
// Backwards, an entry weighs the difference between the value it leads to and that of the row. Forwards, values are masses:
// entries are what comes in, and what goes out is an entry of the row's own state with a negative coefficient.
#pragma once

#include <cstddef>
#include <cstdint>

namespace galton {

constexpr size_t LANES = 8;

// The rows of the states that change; all others keep their values. A row has groups of entries with the same term.
struct ParametricRows {
    const int32_t* states;  // the state of each row
    const int64_t* starts;  // the groups of each row
    const int32_t* terms;   // of each group
    const int64_t* group_starts;
    const int32_t* columns;
    const double* coefficients;
    size_t n_rows, n_states, n_terms;
    bool forward;
};

// `steps` times: sum += weight * x for the watched states, x <- step(x).
//
// `x` and `other` are [state][below, above][lane], `sum` is [watched][below, above][lane], `rates` is [term][least,
// greatest][lane], already divided by the uniformisation rate, and `weights` is [step][lane], null for none. `changes`,
// [below, above][lane], gets the largest change of the last step. Returns whether x ended in `other`.
bool region_steps(const ParametricRows& rows, size_t steps, const double* rates, const double* weights, double* x,
                  double* other, const int32_t* watched, size_t n_watched, double* sum, double* changes, int threads);

}  // namespace galton
