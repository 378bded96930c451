// States in canonical order: by packed value, the first word most significant.
//
// Least-significant-digit radix sort of whole records over the bits in which states differ at all (most of a wide state
// is the same everywhere). Each thread counts and moves its share; the offsets keep the sort stable.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory.hpp"
#include "parallel.hpp"

namespace galton {

struct Digit {
    size_t word;
    int shift, bits;
};

// The digits to sort by, least significant first: as few as possible of at most 11 bits, which still go through the
// first-level caches and address translation without trouble.
inline std::vector<Digit> digits_of(const Pages<uint64_t>& states, size_t words) {
    constexpr int MOST_BITS = 11;
    std::vector<uint64_t> all(words, ~uint64_t{0}), some(words, 0);
    for (size_t i = 0; i < states.size(); i += words) {
        for (size_t w = 0; w < words; ++w) {
            all[w] &= states[i + w];
            some[w] |= states[i + w];
        }
    }
    std::vector<Digit> digits;
    for (size_t w = words; w-- > 0;) {
        const uint64_t differing = all[w] ^ some[w];
        if (!differing) continue;
        int first = std::countr_zero(differing), width = 64 - std::countl_zero(differing) - first;
        int parts = (width + MOST_BITS - 1) / MOST_BITS;
        for (int part = 0; part < parts; ++part) {
            int begin = width * part / parts, end = width * (part + 1) / parts;
            digits.push_back({w, first + begin, end - begin});
        }
    }
    return digits;
}

// `spare` is at least as large as `states`; its contents are lost.
inline void sort_states(Pages<uint64_t>& states, Pages<uint64_t> spare, size_t words, int threads) {
    const size_t size = states.size(), n = size / words;
    if (n < 4096) threads = 1;
    std::vector<std::vector<size_t>> counts(static_cast<size_t>(threads));
    for (auto [word, shift, bits] : digits_of(states, words)) {
        const uint64_t* from = states.data();
        uint64_t* to = spare.data();
        const uint64_t mask = (uint64_t{1} << bits) - 1;
        auto digit = [=](size_t i) { return from[i * words + word] >> shift & mask; };
        run_on_threads(threads, [&](int t) {
            auto [begin, end] = share(n, t, threads);
            auto& count = counts[static_cast<size_t>(t)];
            count.assign(mask + 1, 0);
            for (size_t i = begin; i < end; ++i) ++count[digit(i)];
        });
        size_t offset = 0;
        for (size_t d = 0; d <= mask; ++d)
            for (auto& count : counts) offset += std::exchange(count[d], offset);
        run_on_threads(threads, [&](int t) {
            auto [begin, end] = share(n, t, threads);
            size_t* next = counts[static_cast<size_t>(t)].data();
            if (words == 1) {
                for (size_t i = begin; i < end; ++i) to[next[digit(i)]++] = from[i];
            } else {
                for (size_t i = begin; i < end; ++i)
                    std::memcpy(to + next[digit(i)]++ * words, from + i * words, words * sizeof(uint64_t));
            }
        });
        states.swap(spare);
    }
    states.shrink(size);
}

}  // namespace galton
