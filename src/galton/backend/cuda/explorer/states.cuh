// From the table to numbered states. The host sorts the groups; these kernels give their members numbers.
#pragma once

// The slots that hold a group, in no order; they are only counted where there is no list to write.
KERNEL list_groups(const u64* slots, u64 capacity, i64* used, u64* count) {
    for (u64 s = thread(); s < capacity; s += threads()) {
        if (!slots[s * SLOT]) continue;
        const u64 place = fetch_add(count, 1);
        if (used) used[place] = (i64)s;
    }
}

// How many states each group has; `order` lists the slots by value.
KERNEL measure_groups(const u64* slots, const i64* order, u64 groups, i32* sizes) {
    for (u64 g = thread(); g < groups; g += threads()) sizes[g] = count_bits(slots[order[g] * SLOT + WORDS]);
}

// Write the states in order, and for each slot the number of its first state; `ends` sums the sizes. Thirty-two threads
// share a group, two members each: what they write lies side by side.
KERNEL unfold_groups(const u64* slots, const i64* order, const i32* ends, u64 groups, u64* states, i32* numbers) {
    for (u64 i = thread(); i < 32 * groups; i += threads()) {
        const u64 g = i >> 5;
        const u64* slot = slots + order[g] * SLOT;
        const u64 members = slot[WORDS];
        const u64 begin = g == 0 ? 0 : (u64)ends[g - 1];
        const int lane = (int)(i & 31);
        if (lane == 0) numbers[order[g]] = (i32)begin;
        for (int member = lane; member < 64; member += 32) {
            if (!(members >> member & 1)) continue;
            State state = load_state(slot);
            state.word[0] &= ~PRESENT;
            state.word[WORDS - 1] |= (u64)member;
            store_state(states + (begin + count_bits(members & ((1ull << member) - 1))) * WORDS, state);
        }
    }
}

DEVICE i32 number_of(const Table& table, const i32* numbers, const State& state) {
    u64 members = 0;
    const u64 slot = find_slot(table, state, members);
    return load_constant(numbers + slot) + count_bits(members & ((1ull << member_of(state)) - 1));
}

// The numbers of given states.
KERNEL find_numbers(u64* slots, u64 mask, const i32* numbers, const u64* wanted, u64 count, i32* found) {
    for (u64 i = thread(); i < count; i += threads())
        found[i] = number_of({slots, mask}, numbers, load_state(wanted + i * WORDS));
}
