// All successors of one state.
//
// Execution plan: one thread a state. The guards of all commands give bits; those give the *items* that can happen, each
// a single command or a product of several. A loop over the items, and in it one over the updates, has the only places
// from which successors go to the sink. So the lanes of a warp look up their successors together even where their states
// enable different commands, and the code is as long as the program, whatever its products multiply out to.
//
// A sink has begin(), emit(state, probability) and end(action), as in src/core/expand.hpp; a successor of probability 0
// is none. CHECKED expansions find the faults of the program; where they have been looked for, others need not.
#pragma once

// The first enabled command from `from` on, before `end`; -1 if there is none.
DEVICE int next_enabled(const u64* guards, int from, int end) {
    while (from < end) {
        const u64 left = guards[from >> 6] >> (from & 63);
        if (left) {
            from += lowest_bit(left);
            return from < end ? from : -1;
        }
        from = (from | 63) + 1;
    }
    return -1;
}

// The updates of commands that move together, multiplied out: first those of commands with one update, which all
// successors share; then, the first command slowest, those of the others.
template <bool CHECKED, class Sink>
DEVICE void multiply(const State& state, const int* chosen, int factors, Sink& sink, bool& fault) {
    State level[MOST_FACTORS + 1];
    double fixed[MOST_FACTORS + 1], varying[MOST_FACTORS + 1];
    int branching[MOST_FACTORS], part[MOST_FACTORS];
    int depth = 0;
    State common = state;
    double common_fixed = 1, common_varying = 1;
    for (int f = 0; f < factors; ++f) {
        const int command = chosen[f], first = PART_STARTS[command];
        if (CHECKED) check_command(command, state, fault);
        if (PART_STARTS[command + 1] - first != 1) {
            branching[depth++] = command;
            continue;
        }
        const Part only = evaluate_part<CHECKED>(first, state, fault);
        for (int w = 0; w < WORDS; ++w) common.word[w] ^= only.next.word[w] ^ state.word[w];
        common_fixed *= only.fixed;
        common_varying *= only.varying;
    }
    level[0] = common;
    fixed[0] = common_fixed;
    varying[0] = common_varying;
    if (depth) part[0] = PART_STARTS[branching[0]];
    for (int d = 0;;) {
        const bool complete = d == depth;
        if (complete) sink.emit(level[d], fixed[d] * varying[d]);
        if (complete || part[d] == PART_STARTS[branching[d] + 1]) {
            if (d == 0) return;
            ++part[--d];
            continue;
        }
        const Part next = evaluate_part<CHECKED>(part[d], state, fault);
        for (int w = 0; w < WORDS; ++w) level[d + 1].word[w] = level[d].word[w] ^ next.next.word[w] ^ state.word[w];
        fixed[d + 1] = fixed[d] * next.fixed;
        varying[d + 1] = varying[d] * next.varying;
        if (++d < depth) part[d] = PART_STARTS[branching[d]];
    }
}

// Every choice of one enabled command from each factor; the first factor's varies fastest, as in PRISM.
template <bool CHECKED, class Sink>
DEVICE void expand_joint(const State& state, const u64* guards, int joint, int action, Sink& sink, bool& fault) {
    const int first = JOINT_STARTS[joint], factors = JOINT_STARTS[joint + 1] - first;
    int chosen[MOST_FACTORS];
    for (int f = 0; f < factors; ++f) chosen[f] = next_enabled(guards, FACTOR_BEGIN[first + f], FACTOR_END[first + f]);
    for (int f = 0; f < factors;) {
        sink.begin();
        multiply<CHECKED>(state, chosen, factors, sink, fault);
        sink.end(action);
        for (f = 0; f < factors; ++f) {
            const int next = next_enabled(guards, chosen[f] + 1, FACTOR_END[first + f]);
            chosen[f] = next >= 0 ? next : next_enabled(guards, FACTOR_BEGIN[first + f], FACTOR_END[first + f]);
            if (next >= 0) break;
        }
    }
}

// False for a terminal state, where nobody asks what follows.
template <bool CHECKED, class Sink>
DEVICE bool expand(const State& state, Sink& sink, bool& fault) {
    if (is_terminal(state)) return false;
    u64 guards[GUARD_WORDS], items[ITEM_WORDS];
    find_guards(state, guards, fault);
    find_items(guards, items);
    for (int w = 0; w < ITEM_WORDS; ++w) {
        for (u64 left = items[w]; left; left &= left - 1) {
            const int item = 64 * w + lowest_bit(left), command = ITEM_COMMANDS[item];
            if (JOINTS && command < 0) {
                expand_joint<CHECKED>(state, guards, ~command, ITEM_ACTIONS[item], sink, fault);
                continue;
            }
            if (CHECKED) check_command(command, state, fault);
            sink.begin();
            for (int part = PART_STARTS[command]; part < PART_STARTS[command + 1]; ++part) {
                const Part next = evaluate_part<CHECKED>(part, state, fault);
                sink.emit(next.next, next.fixed * next.varying);
            }
            sink.end(ITEM_ACTIONS[item]);
        }
    }
    return true;
}
