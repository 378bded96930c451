// Finding a state's number among the sorted states, starting from a guess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "explore/ownership.hpp"

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

// The numbers of all states that rows of this rank lead to: its own, then the ghosts. One per thread.
class KnownStates {
  public:
    KnownStates(const SortedStates& own, const Ghosts* ghosts) : own_(own), ghosts_(ghosts), key_(own.words()) {
        if (!ghosts) return;
        const size_t words = own.words();
        for (size_t rank = 0; rank + 1 < ghosts->starts.size(); ++rank) {
            const size_t first = ghosts->starts[rank];
            foreign_.emplace_back(ghosts->states.data() + first * words, ghosts->starts[rank + 1] - first, words);
        }
        guesses_.assign(foreign_.size(), 0);
    }

    static constexpr size_t UNKNOWN = SIZE_MAX;

    // Word w of the key is at key[w][j]. `guess` is where an own state may be, and is then where it was.
    size_t find(uint64_t* const* key, size_t j, size_t& guess) {
        if (ghosts_) {
            for (size_t w = 0; w < key_.size(); ++w) key_[w] = key[w][j];
            const int owner = ghosts_->ownership.of(key_.data(), 1);
            if (owner != ghosts_->ownership.rank) return find_ghost(static_cast<size_t>(owner), key, j);
        }
        if (own_.size() == 0) return UNKNOWN;
        const size_t found = own_.find(key, j, std::min(guess, own_.size() - 1));
        if (found == own_.size()) return UNKNOWN;
        return guess = found;
    }

  private:
    size_t find_ghost(size_t owner, uint64_t* const* key, size_t j) {
        const SortedStates& states = foreign_[owner];
        if (states.size() == 0) return UNKNOWN;
        const size_t found = states.find(key, j, guesses_[owner]);
        if (found == states.size()) return UNKNOWN;
        guesses_[owner] = std::min(found + 1, states.size() - 1);
        return own_.size() + ghosts_->starts[owner] + found;
    }

    const SortedStates& own_;
    const Ghosts* ghosts_;
    std::vector<uint64_t> key_;
    std::vector<SortedStates> foreign_;
    std::vector<size_t> guesses_;
};

}  // namespace galton
