// Sweeps in place over the two numbers of every state.
//
// Execution plan: a thread a state, its rows computed on the way; every other sweep goes from the last state to the first.
// Threads read what others are writing. That does no harm: operators are monotone and numbers only move one way, each in
// one access, so that whatever mixture a thread reads is still on its side of the truth.
//
// The two numbers of a state are marks (graph analysis), then
//   of a probability   a bound from below, which starts at 0 and grows, and one from above, which starts at 1;
//   of a reward        a bound from below, which starts at 0, and a weight, which starts at 1 and grows to the largest
//                      expected number of steps to a goal. Where the weight w is at least 1 + Aw, whatever is chosen, every
//                      strategy gets there, and a bound x from below with F(x) - x <= d is below the truth by d w at most.
// A state with equal numbers (a weight of 0) is settled.
#pragma once

constexpr double UNREACHED = 0, REACHED = 1, NEVER = -1;

DEVICE u64 place(u64 i, u64 n, u64 backwards) { return backwards ? n - 1 - i : i; }

// First marks: where the goal may be reached (second number) and where it may be missed (first number).
KERNEL begin_marks(SET_PARAMETERS, double* pairs, u64* control) {
    const States set SET;
    for (u64 i = thread(); i < n; i += threads()) {
        bool goal, blocked;
        look(state_at(set, i), control, goal, blocked);
        pairs[2 * i] = goal ? REACHED : UNREACHED;
        pairs[2 * i + 1] = goal ? REACHED : blocked ? NEVER : UNREACHED;
    }
}

enum Search : u64 { SOME_CHOICE, ALL_CHOICES, MISSED };

struct Marking {
    const double* pairs;
    Search search;
    bool some, all;

    DEVICE_MEMBER void row(const Row& row, double, double) {
        bool found = false;
        for (int k = 0; !found && k < row.size; ++k) {
            const double first = pairs[2 * row.columns[k]], second = pairs[2 * row.columns[k] + 1];
            found = search == MISSED ? second != REACHED || first == NEVER : second == REACHED;
        }
        some |= found;
        all &= found;
    }
};

DEVICE bool marks(const States& set, u64 number, double* pairs, Search search, u64* control) {
    const double first = pairs[2 * number], second = pairs[2 * number + 1];
    if (search == MISSED ? first != UNREACHED || second != REACHED : second != UNREACHED) return false;
    Marking marking{pairs, search, false, true};
    visit_rows(set, number, marking, control);
    if (!(search == ALL_CHOICES ? marking.all : marking.some)) return false;
    pairs[2 * number + (search == MISSED ? 0 : 1)] = search == MISSED ? NEVER : REACHED;
    return true;
}

constexpr u64 TILE = 4096;       // states that a block looks at again and again
constexpr int MOST_PASSES = 12;  // as long as that marks some

// Mark what leads to something marked; `changed` counts them. Neighbours look at the same time and do not see what the
// others find, so a block goes over its states again: most commands lead to neighbours.
KERNEL mark(SET_PARAMETERS, double* pairs, u64 search, u64 backwards, u64* changed, u64* control) {
    SHARED u64 news;
    const States set SET;
    const u64 tiles = (n + TILE - 1) / TILE;
    u64 marked = 0;
    for (u64 t = block(); t < tiles; t += blocks()) {
        const u64 first = place(t, tiles, backwards) * TILE, end = first + TILE < n ? first + TILE : n;
        for (int pass = 0; pass < MOST_PASSES; ++pass) {
            const u64 before = marked;
            if (block_thread() == 0) news = 0;
            meet_block();
            for (u64 i = first + block_thread(); i < end; i += block_threads())
                marked += marks(set, i, pairs, (Search)search, control);
            if (marked != before) store_volatile(&news, 1);
            meet_block();
            const bool again = load_volatile(&news) != 0;
            meet_block();  // before the first thread begins anew
            if (!again) break;
        }
    }
    if (marked) fetch_add(changed, marked);
}

// From marks to numbers; `sure` says that who never misses the goal is marked too. Three counts: what is 0 (or, of a
// reward, infinite), what is 1, and what is open.
KERNEL begin_sweeps(double* pairs, u64 n, u64 kind, u64 sure, u64* counts) {
    u64 none = 0, certain = 0, open = 0;
    for (u64 i = thread(); i < n; i += threads()) {
        const double first = pairs[2 * i], second = pairs[2 * i + 1];
        const bool goal = first == REACHED, zero = second != REACHED, misses = zero || first == NEVER;
        if (kind == REWARD) {
            pairs[2 * i] = misses ? infinite() : 0;
            pairs[2 * i + 1] = goal || misses ? 0 : 1;
            none += misses;
            certain += goal;
            open += !goal && !misses;
        } else {
            const bool one = goal || (sure && !misses);
            pairs[2 * i] = one ? 1 : 0;
            pairs[2 * i + 1] = zero ? 0 : 1;
            none += zero;
            certain += one;
            open += !one && !zero;
        }
    }
    if (none) fetch_add(counts, none);
    if (certain) fetch_add(counts + 1, certain);
    if (open) fetch_add(counts + 2, open);
}

// F of both numbers, rounded outwards. With `weighing` the second is a weight: 1 for each step, the longest way.
struct Bellman {
    u64 number;
    const double* pairs;
    Kind kind;
    Optimum optimum;
    bool weighing;
    Best first, second;

    DEVICE_MEMBER void row(const Row& row, double of_state, double of_choice) {
        const Reward reward{add_rounded(of_state, of_choice, false), weighing ? 1.0 : 0.0};
        const double* from = pairs;
        const Worth found = worth_of(row, number, reward, kind, [from](u64 column, double& low, double& high) {
            load_both(from + 2 * column, low, high);
        });
        first.take(found.low, optimum);
        second.take(found.high, weighing ? MOST : optimum);
    }
};

// One sweep; the greatest change of the first number, and of the second.
KERNEL sweep(SET_PARAMETERS, double* pairs, u64 kind, u64 optimum, u64 weighing, u64 backwards, u64* found, u64* control) {
    const States set SET;
    double changes[2] = {0, 0};
    for (u64 i = thread(); i < n; i += threads()) {
        const u64 number = place(i, n, backwards);
        const double first = pairs[2 * number], second = pairs[2 * number + 1];
        if (kind == REWARD ? second == 0 : first == second) continue;
        Bellman bellman{number, pairs, (Kind)kind, (Optimum)optimum, weighing != 0, {0, false}, {0, false}};
        visit_rows(set, number, bellman, control);
        if (bellman.first.value > first) {
            pairs[2 * number] = bellman.first.value;
            const double change = bellman.first.value - first;
            changes[0] = change > changes[0] ? change : changes[0];
        }
        const double other = bellman.second.value;
        if (kind == REWARD ? weighing && other > second : other < second) {
            pairs[2 * number + 1] = other;
            const double change = fabs(other - second);
            changes[1] = change > changes[1] ? change : changes[1];
        }
    }
    for (int k = 0; k < 2; ++k)
        if (changes[k] > 0) raise(found + k, changes[k]);
}

// All weights by a factor.
KERNEL scale_weights(double* pairs, u64 n, u64 factor) {
    for (u64 i = thread(); i < n; i += threads()) pairs[2 * i + 1] *= double_of(factor);
}

// Proofs write nothing. `Proving` finds F of the first number, from below and from above, and 1 + Aw of the weights.
struct Proving {
    u64 number;
    const double* pairs;
    Kind kind;
    Optimum optimum;
    bool claimed;  // that its number is 0, without a weight: then its successors have neither, by some choice or by all
    Best below, above, weight;

    DEVICE_MEMBER void row(const Row& row, double of_state, double of_choice) {
        const double* from = pairs;
        const Reward reward{add_rounded(of_state, of_choice, false), add_rounded(of_state, of_choice, true)}, step{1, 1};
        const bool claimed = this->claimed;
        const Worth found = worth_of(row, number, reward, kind, [from, claimed](u64 column, double& low, double& high) {
            low = high = from[2 * column];
            if (claimed) high += from[2 * column + 1];
        });
        below.take(found.low, optimum);
        above.take(found.high, optimum);
        weight.take(worth_of(row, number, step, REWARD, [from](u64 column, double& low, double& high) {
            low = high = from[2 * column + 1];
        }).high, MOST);
    }
};

// How many states contradict what is to be proved, the greatest F(x) - x, and the greatest x - F(x).
//
// A weight has to be at least 1 + Aw. States without a weight are settled. Where the numbers come from elsewhere, that is
// a claim, to be looked at: a goal has the number of one, and any other is 0 and stays so, F(x) = 0.
KERNEL prove(SET_PARAMETERS, const double* pairs, u64 kind, u64 optimum, u64 claims, u64* found, u64* control) {
    const States set SET;
    u64 violations = 0;
    double up = 0, down = 0;
    for (u64 i = thread(); i < n; i += threads()) {
        const double first = pairs[2 * i], weight = pairs[2 * i + 1];
        if (weight == 0 && !claims) continue;
        if (claims) {
            bool goal, blocked;
            look(state_at(set, i), control, goal, blocked);
            if (goal || blocked) {
                violations += weight != 0 || first != (goal && kind == PROBABILITY ? 1.0 : 0.0);
                continue;
            }
        }
        Proving proving{i, pairs, (Kind)kind, (Optimum)optimum, weight == 0, {0, false}, {0, false}, {0, false}};
        visit_rows(set, i, proving, control);
        if (weight == 0) {
            violations += kind == REWARD || first != 0 || proving.above.value != 0;
            continue;
        }
        violations += !(proving.weight.value <= weight && is_finite(weight) && is_finite(first) && first >= 0);
        const double above = add_rounded(proving.above.value, -first, true);
        const double below = add_rounded(first, -proving.below.value, true);
        up = above > up ? above : up;
        down = below > down ? below : down;
    }
    if (violations) fetch_add(found, violations);
    if (up > 0) raise(found + 1, up);
    if (down > 0) raise(found + 2, down);
}

// The numbers of the states of another set, which stand for those of this one.
KERNEL lift(SET_PARAMETERS, const u64* directory_of, const u64* table_of, u64 mask_of, const u64* groups_of,
            const u64* ends_of, const u64* firsts_of, u64 n_of, const double* other, double* pairs) {
    const States set SET, others{directory_of, table_of, mask_of, groups_of, ends_of, firsts_of, n_of};
    for (u64 i = thread(); i < n; i += threads()) {
        State state = state_at(set, i);
        represent(state);
        const u64 number = rank_of(others, state);
        pairs[2 * i] = other[2 * number];
        pairs[2 * i + 1] = other[2 * number + 1];
    }
}
