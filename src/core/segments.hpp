// Rows of a chain that are alike: queues, counters and grids have long runs of states whose transitions go to the same
// distances with the same numbers. Such a run is a stencil: its columns need not be read, and several rows are computed at
// once. A tandem of queues steps three times as fast for it.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "matrix.hpp"

namespace galton {

// Rows `first` up to `last`; all alike, or each for itself.
struct Segment {
    size_t first, last;
    bool alike;
};

constexpr size_t SHORTEST_RUN = 16;
constexpr size_t LONGEST_STENCIL = 8;

// Whether two rows of a chain have the same numbers at the same distances from themselves; `stay` as in ChainStep.
template <class R>
bool same_row(const R& rows, const double* stay, size_t a, size_t b) {
    const size_t ea = rows.first_entry(a), eb = rows.first_entry(b), n = rows.first_entry(a + 1) - ea;
    if (rows.first_entry(b + 1) - eb != n || n > LONGEST_STENCIL || (stay && stay[a] != stay[b])) return false;
    for (size_t e = 0; e < n; ++e) {
        const int64_t distance_a = rows.columns[ea + e] - static_cast<int64_t>(a);
        const int64_t distance_b = rows.columns[eb + e] - static_cast<int64_t>(b);
        if (distance_a != distance_b || rows.values[ea + e] != rows.values[eb + e]) return false;
    }
    return true;
}

// All rows of a chain as segments, none of them longer than `longest`.
template <class R>
std::vector<Segment> segments_of(const R& rows, const double* stay, size_t longest) {
    std::vector<Segment> segments;
    auto add = [&](size_t first, size_t last, bool alike) {
        for (; first < last; first += longest) segments.push_back({first, std::min(first + longest, last), alike});
    };
    size_t plain = 0;  // where the rows begin that are not yet in a segment
    for (size_t first = 0, last; first < rows.n_rows; first = last) {
        for (last = first + 1; last < rows.n_rows && same_row(rows, stay, last - 1, last);) ++last;
        if (last - first < SHORTEST_RUN) continue;
        add(plain, first, false);
        add(first, last, true);
        plain = last;
    }
    add(plain, rows.n_rows, false);
    return segments;
}

// What a run of rows has in common.
struct Stencil {
    size_t entries;
    std::array<int64_t, LONGEST_STENCIL> distances;
    std::array<double, LONGEST_STENCIL> factors;
};

template <class R>
Stencil stencil_of(const R& rows, size_t row) {
    Stencil stencil{rows.first_entry(row + 1) - rows.first_entry(row), {}, {}};
    for (size_t e = 0; e < stencil.entries; ++e) {
        stencil.distances[e] = rows.columns[rows.first_entry(row) + e] - static_cast<int64_t>(row);
        stencil.factors[e] = rows.values[rows.first_entry(row) + e];
    }
    return stencil;
}

// y[s] = A x for the rows first ≤ s < last of a run: a loop over rows for each number of entries, so that it is vectorised.
template <size_t N>
void apply(const Stencil& stencil, const double* x, double* y, size_t first, size_t last) {
    std::array<const double*, N> from;
    std::array<double, N> factors;
    for (size_t e = 0; e < N; ++e) {
        from[e] = x + stencil.distances[e];
        factors[e] = stencil.factors[e];
    }
    for (size_t s = first; s < last; ++s) {
        double total = factors[0] * from[0][s];
        for (size_t e = 1; e < N; ++e) total += factors[e] * from[e][s];
        y[s] = total;
    }
}

}  // namespace galton
