// The sums of all rows where some are so long that neither a thread nor a warp per row will do.
//
// Execution plan: the entries are cut into chunks of CHUNK, wherever rows begin, and LANES threads, a warp, take one. They look for
// the row of the first entry and go over the rows from there, LANES at a time: short ones are a thread's own, over the others they
// go together, one after the other, reading side by side. Every row gets what is found of it in the chunk in which it begins; what
// a chunk has of a row that began before is carried, one number a chunk. A second launch adds up what was carried: a thread for
// each row of which there is any, in the order of the chunks, so that sums are the same each time. Nobody writes the sum of an
// empty row: it has to be 0 before.
#include "rows.cuh"

#define CHUNK 1024
#define SHORT 16  // entries that a thread adds up alone

// Which lanes say yes. Without a device threads run one after the other, and each asks for all.
template <class Condition>
__device__ inline unsigned lanes_where(Condition&& holds) {
#ifdef __CUDA_ARCH__
    return __ballot_sync(0xffffffffu, holds(lane()));
#else
    unsigned found = 0;
    for (int l = 0; l < LANES; ++l) found |= unsigned(holds(l)) << l;
    return found;
#endif
}

// The row that an entry is of: the last that does not begin behind it.
__device__ inline count_t row_of(const offset_t* starts, count_t n_rows, count_t entry) {
    count_t low = 0, high = n_rows - 1;
    while (low < high) {
        const count_t middle = (low + high + 1) / 2;
        if (starts[middle] <= entry) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

template <class Rounding>
__device__ inline void sum_chunk(const Rows& rows, const real* x, count_t n_rows, double* sums, int* carried_rows,
                                 double* carried) {
    const count_t chunk = thread_number() / LANES, begin = chunk * CHUNK, entries = rows.pattern.starts[n_rows];
    if (begin >= entries) return;
    const count_t end = begin + CHUNK < entries ? begin + CHUNK : entries;
    const count_t first = row_of(rows.pattern.starts, n_rows, begin);
    if (lane() == 0) carried_rows[chunk] = rows.pattern.starts[first] < begin ? int(first) : -1;
    // What the chunk has of a row: nothing of those that begin behind it.
    const auto inside = [&](count_t number) {
        if (number >= n_rows || rows.pattern.starts[number] >= end) return Row{number, 0, 0};
        const Row row = rows.row(number);
        return Row{number, row.begin < begin ? offset_t(begin) : row.begin, row.end < end ? row.end : offset_t(end)};
    };
    const auto write = [&](const Row& row, double sum) {
        *(rows.pattern.starts[row.number] < begin ? carried + chunk : sums + row.number) = sum;
    };
    for (count_t base = first; base < n_rows && rows.pattern.starts[base] < end; base += LANES) {
        const Row own = inside(base + lane());
        if (own.begin < own.end && own.end - own.begin <= SHORT) write(own, sum_alone<Rounding>(rows, own.begin, own.end, x));
        unsigned left = lanes_where([&](int l) {
            const Row row = inside(base + l);
            return row.end - row.begin > SHORT;
        });
        for (int l = 0; left; ++l, left >>= 1) {
            if (!(left & 1)) continue;
            const Row row = inside(base + l);
            const double sum = sum_of<Rounding>(rows, row.begin, row.end, x);
            if (lane() == 0) write(row, sum);
        }
    }
}

template <class Rounding>
__device__ inline void add_chunk(const offset_t* starts, const int* carried_rows, const double* carried, count_t chunks,
                                 double* sums) {
    const count_t chunk = thread_number();
    if (chunk >= chunks) return;
    const int row = carried_rows[chunk];
    if (row < 0 || starts[row] / CHUNK + 1 != chunk) return;  // not the first chunk that carries some of its row
    const count_t last = (starts[row + 1] - 1) / CHUNK;
    double sum = sums[row];
#pragma unroll 4
    for (count_t from = chunk; from <= last; ++from) sum = Rounding::add(sum, carried[from]);
    sums[row] = sum;
}

// `rounding` is -1 for down, 0 for the nearest, 1 for up.
extern "C" __global__ void sum_chunks(ROWS_PARAMETERS, const real* x, count_t n_rows, count_t rounding, double* sums,
                                      int* carried_rows, double* carried) {
    const Rows rows = ROWS;
    if (rounding == 0) {
        sum_chunk<Nearest>(rows, x, n_rows, sums, carried_rows, carried);
    } else if (rounding > 0) {
        sum_chunk<Up>(rows, x, n_rows, sums, carried_rows, carried);
    } else {
        sum_chunk<Down>(rows, x, n_rows, sums, carried_rows, carried);
    }
}

extern "C" __global__ void add_carried(const offset_t* starts, const int* carried_rows, const double* carried, count_t chunks,
                                       count_t rounding, double* sums) {
    if (rounding == 0) {
        add_chunk<Nearest>(starts, carried_rows, carried, chunks, sums);
    } else if (rounding > 0) {
        add_chunk<Up>(starts, carried_rows, carried, chunks, sums);
    } else {
        add_chunk<Down>(starts, carried_rows, carried, chunks, sums);
    }
}
