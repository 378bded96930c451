// The matrix: first how long its rows are, then the rows.
//
// Execution plan: a thread a state, states in order, so that what neighbours read and write is close together. A row is
// collected in the thread's own memory. Counting needs no look-up: successors are compared as states. Filling looks them
// up and keeps the row sorted by column; equal targets are added up in the order of the commands, as the CPU does it.
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
    int used = 0, emitted = 0, before = 0, entries = 0, choices = 0;
    bool too_long = false;

    DEVICE_MEMBER void begin() {
        if (CHAIN) return;
        used = 0;
        before = emitted;
    }
    DEVICE_MEMBER void emit(const State& state, double probability) {
        if (probability == 0) return;
        ++emitted;
        for (int k = 0; k < used; ++k)
            if (row[k] == state) return;
        if (used < LONGEST_ROW) row[used++] = state;
        else too_long = true;
    }
    DEVICE_MEMBER void end(int) {
        if (CHAIN) return;
        choices += emitted != before;
        entries += used;
    }
};

// For each state its choices and entries (less than zero, and with equal targets counted each, if a row is too long),
// whether it cannot move, its labels and its rewards.
KERNEL count_rows(const u64* states, u64 n, i32* choices, i32* entries, u8* deadlocks, u8* labels, double* rewards,
                  u64* control) {
    for (u64 i = thread(); i < n; i += threads()) {
        const State state = load_state(states + i * WORDS);
        bool fault = false;
        Counter counter;
        const bool active = expand<false>(state, counter, fault);
        if (CHAIN) counter.entries = counter.used;
        const bool stuck = counter.emitted == 0;
        deadlocks[i] = stuck && active;
        if (!CHAIN) choices[i] = stuck ? 1 : counter.choices;
        entries[i] = stuck ? 1 : counter.too_long ? -counter.emitted : counter.entries;
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

struct Filler {
    const State& state;
    Table table;
    const i32* numbers;
    const Entries& out;
    Starts row_starts;
    u64 choice, at;  // where the row at hand goes
    Earner earner;
    bool& fault;
    i32 columns[LONGEST_ROW];
    double values[LONGEST_ROW];
    int used, seen;

    DEVICE_MEMBER void begin() {
        if (!CHAIN) used = 0;
        earner.rate = 0;
    }
    DEVICE_MEMBER void emit(const State& next, double probability) {
        if (CHOICE_STRUCTURES) earner.rate += probability;
        if (probability == 0) return;
        const i32 column = number_of(table, numbers, next);
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
        ++seen;
        if (!CHAIN && used == 0) return;
        if (CHOICE_STRUCTURES) earner.end(state, action, choice, fault);
        if (CHAIN) return;
        if (out_actions) out_actions[choice] = (u16)action;
        write(1.0);
    }
    DEVICE_MEMBER void write(double share) {
        if (!CHAIN) row_starts.put(choice, at);
        for (int k = 0; k < used; ++k) out.put(at + k, columns[k], values[k] / share);
        at += used;
        ++choice;
    }
    u16* out_actions;
};

// The rows, in their places. `begins` is where each state's entries begin: of a chain the row starts themselves.
// Rows of states marked as long are there already.
KERNEL fill_rows(const u64* states, u64 n, u64* slots, u64 mask, const i32* numbers, const i32* choice_starts,
                 void* begins, void* row_starts, u64 wide, u64 choices, i32* columns, void* values, u64 bytes,
                 u64* value_bits, u32* value_codes, u32* value_count, u64 value_limit, u16* actions, double* rewards,
                 const u8* is_long, u64* control) {
    const Entries out{columns, values, bytes, {value_bits, value_codes, value_count, (u32)value_limit, control}};
    for (u64 i = thread(); i < n; i += threads()) {
        if (LONG_POSSIBLE && is_long && is_long[i]) continue;
        if (bytes < 8 && control[FLAGS] & TOO_MANY_VALUES) return;
        const State state = load_state(states + i * WORDS);
        bool fault = false;
        Filler filler{state,
                      {slots, mask},
                      numbers,
                      out,
                      {row_starts, wide != 0},
                      CHAIN ? i : (u64)choice_starts[i],
                      Starts{begins, wide != 0}.get(i),
                      {rewards, choices, 0, {}},
                      fault};
        filler.used = filler.seen = 0;
        filler.out_actions = actions;
        filler.earner.start();
        const u64 first = filler.at;
        expand<false>(state, filler, fault);
        const bool stuck = CHAIN ? filler.used == 0 : filler.at == first;
        if (stuck) {
            filler.columns[0] = (i32)i;
            filler.values[0] = 1.0;
            filler.used = 1;
            filler.seen = 1;
            if (!CHAIN && actions) actions[filler.choice] = 0;
            if (!CHAIN) filler.earner.no_choice(filler.choice);
        }
        if (CHAIN) filler.earner.finish(i, DTMC ? (double)filler.seen : 1.0);
        if (CHAIN || stuck) filler.write(DTMC ? (double)filler.seen : 1.0);
        if (fault) fetch_or(control + FLAGS, FAULT);
    }
}
