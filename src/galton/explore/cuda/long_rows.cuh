// Rows too long for a thread's own memory: listed as they come, sorted by the host, then merged.
//
// The list holds, for each such state, its leaves as (choice, column) in one word and the value. Sorted stably by that
// word, equal targets stand together in the order of the commands, so their sum rounds as it does on the CPU. Leaves of
// probability 0 get a column after all others. Several threads share a state, each with its slice of the leaves.
#pragma once

constexpr u32 NOWHERE = 0xFFFFFFFF;

struct Lister {
    const State& state;
    Table table;
    const i32* numbers;
    u64* keys;
    double* values;
    u64 at, choice;
    Earner earner;
    u16* actions;
    bool& fault;
    bool leads;  // the first of the threads
    u64 before;
    int seen;

    DEVICE_MEMBER void begin() {
        before = at;
        earner.rate = 0;
    }
    DEVICE_MEMBER bool enters(u64) { return true; }
    DEVICE_MEMBER void skip(u64 leaves) { at += leaves; }
    DEVICE_MEMBER void emit(const State& next, double probability) {
        if (CHOICE_STRUCTURES) earner.rate += probability;
        keys[at] = choice << 32 | (probability == 0 ? NOWHERE : (u32)number_of(table, numbers, next));
        values[at++] = probability;
    }
    DEVICE_MEMBER void end(int action) {
        ++seen;
        if (!CHAIN && at == before) return;
        if (!CTMC) earner.rate = 1;  // what other threads saw is not known here, but it is never nothing
        if (CHOICE_STRUCTURES && leads) earner.end(state, action, choice, fault);
        if (CHAIN) return;
        if (leads) actions[choice] = (u16)action;
        ++choice;
    }
};

// `which` numbers the states with long rows, `begins` says where the leaves of each begin in the list.
KERNEL list_long(const u64* states, const i64* which, u64 count, const i64* begins, u64* slots, u64 mask,
                 const i32* numbers, const i32* choice_starts, u64 choices, u64* keys, double* values, double* shares,
                 u16* actions, double* rewards, u64 slices, u64* control) {
    for (u64 t = thread(); t < count * slices; t += threads()) {
        const u64 k = t / slices, i = (u64)which[k];
        const Slice slice{(u32)(t % slices), (u32)slices};
        const State state = load_state(states + i * WORDS);
        bool fault = false;
        Lister lister{state, {slots, mask}, numbers, keys, values, (u64)begins[k], CHAIN ? i : (u64)choice_starts[i],
                      {rewards, choices, 0, {}}, actions, fault, slice.number == 0, 0, 0};
        lister.earner.start();
        expand<false>(state, lister, fault, slice);
        if (lister.leads) {
            shares[k] = DTMC ? (double)lister.seen : 1.0;
            lister.earner.finish(i, shares[k]);
        }
        if (fault) fetch_or(control + FLAGS, FAULT);
    }
}

// Add up equal targets of the sorted list, in place; `lengths` is what remains of each state. One that turns out not to
// move, because all its rates are 0, stays where it is.
KERNEL merge_long(u64* keys, double* values, const i64* which, const i64* begins, u64 count, const double* shares,
                  i32* lengths, u8* deadlocks) {
    for (u64 k = thread(); k < count; k += threads()) {
        const u64 begin = (u64)begins[k], end = (u64)begins[k + 1];
        u64 to = begin;
        for (u64 from = begin; from < end;) {
            const u64 key = keys[from];
            double value = values[from++];
            while (from < end && keys[from] == key) value += values[from++];
            if ((u32)key == NOWHERE) continue;
            keys[to] = key;
            values[to++] = value / shares[k];
        }
        if (CHAIN && to == begin) {
            keys[to] = (u64)which[k] << 32 | (u64)which[k];
            values[to++] = 1;
            deadlocks[which[k]] = 1;
        }
        lengths[k] = (i32)(to - begin);
    }
}

// Copy the merged entries to their places in the matrix; `begins` as in fill_rows, `list_begins` as above.
KERNEL place_long(const u64* keys, const double* list, const i64* list_begins, const i32* lengths, const i64* which,
                  u64 count, void* begins, void* row_starts, u64 wide, i32* columns, void* values, u64 bytes,
                  u64* value_pairs, u32* value_count, u64 value_limit, u64* control) {
    const Entries out{columns, values, bytes, {value_pairs, value_count, (u32)value_limit, control}};
    for (u64 k = thread(); k < count; k += threads()) {
        const u64 begin = (u64)list_begins[k], at = Starts{begins, wide != 0}.get((u64)which[k]);
#pragma unroll 1
        for (u64 j = 0; j < (u64)lengths[k]; ++j) {
            const u64 key = keys[begin + j], choice = key >> 32;
            if (!CHAIN && (j == 0 || keys[begin + j - 1] >> 32 != choice)) Starts{row_starts, wide != 0}.put(choice, at + j);
            out.put(at + j, (i32)(u32)key, list[begin + j]);
        }
    }
}
