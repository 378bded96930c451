// Numbers of states without a list of them: a state's number is how many states of the set come before it.
//
// Groups are sorted, with the sums of their sizes: that gives the state of a number. The number of a state is found
//   by a directory, where all values that a word could have are not many more than states: for each 64 groups that there
//   could be, a bit each and how many come before them. What neighbours look for lies side by side, in all arrays.
//   by a table otherwise: a copy of that which exploration leaves, with the number of a group's first state beside it, in
//   one sector of 32 bytes for states of one or two words. One access to memory, but anywhere.
// That is a few bytes a state, where a list of the states takes 8 WORDS. Numbers have 64 bits.
#pragma once

constexpr int BLOCK_BITS = 8;  // states whose groups are looked for together: 256
constexpr int RANK_SLOT = WORDS <= 2 ? 4 : WORDS + 2;  // words of the group, its members, and the number of the first

struct States {
    const u64* directory;  // or a table
    const u64* table;
    u64 mask;
    const u64* groups;  // sorted: words and members
    const u64* ends;    // of each group, one more than the number of its last state
    const u64* firsts;  // of each block of states, the group of its first; one more block at the end
    u64 n;
};

// A group, as a state that it holds found it.
struct Group {
    State words;
    u64 members, first;

    DEVICE_MEMBER u64 rank(const State& state) const {
        return first + (u64)count_bits(members & ((1ull << member_of(state)) - 1));
    }
};

DEVICE u64 rank_of(const States& set, const State& state) {
    if (WORDS == 1 && set.directory) {
        const u64 group = state.word[0] >> 6;
        u64 present, before;
        load_constant_pair(set.directory + 2 * (group >> 6), present, before);
        const u64 place = before + (u64)count_bits(present & ((1ull << (group & 63)) - 1));
        const u64 members = load_constant(set.groups + place * SLOT + WORDS);
        return load_constant(set.ends + place) - (u64)count_bits(members >> member_of(state));
    }
    Group group;
    group.words = group_of(state);
    group.members = group.first = 0;
    u64 at = hash(group.words);
#pragma unroll 1
    for (u64 probe = 0; probe <= set.mask; ++probe, ++at) {
        const u64* slot = set.table + (at & set.mask) * RANK_SLOT;
        u64 first;
        if (WORDS == 1) load_constant_pair(slot, first, group.members);
        else first = load_constant(slot);
        if (first == 0) break;
        bool same = first == group.words.word[0];
        for (int w = 1; same && w < WORDS; ++w) same = load_constant(slot + w) == group.words.word[w];
        if (!same) continue;
        if (WORDS > 1) group.members = load_constant(slot + WORDS);
        group.first = load_constant(slot + WORDS + 1);
        break;
    }
    return group.rank(state);
}
// The same, beside a group that is known: most commands change few variables, and often the last ones.
DEVICE u64 rank_near(const States& set, const Group& group, const State& state) {
    return group_of(state) == group.words ? group.rank(state) : rank_of(set, state);
}

// The place of the bit before which `before` bits are set.
DEVICE int select_bit(u64 bits, int before) {
    int at = 0;
    for (int width = 32; width; width >>= 1) {
        const int below = count_bits(bits & ((1ull << width) - 1));
        if (before < below) continue;
        before -= below;
        bits >>= width;
        at += width;
    }
    return at;
}

// The state of a number, and its group.
DEVICE State state_at(const States& set, u64 number, Group& found) {
    u64 low = load_constant(set.firsts + (number >> BLOCK_BITS));
    u64 high = load_constant(set.firsts + (number >> BLOCK_BITS) + 1);
    while (low < high) {
        const u64 middle = (low + high) / 2;
        if (load_constant(set.ends + middle) <= number) low = middle + 1;
        else high = middle;
    }
    const u64* group = set.groups + low * SLOT;
    for (int w = 0; w < WORDS; ++w) found.words.word[w] = load_constant(group + w);
    found.members = load_constant(group + WORDS);
    found.first = load_constant(set.ends + low) - (u64)count_bits(found.members);
    State state = found.words;
    state.word[0] &= ~PRESENT;
    state.word[WORDS - 1] |= (u64)select_bit(found.members, (int)(number - found.first));
    return state;
}
DEVICE State state_at(const States& set, u64 number) {
    Group group;
    return state_at(set, number, group);
}

#define SET_PARAMETERS                                                                                               \
    const u64 *directory, const u64 *table, u64 mask, const u64 *groups, const u64 *ends, const u64 *firsts, u64 n
#define SET {directory, table, mask, groups, ends, firsts, n}

// For each block of states its first group. `ends` sums the sizes of groups.
KERNEL find_firsts(const u64* groups, const u64* ends, u64 count, u64* firsts) {
    for (u64 g = thread(); g < count; g += threads()) {
        const u64 begin = ends[g] - (u64)count_bits(groups[g * SLOT + WORDS]);
        for (u64 block = (begin + (1 << BLOCK_BITS) - 1) >> BLOCK_BITS; block << BLOCK_BITS < ends[g]; ++block)
            firsts[block] = g;
    }
}

// The directory; it is empty before.
KERNEL make_directory(const u64* groups, u64 count, u64* directory) {
    for (u64 g = thread(); g < count; g += threads()) {
        const u64 group = (groups[g * SLOT] & ~PRESENT) >> 6;
        fetch_or(directory + 2 * (group >> 6), 1ull << (group & 63));
        if (g == 0 || ((groups[(g - 1) * SLOT] & ~PRESENT) >> 12) != group >> 6) directory[2 * (group >> 6) + 1] = g;
    }
}

// The table; `order` has the slots of groups.
KERNEL make_table(const i64* order, const u64* groups, const u64* ends, u64 count, u64* table) {
    for (u64 g = thread(); g < count; g += threads()) {
        u64* slot = table + order[g] * RANK_SLOT;
        for (int w = 0; w < SLOT; ++w) slot[w] = groups[g * SLOT + w];
        slot[SLOT] = ends[g] - (u64)count_bits(groups[g * SLOT + WORDS]);
    }
}

// The numbers of given states.
KERNEL find_ranks(SET_PARAMETERS, const u64* wanted, u64 count, u64* found) {
    const States set SET;
    for (u64 i = thread(); i < count; i += threads()) found[i] = rank_of(set, load_state(wanted + i * WORDS));
}

// The states of given numbers.
KERNEL list_states(SET_PARAMETERS, const u64* wanted, u64 count, u64* found) {
    const States set SET;
    for (u64 i = thread(); i < count; i += threads()) store_state(found + i * WORDS, state_at(set, wanted[i]));
}
