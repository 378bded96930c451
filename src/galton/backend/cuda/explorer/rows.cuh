// The matrix: first how long its rows are, then the rows.
//
// Execution plan: a thread a state, states in order, so that what neighbours read and write is close together. A row is
// collected in the thread's own memory. Counting needs no look-up: successors are compared as states. Filling looks them
// up and keeps the row sorted by column; equal targets are added up in the order of the commands, as the CPU does it.
// Finished rows wait in shared memory, and the block writes them in whole lines: one by one, each entry and each choice
// would cost as much as a look-up.
// The rows of a state that has one longer than LONGEST_ROW are left to long_rows.cuh.
#pragma once

// What choices earn. A chain's state earns the sum over its choices, weighted by their rates in a CTMC.
struct Earner {
    double* out;  // structure by structure, a number for each choice
    u64 choices;
    double rate;
    double sums[CHOICE_STRUCTURES + 1];

    DEVICE_MEMBER void start() {
        for (int s = 0; CHAIN && s < CHOICE_STRUCTURES; ++s) sums[s] = 0;
    }
    DEVICE_MEMBER void end(const State& state, int action, u64 choice, bool& fault) {
        for (int s = 0; s < CHOICE_STRUCTURES; ++s) {
            const double reward = choice_reward(action, s, state, rate != 0, fault);
            if (CHAIN) sums[s] += reward * (CTMC ? rate : 1.0);
            else out[s * choices + choice] = reward;
            if (rate != 0 && !is_finite(CHAIN ? sums[s] : reward)) fault = true;
        }
    }
    DEVICE_MEMBER void finish(u64 state, double share) {
        for (int s = 0; CHAIN && s < CHOICE_STRUCTURES; ++s) out[s * choices + state] = sums[s] / share;
    }
    DEVICE_MEMBER void no_choice(u64 choice) {
        for (int s = 0; s < CHOICE_STRUCTURES; ++s) out[s * choices + choice] = 0;
    }
};

struct Counter {
    State row[LONGEST_ROW];
    int used = 0, entries = 0, choices = 0;
    u64 leaves = 0, before = 0;
    bool too_long = false, emitted = false;

    DEVICE_MEMBER void begin() {
        if (CHAIN) return;
        used = 0;
        before = leaves;
    }
    DEVICE_MEMBER bool enters(u64 more) {
        if (!CHAIN && more == 1) {  // probabilities sum to 1: it happens, whatever it is
            used = 1;
            emitted = true;
            return false;
        }
        too_long |= more > LONGEST_ROW;
        return more <= LONGEST_ROW;
    }
    DEVICE_MEMBER void skip(u64 more) { leaves += more; }
    DEVICE_MEMBER void emit(const State& state, double probability) {
        ++leaves;
        if (probability == 0) return;
        emitted = true;
        for (int k = 0; k < used; ++k)
            if (row[k] == state) return;
        if (used < LONGEST_ROW) row[used++] = state;
        else too_long = true;
    }
    DEVICE_MEMBER void end(int) {
        if (CHAIN) return;
        choices += used > 0 || leaves - before > LONGEST_ROW;
        entries += used;
    }
};

// For each state its choices and entries (less than zero, and with every leaf counted, if a row is too long), whether it
// cannot move, its labels and its rewards.
KERNEL count_rows(const u64* states, u64 n, i32* choices, i32* entries, u8* deadlocks, u8* labels, double* rewards,
                  u64* control) {
    for (u64 i = thread(); i < n; i += threads()) {
        const State state = load_state(states + i * WORDS);
        bool fault = false;
        Counter counter;
        const bool active = expand<false>(state, counter, fault, whole());
        if (CHAIN) counter.entries = counter.used;
        const bool stuck = !counter.emitted && !counter.too_long;
        deadlocks[i] = stuck && active;
        if (!CHAIN) choices[i] = stuck ? 1 : counter.choices;
        entries[i] = stuck ? 1 : counter.too_long ? -(i32)counter.leaves : counter.entries;
        if (counter.leaves > 0x7FFFFFFF) fault = true;  // no device has the memory
        find_labels(state, labels + i, n, fault);
        find_state_rewards(state, rewards + i, n, fault);
        if (fault) fetch_or(control + FLAGS, FAULT);
        if (LONG_POSSIBLE && counter.too_long) fetch_or(control + FLAGS, LONG_ROWS);
    }
}

// Where rows begin, in 32 or 64 bits.
struct Starts {
    void* at;
    bool wide;
    DEVICE_MEMBER u64 get(u64 i) const { return wide ? (u64)((const i64*)at)[i] : (u64)((const i32*)at)[i]; }
    DEVICE_MEMBER void put(u64 i, u64 value) const {
        if (wide) ((i64*)at)[i] = (i64)value;
        else ((i32*)at)[i] = (i32)value;
    }
};

// What the states of a block contribute, if it fits; where it does not, they write to memory themselves.
struct Stage {
    i32 columns[STAGE_ENTRIES];
    u16 codes[STAGE_ENTRIES];
    i32 row_starts[STAGE_CHOICES];  // from the first entry of the block
    u16 actions[STAGE_CHOICES];
};

struct Output {
    Entries entries;
    Starts row_starts;
    u16* actions;
    Stage& stage;
    bool staged;
    u64 first_entry, first_choice;  // of the block

    DEVICE_MEMBER void put(u64 at, i32 column, double value) const {
        if (!staged) return entries.put(at, column, value);
        stage.columns[at - first_entry] = column;
        stage.codes[at - first_entry] = (u16)code_of(entries.dictionary, value);
    }
    DEVICE_MEMBER void put_choice(u64 choice, u64 at, int action) const {
        if (CHAIN) return;
        if (staged) {
            stage.row_starts[choice - first_choice] = (i32)(at - first_entry);
            stage.actions[choice - first_choice] = (u16)action;
        } else {
            row_starts.put(choice, at);
            actions[choice] = (u16)action;
        }
    }
    // The whole block: write what it has collected.
    DEVICE_MEMBER void flush(u64 end_entry, u64 end_choice) const {
        if (!staged) return;
        meet_block();
        for (u64 k = block_thread(); k < end_entry - first_entry; k += block_threads())
            entries.put_code(first_entry + k, stage.columns[k], stage.codes[k]);
        for (u64 k = block_thread(); !CHAIN && k < end_choice - first_choice; k += block_threads()) {
            row_starts.put(first_choice + k, first_entry + (u64)stage.row_starts[k]);
            actions[first_choice + k] = stage.actions[k];
        }
        meet_block();
    }
};

struct Filler {
    const State& state;
    u64 number;  // of the state
    u64* control;
    Table table;
    const i32* numbers;
    const Output& out;
    u64 choice, at;  // where the row at hand goes
    Earner earner;
    bool& fault;
    int used, n_choices;
    i32 columns[LONGEST_ROW];
    double values[LONGEST_ROW];

    DEVICE_MEMBER void begin() {
        if (!CHAIN) used = 0;
        earner.rate = 0;
    }
    DEVICE_MEMBER bool enters(u64) { return true; }
    DEVICE_MEMBER void skip(u64) {}
    DEVICE_MEMBER void emit(const State& next, double probability) {
        if (CHOICE_STRUCTURES) earner.rate += probability;
        if (probability != 0) add(number_of(table, numbers, next), probability);
    }
    // Into its place in the row, after those of smaller columns.
    DEVICE_MEMBER void add(i32 column, double probability) {
        int k = used;
        while (k > 0 && columns[k - 1] > column) --k;
        if (k > 0 && columns[k - 1] == column) {
            values[k - 1] += probability;
            return;
        }
        for (int j = used; j > k; --j) {
            columns[j] = columns[j - 1];
            values[j] = values[j - 1];
        }
        columns[k] = column;
        values[k] = probability;
        ++used;
    }
    DEVICE_MEMBER void end(int action) {
        ++n_choices;
        if (!CHAIN && used == 0) return;
        if (CHOICE_STRUCTURES) earner.end(state, action, choice, fault);
        if (!CHAIN) write(action, 1.0);
    }
    DEVICE_MEMBER void write(int action, double share) {
        out.put_choice(choice, at, action);
#pragma unroll 1
        for (int k = 0; DTMC && k < used; ++k) values[k] /= share;
        finish_row(values, used, number, control, fault);
#pragma unroll 1
        for (int k = 0; k < used; ++k) out.put(at + k, columns[k], values[k]);
        at += used;
        ++choice;
    }
    // A state that cannot move stays where it is, for ever; an automaton that reads it goes on.
    DEVICE_MEMBER void finish(u64 first, bool active) {
        const bool stuck = CHAIN ? used == 0 : at == first;
        if (stuck) {
            used = 0;
            n_choices = 1;
            add(READING && active ? number_of(table, numbers, read_state(state)) : (i32)number, 1.0);
            if (!CHAIN) earner.no_choice(choice);
        }
        const double share = DTMC ? (double)n_choices : 1.0;
        earner.finish(number, share);
        if (CHAIN || stuck) write(0, share);
    }
};

// The rows, in their places. `begins` is where each state's entries begin: of a chain the row starts themselves.
// States marked as long are left out.
KERNEL fill_rows(const u64* states, u64 n, u64* slots, u64 mask, const i32* numbers, const i32* choice_starts,
                 void* begins, void* row_starts, u64 wide, u64 choices, i32* columns, void* values, u64 bytes,
                 u64* value_pairs, u32* value_count, u64 value_limit, u16* actions, double* rewards,
                 const u8* is_long, u64* control) {
    SHARED Stage stage;
    const Starts starts{begins, wide != 0};
    const Entries entries{columns, values, bytes, {value_pairs, value_count, (u32)value_limit, control}};
    for (u64 first = u64{block()} * block_threads(); first < n; first += threads()) {
        const u64 end = first + block_threads() < n ? first + block_threads() : n, i = first + block_thread();
        const u64 first_entry = starts.get(first), end_entry = starts.get(end);
        const u64 first_choice = CHAIN ? 0 : (u64)choice_starts[first], end_choice = CHAIN ? 0 : (u64)choice_starts[end];
        const bool staged = bytes < 8 && !is_long && end_entry - first_entry <= STAGE_ENTRIES &&
                            end_choice - first_choice <= STAGE_CHOICES;
        const Output out{entries, {row_starts, wide != 0}, actions, stage, staged, first_entry, first_choice};
        const bool hopeless = bytes < 8 && control[FLAGS] & TOO_MANY_VALUES;
        if (i < n && !hopeless && !(LONG_POSSIBLE && is_long && is_long[i])) {
            const State state = load_state(states + i * WORDS);
            bool fault = false;
            Filler filler{state, i, control, {slots, mask}, numbers, out, CHAIN ? i : (u64)choice_starts[i], starts.get(i),
                          {rewards, choices, 0, {}}, fault, 0, 0};
            filler.earner.start();
            const bool active = expand<false>(state, filler, fault, whole());
            filler.finish(starts.get(i), active);
            if (fault) fetch_or(control + FLAGS, FAULT);
        }
        out.flush(end_entry, end_choice);
    }
}
