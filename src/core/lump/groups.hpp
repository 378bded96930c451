// Pairs of a block and a number, each with a place of its own, and how many states have it.
#pragma once

#include <cstdint>
#include <vector>

#include "lump/residues.hpp"

namespace galton {

struct Group {
    uint64_t key;
    int32_t block;
    int32_t count;
};

class Groups {
  public:
    Groups() : slots_(64, -1) {}

    int32_t add(int32_t block, uint64_t key, int32_t count = 1) {
        if (groups_.size() * 2 >= slots_.size()) grow();
        const size_t slot = find(block, key);
        if (slots_[slot] < 0) {
            slots_[slot] = static_cast<int32_t>(groups_.size());
            groups_.push_back({key, block, 0});
        }
        groups_[static_cast<size_t>(slots_[slot])].count += count;
        return slots_[slot];
    }
    const std::vector<Group>& all() const { return groups_; }
    size_t size() const { return groups_.size(); }

  private:
    size_t find(int32_t block, uint64_t key) const {
        size_t slot = stirred(key + stirred(static_cast<uint64_t>(block))) & (slots_.size() - 1);
        while (slots_[slot] >= 0) {
            const Group& there = groups_[static_cast<size_t>(slots_[slot])];
            if (there.key == key && there.block == block) break;
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return slot;
    }
    void grow() {
        slots_.assign(slots_.size() * 4, -1);
        for (size_t g = 0; g < groups_.size(); ++g) {
            slots_[find(groups_[g].block, groups_[g].key)] = static_cast<int32_t>(g);
        }
    }

    std::vector<int32_t> slots_;
    std::vector<Group> groups_;
};

}  // namespace galton
