// What lies on no cycle, and leads to none, is settled backwards, each state once.
//
// Execution plan: a thread a state. A state whose successors are all settled is settled. Any other waits for one of its
// successors that is not: waiting states form lists that begin at that successor. When it is settled, those who waited
// for it look again. So a state is expanded once for itself, and once for each successor that it had to wait for, however
// long the paths are. Lists take no memory: a state that is not settled has no numbers yet, and in their place are the
// next one of the list that it is in (first word) and the first of those that wait for it (second word).
//
// Rounds are in step: a kernel finds who can be settled and puts it into a queue, with its numbers; when it has ended,
// another one writes them down and takes out who waits. A kernel that runs out of room in the queue leaves the rest of a
// list where it is, to be taken up after the queue has been emptied.
#pragma once

constexpr u64 NOBODY = ~0ull;

DEVICE bool is_settled(const u64* settled, u64 number) { return settled[number >> 6] >> (number & 63) & 1; }
DEVICE void set_settled(u64* settled, u64 number) { fetch_or(settled + (number >> 6), 1ull << (number & 63)); }

// Goals and states that paths must not go through are settled; nobody waits yet.
KERNEL begin_backwards(SET_PARAMETERS, u64* pairs, u64* settled, u64 kind, u64* count, u64* control) {
    const States set SET;
    u64 settling = 0;
    for (u64 i = thread(); i < n; i += threads()) {
        bool goal, blocked;
        look(state_at(set, i), control, goal, blocked);
        const bool known = goal || blocked;
        const u64 value = known ? bits_of(goal && kind == PROBABILITY ? 1.0 : 0.0) : NOBODY;
        pairs[2 * i] = pairs[2 * i + 1] = value;
        if (known) set_settled(settled, i);
        settling += known;
    }
    if (settling) fetch_add(count, settling);
}

struct Looking {
    u64 number;
    const double* pairs;
    const u64* settled;
    Kind kind;
    Optimum optimum;
    u64 missing;
    Best low, high;

    DEVICE_MEMBER void row(const Row& row, double of_state, double of_choice) {
        for (int k = 0; missing == NOBODY && k < row.size; ++k)
            if (row.columns[k] != number && !is_settled(settled, row.columns[k])) missing = row.columns[k];
        if (missing != NOBODY) return;
        const Reward reward{add_rounded(of_state, of_choice, false), add_rounded(of_state, of_choice, true)};
        const double* from = pairs;
        const Worth found = worth_of(row, number, reward, kind, [from](u64 column, double& low, double& high) {
            low = from[2 * column];
            high = from[2 * column + 1];
        });
        low.take(found.low, optimum);
        high.take(found.high, optimum);
    }
};

// False where there is no room.
DEVICE bool settle_or_wait(const States& set, u64 number, u64* pairs, const u64* settled, u64 kind, u64 optimum,
                           u64* queue, u64 capacity, u64* count, u64* control) {
    Looking looking{number, (const double*)pairs, settled, (Kind)kind, (Optimum)optimum, NOBODY, {0, false}, {0, false}};
    visit_rows(set, number, looking, control);
    if (looking.missing != NOBODY) {
        pairs[2 * number] = exchange_word(pairs + 2 * looking.missing + 1, number);
        return true;
    }
    const u64 place = fetch_add(count, 1);
    if (place >= capacity) return false;
    queue[3 * place] = number;
    queue[3 * place + 1] = bits_of(looking.low.value);
    queue[3 * place + 2] = bits_of(looking.high.value > 1 && kind == PROBABILITY ? 1.0 : looking.high.value);
    return true;
}

// States from number `first` on look for the first time; the queue has room for all of them.
KERNEL look_first(SET_PARAMETERS, u64* pairs, const u64* settled, u64 kind, u64 optimum, u64 first, u64 last, u64* queue,
                  u64 capacity, u64* count, u64* control) {
    const States set SET;
    for (u64 i = first + thread(); i < last; i += threads())
        if (!is_settled(settled, i)) settle_or_wait(set, i, pairs, settled, kind, optimum, queue, capacity, count, control);
}

// Lists of states that waited look again. What finds no room stays in its list; `left` says that there is some.
KERNEL look_again(SET_PARAMETERS, u64* pairs, const u64* settled, u64 kind, u64 optimum, u64* lists, u64 lists_count,
                  u64* queue, u64 capacity, u64* count, u64* left, u64* control) {
    const States set SET;
    for (u64 i = thread(); i < lists_count; i += threads()) {
        u64 number = lists[i];
        while (number != NOBODY) {
            const u64 next = load_fresh(pairs + 2 * number);
            if (!settle_or_wait(set, number, pairs, settled, kind, optimum, queue, capacity, count, control)) break;
            number = next;
        }
        lists[i] = number;
        if (number != NOBODY) fetch_add(left, 1);
    }
}

// The states of the queue are settled; the lists of those who waited for them come out.
KERNEL settle(const u64* queue, u64 count, u64* pairs, u64* settled, u64* lists, u64* lists_count) {
    for (u64 i = thread(); i < count; i += threads()) {
        const u64 number = queue[3 * i], waiting = pairs[2 * number + 1];
        pairs[2 * number] = queue[3 * i + 1];
        pairs[2 * number + 1] = queue[3 * i + 2];
        set_settled(settled, number);
        if (waiting != NOBODY) lists[fetch_add(lists_count, 1)] = waiting;
    }
}
