// The table of known states: open addressing over groups of 64 neighbours, states that differ in their last six bits.
//
// A slot holds the words of the group and a bit for each member. Real models fill their groups well (25 of 64 for the
// shared coin, almost all for queues), so the table is a few bytes a state, small enough for the second-level cache
// where one of whole states is not; and only groups have to be sorted. Memory that is all zero is an empty table.
#pragma once

constexpr u64 PRESENT = 1ull << 63;  // in the first word of a slot in use; layout.py keeps both bits free
constexpr u64 BUSY = 1ull << 62;     // its other words are being written
constexpr int SLOT = WORDS + 1;
constexpr int LONGEST_PROBE = 128;   // slots; a table that would need more is too full

struct Table {
    u64* slots;
    u64 mask;  // the number of slots, a power of two, less one
};

enum Outcome { KNOWN, NEW, FULL };

DEVICE int member_of(const State& state) { return (int)(state.word[WORDS - 1] & 63); }
DEVICE State group_of(State state) {
    state.word[WORDS - 1] &= ~63ull;
    state.word[0] |= PRESENT;
    return state;
}
DEVICE u64 hash(const State& group) {
    u64 h = 0;
    for (int w = 0; w < WORDS; ++w) {
        h = (h ^ group.word[w]) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 32;
    }
    h *= 0xD6E8FEB86659FD93ull;
    return h ^ h >> 29;
}

// Make sure a slot belongs to a group: true if it does now. `members` is what is known to be there.
DEVICE bool claim(u64* slot, const State& group, u64& members, bool& fresh) {
    members = 0;
    if (WORDS == 1) {
        u64 first;
        load_pair(slot, first, members);
        if (first == 0) {
            first = swap_if(slot, 0, group.word[0]);
            fresh = first == 0;
            if (fresh) return true;
        }
        return first == group.word[0];
    }
    u64 first = load_acquire(slot);
    if (first == 0) {
        first = swap_if(slot, 0, BUSY);
        if (first == 0) {
            for (int w = 1; w < WORDS; ++w) slot[w] = group.word[w];
            store_release(slot, group.word[0]);
            fresh = true;
            return true;
        }
    }
    while (first == BUSY) first = load_acquire(slot);
    bool same = first == group.word[0];
    for (int w = 1; same && w < WORDS; ++w) same = load_fresh(slot + w) == group.word[w];
    if (same) members = load_fresh(slot + WORDS);
    return same;
}

// Add a state; `groups` counts the groups that had to be added for it.
DEVICE Outcome insert(const Table& table, const State& state, u32& groups) {
    const State group = group_of(state);
    const u64 bit = 1ull << member_of(state);
    u64 at = hash(group);
#pragma unroll 1
    for (int probe = 0; probe < LONGEST_PROBE; ++probe, ++at) {
        u64* slot = table.slots + (at & table.mask) * SLOT;
        u64 members;
        bool fresh = false;
        if (!claim(slot, group, members, fresh)) continue;
        groups += fresh;
        if (members & bit) return KNOWN;
        return fetch_or(slot + WORDS, bit) & bit ? KNOWN : NEW;
    }
    return FULL;
}

// The slot of a known state's group, while nothing is written; the number of slots if it is not there.
DEVICE u64 find_slot(const Table& table, const State& state, u64& members) {
    const State group = group_of(state);
    u64 at = hash(group);
#pragma unroll 1
    for (u64 probe = 0; probe <= table.mask; ++probe, ++at) {
        const u64 number = at & table.mask;
        const u64* slot = table.slots + number * SLOT;
        if (WORDS == 1) {
            u64 first;
            load_constant_pair(slot, first, members);
            if (first == group.word[0]) return number;
            if (first == 0) break;
            continue;
        }
        const u64 first = load_constant(slot);
        if (first == 0) break;
        bool same = first == group.word[0];
        for (int w = 1; same && w < WORDS; ++w) same = load_constant(slot + w) == group.word[w];
        if (!same) continue;
        members = load_constant(slot + WORDS);
        return number;
    }
    return table.mask + 1;
}

// Forget a state that was just added, so that it will be found anew.
DEVICE void forget(const Table& table, const State& state) {
    const State group = group_of(state);
    u64 at = hash(group);
#pragma unroll 1
    for (int probe = 0; probe < LONGEST_PROBE; ++probe, ++at) {
        u64* slot = table.slots + (at & table.mask) * SLOT;
        bool same = true;
        for (int w = 0; same && w < WORDS; ++w) same = load_fresh(slot + w) == group.word[w];
        if (!same) continue;
        fetch_and(slot + WORDS, ~(1ull << member_of(state)));
        return;
    }
}

// Copy all groups to a larger table, which is empty. No two are the same, so an empty slot is all they need.
KERNEL move_groups(const u64* from, u64 slots, u64* to, u64 mask) {
    for (u64 i = thread(); i < slots; i += threads()) {
        const u64* slot = from + i * SLOT;
        if (slot[0] == 0) continue;
        for (u64 at = hash(load_state(slot));; ++at) {
            u64* target = to + (at & mask) * SLOT;
            if (swap_if(target, 0, slot[0]) != 0) continue;
            for (int w = 1; w < SLOT; ++w) target[w] = slot[w];
            break;
        }
    }
}
