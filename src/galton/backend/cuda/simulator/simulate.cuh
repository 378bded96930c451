// Random paths, one a thread.
//
// Execution plan: thread t of T follows paths t, t + T, t + 2T …, one after the other, in one loop whose body is a step:
// a thread whose path has ended begins the next one in the same place where others move on, so that the lanes of a warp
// stay together however long their paths are. State, time and what was earned are in registers; what paths came to is
// counted there, too, and added up once at the end. The functions about a state are those that the explorer has printed.
//
// What is drawn, and how, is what src/core/simulate/program_walker.cpp does: products by their weights, then in each
// factor a command and one of its updates. Weights of chains in discrete time and of MDPs are whole numbers, so their
// paths are the same, bit for bit. In a CTMC a logarithm, and the order in which rates are added, may differ in the last
// bit of a time.
//
// Printed for the question: KIND, TIMED, GOAL and THROUGH (labels, or -1), FIND_LOOPS, VARYING (whether some probability
// depends on the state), EARNING (whether anything is earned at all), READER_VERDICTS.
#pragma once

enum Kind { UNTIL, REACHED, CUMULATIVE, INSTANT };
enum Verdict { IS_FALSE, IS_TRUE, IS_CUT, IS_OPEN };
enum Count { FALSES, TRUES, CUTS, STEPS, FAULTS };
constexpr double LARGEST = 1 - 0x1p-53;

DEVICE double chance_of(int part, bool joint, const State& state, bool& fault) {
    const double fixed = double_of(load_constant(PARTS + part * PART_WORDS + 3 * WORDS));
    if (!VARYING) return fixed;
    const Part found = joint ? evaluate_joint_part(part, state, false, fault) : evaluate_part(part, state, false, fault);
    return found.fixed * found.varying;
}

DEVICE double sum_of(int first, int end, bool joint, const State& state, bool& fault) {
    double sum = 0;
    for (int part = first; part < end; ++part) sum += chance_of(part, joint, state, fault);
    return sum;
}

// Of a command: a choice, or in a CTMC its rate.
DEVICE double weight_of(int first, int end, bool joint, const State& state, bool& fault) {
    if (!CTMC) return 1;
    check_parts(first, state, fault);
    return sum_of(first, end, joint, state, fault);
}

DEVICE double factor_weight(int from, int end, const u64* guards, const State& state, bool& fault) {
    double weight = 0;
    for (int command = next_enabled(guards, from, end); command >= 0; command = next_enabled(guards, command + 1, end))
        weight += weight_of(PART_STARTS[command], PART_STARTS[command + 1], true, state, fault);
    return weight;
}

DEVICE bool is_joint(u64 item) { return JOINTS && (item >> 32 & 0xFFFF) == JOINT_ITEM; }

DEVICE double item_weight(u64 item, const u64* guards, const State& state, bool& fault) {
    const int first = (int)(u32)item;
    if (!is_joint(item)) return weight_of(first, first + (int)(item >> 32 & 0xFFFF), false, state, fault);
    double weight = 1;
    for (int f = JOINT_STARTS[first]; f < JOINT_STARTS[first + 1]; ++f)
        weight *= factor_weight(FACTOR_BEGIN[f], FACTOR_END[f], guards, state, fault);
    return weight;
}

// One update of a command, by what is left of a draw, applied to the state that follows.
DEVICE void take_command(int first, int end, bool joint, double share, const State& state, State& next, bool& fault) {
    check_parts(first, state, fault);
    int pick = first;
    if (end - first > 1) {
        const double target = share * sum_of(first, end, joint, state, fault);
        double before = 0;
        for (int part = first; part < end; ++part) {
            const double mine = chance_of(part, joint, state, fault);
            if (mine == 0) continue;
            pick = part;
            before += mine;
            if (before > target) break;
        }
    }
    const Part taken = joint ? evaluate_joint_part(pick, state, true, fault) : evaluate_part(pick, state, true, fault);
    for (int w = 0; w < WORDS; ++w) next.word[w] ^= taken.next.word[w] ^ state.word[w];
}

// A command of a factor, and one of its updates.
DEVICE void take_factor(int from, int end, const u64* guards, double share, const State& state, State& next, bool& fault) {
    const double target = share * factor_weight(from, end, guards, state, fault);
    double before = 0;
    int chosen = -1;
    double rest = 0;
    for (int command = next_enabled(guards, from, end); command >= 0; command = next_enabled(guards, command + 1, end)) {
        const double mine = weight_of(PART_STARTS[command], PART_STARTS[command + 1], true, state, fault);
        if (mine == 0) continue;
        chosen = command;
        rest = (target - before) / mine;
        before += mine;
        if (before > target) break;
    }
    if (rest > LARGEST) rest = LARGEST;
    if (chosen >= 0) take_command(PART_STARTS[chosen], PART_STARTS[chosen + 1], true, rest, state, next, fault);
}

// What can happen in a state.
struct Ways {
    u64 guards[GUARD_WORDS], items[ITEM_WORDS];
    double total;
};

DEVICE Ways ways_of(const State& state, bool& fault) {
    Ways ways;
    find_guards(state, ways.guards, fault);
    find_items(ways.guards, ways.items);
    ways.total = 0;
    for (int w = 0; w < ITEM_WORDS; ++w) {
        if (!CTMC && !JOINTS) {
            ways.total += count_bits(ways.items[w]);
            continue;
        }
        for (u64 left = ways.items[w]; left; left &= left - 1)
            ways.total += item_weight(load_constant(ITEMS + 64 * w + lowest_bit(left)), ways.guards, state, fault);
    }
    return ways;
}

// A step; returns its action.
DEVICE int take_step(const State& state, const Ways& ways, double chance, u64 seed, u64 path, u64 step, State& next, bool& fault) {
    const double target = chance * ways.total;
    double before = 0, rest = 0;
    u64 item = 0;
    bool found = false;
    for (int w = 0; w < ITEM_WORDS && !found; ++w) {
        for (u64 left = ways.items[w]; left; left &= left - 1) {
            const u64 candidate = load_constant(ITEMS + 64 * w + lowest_bit(left));
            const double mine = item_weight(candidate, ways.guards, state, fault);
            const double after = before + mine;
            if (after > target) {
                item = candidate;
                rest = (target - before) / mine;
                found = true;
                break;
            }
            before = after;
        }
    }
    if (rest > LARGEST) rest = LARGEST;
    const int first = (int)(u32)item;
    if (!is_joint(item)) {
        take_command(first, first + (int)(item >> 32 & 0xFFFF), false, rest, state, next, fault);
    } else {
        u32 number = 1;
        for (int f = JOINT_STARTS[first]; f < JOINT_STARTS[first + 1]; ++f) {
            const Random4 random = draw(seed, path, step, number++);
            take_factor(FACTOR_BEGIN[f], FACTOR_END[f], ways.guards, uniform(random.word[0], random.word[1]), state, next, fault);
        }
    }
    return (int)(item >> 48);
}

// Whether a state leads anywhere but to itself.
struct Mover {
    const State& state;
    bool moved;
    DEVICE_MEMBER void begin() {}
    DEVICE_MEMBER void end(int) {}
    DEVICE_MEMBER bool enters(u64) { return true; }
    DEVICE_MEMBER void skip(u64) {}
    DEVICE_MEMBER void emit(const State& next, double probability) { moved |= probability != 0 && !(next == state); }
};

DEVICE bool only_itself(const State& state, bool& fault) {
    Mover mover{state, false};
    expand<false>(state, mover, fault, whole());
    return !mover.moved;
}

// A path so far, and what is asked of it: see src/core/simulate/question.hpp, which this repeats.
struct Follower {
    u64 path, step;
    double time, value;
    u32 loops;
};

DEVICE Verdict decide(Follower& path, bool goal, bool through, bool stuck, double reward, double stay, double low, double high) {
    const double now = TIMED ? path.time : (double)path.step;
    if (KIND == UNTIL) {
        if (goal && now >= low) return IS_TRUE;
        if (!through) return IS_FALSE;
        const double leaves = stuck ? infinity() : now + stay;
        if ((TIMED ? leaves > low : stuck) && goal) return IS_TRUE;
        if (stuck) return IS_FALSE;
        return (TIMED ? leaves > high : now >= high) ? IS_FALSE : IS_OPEN;
    }
    if (KIND == REACHED) {
        if (goal) return IS_TRUE;
        if (stuck || !through) {
            path.value = infinity();
            return IS_FALSE;
        }
        path.value += reward * stay;
        return IS_OPEN;
    }
    if (KIND == CUMULATIVE) {
        const double left = high - now;
        if (left <= 0) return IS_TRUE;
        const bool last = stuck || stay > left || (TIMED && stay == left);
        path.value += reward * (last ? left : stay);
        return last ? IS_TRUE : IS_OPEN;
    }
    if (stuck || (TIMED ? now + stay > high : now >= high)) {
        path.value = reward;
        return IS_TRUE;
    }
    return IS_OPEN;
}

DEVICE State begin_path(const u64* initial, u64 states, u64 seed, u64 path) {
    u64 which = 0;
    if (states > 1) {
        const Random4 random = draw(seed, path, BEFORE_THE_FIRST_STEP, 0);
        which = (u64)(uniform(random.word[0], random.word[1]) * (double)states);
    }
    return load_state(initial + which * WORDS);
}

// Paths first … first + count - 1. `counts` gets how many came to what, and all their steps; `verdicts`, `values` and
// `steps`, where they are given, those of each path at its place.
KERNEL simulate(const u64* initial, u64 states, u64 seed, u64 first, u64 count, u64 low_bits, u64 high_bits, u64 most,
                u64* counts, u8* verdicts, double* values, u64* steps) {
    const double low = double_of(low_bits), high = double_of(high_bits);
    u64 falses = 0, trues = 0, cuts = 0, moves = 0;
    bool fault = false;
    u64 place = thread();
    State state;
    Follower path{0, 0, 0, 0, 0};
    bool running = false;
    while (running || place < count) {
        if (!running) {
            path = {first + place, 0, 0, 0, 0};
            state = begin_path(initial, states, seed, path.path);
            running = true;
        }
        const Random4 random = draw(seed, path.path, path.step, 0);
        State next = read_state(state);
        Verdict verdict = IS_OPEN;
        if (READING) verdict = (Verdict)load_constant(READER_VERDICTS + ((next.word[READER_WORD] & READER_MASK) >> READER_SHIFT));
        u8 labels[2] = {0, 1};
        find_labels(state, labels, 1, fault);
        double reward[1] = {0};
        if (EARNING) find_state_rewards(state, reward, 1, fault);
        const Ways ways = ways_of(state, fault);
        bool stuck = ways.total == 0;
        if (FIND_LOOPS > 0 && path.loops >= FIND_LOOPS && (path.loops & (path.loops - 1)) == 0)
            stuck = stuck || only_itself(state, fault);
        const double stay = CTMC ? -log1p(-uniform(random.word[2], random.word[3])) / ways.total : 1.0;
        if (verdict == IS_OPEN)
            verdict = decide(path, GOAL >= 0 && labels[GOAL >= 0 ? GOAL : 0], THROUGH < 0 || labels[THROUGH >= 0 ? THROUGH : 0],
                             stuck, reward[0], stay, low, high);
        if (verdict == IS_OPEN && path.step >= most) verdict = IS_CUT;
        if (verdict == IS_OPEN) {
            const int action =
                take_step(state, ways, uniform(random.word[0], random.word[1]), seed, path.path, path.step, next, fault);
            if (EARNING && CHOICE_STRUCTURES > 0) path.value += choice_reward(action, 0, state, true, fault);
            path.time += stay;
            if (FIND_LOOPS > 0) path.loops = next == state ? path.loops + 1 : 0;
            state = next;
            ++path.step;
            ++moves;
        } else {
            falses += verdict == IS_FALSE;
            trues += verdict == IS_TRUE;
            cuts += verdict == IS_CUT;
            if (verdicts) verdicts[place] = (u8)verdict;
            if (values) values[place] = path.value;
            if (steps) steps[place] = path.step;
            place += threads();
            running = false;
        }
        if (fault) break;
    }
    if (falses) fetch_add(counts + FALSES, falses);
    if (trues) fetch_add(counts + TRUES, trues);
    if (cuts) fetch_add(counts + CUTS, cuts);
    if (moves) fetch_add(counts + STEPS, moves);
    if (fault) fetch_add(counts + FAULTS, (u64)1);
}
