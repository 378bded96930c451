// One state for all that symmetries of the program make of it.
//
// A symmetry exchanges blocks of variables that are alike: all of them with each other, or each with the next one in a
// ring. The state that stands for the others has its blocks in ascending order, or rotated to the least sequence. What a
// block holds is its key, a number of at most 64 bits put together from pieces of the packed state.
// galton/lower/symmetry finds the blocks and proves that the program is the same when they move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace galton {

// Bits of a word that are those of a key from `offset` on.
struct Piece {
    int word, shift, offset;
    uint64_t mask;
};

struct Orbits {
    bool rotates;
    std::vector<std::vector<Piece>> blocks;
};

// Where the least of all rotations of a sequence begins: two candidates, the loser of a comparison skips what it has seen
// (Shiloach, "Fast canonization of circular strings", 1981).
inline size_t least_rotation(const std::vector<uint64_t>& keys) {
    const size_t n = keys.size();
    size_t a = 0, b = 1, same = 0;
    while (a < n && b < n && same < n) {
        const uint64_t x = keys[(a + same) % n], y = keys[(b + same) % n];
        if (x == y) {
            ++same;
            continue;
        }
        (x > y ? a : b) += same + 1;
        if (a == b) ++b;
        same = 0;
    }
    return std::min(a, b);
}

class Representative {
  public:
    explicit Representative(const std::vector<Orbits>& orbits) : orbits_(orbits) {}

    // Make each of `count` states the one that stands for it; word w of state j is at words[w][j].
    void replace(uint64_t* const* words, int count) {
        for (const Orbits& orbits : orbits_)
            for (int j = 0; j < count; ++j) replace(orbits, words, j);
    }

    // The same for one state, word after word.
    void replace(uint64_t* state, size_t words) {
        single_.resize(words);
        for (size_t w = 0; w < words; ++w) single_[w] = state + w;
        replace(single_.data(), 1);
    }

  private:
    void replace(const Orbits& orbits, uint64_t* const* words, int j) {
        keys_.clear();
        for (const auto& block : orbits.blocks) {
            uint64_t key = 0;
            for (const Piece& piece : block) key |= (words[piece.word][j] >> piece.shift & piece.mask) << piece.offset;
            keys_.push_back(key);
        }
        if (!(orbits.rotates ? rotate() : sort())) return;
        for (size_t b = 0; b < keys_.size(); ++b) {
            for (const Piece& piece : orbits.blocks[b]) {
                uint64_t& word = words[piece.word][j];
                word = (word & ~(piece.mask << piece.shift)) | (keys_[b] >> piece.offset & piece.mask) << piece.shift;
            }
        }
    }

    // Whether anything moved. Most successors differ in one or two blocks, so they are nearly sorted.
    bool sort() {
        bool moved = false;
        for (size_t i = 1; i < keys_.size(); ++i) {
            const uint64_t key = keys_[i];
            size_t k = i;
            for (; k > 0 && keys_[k - 1] > key; --k) keys_[k] = keys_[k - 1];
            keys_[k] = key;
            moved |= k != i;
        }
        return moved;
    }

    bool rotate() {
        const size_t start = least_rotation(keys_);
        if (start == 0) return false;
        std::rotate(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(start), keys_.end());
        return true;
    }

    const std::vector<Orbits>& orbits_;
    std::vector<uint64_t> keys_;
    std::vector<uint64_t*> single_;
};

}  // namespace galton
