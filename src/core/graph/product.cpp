// The product of a model with an automaton that reads its states, as far as it can be reached.
//
// A pair is numbered q * states + s. Which pairs can be reached is a set of bits, found along a stack; their places among
// all that can be are counts of bits before them, so that nothing wider than a bit is kept for every pair there might be.
#include <bit>
#include <vector>

#include "graph/graph.hpp"

namespace galton {

namespace {

// How many of a set of bits come before each, by one sum for every word.
class Places {
  public:
    Places(const Pages<uint64_t>& words) : words_(words), before_(words.size(), SCATTERED) {
        for (size_t k = 0; k < words.size(); ++k) {
            before_[k] = static_cast<int32_t>(count_);
            count_ += static_cast<size_t>(std::popcount(words[k]));
        }
    }
    size_t count() const { return count_; }
    int32_t operator[](size_t i) const {
        const uint64_t below = words_[i / 64] & ((uint64_t{1} << i % 64) - 1);
        return before_[i / 64] + std::popcount(below);
    }

  private:
    const Pages<uint64_t>& words_;
    Pages<int32_t> before_;
    size_t count_ = 0;
};

template <class Offset>
class Multiplication {
  public:
    Multiplication(const Pattern<Offset>& graph, const ReadLetters& letters, const Stop& stop)
        : graph_(graph), letters_(letters), patience_(stop), n_(graph.n_states),
          reached_((letters.n_automaton_states * n_ + 63) / 64, SCATTERED) {}

    AutomatonProduct run(const int64_t* first, size_t count) {
        for (size_t i = 0; i < count; ++i) add(static_cast<size_t>(first[i]));
        while (!pending_.empty()) {
            patience_.spend();
            const size_t pair = pending_.back(), state = pair % n_, target = after(pair / n_, state) * n_;
            pending_.pop_back();
            const size_t end = graph_.first_entry(graph_.first_row(state + 1));
            for (size_t e = graph_.first_entry(graph_.first_row(state)); e < end; ++e)
                add(target + static_cast<size_t>(graph_.columns[e]));
        }
        return written();
    }

  private:
    size_t after(size_t automaton_state, size_t state) const {
        const auto letter = static_cast<size_t>(letters_.letter[state]);
        return static_cast<size_t>(letters_.successor[automaton_state * letters_.n_letters + letter]);
    }

    void add(size_t pair) {
        uint64_t& word = reached_[pair / 64];
        const uint64_t bit = uint64_t{1} << pair % 64;
        if (word & bit) return;
        word |= bit;
        pending_.push_back(pair);
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        for (size_t k = 0; k < reached_.size(); ++k)
            for (uint64_t left = reached_[k]; left; left &= left - 1) {
                patience_.spend();
                visit(k * 64 + static_cast<size_t>(std::countr_zero(left)));
            }
    }

    AutomatonProduct written() {
        const Places places(reached_);
        AutomatonProduct found;
        size_t rows = 0, entries = 0;
        for_each([&](size_t pair) {
            const size_t first = graph_.first_row(pair % n_), last = graph_.first_row(pair % n_ + 1);
            rows += last - first;
            entries += graph_.first_entry(last) - graph_.first_entry(first);
        });
        if (places.count() > INT32_MAX || rows > INT32_MAX) throw TooLarge{};
        found.pairs = Pages<int64_t>(places.count());
        found.choice_starts = Pages<int32_t>(places.count() + 1);
        found.rows = Pages<int64_t>(rows);
        found.row_starts = Pages<int64_t>(rows + 1);
        found.entries = Pages<int64_t>(entries);
        found.columns = Pages<int32_t>(entries);
        size_t at = 0, row_at = 0, entry_at = 0;
        for_each([&](size_t pair) {
            const size_t state = pair % n_, target = after(pair / n_, state) * n_;
            found.pairs[at++] = static_cast<int64_t>(pair);
            for (size_t row = graph_.first_row(state); row < graph_.first_row(state + 1); ++row) {
                found.rows[row_at++] = static_cast<int64_t>(row);
                for (size_t e = graph_.first_entry(row); e < graph_.first_entry(row + 1); ++e) {
                    found.entries[entry_at] = static_cast<int64_t>(e);
                    found.columns[entry_at++] = places[target + static_cast<size_t>(graph_.columns[e])];
                }
                found.row_starts[row_at] = static_cast<int64_t>(entry_at);
            }
            found.choice_starts[at] = static_cast<int32_t>(row_at);
        });
        return found;
    }

    const Pattern<Offset>& graph_;
    const ReadLetters& letters_;
    Patience patience_;
    const size_t n_;
    Pages<uint64_t> reached_;
    std::vector<size_t> pending_;
};

}  // namespace

AutomatonProduct automaton_product(const MatrixView& matrix, const ReadLetters& letters, const int64_t* first, size_t count,
                                   const Stop& stop) {
    return visit_pattern(matrix, [&](const auto& graph) { return Multiplication(graph, letters, stop).run(first, count); });
}

}  // namespace galton
