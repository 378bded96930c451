// Many steps of x <- step(x) in two buffers, with the cache and the threads in mind.
//
// Where the successors of a state have numbers close to its own (at most `reach` away), a piece of the vector can be taken
// several steps ahead of the rest while it is in the cache: each tile of states goes as far as its neighbours to the left
// allow, `reach` states less with every step. Threads own regions: each takes its own ahead, losing `reach` states at both
// ends with every step; then, after all have come so far, the gaps between regions are filled. So threads wait for each
// other twice in `depth` steps and not once in each. (Wonnacott 2000 calls it time skewing.)
//
// Two buffers are enough: a number of step k - 2 is overwritten by step k only once the neighbours that need it have made
// step k - 1.
#pragma once

#include <algorithm>
#include <barrier>
#include <limits>
#include <vector>

#include "base/parallel.hpp"

namespace galton {

struct Tiling {
    std::vector<size_t> bounds;  // thread t has the states bounds[t] up to bounds[t + 1]
    size_t reach = 0;
    size_t depth = 1;
    size_t width = std::numeric_limits<size_t>::max();  // states of a tile

    // For a vector whose steps touch so many bytes for each state. Tiles should fit into a core's own cache; if they could
    // only be shallow then, and all does not fit into the shared one, into a part of that.
    Tiling(std::vector<size_t> regions, size_t how_far, size_t bytes_per_state) : bounds(std::move(regions)) {
        constexpr size_t OWN = size_t{512} << 10, PART = size_t{4} << 20, SHARED = size_t{16} << 20, DEEPEST = 32;
        size_t region = bounds.back();
        for (size_t t = 0; t < threads(); ++t) region = std::min(region, bounds[t + 1] - bounds[t]);
        const size_t step = std::max<size_t>(how_far, 1);
        auto deepest = [&](size_t cache) { return cache / bytes_per_state / (3 * step); };
        const size_t by_region = threads() == 1 ? DEEPEST : std::min(DEEPEST, region / (4 * step));
        if (by_region < 2) return;
        reach = how_far;
        depth = by_region;
        if (region * bytes_per_state <= OWN) return;
        const size_t cache = deepest(OWN) < 4 && bounds.back() * bytes_per_state > SHARED ? PART : OWN;
        if (deepest(cache) < 2) return;
        depth = std::min(depth, deepest(cache));
        width = cache / bytes_per_state - depth * reach;
    }

    size_t threads() const { return bounds.size() - 1; }
};

// Call body(thread, k, first, last) for each step k (from 0) and all states, in an order that the above allows, and then
// after(thread, first, last) for the states of each thread.
template <class Body, class After>
void run_tiled(const Tiling& tiling, size_t steps, const Body& body, const After& after) {
    const size_t threads = tiling.threads(), n = tiling.bounds.back(), reach = tiling.reach;
    std::barrier<> all(static_cast<std::ptrdiff_t>(threads));
    run_on_threads(static_cast<int>(threads), [&](int thread) {
        const auto t = static_cast<size_t>(thread);
        const size_t begin = tiling.bounds[t], end = tiling.bounds[t + 1];
        auto left = [&](size_t k) { return begin == 0 ? 0 : begin + (k + 1) * reach; };
        auto right = [&](size_t k) { return end == n ? n : end - (k + 1) * reach; };
        std::vector<size_t> made(tiling.depth);  // for each step, the states up to which it is made
        for (size_t start = 0; start < steps; start += tiling.depth) {
            const size_t depth = std::min(tiling.depth, steps - start);
            for (size_t k = 0; k < depth; ++k) made[k] = left(k);
            for (size_t edge = begin; edge < end;) {
                const bool last_tile = end - edge <= tiling.width;
                edge = last_tile ? end : edge + tiling.width;
                for (size_t k = 0; k < depth; ++k) {
                    const size_t allowed = edge - std::min(edge, (k + 1) * reach);
                    const size_t stop = last_tile ? right(k) : std::min(right(k), allowed);
                    if (stop > made[k]) {
                        body(t, start + k, made[k], stop);
                        made[k] = stop;
                    }
                }
            }
            if (threads == 1) continue;
            all.arrive_and_wait();
            if (reach == 0) continue;
            if (end != n)
                for (size_t k = 0; k < depth; ++k) body(t, start + k, end - (k + 1) * reach, end + (k + 1) * reach);
            all.arrive_and_wait();
        }
        after(t, begin, end);
    });
}

}  // namespace galton
