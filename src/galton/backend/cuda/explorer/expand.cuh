// All successors of one state.
//
// Execution plan: one thread a state. The guards of all commands give bits; those give the *items* that can happen, each
// a single command or a product of several. A loop over the items, and in it one over the updates, has the only places
// from which successors go to the sink. So the lanes of a warp look up their successors together even where their states
// enable different commands, and the code is as long as the program, whatever its products multiply out to.
//
// Where there are more threads than states, several share one: each takes its slice of the leaves, the successors that
// one choice can have, and takes turns with the others where there is only one.
//
// A sink has
//   begin(), end(action)          around a choice
//   enters(leaves)                whether it wants to see the successors of the choice
//   skip(leaves)                  successors that it does not see, here or because they are in another slice
//   emit(state, probability)      a successor, in the CPU's order; one of probability 0 is none
// It gets the state that stands for a successor, where the program has symmetries.
// CHECKED expansions find the faults of the program; where they have been looked for, others need not.
#pragma once

struct Slice {
    u32 number, count;  // the count is a power of two

    // The part of `leaves` that is this slice's, in turn number `turn`.
    DEVICE_MEMBER void share(u64 leaves, u32 turn, u64& begin, u64& end) const {
        const u64 mine = (number + turn) & (count - 1);
        begin = leaves * mine / count;
        end = leaves * (mine + 1) / count;
    }
};

DEVICE Slice whole() { return {0, 1}; }

DEVICE int parts_of(int command) { return PART_STARTS[command + 1] - PART_STARTS[command]; }

// An update: what it does to every state alike comes from a table, the rest from generated code.
DEVICE Part start_part(int number, const State& state) {
    const u64* row = PARTS + number * PART_WORDS;
    u64 value[PART_WORDS];
    for (int k = 0; k < PART_WORDS; k += 2) load_constant_pair(row + k, value[k], value[k + 1]);
    Part part;
    for (int w = 0; w < WORDS; ++w)
        part.next.word[w] = (state.word[w] & value[3 * w] | value[3 * w + 1]) + value[3 * w + 2];
    part.fixed = double_of(value[3 * WORDS]);
    part.varying = 1;
    return part;
}

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
DEVICE void multiply(const State& state, const State& base, const int* chosen, int factors, Sink& sink, bool& fault,
                     Slice slice, u32 turn) {
    State level[MOST_FACTORS + 1];
    double fixed[MOST_FACTORS + 1], varying[MOST_FACTORS + 1];
    bool impossible[MOST_FACTORS + 1];  // a factor is 0
    int branching[MOST_FACTORS], part[MOST_FACTORS];
    int depth = 0;
    u64 leaves = 1, begin, end;
    for (int f = 0; f < factors; ++f) {
        if (CHECKED) check_parts(PART_STARTS[chosen[f]], state, fault);
        leaves *= parts_of(chosen[f]);
        if (parts_of(chosen[f]) != 1) branching[depth++] = chosen[f];
    }
    slice.share(leaves, turn, begin, end);
    if (begin == end || !sink.enters(leaves)) return sink.skip(leaves);
    sink.skip(begin);
    u64 rest = begin;
    for (int d = depth - 1; d >= 0; --d) {
        part[d] = PART_STARTS[branching[d]] + (int)(rest % parts_of(branching[d]));
        rest /= parts_of(branching[d]);
    }
    level[0] = base;
    fixed[0] = varying[0] = 1;
    impossible[0] = false;
    int factor = 0, at = 0;
    for (u64 left = end - begin;;) {
        int number, to;
        if (factor < factors) {
            const int command = chosen[factor++];
            number = PART_STARTS[command];
            to = 0;
            if (parts_of(command) != 1) continue;
        } else {
            const bool complete = at == depth;
            if (complete) {
                const double product = impossible[at] ? 0.0 : fixed[at] * varying[at];
                if (CHECKED && !impossible[at] && !(product > 0 && is_finite(product))) fault = true;
                represent(level[at]);  // nobody else reads this level
                sink.emit(level[at], product);
                if (--left == 0) return sink.skip(leaves - end);
            }
            if (complete || part[at] == PART_STARTS[branching[at] + 1]) {
                if (!complete) part[at] = PART_STARTS[branching[at]];
                ++part[--at];
                continue;
            }
            number = part[at];
            to = at + 1;
        }
        const Part next = evaluate_joint_part(number, state, CHECKED, fault);
        for (int w = 0; w < WORDS; ++w) level[to].word[w] = level[at].word[w] ^ next.next.word[w] ^ state.word[w];
        fixed[to] = fixed[at] * next.fixed;
        varying[to] = varying[at] * next.varying;
        impossible[to] = impossible[at] | (next.fixed == 0) | (next.varying == 0);
        at = to;
    }
}

// Every choice of one enabled command from each factor; the first factor's varies fastest, as in PRISM.
template <bool CHECKED, class Sink>
DEVICE void expand_joint(const State& state, const State& base, const u64* guards, int joint, int action, Sink& sink,
                         bool& fault, Slice slice, u32& turn) {
    const int first = JOINT_STARTS[joint], factors = JOINT_STARTS[joint + 1] - first;
    int chosen[MOST_FACTORS];
    for (int f = 0; f < factors; ++f) chosen[f] = next_enabled(guards, FACTOR_BEGIN[first + f], FACTOR_END[first + f]);
    for (int f = 0; f < factors;) {
        sink.begin();
        multiply<CHECKED>(state, base, chosen, factors, sink, fault, slice, turn++);
        sink.end(action);
        for (f = 0; f < factors; ++f) {
            const int next = next_enabled(guards, chosen[f] + 1, FACTOR_END[first + f]);
            chosen[f] = next >= 0 ? next : next_enabled(guards, FACTOR_BEGIN[first + f], FACTOR_END[first + f]);
            if (next >= 0) break;
        }
    }
}

// The state with what an automaton that reads it makes of its own part of it, if there is one: no command touches that,
// so that all successors have it, and a state that cannot move moves there.
DEVICE State read_state(const State& state) {
    State base = state;
    if (READING) base.word[READER_WORD] = (state.word[READER_WORD] & ~READER_MASK) | reader_after(state) << READER_SHIFT;
    return base;
}

// False for a terminal state, where nobody asks what follows.
template <bool CHECKED, class Sink>
DEVICE bool expand(const State& state, Sink& sink, bool& fault, Slice slice) {
    const State base = read_state(state);
    if (is_terminal(state) || (READING && is_final(base))) return false;
    u64 guards[GUARD_WORDS], items[ITEM_WORDS];
    find_guards(state, guards, fault);
    find_items(guards, items);
    u32 turn = 0;
    for (int w = 0; w < ITEM_WORDS; ++w) {
        u64 left = items[w];
        int part = 0, end = 0, after = 0, action = 0;
        // One loop over the updates of all items, not one for each: lanes with many updates here and few there take as
        // many rounds as they have successors.
#pragma unroll 1
        while (left || part < end) {
            if (part == end) {
                const u64 item = load_constant(ITEMS + 64 * w + lowest_bit(left));
                left &= left - 1;
                const int first = (int)(u32)item;
                action = (int)(item >> 48);
                if (JOINTS && (item >> 32 & 0xFFFF) == JOINT_ITEM) {
                    expand_joint<CHECKED>(state, base, guards, first, action, sink, fault, slice, turn);
                    continue;
                }
                const u64 leaves = item >> 32 & 0xFFFF;
                u64 from, to;
                slice.share(leaves, turn++, from, to);
                if (CHECKED) check_parts(first, state, fault);
                sink.begin();
                if (from == to || !sink.enters(leaves)) {
                    sink.skip(leaves);
                    sink.end(action);
                    continue;
                }
                sink.skip(from);
                part = first + (int)from;
                end = first + (int)to;
                after = (int)(leaves - to);
            }
            Part next = evaluate_part(part, state, CHECKED, fault);
            if (READING) next.next.word[READER_WORD] ^= state.word[READER_WORD] ^ base.word[READER_WORD];
            represent(next.next);
            sink.emit(next.next, next.fixed * next.varying);
            if (++part == end) {
                sink.skip(after);
                sink.end(action);
            }
        }
    }
    return true;
}
