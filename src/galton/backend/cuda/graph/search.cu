// Searches for the least set that contains a goal and is closed under a step.
//
// Sweeps pull: each open state looks whether it can be added. They work in place: sets only grow, so that what a thread
// sees of others may be old or new. Pushes go from added states along edges, backward along predecessors or forward along
// successors.
#include "push.cuh"
#include "reach.cuh"

// What a state needs to be added.
#define SOME_ENTRY 0  // an edge into the set
#define SOME_ROW 1    // a row with an edge into the set, all of whose edges stay in a given set
#define EVERY_ROW 2   // an edge into the set in each row
#define EVERY_ENTRY 3 // no edge but to itself and into the set

__device__ inline bool meets(const Pattern& graph, count_t row, const byte* status) {
    for (offset_t entry = graph.starts[row]; entry < graph.starts[row + 1]; ++entry) {
        if (is_found(status, graph.columns[entry])) return true;
    }
    return false;
}

__device__ inline bool stays(const Pattern& graph, count_t row, const byte* staying) {
    if (!staying) return true;
    for (offset_t entry = graph.starts[row]; entry < graph.starts[row + 1]; ++entry) {
        if (!staying[graph.columns[entry]]) return false;
    }
    return true;
}

// Whether a row asks nothing of the set. The search for end components gives `alive`: rows that are not count as if they
// met the set, and so do rows that only lead back to their state.
__device__ inline bool is_free(const Pattern& graph, count_t state, count_t row, const byte* alive) {
    if (!alive) return false;
    return !alive[row] || (graph.starts[row + 1] - graph.starts[row] == 1 && graph.columns[graph.starts[row]] == state);
}

// The entries of a row that lead neither to its state nor into the set; 0 for a row that is not alive.
__device__ inline int outside(const Pattern& graph, count_t state, count_t row, const byte* status, const byte* alive) {
    int count = 0;
    if (alive && !alive[row]) return count;
    for (offset_t entry = graph.starts[row]; entry < graph.starts[row + 1]; ++entry) {
        count += graph.columns[entry] != state && !is_found(status, graph.columns[entry]);
    }
    return count;
}

// The row by which a state can be added, its first where all count; -1 where it cannot be.
__device__ inline count_t way(const Pattern& graph, count_t state, const byte* status, const byte* rows, count_t step) {
    const count_t first = graph.first_row(state), last = graph.first_row(state + 1);
    for (count_t row = first; row < last; ++row) {
        if (step == EVERY_ENTRY) {
            if (outside(graph, state, row, status, rows)) return -1;
        } else if (step == EVERY_ROW) {
            if (!is_free(graph, state, row, rows) && !meets(graph, row, status)) return -1;
        } else if (meets(graph, row, status) && (step == SOME_ENTRY || stays(graph, row, rows))) {
            return row;
        }
    }
    return step >= EVERY_ROW ? first : -1;
}

// Execution plan: a thread per state; neighbouring states have neighbouring rows, which the first-level cache holds until
// their thread has read them. `rows` is the set to stay in (SOME_ROW) or the rows alive (EVERY_ROW, EVERY_ENTRY); it,
// `strategy`, `order` and `queue` may be null.
extern "C" __global__ void sweep(const offset_t* starts, const int* columns, const int* groups, byte* status,
                                 const byte* rows, int* strategy, int* order, unsigned long long* order_tail,
                                 int* changed, int* queue, unsigned long long* tail, count_t n_states, count_t step,
                                 count_t down) {
    const count_t number = thread_number();
    if (number >= n_states) return;
    const count_t state = in_order(number, n_states, down);
    if (status[state] != OPEN) return;
    const count_t row = way(Pattern{starts, columns, groups}, state, status, rows, step);
    if (row < 0) return;
    if (strategy) strategy[state] = int(row);
    Order{{order, order_tail}}.put(state);
    status[state] = OPEN | FOUND;
    *changed = 1;
    if (queue) Queue{queue, tail}.put(int(state));
}

// The same for SOME_ENTRY where states have many entries: `lanes` neighbouring threads share a state. Each may add it.
extern "C" __global__ void sweep_shared(const offset_t* starts, const int* columns, const int* groups, byte* status,
                                        int* changed, count_t n_states, count_t lanes, count_t down) {
    const count_t number = thread_number() / lanes;
    if (number >= n_states) return;
    const Pattern graph{starts, columns, groups};
    const count_t state = in_order(number, n_states, down);
    if (status[state] != OPEN) return;
    const offset_t end = graph.end(state);
    for (offset_t entry = graph.begin(state) + offset_t(thread_number() % lanes); entry < end; entry += offset_t(lanes)) {
        if (is_found(status, columns[entry])) {
            status[state] = OPEN | FOUND;
            *changed = 1;
            return;
        }
    }
}

// Whether a found state is met where a state leads, following the greatest states ahead or the least.
__device__ inline bool leads(const byte* status, const Reach* ahead, Reach first) {
    int high = first.greatest, low = first.least;
    for (int k = 0; k < JUMPS && (high != NOTHING || low != BEYOND); ++k) {
        if (high != NOTHING && is_found(status, high)) return true;
        if (low != BEYOND && is_found(status, low)) return true;
        high = high == NOTHING ? NOTHING : ahead[high].greatest;
        low = low == BEYOND ? BEYOND : ahead[low].least;
    }
    return false;
}

// Execution plan: a thread per state. As `sweep` where one edge is enough, but a state also knows the greatest and the
// least state ahead of it, on ways through open states, and follows them: a long path is found in about as many passes as
// its length has digits. Only its own thread writes what a state knows.
extern "C" __global__ void leap(const offset_t* starts, const int* columns, const int* groups, byte* status,
                                const byte* staying, Reach* ahead, int* changed, count_t n_states, count_t down) {
    const count_t number = thread_number();
    if (number >= n_states) return;
    const count_t state = in_order(number, n_states, down);
    if (status[state] != OPEN) return;
    const Pattern graph{starts, columns, groups};
    Reach far = ahead[state];
    bool reaches = false;
    for (count_t row = graph.first_row(state); !reaches && row < graph.first_row(state + 1); ++row) {
        if (!stays(graph, row, staying)) continue;
        for (offset_t entry = starts[row]; !reaches && entry < starts[row + 1]; ++entry) {
            const int target = columns[entry];
            reaches = is_found(status, target);
            if (status[target] == OPEN && target != state) far = both(far, both({target, target}, ahead[target]));
        }
    }
    for (int k = 0; !reaches && far.greatest != NOTHING && k < JUMPS; ++k) {
        const Reach more = both(far, both(ahead[far.greatest], ahead[far.least]));
        if (more.greatest == far.greatest && more.least == far.least) break;
        far = more;
    }
    if (reaches || leads(status, ahead, far)) {
        status[state] = OPEN | FOUND;
        *changed = 1;
    } else {
        ahead[state] = far;
    }
}

// The state that each row belongs to.
extern "C" __global__ void own_rows(const offset_t* starts, const int* columns, const int* groups, int* owner,
                                    count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    for (int row = groups[state]; row < groups[state + 1]; ++row) owner[row] = int(state);
}

// Rows of a quotient: copies of the given rows, their columns renamed.
extern "C" __global__ void copy_rows(const offset_t* starts, const int* columns, const int* groups, const count_t* rows,
                                     const int* names, const offset_t* new_starts, int* new_columns, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    offset_t place = new_starts[number];
    for (offset_t entry = starts[rows[number]]; entry < starts[rows[number] + 1]; ++entry) {
        new_columns[place++] = names[columns[entry]];
    }
}

// Before pushes that need all of something: how many rows (or entries) of each open state do not meet the set yet, and a
// bit for the rows that do. The set does not change meanwhile.
extern "C" __global__ void count_missing(const offset_t* starts, const int* columns, const int* groups,
                                         const byte* status, const byte* alive, unsigned* met, int* missing,
                                         count_t n_states, count_t step) {
    const count_t state = thread_number();
    if (state >= n_states || status[state] != OPEN) return;
    const Pattern graph{starts, columns, groups};
    int open = 0;
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (step == EVERY_ENTRY) {
            open += outside(graph, state, row, status, alive);
        } else if (is_free(graph, state, row, alive) || meets(graph, row, status)) {
            set_bit(met, row);
        } else {
            ++open;
        }
    }
    missing[state] = open;
}

// The same for the edges that enter a state from open ones, for a search forward. `missing` begins with zeros.
extern "C" __global__ void count_entering(const offset_t* starts, const int* columns, const int* groups,
                                          const byte* status, const byte* alive, int* missing, count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states || status[state] != OPEN) return;
    const Pattern graph{starts, columns, groups};
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (alive && !alive[row]) continue;
        for (offset_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
            if (columns[entry] != state && status[columns[entry]] == OPEN) atomicAdd(&missing[columns[entry]], 1);
        }
    }
}

// Pushes begin with the states that miss nothing.
extern "C" __global__ void begin_pushes(byte* status, const int* missing, int* order, unsigned long long* order_tail,
                                        int* queue, unsigned long long* tail, count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states || status[state] != OPEN || missing[state]) return;
    Order{{order, order_tail}}.put(state);
    status[state] = OPEN | FOUND;
    Queue{queue, tail}.put(int(state));
}

// Execution plan: a thread per state; the edges among open states, counted by their target (`sources` null) or, when the
// counts have been summed up, written from the end of each target's list. Afterwards `before` holds where lists begin.
extern "C" __global__ void turn_round(const offset_t* starts, const int* columns, const int* groups, const byte* status,
                                      const byte* rows, offset_t* before, int* sources, count_t n_states, count_t step) {
    const count_t state = thread_number();
    if (state >= n_states || status[state] != OPEN) return;
    const Pattern graph{starts, columns, groups};
    for (count_t row = graph.first_row(state); row < graph.first_row(state + 1); ++row) {
        if (step == SOME_ROW && !stays(graph, row, rows)) continue;
        if (step == EVERY_ROW && is_free(graph, state, row, rows)) continue;
        if (step == EVERY_ENTRY && rows && !rows[row]) continue;
        for (offset_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
            const int target = columns[entry];
            if (status[target] != OPEN || (step == EVERY_ENTRY && target == state)) continue;
            if (!sources) {
                add_to(&before[target], 1);
            } else {
                sources[add_to(&before[target], -1) - 1] = int(step == SOME_ENTRY || step == EVERY_ENTRY ? state : row);
            }
        }
    }
}

// Execution plan: a thread per state of the queue, from `head` on.
extern "C" __global__ void push(const offset_t* starts, const int* edges, const int* groups, byte* status,
                                const int* owner, unsigned* met, int* missing, int* strategy, int* order,
                                unsigned long long* order_tail, int* queue, unsigned long long* tail, const byte* rows,
                                int* wide_states, unsigned long long* wide_tail, count_t head, count_t count,
                                count_t chase, count_t wide) {
    const count_t number = thread_number();
    if (number >= count) return;
    const Step step{status, owner, met, missing, strategy, {{order, order_tail}}};
    const Pushes pushes{{starts, edges, groups}, step, rows, {queue, tail}, {wide_states, wide_tail}, wide};
    pushes.from(queue[head + number], chase);
}

// A thread per edge of one state.
extern "C" __global__ void push_wide(const offset_t* starts, const int* edges, const int* groups, byte* status,
                                     const int* owner, unsigned* met, int* missing, int* strategy, int* order,
                                     unsigned long long* order_tail, int* queue, unsigned long long* tail,
                                     count_t state) {
    const Pattern graph{starts, edges, groups};
    const count_t entry = graph.begin(state) + thread_number();
    if (entry >= graph.end(state)) return;
    const int added = Step{status, owner, met, missing, strategy, {{order, order_tail}}}.follow(edges[entry]);
    if (added >= 0) Queue{queue, tail}.put(added);
}
