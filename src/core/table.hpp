// The set of known states: open addressing, any number of threads.
//
// A slot holds the words of a state, the first one plus 1, so that zero means empty and fresh pages need no filling.
// The layout keeps the two top bits of the first word free, so BUSY never meets a real value: the thread that claims a
// slot of a wider state marks it busy, writes the other words, then publishes the first.
// The slot comes from the top bits of the hash, so that growing the table moves its contents in order, as a stream.
// (Keeping neighbouring states in one line of the cache was tried: the longer runs of full slots cost more than the
// shared lines gave.)
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "memory.hpp"

namespace galton {

class StateTable {
  public:
    explicit StateTable(int words, int log_capacity = 13) : words_(static_cast<size_t>(words)), log_(log_capacity) {
        slots_ = Pages<uint64_t>(capacity() * words_, true);
    }

    size_t size() const { return size_.load(std::memory_order_relaxed); }
    size_t capacity() const { return size_t{1} << log_; }
    size_t bytes() const { return slots_.bytes(); }
    void add_size(size_t count) { size_.fetch_add(count, std::memory_order_relaxed); }

    // Inserting threads hold `lock` shared; growing takes it alone.
    std::shared_mutex lock;
    bool has_room(size_t more) const { return (size() + more) * 10 <= capacity() * 7; }

    // While it is small, growing by four saves most of the copying.
    int next_log() const { return log_ + (bytes() <= SMALL ? 2 : 1); }
    size_t bytes_while_growing() const { return bytes() + (words_ * sizeof(uint64_t) << next_log()); }

    // A bigger table; the caller holds `lock` alone.
    void grow() {
        StateTable bigger(static_cast<int>(words_), next_log());
        const uint64_t* slot = slots_.data();
        std::vector<uint64_t> key(words_);
        for (size_t i = 0; i < capacity(); ++i, slot += words_) {
            if (*slot == 0) continue;
            key[0] = *slot - 1;
            for (size_t w = 1; w < words_; ++w) key[w] = slot[w];
            bigger.insert(bigger.first_slot(key.data(), 1), key.data(), 1);
        }
        slots_.swap(bigger.slots_);
        log_ = bigger.log_;
    }

    // Where to look for a state first. Word w of the key is at key[w * stride].
    size_t first_slot(const uint64_t* key, size_t stride) const {
        uint64_t h = key[0] * 0x9E3779B97F4A7C15ull;
        for (size_t w = 1; w < words_; ++w) h = ((h << 29 | h >> 35) ^ key[w * stride]) * 0xC2B2AE3D27D4EB4Full;
        h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
        return h >> (64 - log_);
    }
    void prefetch(size_t slot) const { __builtin_prefetch(slots_.data() + slot * words_, 1); }

    // Whether the state was new.
    bool insert(size_t slot, const uint64_t* key, size_t stride) {
        const uint64_t first = key[0] + 1;
        const size_t last = capacity() - 1;
        for (;; slot = (slot + 1) & last) {
            uint64_t* at = slots_.data() + slot * words_;
            std::atomic_ref<uint64_t> head(at[0]);
            uint64_t found = head.load(std::memory_order_acquire);
            if (found == 0) {
                if (words_ == 1) {
                    if (head.compare_exchange_strong(found, first, std::memory_order_acq_rel)) return true;
                } else if (head.compare_exchange_strong(found, BUSY, std::memory_order_acq_rel)) {
                    for (size_t w = 1; w < words_; ++w) at[w] = key[w * stride];
                    head.store(first, std::memory_order_release);
                    return true;
                }
            }
            while (found == BUSY) found = head.load(std::memory_order_acquire);
            if (found != first) continue;
            bool same = true;
            for (size_t w = 1; w < words_; ++w) same &= at[w] == key[w * stride];
            if (same) return false;
        }
    }

    // Move all states, one after the other and in no particular order, into `states`. What was the table is left in
    // `spare`, at least as large: a sort can use it.
    void take(Pages<uint64_t>& states, Pages<uint64_t>& spare) {
        states = Pages<uint64_t>(size() * words_);
        const uint64_t* slot = slots_.data();
        uint64_t* out = states.data();
        for (size_t i = 0; i < capacity(); ++i, slot += words_) {
            if (*slot == 0) continue;
            *out++ = *slot - 1;
            for (size_t w = 1; w < words_; ++w) *out++ = slot[w];
        }
        spare = std::move(slots_);
    }

  private:
    static constexpr uint64_t BUSY = uint64_t{1} << 63;
    static constexpr size_t SMALL = size_t{8} << 20;

    size_t words_;
    int log_;
    Pages<uint64_t> slots_;
    std::atomic<size_t> size_{0};
};

}  // namespace galton
