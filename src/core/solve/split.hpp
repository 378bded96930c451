// A range of unknowns in parts, one per thread.
#pragma once

#include <algorithm>
#include <vector>

#include "solve/sweeps.hpp"

namespace galton {

inline constexpr size_t WORTH_A_THREAD = 400'000;  // entries in a part; below, waiting for each other costs more than it saves

// Parts of a range with about as many entries each.
template <class R>
std::vector<size_t> split(const R& rows, Range range, int threads) {
    const size_t begin = rows.first_entry(rows.first_row(range.first));
    const size_t entries = rows.first_entry(rows.first_row(range.last)) - begin + (range.last - range.first);
    const size_t parts = std::clamp<size_t>(entries / WORTH_A_THREAD, 1, static_cast<size_t>(std::max(threads, 1)));
    std::vector<size_t> cuts{range.first};
    for (size_t p = 1; p < parts; ++p) {
        const size_t goal = entries * p / parts;
        size_t low = cuts.back(), high = range.last;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (rows.first_entry(rows.first_row(middle)) - begin + (middle - range.first) < goal) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        cuts.push_back(low);
    }
    cuts.push_back(range.last);
    return cuts;
}

}  // namespace galton
