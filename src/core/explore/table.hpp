// The set of known states: open addressing over groups of 64 neighbours, any number of threads.
//
// States that agree in all but their last six bits are one entry: the bits they share, and a bit for each one that is
// known. The last variables of a model take most of their values, so an entry stands for many states: the table is small
// enough to stay in the caches, and there is little to sort afterwards.
//
// The first word of an entry is stored plus 1, so that zero means empty and fresh pages need no filling. The layout keeps
// the two top bits of the first word free, so BUSY never meets a real value: the thread that claims an entry of more than
// one word marks it busy, writes the other words, then publishes the first. The slot comes from the top bits of the hash,
// so that growing the table moves its contents in order, as a stream.
#pragma once

#include <atomic>
#include <bit>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <vector>

#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace galton {

class StateTable {
  public:
    static constexpr int GROUP_BITS = 6;
    static constexpr uint64_t GROUP_MASK = 63;

    // `alone`: only one thread inserts, and needs no atomic operations.
    StateTable(int words, bool alone, int log_capacity = 13)
        : words_(static_cast<size_t>(words)), size_(words_ + 1), log_(log_capacity), alone_(alone) {
        slots_ = Pages<uint64_t>(capacity() * size_, HUGE);
    }

    size_t states() const { return states_.load(std::memory_order_relaxed); }
    size_t capacity() const { return size_t{1} << log_; }
    size_t bytes() const { return slots_.bytes(); }
    void count(size_t states, size_t entries) {
        states_.fetch_add(states, std::memory_order_relaxed);
        entries_.fetch_add(entries, std::memory_order_relaxed);
    }

    // Inserting threads hold `lock` shared; growing takes it alone.
    std::shared_mutex lock;
    bool has_room(size_t more) const { return (entries_.load(std::memory_order_relaxed) + more) * 10 <= capacity() * 7; }

    // While it is small, growing by four saves most of the copying.
    int next_log() const { return log_ + (bytes() <= SMALL ? 2 : 1); }
    size_t bytes_while_growing() const { return bytes() + (size_ * sizeof(uint64_t) << next_log()); }

    // A bigger table; the caller holds `lock` alone. The others wait for it, so their cores are free to help.
    void grow(int threads) {
        StateTable bigger(static_cast<int>(words_), false, next_log());
        if (bytes() < WORTH_SHARING) threads = 1;
        run_on_threads(threads, [&](int t) {
            auto [begin, end] = share(capacity(), t, threads);
            for (size_t i = begin; i < end; ++i)
                if (const uint64_t* entry = slots_.data() + i * size_; *entry != 0) bigger.adopt(entry);
        });
        slots_.swap(bigger.slots_);
        log_ = bigger.log_;
    }

    // Where to look for a state first. Word w of it is at state[w * stride]. W is the number of words where the compiler
    // is to know it, else 0.
    template <size_t W>
    size_t first_slot(const uint64_t* state, size_t stride) const {
        const size_t words_ = W ? W : this->words_;
        if (words_ == 1) return slot_of(((state[0] >> GROUP_BITS) + 1) * FACTOR);
        uint64_t h = (state[0] + 1) * FACTOR;
        for (size_t w = 1; w + 1 < words_; ++w) h = mix(h, state[w * stride]);
        return slot_of(mix(h, state[(words_ - 1) * stride] >> GROUP_BITS));
    }
    template <size_t W>
    void prefetch(size_t slot) const {
        __builtin_prefetch(slots_.data() + slot * (W ? W + 1 : size_), 1);
    }

    struct Inserted {
        bool state, entry;  // what was new; another thread may set the bit of a state in an entry that we made
    };

    template <size_t W>
    Inserted insert(size_t slot, const uint64_t* state, size_t stride) {
        const size_t words_ = W ? W : this->words_, size_ = words_ + 1;
        const uint64_t tail = state[(words_ - 1) * stride], bit = uint64_t{1} << (tail & GROUP_MASK);
        const uint64_t first = (words_ == 1 ? tail >> GROUP_BITS : state[0]) + 1;
        const size_t last = capacity() - 1;
        for (;; slot = (slot + 1) & last) {
            uint64_t* at = slots_.data() + slot * size_;
            std::atomic_ref<uint64_t> head(at[0]);
            uint64_t found = head.load(std::memory_order_acquire);
            bool fresh = found == 0 && claim<W>(at, first, found, state, stride);
            while (found == BUSY) found = head.load(std::memory_order_acquire);
            if (!fresh && !(found == first && same_rest<W>(at, state, stride))) continue;
            return {set(at[words_], bit), fresh};
        }
    }

    // Entries for a sort: `words` words that the states share, the last one shifted, then the bits. The table is empty
    // afterwards; its pages are left in `spare`, at least as large.
    Pages<uint64_t> take_entries(Pages<uint64_t>& spare, int threads) {
        if (bytes() < WORTH_SHARING) threads = 1;
        auto for_each_entry = [&](int t, auto&& body) {
            auto [begin, end] = share(capacity(), t, threads);
            for (size_t i = begin; i < end; ++i)
                if (const uint64_t* entry = slots_.data() + i * size_; *entry != 0) body(entry);
        };
        std::vector<size_t> starts(static_cast<size_t>(threads) + 1);
        run_on_threads(threads, [&](int t) {
            size_t found = 0;
            for_each_entry(t, [&](const uint64_t*) { ++found; });
            starts[static_cast<size_t>(t) + 1] = found;
        });
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        Pages<uint64_t> entries(starts.back() * size_);
        run_on_threads(threads, [&](int t) {
            uint64_t* out = entries.data() + starts[static_cast<size_t>(t)] * size_;
            for_each_entry(t, [&](const uint64_t* entry) {
                *out++ = *entry - 1;
                for (size_t w = 1; w < size_; ++w) *out++ = entry[w];
            });
        });
        spare = std::move(slots_);
        return entries;
    }

    // Give the memory back; nothing else may be called afterwards.
    void release() { slots_ = {}; }

    // The same entries, unsorted, of a table that stays as it is.
    Pages<uint64_t> copy_entries() const {
        Pages<uint64_t> entries(entries_.load() * size_);
        uint64_t* out = entries.data();
        for (size_t i = 0; i < capacity(); ++i) {
            const uint64_t* entry = slots_.data() + i * size_;
            if (*entry == 0) continue;
            *out++ = *entry - 1;
            for (size_t w = 1; w < size_; ++w) *out++ = entry[w];
        }
        return entries;
    }

  private:
    static constexpr uint64_t BUSY = uint64_t{1} << 63;
    static constexpr uint64_t FACTOR = 0x9E3779B97F4A7C15ull;
    static constexpr size_t SMALL = size_t{8} << 20, HUGE = size_t{4} << 20, WORTH_SHARING = size_t{1} << 20;  // bytes

    static uint64_t mix(uint64_t h, uint64_t word) { return ((h << 29 | h >> 35) ^ word) * 0xC2B2AE3D27D4EB4Full; }
    size_t slot_of(uint64_t h) const { return (h ^ h >> 32) * 0xD6E8FEB86659FD93ull >> (64 - log_); }

    // Place an entry of another table that is not here yet, while other threads place others.
    void adopt(const uint64_t* entry) {
        uint64_t h = entry[0] * FACTOR;
        for (size_t w = 1; w < words_; ++w) h = mix(h, entry[w]);
        const size_t last = capacity() - 1;
        for (size_t slot = slot_of(h);; slot = (slot + 1) & last) {
            uint64_t* at = slots_.data() + slot * size_;
            uint64_t empty = 0;
            std::atomic_ref<uint64_t> head(*at);
            if (head.load(std::memory_order_relaxed) != 0) continue;
            if (!head.compare_exchange_strong(empty, entry[0], std::memory_order_relaxed)) continue;
            for (size_t w = 1; w < size_; ++w) at[w] = entry[w];
            return;
        }
    }

    // Try to make an empty entry ours; `found` is what it held if somebody else was quicker.
    template <size_t W>
    bool claim(uint64_t* at, uint64_t first, uint64_t& found, const uint64_t* state, size_t stride) {
        const size_t words_ = W ? W : this->words_;
        auto write_rest = [&] {
            for (size_t w = 1; w < words_; ++w) at[w] = state[w * stride] >> (w + 1 == words_ ? GROUP_BITS : 0);
        };
        if (alone_) {
            write_rest();
            at[0] = first;
            return true;
        }
        std::atomic_ref<uint64_t> head(at[0]);
        if (!head.compare_exchange_strong(found, words_ == 1 ? first : BUSY, std::memory_order_acq_rel)) return false;
        if (words_ > 1) {
            write_rest();
            head.store(first, std::memory_order_release);
        }
        return true;
    }

    template <size_t W>
    bool same_rest(const uint64_t* at, const uint64_t* state, size_t stride) const {
        const size_t words_ = W ? W : this->words_;
        bool same = true;
        for (size_t w = 1; w < words_; ++w) same &= at[w] == state[w * stride] >> (w + 1 == words_ ? GROUP_BITS : 0);
        return same;
    }

    // Whether the bit was not set yet.
    bool set(uint64_t& bits, uint64_t bit) {
        if (alone_) {
            uint64_t old = bits;
            bits = old | bit;
            return !(old & bit);
        }
        std::atomic_ref<uint64_t> shared(bits);
        if (shared.load(std::memory_order_relaxed) & bit) return false;
        return !(shared.fetch_or(bit, std::memory_order_relaxed) & bit);
    }

    size_t words_, size_;  // of a state, of an entry
    int log_;
    bool alone_;
    Pages<uint64_t> slots_;
    std::atomic<size_t> states_{0}, entries_{0};
};

// States from sorted entries, in order.
inline Pages<uint64_t> unfold_entries(const Pages<uint64_t>& entries, size_t words, int threads) {
    const size_t size = words + 1, n = entries.size() / size;
    if (n < 4096) threads = 1;
    std::vector<size_t> starts(static_cast<size_t>(threads) + 1);
    run_on_threads(threads, [&](int t) {
        auto [begin, end] = share(n, t, threads);
        size_t found = 0;
        for (size_t i = begin; i < end; ++i) found += static_cast<size_t>(std::popcount(entries[i * size + words]));
        starts[static_cast<size_t>(t) + 1] = found;
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    Pages<uint64_t> states(starts.back() * words);
    run_on_threads(threads, [&](int t) {
        auto [begin, end] = share(n, t, threads);
        uint64_t* out = states.data() + starts[static_cast<size_t>(t)] * words;
        for (size_t i = begin; i < end; ++i) {
            const uint64_t* entry = entries.data() + i * size;
            for (uint64_t bits = entry[words]; bits; bits &= bits - 1) {
                for (size_t w = 0; w + 1 < words; ++w) *out++ = entry[w];
                *out++ = entry[words - 1] << StateTable::GROUP_BITS | static_cast<uint64_t>(std::countr_zero(bits));
            }
        }
    });
    return states;
}

}  // namespace galton
