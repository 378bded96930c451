// The second pass: the sparse model, row by row in canonical order.
//
// With all states known and sorted, every block of consecutive states is expanded once more, now with probabilities.
// Successors of neighbours under one command are neighbours themselves, so their numbers are found by galloping from the
// last one found: no table is needed any more. Nothing is stored twice: rows go straight to their final place.
#pragma once

#include <cstdint>

#include "explore/discover.hpp"
#include "explore/ghosts.hpp"

namespace galton {

// How values are stored: as numbers of one or two bytes into a dictionary, or as they are.
enum class Coding : uint8_t { Bytes, Shorts, Plain };

struct SparseModel {
    size_t states = 0, choices = 0, transitions = 0;
    Pages<int32_t> row_starts;         // per choice
    Pages<int64_t> wide_row_starts;    // instead, where there are too many transitions for 32 bits
    Pages<int32_t> columns;
    Coding coding = Coding::Bytes;
    std::vector<double> dictionary;    // unless plain, and then one of the next two
    Pages<uint8_t> byte_index;
    Pages<uint16_t> short_index;
    Pages<double> values;              // if plain
    Pages<int32_t> choice_starts;      // per state; MDPs only
    Pages<uint16_t> choice_actions;    // MDPs only
    std::vector<Pages<uint8_t>> labels;
    std::vector<Pages<double>> state_rewards, choice_rewards;  // per structure; empty where there are none
    std::vector<Pages<double>> transition_rewards;             // see attribute.hpp
    std::vector<int32_t> initial, deadlocks;
    size_t off_state = SIZE_MAX;       // the first whose probabilities did not sum to 1 by more than rounding
    double off_sum = 1;
};

// `states` are sorted. Duplicate targets of one choice are merged; a state without a choice gets a self-loop. Where other
// ranks have states, too, `ghosts` says which states are this rank's, and learns what its rows lead to besides: columns past
// those of this rank are the places of ghosts.
SparseModel assemble(const Plan& plan, const Pages<uint64_t>& states, const Discovery& found, int threads, const Limits& limits,
                     Progress& progress, Ghosts* ghosts = nullptr);

}  // namespace galton
