// States in canonical order: by packed value, the first word most significant.
//
// Least-significant-digit radix sort of whole records, one byte at a time, skipping the bytes in which all states agree
// (most of a wide state). Each thread counts and moves its share; the offsets keep the sort stable.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "memory.hpp"
#include "parallel.hpp"

namespace galton {

inline void sort_states(Pages<uint64_t>& states, size_t words, int threads) {
    const size_t n = states.size() / words;
    if (n < 2) return;
    if (n < 4096) threads = 1;
    std::vector<uint64_t> same_ones(words, ~uint64_t{0}), some_ones(words, 0);
    for (size_t i = 0; i < n; ++i) {
        for (size_t w = 0; w < words; ++w) {
            same_ones[w] &= states[i * words + w];
            some_ones[w] |= states[i * words + w];
        }
    }
    Pages<uint64_t> other(states.size());
    std::vector<std::array<size_t, 256>> counts(static_cast<size_t>(threads));
    for (size_t w = words; w-- > 0;) {
        const uint64_t differing = same_ones[w] ^ some_ones[w];
        for (int shift = 0; shift < 64; shift += 8) {
            if (!(differing >> shift & 0xFF)) continue;
            auto digit = [&, w, shift](size_t i) { return states[i * words + w] >> shift & 0xFF; };
            run_on_threads(threads, [&](int t) {
                auto [begin, end] = share(n, t, threads);
                auto& count = counts[static_cast<size_t>(t)];
                count.fill(0);
                for (size_t i = begin; i < end; ++i) ++count[digit(i)];
            });
            size_t offset = 0;
            for (size_t d = 0; d < 256; ++d)
                for (auto& count : counts) offset += std::exchange(count[d], offset);
            run_on_threads(threads, [&](int t) {
                auto [begin, end] = share(n, t, threads);
                auto next = counts[static_cast<size_t>(t)];
                if (words == 1) {
                    for (size_t i = begin; i < end; ++i) other[next[digit(i)]++] = states[i];
                } else {
                    for (size_t i = begin; i < end; ++i)
                        std::memcpy(&other[next[digit(i)]++ * words], &states[i * words], words * sizeof(uint64_t));
                }
            });
            states.swap(other);
        }
    }
}

}  // namespace galton
