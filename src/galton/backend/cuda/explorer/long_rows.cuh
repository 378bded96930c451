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
    int n_choices;

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
        ++n_choices;
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
            shares[k] = DTMC ? (double)lister.n_choices : 1.0;
            lister.earner.finish(i, shares[k]);
        }
        if (fault) fetch_or(control + FLAGS, FAULT);
    }
}

// The part of a list in which place i lies: parts begin where `begins` says, and none is empty.
DEVICE u64 part_at(const i64* begins, u64 count, u64 i) {
    u64 low = 0, high = count;
    while (high - low > 1) {
        const u64 middle = (low + high) / 2;
        if ((u64)begins[middle] <= i) low = middle;
        else high = middle;
    }
    return low;
}

// Which leaves of the sorted list begin an entry of the matrix: the first of each target. A state of a chain that turns
// out not to move, because all its rates are 0, keeps one for its loop.
KERNEL mark_runs(const u64* keys, u64 total, const i64* begins, u64 count, i32* heads) {
    for (u64 i = thread(); i < total; i += threads()) {
        bool head = i == 0 || keys[i] != keys[i - 1];
        if (head && (u32)keys[i] == NOWHERE) head = CHAIN && (u64)begins[part_at(begins, count, i)] == i;
        heads[i] = head;
    }
}

// Add up the leaves of each entry; `ends` sums the marks.
KERNEL merge_runs(const u64* keys, const double* values, u64 total, const i32* heads, const i64* ends, const i64* which,
                  const i64* begins, u64 count, const double* shares, u64* entry_keys, double* entry_values,
                  u8* deadlocks, const u64* states, u64* slots, u64 mask, const i32* numbers) {
    for (u64 i = thread(); i < total; i += threads()) {
        if (!heads[i]) continue;
        const u64 part = part_at(begins, count, i), to = (u64)ends[i] - 1, key = keys[i];
        if ((u32)key == NOWHERE) {
            const u64 home = (u64)which[part];
            u64 target = home;
            if (READING) target = (u64)number_of({slots, mask}, numbers, read_state(load_state(states + home * WORDS)));
            entry_keys[to] = home << 32 | target;
            entry_values[to] = 1;
            deadlocks[which[part]] = 1;
            continue;
        }
        double value = values[i];
        for (u64 next = i + 1; next < total && keys[next] == key; ++next) value += values[next];
        entry_keys[to] = key;
        entry_values[to] = value / shares[part];
    }
}

// Finish the rows: one thread each, that of its first entry. `list_begins` is where each state's entries begin.
KERNEL finish_long(const u64* keys, double* values, u64 total, const i64* list_begins, const i64* which, u64 count,
                   u64* control) {
    for (u64 i = thread(); i < total; i += threads()) {
        const u64 choice = keys[i] >> 32;
        if (i > 0 && keys[i - 1] >> 32 == choice) continue;
        u64 end = i + 1;
        while (end < total && keys[end] >> 32 == choice) ++end;
        bool fault = false;
        finish_row(values + i, end - i, (u64)which[part_at(list_begins, count, i)], control, fault);
        if (fault) fetch_or(control + FLAGS, FAULT);
    }
}

// Copy the entries to their places in the matrix; `begins` as in fill_rows, `list_begins` of each state in the list.
KERNEL place_long(const u64* keys, const double* list, u64 total, const i64* list_begins, const i64* which, u64 count,
                  void* begins, void* row_starts, u64 wide, i32* columns, void* values, u64 bytes, u64* value_pairs,
                  u32* value_count, u64 value_limit, u64* control) {
    const Entries out{columns, values, bytes, {value_pairs, value_count, (u32)value_limit, control}};
    for (u64 i = thread(); i < total; i += threads()) {
        const u64 part = part_at(list_begins, count, i), choice = keys[i] >> 32;
        const u64 at = Starts{begins, wide != 0}.get((u64)which[part]) + i - (u64)list_begins[part];
        if (!CHAIN && (i == 0 || keys[i - 1] >> 32 != choice)) Starts{row_starts, wide != 0}.put(choice, at);
        out.put(at, (i32)(u32)keys[i], list[i]);
    }
}
