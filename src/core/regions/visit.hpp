// The states that a chain in continuous time is likely to visit, by plain arithmetic: a guess, which others prove.
// `synth/truncation.py` says what for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace galton {

// Rates of transitions, row by row.
struct RatesView {
    const int64_t* starts;
    const int32_t* columns;
    const double* rates;
    size_t n_states;
};

struct VisitLimits {
    double time;        // up to which to look
    double enough;      // mass that makes a state one of the window
    double settled;     // mass that may still move within the window when the rest of the time is not looked at
    size_t most_states; // in the window, before giving up
    double most_work;   // entries to go over, before giving up
};

// Mark the states that are visited from the initial ones. Whether they are few enough; if not, nothing is marked.
bool visit(const RatesView& chain, const std::vector<int32_t>& initial, const VisitLimits& limits, uint8_t* likely);

}  // namespace galton
