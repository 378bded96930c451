// Searches in one rank's part of a graph, whose rows lead to its own states and to ghosts: numbers past the own ones.
//
// A search goes as far as it can within the part, from states that are new, and says what it found; the caller tells the
// other ranks, and calls again with what it learns from them (galton/backend/petsc/graph.py). Nothing depends on the order.
#pragma once

#include <vector>

#include "graph/predecessors.hpp"

namespace galton {

// The rows all of whose entries lead to some states, of which ghosts may be some.
inline void stay_among(const MatrixView& matrix, const bool* inside, bool* staying) {
    visit_pattern(matrix, [&](const auto& rows) {
        for (size_t r = 0; r < rows.n_rows; ++r) {
            bool all = true;
            for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e)
                all &= inside[static_cast<size_t>(rows.columns[e])];
            staying[r] = all;
        }
    });
}

class RankSearch {
  public:
    // `size` counts own states and ghosts.
    RankSearch(const MatrixView& matrix, size_t size) : matrix_(matrix), size_(size) {
        visit_pattern(matrix_, [&](const auto& rows) {
            owners_ = Pages<int32_t>(rows.groups ? rows.n_rows : 0, SCATTERED);
            if (rows.groups)
                for (size_t s = 0; s < rows.n_states; ++s)
                    for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) owners_[r] = static_cast<int32_t>(s);
            before_ = turn_round<int64_t>(size, [&](auto&& visit) {
                for (size_t r = 0; r < rows.n_rows; ++r)
                    for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e)
                        visit(r, static_cast<size_t>(rows.columns[e]));
            });
        });
    }

    size_t states() const { return matrix_.n_states; }
    size_t rows() const { return matrix_.n_rows; }
    size_t size() const { return size_; }

    // Backwards from states that are new in `found` (size): states of `through` join it with an entry into it in some of
    // their rows, or with `left` (states) in each of so many; `hit` (rows) are those that have one. `allowed` rows count.
    // `by` (states) gets the row by which each state joined.
    std::vector<int32_t> backward(bool* found, const bool* through, const bool* allowed, int32_t* left, bool* hit, int32_t* by,
                                  std::vector<int32_t> fresh) const {
        std::vector<int32_t> added;
        while (!fresh.empty()) {
            const auto target = static_cast<size_t>(fresh.back());
            fresh.pop_back();
            for (size_t i = before_.begin(target); i < before_.end(target); ++i) {
                const auto row = static_cast<size_t>(before_.sources[i]), state = owner(row);
                if (found[state] || !through[state] || (allowed && !allowed[row])) continue;
                if (left) {
                    if (hit[row]) continue;
                    hit[row] = true;
                    if (--left[state] > 0) continue;
                }
                found[state] = true;
                if (by) by[state] = static_cast<int32_t>(row);
                added.push_back(static_cast<int32_t>(state));
                fresh.push_back(static_cast<int32_t>(state));
            }
        }
        return added;
    }

    // Backwards from states whose `colour` (size) is new: states of `within` get the greatest that they lead to.
    std::vector<int32_t> greatest(int64_t* colour, const bool* within, const bool* allowed, std::vector<int32_t> fresh) const {
        std::vector<int32_t> changed;
        std::vector<bool> noted(states());
        while (!fresh.empty()) {
            const auto target = static_cast<size_t>(fresh.back());
            fresh.pop_back();
            for (size_t i = before_.begin(target); i < before_.end(target); ++i) {
                const auto row = static_cast<size_t>(before_.sources[i]), state = owner(row);
                if (!within[state] || (allowed && !allowed[row]) || colour[state] >= colour[target]) continue;
                colour[state] = colour[target];
                if (!noted[state]) changed.push_back(static_cast<int32_t>(state));
                noted[state] = true;
                fresh.push_back(static_cast<int32_t>(state));
            }
        }
        return changed;
    }

    // Forwards from own states that are new in `found` (size), to those of `within` (size); ghosts are found once.
    std::vector<int32_t> forward(bool* found, const bool* within, const bool* allowed, std::vector<int32_t> fresh) const {
        std::vector<int32_t> added;
        visit_pattern(matrix_, [&](const auto& rows) {
            while (!fresh.empty()) {
                const auto state = static_cast<size_t>(fresh.back());
                fresh.pop_back();
                for (size_t r = rows.first_row(state); r < rows.first_row(state + 1); ++r) {
                    if (allowed && !allowed[r]) continue;
                    for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                        const auto target = static_cast<size_t>(rows.columns[e]);
                        if (found[target] || !within[target]) continue;
                        found[target] = true;
                        added.push_back(rows.columns[e]);
                        if (target < states()) fresh.push_back(rows.columns[e]);
                    }
                }
            }
        });
        return added;
    }

    // The rows all of whose entries lead to states with the number that their own has (size), which is not negative.
    void stay_together(const int64_t* number, bool* staying) const {
        visit_pattern(matrix_, [&](const auto& rows) {
            for (size_t r = 0; r < rows.n_rows; ++r) {
                const int64_t mine = number[owner(r)];
                bool all = mine >= 0;
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e)
                    all &= number[static_cast<size_t>(rows.columns[e])] == mine;
                staying[r] = all;
            }
        });
    }

  private:
    size_t owner(size_t row) const { return owners_.size() ? static_cast<size_t>(owners_[row]) : row; }

    MatrixView matrix_;
    size_t size_;
    Pages<int32_t> owners_;  // of rows; empty for a chain
    Predecessors<int64_t> before_;
};

}  // namespace galton
