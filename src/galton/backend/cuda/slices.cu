// From CSR to slices (see rows.cuh), and the numbers by which a layout is chosen.
//
// Execution plan: a thread per state. It reads its rows, which are next to each other, and writes them into every 32nd place: warps
// read and write whole lines of the cache between them, once each. Made once for hundreds of sweeps. Rows are measured by a few
// thousand threads that go over all of them, so that each has one number to tell at the end.
#include "rows.cuh"

// `lanes` is what LANES is for the kernels that walk over slices: here nothing is gained by knowing it before.

// Lines of `lanes` entries that the rows of each state need; an empty row needs one to be seen.
extern "C" __global__ void count_lines(const offset_t* starts, const int* groups, count_t n_states, count_t lanes, int* lines) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const Pattern pattern{starts, nullptr, groups};
    count_t count = 0;
    for (count_t row = pattern.first_row(state); row < pattern.first_row(state + 1); ++row) {
        const count_t length = starts[row + 1] - starts[row];
        count += length ? (length + lanes - 1) / lanes : 1;
    }
    lines[state] = int(count);
}

// The longest row, and the sum of the squares of all lengths.
extern "C" __global__ void measure_rows(const offset_t* starts, count_t n_rows, count_t threads, unsigned long long* longest,
                                        unsigned long long* squares) {
    if (thread_number() >= threads) return;
    unsigned long long most = 0, sum = 0;
    for (count_t row = thread_number(); row < n_rows; row += threads) {
        const auto length = (unsigned long long)(starts[row + 1] - starts[row]);
        most = length > most ? length : most;
        sum += length * length;
    }
    if (most > *(volatile unsigned long long*)longest) atomicMax(longest, most);
    if (sum) atomicAdd(squares, sum);
}

// Write the entries of every state into its columns of the slice that begins at `slices[…]`; in one slice of all states where that
// is null. `width` is that of a slice. Places that have no entry must be marked so before.
extern "C" __global__ void fill(const offset_t* starts, const int* columns, const int* groups, const code_t* codes,
                                count_t n_states, count_t lanes, const long long* slices, count_t width, int* new_columns,
                                code_t* new_codes) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const Pattern pattern{starts, columns, groups};
    const count_t states = 32 / lanes, slice = state / states;
    count_t line = (slices ? slices[slice] : slice * 32) + state % states * lanes;
    for (count_t row = pattern.first_row(state); row < pattern.first_row(state + 1); ++row) {
        count_t entry = starts[row];
        const count_t end = starts[row + 1];
        do {
            const unsigned ends = entry + lanes >= end ? ROW_ENDS : 0;
            for (int lane = 0; lane < lanes; ++lane, ++entry) {
                new_columns[line + lane] = int(ends | (entry < end ? unsigned(columns[entry]) : NO_ENTRY));
                if (entry < end) new_codes[line + lane] = codes[entry];
            }
            line += width;
        } while (entry < end);
    }
}
