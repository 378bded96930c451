// From CSR to slices (see states.cuh), and the numbers by which a layout is chosen.
//
// Execution plan: a thread per state. It reads its rows, which are next to each other, and writes them into every 32nd place: warps
// read and write whole lines of the cache between them, once each. Made once for hundreds of sweeps. Rows are measured by a few
// thousand threads that go over all of them, so that each has one number to tell at the end.
#include "states.cuh"
#include "table.cuh"

// `lanes` is what LANES is for the kernels that walk over slices: here nothing is gained by knowing it before.

// How many numbers a row has: its entries, and its constant where that is not 0.
__device__ inline count_t numbers_of(const offset_t* starts, const double* constants, count_t row) {
    return starts[row + 1] - starts[row] + (constants && constants[row] != 0);
}

// `use(number, word)` for the numbers of a row, in the order of their sum.
template <class Use>
__device__ inline void each_number(const Rows& rows, count_t row, Use&& use) {
    const double scale = rows.scale.values ? rows.scale[row] : 1, constant = rows.constant.values ? rows.constant[row] : 0;
    for (count_t entry = rows.pattern.starts[row]; entry < rows.pattern.starts[row + 1]; ++entry)
        use(scale * rows.value(entry), unsigned(rows.pattern.columns[entry]));
    if (constant != 0) use(constant, NO_ENTRY);
}

// Lines of `lanes` numbers that the rows of each state need; an empty row needs one to be seen.
extern "C" __global__ void count_lines(const offset_t* starts, const int* groups, const double* constants, count_t n_states,
                                       count_t lanes, int* lines) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const Pattern pattern{starts, nullptr, groups};
    count_t count = 0;
    for (count_t row = pattern.first_row(state); row < pattern.first_row(state + 1); ++row) {
        const count_t numbers = numbers_of(starts, constants, row);
        count += numbers ? (numbers + lanes - 1) / lanes : 1;
    }
    lines[state] = int(count);
}

// The longest row, the sum of the squares of all lengths, and how many numbers there are.
extern "C" __global__ void measure_rows(const offset_t* starts, const double* constants, count_t n_rows, count_t threads,
                                        unsigned long long* longest, unsigned long long* squares, unsigned long long* numbers) {
    if (thread_number() >= threads) return;
    unsigned long long most = 0, sum = 0, all = 0;
    for (count_t row = thread_number(); row < n_rows; row += threads) {
        const auto length = (unsigned long long)(starts[row + 1] - starts[row]);
        most = length > most ? length : most;
        sum += length * length;
        all += numbers_of(starts, constants, row);
    }
    if (most > *(volatile unsigned long long*)longest) atomicMax(longest, most);
    if (sum) atomicAdd(squares, sum);
    if (all) atomicAdd(numbers, all);
}

// All numbers that slices will have, in a table.
extern "C" __global__ void collect_numbers(ROWS_PARAMETERS, count_t n_rows, unsigned long long* slots, count_t bits,
                                           unsigned long long* distinct) {
    const count_t row = thread_number();
    if (row >= n_rows) return;
    const Table table{slots, int(bits), distinct};
    each_number(ROWS, row, [&](double number, unsigned) { table.add(bits_of(number)); });
}

// Write a number: as its place among the `distinct` sorted ones in `width` bytes, or as it is in 8, or rounded to a float in 4.
__device__ inline void write(void* codes, count_t width, count_t place, double number, const unsigned long long* sorted,
                             count_t distinct) {
    if (width == 8) {
        static_cast<double*>(codes)[place] = number;
    } else if (width == 4) {
        static_cast<float*>(codes)[place] = float(number);
    } else if (width == 2) {
        static_cast<unsigned short*>(codes)[place] = (unsigned short)place_of(bits_of(number), sorted, distinct);
    } else {
        static_cast<byte*>(codes)[place] = byte(place_of(bits_of(number), sorted, distinct));
    }
}

// Write the numbers of every state into its columns of the slice that begins at `slices[…]`; in one slice of all states where that
// is null. `breadth` is that of a slice. All places must be marked as having no entry before, and codes be 0.
extern "C" __global__ void fill(ROWS_PARAMETERS, count_t n_states, count_t lanes, const long long* slices, count_t breadth,
                                const unsigned long long* sorted, count_t distinct, count_t width, unsigned* words,
                                void* new_codes) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const Rows rows = ROWS;
    const count_t states = 32 / lanes, slice = state / states;
    count_t line = (slices ? slices[slice] : slice * 32) + state % states * lanes;
    for (count_t row = rows.pattern.first_row(state); row < rows.pattern.first_row(state + 1); ++row) {
        count_t lane = 0;
        each_number(rows, row, [&](double number, unsigned word) {
            if (lane == lanes) {
                lane = 0;
                line += breadth;
            }
            words[line + lane] = word;
            write(new_codes, width, line + lane, number, sorted, distinct);
            ++lane;
        });
        for (lane = 0; lane < lanes; ++lane) words[line + lane] |= ROW_ENDS;
        line += breadth;
    }
}
