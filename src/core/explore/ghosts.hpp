// The successors of a rank's states that belong to other ranks: its ghosts.
//
// Rows are written before it is known which ghosts there are. So each thread numbers those that it meets, in the order in
// which it meets them, and columns have these numbers first. Once all rows are there the ghosts are sorted; since each rank
// has a range of values that puts them by owner. Then columns get their places (assemble.cpp). States are expanded once
// less than if ghosts were looked for before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory.hpp"
#include "base/sort.hpp"
#include "explore/ownership.hpp"

namespace galton {

// In canonical order, and so by owner.
struct Ghosts {
    Ownership ownership;
    Pages<uint64_t> states;
    std::vector<size_t> starts;  // (ranks + 1), in states
};

// Those that one thread meets: a table of their numbers, with open addressing.
class MetGhosts {
  public:
    explicit MetGhosts(size_t words) : words_(words), slots_(size_t{1} << 10, NONE) {}

    size_t size() const { return states_.size() / words_; }
    const uint64_t* operator[](size_t i) const { return states_.data() + i * words_; }

    // The number of a state, which may be new; word w of it is at key[w][j].
    size_t number(uint64_t* const* key, size_t j) {
        if (2 * size() >= slots_.size()) grow();
        const size_t last = slots_.size() - 1;
        for (size_t slot = hash([&](size_t w) { return key[w][j]; }) & last;; slot = (slot + 1) & last) {
            if (slots_[slot] == NONE) {
                slots_[slot] = static_cast<uint32_t>(size());
                for (size_t w = 0; w < words_; ++w) states_.push_back(key[w][j]);
                return slots_[slot];
            }
            const uint64_t* state = (*this)[slots_[slot]];
            size_t w = 0;
            while (w < words_ && state[w] == key[w][j]) ++w;
            if (w == words_) return slots_[slot];
        }
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    template <class Word>
    size_t hash(const Word& word) const {
        uint64_t h = 0;
        for (size_t w = 0; w < words_; ++w) h = Ownership::mixed(h ^ word(w));
        return h;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), NONE);
        const size_t last = slots_.size() - 1;
        for (size_t i = 0; i < size(); ++i) {
            const uint64_t* state = (*this)[i];
            size_t slot = hash([&](size_t w) { return state[w]; }) & last;
            while (slots_[slot] != NONE) slot = (slot + 1) & last;
            slots_[slot] = static_cast<uint32_t>(i);
        }
    }

    size_t words_;
    std::vector<uint32_t> slots_;
    std::vector<uint64_t> states_;
};

// Puts the ghosts that all threads met in order. Returns, for each thread, the places of its own.
inline std::vector<std::vector<uint32_t>> put_in_order(const std::vector<std::unique_ptr<MetGhosts>>& met, Ghosts& ghosts,
                                                       int threads) {
    const size_t words = ghosts.ownership.words, size = words + 1;
    std::vector<std::vector<uint32_t>> places;
    size_t count = 0;
    for (const auto& found : met) count += places.emplace_back(found->size()).size();
    Pages<uint64_t> records(count * size);  // a state, then who met it and its number there
    uint64_t* out = records.data();
    for (size_t t = 0; t < met.size(); ++t) {
        for (size_t i = 0; i < met[t]->size(); ++i) {
            out = std::copy_n((*met[t])[i], words, out);
            *out++ = static_cast<uint64_t>(t) << 32 | i;
        }
    }
    sort_records(records, Pages<uint64_t>(records.size()), size, words, threads);
    ghosts.states = Pages<uint64_t>(count * words);
    ghosts.starts.assign(static_cast<size_t>(ghosts.ownership.ranks) + 1, 0);
    size_t different = 0;
    for (size_t i = 0; i < count; ++i) {
        const uint64_t* record = records.data() + i * size;
        if (i == 0 || !std::equal(record, record + words, record - size)) {
            std::copy_n(record, words, ghosts.states.data() + different++ * words);
            ++ghosts.starts[static_cast<size_t>(ghosts.ownership.of(record, 1)) + 1];
        }
        places[record[words] >> 32][record[words] & UINT32_MAX] = static_cast<uint32_t>(different - 1);
    }
    ghosts.states.shrink(different * words);
    for (size_t rank = 1; rank < ghosts.starts.size(); ++rank) ghosts.starts[rank] += ghosts.starts[rank - 1];
    return places;
}

}  // namespace galton
