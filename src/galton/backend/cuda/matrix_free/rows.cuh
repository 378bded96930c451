// The rows of one state, computed anew whenever somebody needs them: the same entries, to the last bit, as fill_rows
// (explorer/rows.cuh) would have written, with their columns as ranks.
//
// A consumer has
//   row(row, of_state, of_choice)     each choice of the state, with what the state and the choice earn; of a chain one
#pragma once

constexpr u64 NEGATIVE = 32, TOO_LONG = 64;  // flags: some reward is below zero; some row is longer than a thread keeps

struct Row {
    const u64* columns;
    const double* values;
    int size;
};

template <class Consumer>
struct Rows {
    const State& state;
    u64 number;
    const States& set;
    const Group& group;
    Consumer& consumer;
    u64* control;
    bool& fault;
    double of_state = 0, earned = 0, rate = 0;
    int used = 0, n_choices = 0;
    bool emitted = false;
    u64 columns[MOST_ENTRIES];
    double values[MOST_ENTRIES];

    // The arrays are left as they are: to clear them would take longer than most rows.
    DEVICE_MEMBER Rows(const State& state, u64 number, const States& set, const Group& group, Consumer& consumer,
                       u64* control, bool& fault)
        : state(state), number(number), set(set), group(group), consumer(consumer), control(control), fault(fault) {}

    DEVICE_MEMBER void begin() {
        if (!CHAIN) used = 0;
        rate = 0;
    }
    DEVICE_MEMBER bool enters(u64) { return true; }
    DEVICE_MEMBER void skip(u64) {}
    DEVICE_MEMBER void emit(const State& next, double probability) {
        if (EARNING_CHOICES) rate += probability;
        if (probability != 0) add(rank_near(set, group, next), probability);
    }
    // Equal targets are added up in the order of the commands, and finish_row adds in the order of the columns.
    DEVICE_MEMBER void add(u64 column, double probability) {
        int k = used;
        while (k > 0 && columns[k - 1] > column) --k;
        if (k > 0 && columns[k - 1] == column) {
            values[k - 1] += probability;
            return;
        }
        if (used == MOST_ENTRIES) {
            fetch_or(control + FLAGS, TOO_LONG);
            return;
        }
        for (int j = used; j > k; --j) {
            columns[j] = columns[j - 1];
            values[j] = values[j - 1];
        }
        columns[k] = column;
        values[k] = probability;
        ++used;
        emitted = true;
    }
    DEVICE_MEMBER void end(int action) {
        ++n_choices;
        if (!CHAIN && used == 0) return;
        const double reward = EARNING_CHOICES ? choice_reward(action, 0, state, rate != 0, fault) : 0.0;
        if (rate != 0 && !is_finite(reward)) fault = true;
        if (CHAIN) earned += reward;
        else finish(1.0, reward);
    }
    DEVICE_MEMBER void finish(double share, double reward) {
#pragma unroll 1
        for (int k = 0; DTMC && k < used; ++k) values[k] /= share;
        finish_row(values, (u64)used, number < 0xFFFFFFFF ? number : 0xFFFFFFFF, control, fault);
        if (reward < 0 || of_state < 0) fetch_or(control + FLAGS, NEGATIVE);
        consumer.row(Row{columns, values, used}, of_state, reward);
    }
    DEVICE_MEMBER void all() {
        if (EARNING_STATES) find_state_rewards(state, &of_state, 1, fault);
        const bool active = expand<false>(state, *this, fault, whole());
        if (!emitted) {
            used = 0;
            n_choices = 1;
            earned = 0;
            add(READING && active ? rank_of(set, read_state(state)) : number, 1.0);
            finish(1.0, 0.0);
        } else if (CHAIN) {
            const double share = DTMC ? (double)n_choices : 1.0;
            finish(share, earned / share);
        }
        if (fault) fetch_or(control + FLAGS, FAULT);
    }
};

// All rows of the state with a number go to the consumer.
template <class Consumer>
DEVICE void visit_rows(const States& set, u64 number, Consumer& consumer, u64* control) {
    Group group;
    const State state = state_at(set, number, group);
    bool fault = false;
    Rows<Consumer>(state, number, set, group, consumer, control, fault).all();
}
