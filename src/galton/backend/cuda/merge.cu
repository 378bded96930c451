// The sums of all rows where lengths are so uneven that neither a thread nor a warp per row will do (Merrill and Garland 2016).
//
// Execution plan: entries and ends of rows are merged into one list, in which a row's end follows its entries, and every thread
// takes ITEMS of that list, found by a search along a diagonal. It writes the sum of each row that ends in its part, as far as the
// row lies there; what it has of a row that goes on is carried. A second launch adds up what was carried: a thread takes 32 parts,
// and only where a row goes beyond these may two threads have to add to the same number.
#include "rows.cuh"

#define ITEMS 16
#define PARTS 32

// How many of the first `diagonal` items are ends of rows.
__device__ inline count_t ends_before(const offset_t* starts, count_t n_rows, count_t entries, count_t diagonal) {
    count_t low = diagonal > entries ? diagonal - entries : 0, high = diagonal < n_rows ? diagonal : n_rows;
    while (low < high) {
        const count_t middle = (low + high) / 2;
        if (starts[middle + 1] <= diagonal - middle - 1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

template <class Rounding>
__device__ inline void sum_part(const Rows& rows, const double* x, count_t n_rows, double* sums, int* carried_rows,
                                double* carried) {
    const offset_t* starts = rows.pattern.starts;
    const count_t entries = starts[n_rows], items = n_rows + entries, part = thread_number(), begin = part * ITEMS;
    if (begin >= items) return;
    const count_t end = begin + ITEMS < items ? begin + ITEMS : items;
    count_t row = ends_before(starts, n_rows, entries, begin), entry = begin - row;
    count_t row_end = row < n_rows ? count_t(starts[row + 1]) : entries + 1;
    double sum = 0;
    bool carries = false;
    while (row + entry < end) {
        if (entry < row_end) {
            sum = Rounding::multiply_add(rows.value(entry), x[rows.pattern.columns[entry]], sum);
            ++entry;
            carries = true;
        } else {
            sums[row] = sum;
            ++row;
            row_end = row < n_rows ? count_t(starts[row + 1]) : entries + 1;
            sum = 0;
            carries = false;
        }
    }
    carried_rows[part] = carries ? int(row) : -1;
    carried[part] = sum;
}

template <class Rounding>
__device__ inline void add_together(double* sum, double more) {
    auto* place = reinterpret_cast<unsigned long long*>(sum);
    unsigned long long found = *(volatile unsigned long long*)place, before;
    do {
        before = found;
        found = atomicCAS(place, before, bits_of(Rounding::add(number_of(before), more)));
    } while (found != before);
}

template <class Rounding>
__device__ inline void add_part(const int* carried_rows, const double* carried, count_t parts, double* sums) {
    const count_t begin = thread_number() * PARTS, end = begin + PARTS < parts ? begin + PARTS : parts;
    count_t part = begin;
    while (part < end) {
        const int row = carried_rows[part];
        double sum = carried[part];
        for (++part; part < end && carried_rows[part] == row; ++part) sum = Rounding::add(sum, carried[part]);
        if (row >= 0) add_together<Rounding>(sums + row, sum);
    }
}

// `rounding` is -1 for down, 0 for the nearest, 1 for up.
extern "C" __global__ void sum_parts(ROWS_PARAMETERS, const double* x, count_t n_rows, count_t rounding, double* sums,
                                     int* carried_rows, double* carried) {
    const Rows rows = ROWS;
    if (rounding == 0) {
        sum_part<Nearest>(rows, x, n_rows, sums, carried_rows, carried);
    } else if (rounding > 0) {
        sum_part<Up>(rows, x, n_rows, sums, carried_rows, carried);
    } else {
        sum_part<Down>(rows, x, n_rows, sums, carried_rows, carried);
    }
}

extern "C" __global__ void add_carried(const int* carried_rows, const double* carried, count_t parts, count_t rounding,
                                       double* sums) {
    if (rounding == 0) {
        add_part<Nearest>(carried_rows, carried, parts, sums);
    } else if (rounding > 0) {
        add_part<Up>(carried_rows, carried, parts, sums);
    } else {
        add_part<Down>(carried_rows, carried, parts, sums);
    }
}
