// A packed state, and what the generated functions about it return.
#pragma once

struct State {
    u64 word[WORDS];
};

DEVICE State load_state(const u64* at) {
    State state;
    for (int w = 0; w < WORDS; ++w) state.word[w] = at[w];
    return state;
}
DEVICE State load_fresh_state(const u64* at) {
    State state;
    for (int w = 0; w < WORDS; ++w) state.word[w] = load_fresh(at + w);
    return state;
}
DEVICE void store_state(u64* at, const State& state) {
    for (int w = 0; w < WORDS; ++w) at[w] = state.word[w];
}
DEVICE bool operator==(const State& a, const State& b) {
    bool same = true;
    for (int w = 0; w < WORDS; ++w) same &= a.word[w] == b.word[w];
    return same;
}

// One update of a command: the state after it, and its probability or rate. That is a product of two numbers, one of
// which is 1: constants are multiplied with constants first, as the CPU does it, so that products round the same way.
struct Part {
    State next;
    double fixed, varying;
};
