// Rows too long for a thread's own memory: listed as they come, sorted by the host, then merged.
//
// The list holds, for each such state, its entries as (choice, column) in one word and the value. Sorted stably by that
// word, equal targets stand together in the order of the commands, so their sum rounds as it does on the CPU.
#pragma once

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
    u64 before;
    int seen;

    DEVICE_MEMBER void begin() {
        before = at;
        earner.rate = 0;
    }
    DEVICE_MEMBER void emit(const State& next, double probability) {
        if (CHOICE_STRUCTURES) earner.rate += probability;
        if (probability == 0) return;
        keys[at] = choice << 32 | (u32)number_of(table, numbers, next);
        values[at++] = probability;
    }
    DEVICE_MEMBER void end(int action) {
        ++seen;
        if (!CHAIN && at == before) return;
        if (CHOICE_STRUCTURES) earner.end(state, action, choice, fault);
        if (CHAIN) return;
        if (actions) actions[choice] = (u16)action;
        ++choice;
    }
};

// `which` numbers the states with long rows, `begins` says where the entries of each begin in the list.
KERNEL list_long(const u64* states, const i64* which, u64 count, const i64* begins, u64* slots, u64 mask,
                 const i32* numbers, const i32* choice_starts, u64 choices, u64* keys, double* values, double* shares,
                 u16* actions, double* rewards, u64* control) {
    for (u64 k = thread(); LONG_POSSIBLE && k < count; k += threads()) {
        const u64 i = (u64)which[k];
        const State state = load_state(states + i * WORDS);
        bool fault = false;
        Lister lister{state, {slots, mask}, numbers, keys, values, (u64)begins[k], CHAIN ? i : (u64)choice_starts[i],
                      {rewards, choices, 0, {}}, actions, fault, 0, 0};
        lister.earner.start();
        expand<false>(state, lister, fault);
        shares[k] = DTMC ? (double)lister.seen : 1.0;
        lister.earner.finish(i, shares[k]);
        if (fault) fetch_or(control + FLAGS, FAULT);
    }
}

// Add up equal targets of the sorted list, in place; `lengths` is what remains of each state.
KERNEL merge_long(u64* keys, double* values, const i64* begins, u64 count, const double* shares, i32* lengths) {
    for (u64 k = thread(); k < count; k += threads()) {
        const u64 begin = (u64)begins[k], end = (u64)begins[k + 1];
        u64 to = begin;
        for (u64 from = begin; from < end;) {
            const u64 key = keys[from];
            double value = values[from++];
            while (from < end && keys[from] == key) value += values[from++];
            keys[to] = key;
            values[to++] = value / shares[k];
        }
        lengths[k] = (i32)(to - begin);
    }
}

// Copy the merged entries to their places in the matrix; `begins` as in fill_rows, `list_begins` as above.
KERNEL place_long(const u64* keys, const double* list, const i64* list_begins, const i32* lengths, const i64* which,
                  u64 count, void* begins, void* row_starts, u64 wide, i32* columns, void* values, u64 bytes,
                  u64* value_bits, u32* value_codes, u32* value_count, u64 value_limit, u64* control) {
    const Entries out{columns, values, bytes, {value_bits, value_codes, value_count, (u32)value_limit, control}};
    for (u64 k = thread(); k < count; k += threads()) {
        const u64 begin = (u64)list_begins[k], at = Starts{begins, wide != 0}.get((u64)which[k]);
        for (u64 j = 0; j < (u64)lengths[k]; ++j) {
            const u64 key = keys[begin + j], choice = key >> 32;
            if (!CHAIN && (j == 0 || keys[begin + j - 1] >> 32 != choice)) Starts{row_starts, wide != 0}.put(choice, at + j);
            out.put(at + j, (i32)(u32)key, list[begin + j]);
        }
    }
}
