// What a choice is worth, enclosed: two numbers a state lie side by side, and a row takes both in one pass.
//
// A model's probabilities are the numbers of a row divided by their exact sum S (docs/checking.md). With p of the row
// leading back to the state and q = S - p to others, staying with the choice until it leads elsewhere is worth
//     (r S + Σ p_k x_k) / q,    the k being the others,
// where r is earned each time. All sums are rounded outwards. A choice that only leads back never reaches anything.
#pragma once

enum Kind : u64 { PROBABILITY, REWARD };
enum Optimum : u64 { ONLY, LEAST, MOST };  // of the choices

struct Worth {
    double low, high;
};

DEVICE double infinite() { return double_of(0x7FF0000000000000ull); }

struct Reward {
    double low, high;
};

// `load(column, low, high)` gives the two numbers of another state.
template <class Load>
DEVICE Worth worth_of(const Row& row, u64 number, Reward reward, Kind kind, const Load& load) {
    double back = 0, below = 0, above = 0, least = 0, most = 0;
    bool leaves = false;
#pragma unroll 1
    for (int k = 0; k < row.size; ++k) {
        const double p = row.values[k];
        if (row.columns[k] == number) {
            back = p;
            continue;
        }
        double low, high;
        load(row.columns[k], low, high);
        below = fma_rounded(p, low, below, false);
        above = fma_rounded(p, high, above, true);
        least = add_rounded(least, p, false);
        most = add_rounded(most, p, true);
        leaves = true;
    }
    if (!leaves) return kind == REWARD ? Worth{infinite(), infinite()} : Worth{0, 0};
    if (kind == REWARD) {
        below = fma_rounded(reward.low, add_rounded(least, back, false), below, false);
        above = fma_rounded(reward.high, add_rounded(most, back, true), above, true);
    }
    if (least == 1 && most == 1) return {below, above};
    return {divide_rounded(below, most, false), divide_rounded(above, least, true)};
}

// The best of the choices so far.
struct Best {
    double value;
    bool any;

    DEVICE_MEMBER void take(double other, Optimum optimum) {
        if (!any || (optimum == LEAST ? other < value : other > value)) value = other;
        any = true;
    }
};

// A larger number than before; bits of numbers that are not negative have their order.
DEVICE void raise(u64* at, double value) {
    const u64 bits = bits_of(value);
    u64 there = load_volatile(at);
    while (there < bits) {
        const u64 before = swap_if(at, there, bits);
        if (before == there) return;
        there = before;
    }
}
DEVICE void lower(u64* at, double value) {
    const u64 bits = bits_of(value);
    u64 there = load_volatile(at);
    while (there > bits) {
        const u64 before = swap_if(at, there, bits);
        if (before == there) return;
        there = before;
    }
}

// Whether a state is a goal, or one that paths must not go through.
DEVICE void look(const State& state, u64* control, bool& goal, bool& blocked) {
    u8 labels[2] = {0, 1};
    bool fault = false;
    find_labels(state, labels, 1, fault);
    if (fault) fetch_or(control + FLAGS, FAULT);
    goal = labels[0] != 0;
    blocked = !goal && labels[1] == 0;
}

// The least and the greatest of both numbers over given states. Where they are `shared`, the second is a weight, and the
// bounds are the first number less `below` times the weight, and that and `above` times the weight.
KERNEL find_extremes(SET_PARAMETERS, const u64* wanted, u64 count, const double* pairs, u64 shared, u64 below, u64 above,
                     u64* found) {
    const States set SET;
    double least[2] = {infinite(), infinite()}, most[2] = {0, 0};
    bool any = false;
    for (u64 i = thread(); i < count; i += threads()) {
        const u64 number = rank_of(set, load_state(wanted + i * WORDS));
        const double first = pairs[2 * number], second = pairs[2 * number + 1];
        double both[2] = {first, second};
        if (shared && second == 0) both[1] = first;
        if (shared && second != 0) {
            const double low = fma_rounded(-double_of(below), second, first, false);
            both[0] = low > 0 ? low : 0;
            both[1] = fma_rounded(double_of(above), second, first, true);
        }
        for (int k = 0; k < 2; ++k) {
            least[k] = both[k] < least[k] ? both[k] : least[k];
            most[k] = both[k] > most[k] ? both[k] : most[k];
        }
        any = true;
    }
    for (int k = 0; any && k < 2; ++k) {
        lower(found + 2 * k, least[k]);
        raise(found + 2 * k + 1, most[k]);
    }
}
