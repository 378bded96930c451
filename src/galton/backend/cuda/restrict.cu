// From a model and the states sought to equations for them: what src/core/solve/restrict.cpp does, in two passes over the rows.
//
// Execution plan: a thread per state marks its rows; then a thread per row that is kept counts the entries that stay, and,
// after a prefix sum, writes them. Both passes read the row and the numbers of its targets; the second also writes it. For progress, a
// thread per unknown, and one per row of those with many rows.
#include "graph/pattern.cuh"
#include "numbers.cuh"

typedef CODE code_t;

// Which rows are kept, and the unknown each belongs to.
extern "C" __global__ void mark_rows(const int* groups, const int* number, const byte* keep, count_t n_states, byte* kept,
                                     int* unknown) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const count_t first = groups ? groups[state] : state, last = groups ? groups[state + 1] : state + 1;
    for (count_t row = first; row < last; ++row) {
        kept[row] = number[state] >= 0 && (!keep || keep[row]);
        unknown[row] = number[state];
    }
}

extern "C" __global__ void count_entries(const offset_t* starts, const int* columns, const int* number, const int* rows,
                                         const int* unknown, count_t n_rows, int* counts, unsigned long long* longest) {
    const count_t i = thread_number();
    if (i >= n_rows) return;
    const count_t row = rows[i], first = starts[row], last = starts[row + 1];
    int count = 0;
    for (count_t e = first; e < last; ++e) {
        const int target = number[columns[e]];
        count += target >= 0 && target != unknown[i];
    }
    counts[i] = count;
    if ((unsigned long long)(last - first) > *(volatile unsigned long long*)longest) {
        atomicMax(longest, (unsigned long long)(last - first));
    }
}

// Entries to states of known value become constants, those back to the unknown itself are divided out: 1 - p is the sum of the
// others. `exits` are the rows that may lead to a known state.
extern "C" __global__ void write_rows(const offset_t* starts, const int* columns, const code_t* codes, const double* dictionary,
                                      const int* number, const double* known, const double* reward, const int* rows,
                                      const int* unknown, count_t n_rows, count_t rates, const offset_t* new_starts,
                                      int* new_columns, code_t* new_codes, double* scale, double* constant, byte* exits,
                                      unsigned long long* scaled) {
    const count_t i = thread_number();
    if (i >= n_rows) return;
    const count_t row = rows[i];
    double sum = reward ? reward[row] : 0.0, leaving = 0;
    bool loop = false, exit = false;
    count_t entry = new_starts[i];
    for (count_t e = starts[row]; e < starts[row + 1]; ++e) {
        const int column = columns[e], target = number[column];
        if (target == unknown[i]) {
            loop = true;
            continue;
        }
        const code_t code = codes[e];
        const double value = dictionary ? dictionary[(int)code] : double(code);
        leaving += value;
        if (target < 0) {
            sum += value * known[column];
            exit = true;
            continue;
        }
        new_columns[entry] = target;
        new_codes[entry++] = code;
    }
    // A row that leads nowhere else never ends: what it collects is infinite.
    const double factor = leaving != 0 && (rates || loop) ? 1 / leaving : 1.0;
    scale[i] = factor;
    if (factor != 1) *scaled = 1;
    constant[i] = leaving == 0 ? INFINITE : sum * factor;
    exits[i] = exit;
}

__device__ inline bool leads_on(const offset_t* starts, const int* columns, const byte* exits, const int* progress, count_t row) {
    bool leads = exits[row];
    for (count_t e = starts[row]; !leads && e < starts[row + 1]; ++e) leads = progress[columns[e]] >= 0;
    return leads;
}

// A row of each unknown that leads out, or to an unknown that has one already: one pass in place, without those that have more than
// `many` rows.
extern "C" __global__ void make_progress(const offset_t* starts, const int* columns, const int* groups, const byte* exits,
                                         count_t size, count_t many, int* progress, unsigned long long* changed) {
    const count_t state = thread_number();
    if (state >= size || progress[state] >= 0 || groups[state + 1] - groups[state] > many) return;
    for (count_t row = groups[state]; row < groups[state + 1]; ++row) {
        if (!leads_on(starts, columns, exits, progress, row)) continue;
        progress[state] = int(row);
        *changed = 1;
        return;
    }
}

// The same for these. A row that has been taken stays: what led to its unknown because of it must not come before it.
extern "C" __global__ void make_wide_progress(const offset_t* starts, const int* columns, const int* groups, const byte* exits,
                                              const int* unknown, count_t n_rows, count_t many, int* progress,
                                              unsigned long long* changed) {
    const count_t row = thread_number();
    if (row >= n_rows) return;
    const int state = unknown[row];
    if (groups[state + 1] - groups[state] <= many || progress[state] >= 0) return;
    if (!leads_on(starts, columns, exits, progress, row)) return;
    if (atomicCAS(progress + state, -1, int(row)) == -1) *changed = 1;
}
