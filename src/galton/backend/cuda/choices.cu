// Between states and their choices. A thread per state, or per choice.
#include "graph/pattern.cuh"

extern "C" __global__ void owners(const int* groups, count_t n_states, int* owner) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    for (int row = groups[state]; row < groups[state + 1]; ++row) owner[row] = int(state);
}

// The states that have more than so many choices.
extern "C" __global__ void mark_wide(const int* groups, count_t n_states, count_t many, byte* wide) {
    const count_t state = thread_number();
    if (state < n_states) wide[state] = groups[state + 1] - groups[state] > many;
}

extern "C" __global__ void every_successor_in(const offset_t* starts, const int* columns, const byte* states, count_t n_rows,
                                              byte* inside) {
    const count_t row = thread_number();
    if (row >= n_rows) return;
    bool all = true;
    for (count_t e = starts[row]; all && e < starts[row + 1]; ++e) all = states[columns[e]];
    inside[row] = all;
}

// The greatest or the least of the numbers of each state's choices.
template <class Number>
__device__ inline void best_of_choices(const int* groups, const Number* numbers, count_t n_states, count_t maximise,
                                       Number* best) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    Number found = numbers[groups[state]];
    for (int row = groups[state] + 1; row < groups[state + 1]; ++row) {
        if (maximise ? numbers[row] > found : numbers[row] < found) found = numbers[row];
    }
    best[state] = found;
}

extern "C" __global__ void best_numbers(const int* groups, const double* numbers, count_t n_states, count_t maximise,
                                        double* best) {
    best_of_choices(groups, numbers, n_states, maximise, best);
}

extern "C" __global__ void best_truths(const int* groups, const byte* truths, count_t n_states, count_t maximise,
                                       byte* best) {
    best_of_choices(groups, truths, n_states, maximise, best);
}
