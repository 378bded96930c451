// Finding a state's number among the sorted states, starting from a guess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "explore/ghosts.hpp"

namespace galton {

class SortedStates {
  public:
    SortedStates(const uint64_t* data, size_t count, size_t words) : data_(data), count_(count), words_(words) {}

    size_t size() const { return count_; }
    size_t words() const { return words_; }
    const uint64_t* operator[](size_t i) const { return data_ + i * words_; }

    // The number of a state that is known to be there; word w of the key is at key[w][j].
    size_t find(uint64_t* const* key, size_t j, size_t guess) const {
        return words_ == 1 ? gallop(guess, [this, k = key[0][j]](size_t i) { return data_[i] < k ? -1 : data_[i] > k; })
                           : gallop(guess, [&](size_t i) { return compare(i, key, j); });
    }

  private:
    int compare(size_t i, uint64_t* const* key, size_t j) const {
        const uint64_t* state = data_ + i * words_;
        for (size_t w = 0; w < words_; ++w)
            if (state[w] != key[w][j]) return state[w] < key[w][j] ? -1 : 1;
        return 0;
    }

    // `order(i)` is negative, zero or positive as state i stands before, at or after the one wanted.
    template <class Order>
    size_t gallop(size_t guess, const Order& order) const {
        int side = order(guess);
        if (side == 0) return guess;
        size_t low, high;  // strictly between them lies what is wanted
        if (side < 0) {
            size_t step = 1;
            low = guess;
            high = guess + 1;
            while (high < count_) {
                side = order(high);
                if (side == 0) return high;
                if (side > 0) break;
                low = high;
                step *= 2;
                high = low + step;
            }
            if (high > count_) high = count_;
        } else {
            size_t step = 1;
            high = guess;
            low = guess - 1;
            while (low < count_) {  // below zero wraps around to a large number
                side = order(low);
                if (side == 0) return low;
                if (side < 0) break;
                high = low;
                step *= 2;
                low = high - step;
            }
            if (low >= count_) low = SIZE_MAX;  // one before the first
        }
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            side = order(middle);
            if (side == 0) return middle;
            (side < 0 ? low : high) = middle;
        }
        return count_;  // not there
    }

    const uint64_t* data_;
    size_t count_, words_;
};

// The numbers of all states that rows of this rank lead to: its own, then those of ghosts as they are met. One per thread.
class KnownStates {
  public:
    KnownStates(const SortedStates& own, const Ownership* ownership, MetGhosts* met) : own_(own), met_(met) {
        if (!ownership || !ownership->shared()) return;
        const auto words = static_cast<std::ptrdiff_t>(own.words());
        const auto first = ownership->firsts.begin() + (ownership->rank - 1) * words;
        if (ownership->rank > 0) low_.assign(first, first + words);
        if (ownership->rank + 1 < ownership->ranks) high_.assign(first + words, first + 2 * words);
    }

    static constexpr size_t UNKNOWN = SIZE_MAX;

    // Word w of the key is at key[w][j]. `guess` is where an own state may be, and is then where it was.
    size_t find(uint64_t* const* key, size_t j, size_t& guess) {
        if ((!low_.empty() && is_below(low_, key, j)) || (!high_.empty() && !is_below(high_, key, j)))
            return own_.size() + met_->number(key, j);
        if (own_.size() == 0) return UNKNOWN;
        const size_t found = own_.find(key, j, std::min(guess, own_.size() - 1));
        if (found == own_.size()) return UNKNOWN;
        return guess = found;
    }

  private:
    static bool is_below(const std::vector<uint64_t>& bound, uint64_t* const* key, size_t j) {
        for (size_t w = 0; w < bound.size(); ++w)
            if (key[w][j] != bound[w]) return key[w][j] < bound[w];
        return false;
    }

    const SortedStates& own_;
    MetGhosts* met_;
    std::vector<uint64_t> low_, high_;  // the range of this rank, where it has an end
};

}  // namespace galton
