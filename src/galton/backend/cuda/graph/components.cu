// Strongly connected components by labels that spread along the edges in both directions.
#include "push.cuh"
#include "reach.cuh"

// What is reachable from the states that the labels name is reachable from here: following them makes long paths short,
// along ascending numbers by the greatest, along descending ones by the least. A label is a position in `states`.
__device__ inline Reach followed(const Reach* labels, const int* states, Reach known) {
    for (int k = 0; k < JUMPS; ++k) {
        const Reach more = both(labels[states[known.greatest]], labels[states[known.least]]);
        if (more.greatest <= known.greatest && more.least >= known.least) break;
        known = both(known, more);
    }
    return known;
}

// A state that gets to know a greater label is marked; the least only helps to find it, and need not be known to the end.
__device__ inline void raise_label(Reach* labels, int state, Reach reach, byte* changed) {
    const Reach known = labels[state];
    if (known.least > reach.least) atomicMin(&labels[state].least, reach.least);
    if (known.greatest >= reach.greatest) return;
    atomicMax(&labels[state].greatest, reach.greatest);
    changed[state] = 1;
}

// Execution plan: a thread per state that is still undecided. Reach spread over edges inside a part: a thread looks at
// what is ahead of its successors, and raises their labels by what is behind it: predecessors need not be known. Whoever
// leads here leads to all that is ahead of here, and its label is raised at once.
extern "C" __global__ void spread(const offset_t* starts, const int* columns, const int* groups, const byte* choices,
                                  const int* part, Reach* ahead, Reach* behind, const int* states, byte* changed,
                                  count_t count, count_t down) {
    const count_t number = thread_number();
    if (number >= count) return;
    const int state = states[in_order(number, count, down)];
    const Pattern graph{starts, columns, groups};
    const int mine = part[state];
    Reach far = followed(ahead, states, ahead[state]);
    const Reach origin = followed(behind, states, behind[state]);
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (choices && !choices[row]) continue;
        for (offset_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
            const int target = columns[entry];
            if (part[target] != mine) continue;
            far = both(far, ahead[target]);
            raise_label(behind, target, origin, changed);
        }
    }
    raise_label(ahead, state, far, changed);
    raise_label(behind, state, origin, changed);
    raise_label(ahead, states[origin.greatest], far, changed);
    raise_label(ahead, states[origin.least], far, changed);
    raise_label(behind, states[far.greatest], origin, changed);
    raise_label(behind, states[far.least], origin, changed);
}

// States whose labels have changed, each once. A state's bit is set while it waits: whoever changes a label first and then
// finds the bit set knows that the state will be looked at after the change.
struct Waiting {
    Queue states;
    unsigned* bits;

    __device__ void put(int state) const {
        __threadfence();
        if (set_bit(bits, state)) states.put(state);
    }
    __device__ void remove(int state) const {
        atomicAnd(&bits[state >> 5], ~(1u << (state & 31)));
        __threadfence();
    }
};

// Labels may be changed by others at any time: the cache of one multiprocessor must not answer.
__device__ inline int current(const Reach* labels, int state) { return *(volatile const int*)&labels[state].greatest; }

// Raise the greatest label of a state in the same part.
__device__ inline void pass_on(Reach* labels, const int* part, int from, int to, int label, const Waiting& next) {
    if (part[from] != part[to] || current(labels, to) >= label) return;
    if (atomicMax(&labels[to].greatest, label) < label) next.put(to);
}

// Execution plan: a thread per state of the queue, when few labels still change: what is ahead of it is passed on
// to those before it, what is behind it to its successors.
extern "C" __global__ void spread_on(const offset_t* starts, const int* columns, const int* groups, const byte* choices,
                                     const int* part, Reach* ahead, Reach* behind, const offset_t* before,
                                     const int* sources, const int* queue, int* next, unsigned long long* tail,
                                     unsigned* bits, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const Pattern graph{starts, columns, groups};
    const Waiting waiting{{next, tail}, bits};
    const int state = queue[number];
    waiting.remove(state);
    const int far = current(ahead, state), origin = current(behind, state);
    for (offset_t k = before[state]; k < before[state + 1]; ++k) pass_on(ahead, part, state, sources[k], far, waiting);
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (choices && !choices[row]) continue;
        for (offset_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
            pass_on(behind, part, state, columns[entry], origin, waiting);
        }
    }
}

// What the edges of each component's states say of it: `stays` is cleared where one leaves it, `loops` set where one leads
// from a state to itself.
extern "C" __global__ void look_out(const offset_t* starts, const int* columns, const int* groups, const byte* choices,
                                    const int* component, byte* stays, byte* loops, count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states || component[state] < 0) return;
    const Pattern graph{starts, columns, groups};
    const int mine = component[state];
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (choices && !choices[row]) continue;
        for (offset_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
            if (component[columns[entry]] != mine) stays[mine] = 0;
            if (columns[entry] == state) loops[mine] = 1;
        }
    }
}

// Rows that leave the part of their state can be used no more; `broken` is set for a part that loses one.
extern "C" __global__ void drop_rows(const offset_t* starts, const int* columns, const int* groups, byte* alive,
                                     const int* part, byte* broken, const int* states, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const Pattern graph{starts, columns, groups};
    const int state = states[number], mine = part[state];
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (!alive[row]) continue;
        for (offset_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
            if (part[columns[entry]] == mine) continue;
            alive[row] = 0;
            broken[mine] = 1;
            break;
        }
    }
}

// The rows of states that can only wait or nothing at all: those that wait are kept, and make a state its own `head`.
extern "C" __global__ void keep_waiting(const offset_t* starts, const int* columns, const int* groups, byte* alive,
                                        int* head, const int* states, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const Pattern graph{starts, columns, groups};
    const int state = states[number];
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        alive[row] = alive[row] && starts[row + 1] - starts[row] == 1 && columns[starts[row]] == state;
        if (alive[row]) head[state] = state;
    }
}

// The rows of states in no end component are in none.
extern "C" __global__ void drop_others(const offset_t* starts, const int* columns, const int* groups, byte* alive,
                                       const int* head, count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states || head[state] >= 0) return;
    const Pattern graph{starts, columns, groups};
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) alive[row] = 0;
}
