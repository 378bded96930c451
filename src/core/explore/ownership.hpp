// Which of several ranks a state belongs to, where a model is spread over machines.
//
// While states are looked for, each rank has a range of a mixing hash of the packed value, so that all have work. States
// that agree in all but their last six bits stay together: they are one entry of the table (table.hpp). Once all are
// known, each rank has a range of the values themselves: neighbours in value are often successors of each other, so that
// few rows lead to other ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explore/table.hpp"

namespace galton {

struct Ownership {
    int rank = 0, ranks = 1;
    size_t words = 1;
    std::vector<uint64_t> firsts = {};  // of ranks 1, 2, …: the least value of each, where ranges of values are meant

    bool shared() const { return ranks > 1; }

    // Word w of the state is at state[w * stride].
    int of(const uint64_t* state, size_t stride) const {
        if (!firsts.empty()) return by_value(state, stride);
        uint64_t h = 0;
        for (size_t w = 0; w + 1 < words; ++w) h = mixed(h ^ state[w * stride]);
        h = mixed(h ^ state[(words - 1) * stride] >> StateTable::GROUP_BITS);
        return static_cast<int>((h >> 32) * static_cast<uint64_t>(ranks) >> 32);
    }
    bool mine(const uint64_t* state) const { return !shared() || of(state, 1) == rank; }

    // The finaliser of SplitMix64 (Steele, Lea and Flood 2014): other bits than those of the table's slots.
    static uint64_t mixed(uint64_t h) {
        h += 0x9E3779B97F4A7C15ull;
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9ull;
        h = (h ^ h >> 27) * 0x94D049BB133111EBull;
        return h ^ h >> 31;
    }

  private:
    // How many of the ranges begin at or before the state.
    int by_value(const uint64_t* state, size_t stride) const {
        size_t low = 0, high = firsts.size() / words;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            const uint64_t* first = firsts.data() + middle * words;
            size_t w = 0;
            while (w < words && first[w] == state[w * stride]) ++w;
            if (w == words || first[w] < state[w * stride])
                low = middle + 1;
            else
                high = middle;
        }
        return static_cast<int>(low);
    }
};

}  // namespace galton
