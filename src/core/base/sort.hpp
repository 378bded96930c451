// Records of 64-bit words in ascending order of their first words, the very first most significant.
//
// Least-significant-digit radix sort over the bits in which records differ at all (most of a wide state is the same
// everywhere). Each thread counts and moves its share; the offsets keep the sort stable.
#pragma once

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace galton {

struct Digit {
    size_t word;
    int shift, bits;
};

// The digits to sort by, least significant first: as few as possible of at most 11 bits, which still go through the
// first-level caches and address translation without trouble.
inline std::vector<Digit> digits_of(const Pages<uint64_t>& records, size_t size, size_t key, int threads) {
    constexpr int MOST_BITS = 11;
    std::vector<uint64_t> all(key, ~uint64_t{0}), some(key, 0);
    std::mutex joining;
    run_on_threads(threads, [&](int t) {
        auto [begin, end] = share(records.size() / size, t, threads);
        std::vector<uint64_t> mine_all(key, ~uint64_t{0}), mine_some(key, 0);
        for (size_t i = begin; i < end; ++i) {
            for (size_t w = 0; w < key; ++w) {
                mine_all[w] &= records[i * size + w];
                mine_some[w] |= records[i * size + w];
            }
        }
        std::lock_guard guard(joining);
        for (size_t w = 0; w < key; ++w) {
            all[w] &= mine_all[w];
            some[w] |= mine_some[w];
        }
    });
    std::vector<Digit> digits;
    for (size_t w = key; w-- > 0;) {
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

// Records of `size` words, sorted by the first `key` of them. `spare` is at least as large as `records`; its contents are
// lost.
inline void sort_records(Pages<uint64_t>& records, Pages<uint64_t> spare, size_t size, size_t key, int threads) {
    const size_t total = records.size(), n = total / size;
    if (n < 4096) threads = 1;
    std::vector<std::vector<size_t>> counts(static_cast<size_t>(threads));
    for (auto [word, shift, bits] : digits_of(records, size, key, threads)) {
        const uint64_t* from = records.data();
        uint64_t* to = spare.data();
        const uint64_t mask = (uint64_t{1} << bits) - 1;
        auto digit = [=](size_t i) { return from[i * size + word] >> shift & mask; };
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
            for (size_t i = begin; i < end; ++i) {
                uint64_t* out = to + next[digit(i)]++ * size;
                for (size_t w = 0; w < size; ++w) out[w] = from[i * size + w];
            }
        });
        records.swap(spare);
    }
    records.shrink(total);
}

}  // namespace galton
