// A row-grouped sparse matrix as the kernels see it: pointers into arrays that somebody else owns.
//
// Rows are choices, grouped by state; a chain has no groups and one row per state. Entries are stored plainly or as
// numbers into a dictionary of distinct values, and offsets are 32 or 64 bits wide. `visit` picks the types once, so that
// a kernel is written once and compiled for each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace galton {

struct PlainValues {
    const double* values;
    double operator[](size_t entry) const { return values[entry]; }
};

template <class Code>
struct CodedValues {
    const double* dictionary;
    const Code* codes;
    double operator[](size_t entry) const { return dictionary[codes[entry]]; }
};

// The matrix with its types settled. The rows of state s are first_row(s) up to first_row(s + 1).
template <class Offset, class Values>
struct Rows {
    size_t n_states, n_rows;
    const int32_t* groups;  // null for a chain
    const Offset* starts;
    const int32_t* columns;
    Values values;

    size_t first_row(size_t state) const { return groups ? static_cast<size_t>(groups[state]) : state; }
    size_t first_entry(size_t row) const { return static_cast<size_t>(starts[row]); }
};

struct MatrixView {
    size_t n_states = 0, n_rows = 0, n_entries = 0;
    const int32_t* groups = nullptr;
    const int32_t* starts = nullptr;
    const int64_t* wide_starts = nullptr;
    const int32_t* columns = nullptr;
    const double* plain = nullptr;
    const double* dictionary = nullptr;
    const uint8_t* bytes = nullptr;
    const uint16_t* shorts = nullptr;
};

template <class Offset, class Kernel>
auto visit_values(const MatrixView& m, const Offset* starts, Kernel&& kernel) {
    if (m.bytes) {
        using V = CodedValues<uint8_t>;
        return kernel(Rows<Offset, V>{m.n_states, m.n_rows, m.groups, starts, m.columns, V{m.dictionary, m.bytes}});
    }
    if (m.shorts) {
        using V = CodedValues<uint16_t>;
        return kernel(Rows<Offset, V>{m.n_states, m.n_rows, m.groups, starts, m.columns, V{m.dictionary, m.shorts}});
    }
    return kernel(Rows<Offset, PlainValues>{m.n_states, m.n_rows, m.groups, starts, m.columns, PlainValues{m.plain}});
}

// Call `kernel(rows)` with the matrix as a Rows<…> of its own types.
template <class Kernel>
auto visit(const MatrixView& m, Kernel&& kernel) {
    return m.starts ? visit_values(m, m.starts, kernel) : visit_values(m, m.wide_starts, kernel);
}

}  // namespace galton
