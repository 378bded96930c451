// The graph of a model: what can be said without looking at the numbers.
//
// States are nodes; the entries of all rows of a state are its edges. Everything here is linear in the entries it looks
// at (end components and almost-sure reachability: in practice), works on 32-bit numbers of states and needs a few bytes
// per state beyond the model.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/memory.hpp"
#include "matrix/matrix.hpp"

namespace galton {

// From how many bytes on an array that is read in no particular order is given huge pages.
constexpr size_t SCATTERED = size_t{1} << 21;

struct NoValues {};

// The rows of a matrix without the numbers in them.
template <class Offset>
using Pattern = Rows<Offset, NoValues>;

template <class Kernel>
auto visit_pattern(const MatrixView& m, Kernel&& kernel) {
    if (m.starts) return kernel(Pattern<int32_t>{m.n_states, m.n_rows, m.groups, m.starts, m.columns, {}});
    return kernel(Pattern<int64_t>{m.n_states, m.n_rows, m.groups, m.wide_starts, m.columns, {}});
}

// Set from another thread when the user wants no answer any more; long loops look at it now and then.
using Stop = std::atomic<bool>;
struct Stopped {};

// Looks at the flag once in a few thousand calls.
class Patience {
  public:
    explicit Patience(const Stop& stop) : stop_(stop) {}
    void spend() {
        if ((++spent_ & 0xffff) == 0 && stop_.load(std::memory_order_relaxed)) throw Stopped{};
    }

  private:
    const Stop& stop_;
    uint32_t spent_ = 0;
};

// A set of states, a bit each: sixteen million states fit in a second-level cache.
class Bits {
  public:
    explicit Bits(size_t size) : words_((size + 63) / 64, SCATTERED) {}
    Bits(size_t size, const bool* mask) : Bits(size) {
        for (size_t k = 0; k < words_.size(); ++k) {
            uint64_t word = 0;
            for (size_t i = k * 64, end = std::min(size, i + 64); i < end; ++i) word |= uint64_t{mask[i]} << i % 64;
            words_[k] = word;
        }
    }
    bool operator[](size_t i) const { return words_[i / 64] >> i % 64 & 1; }
    void set(size_t i) { words_[i / 64] |= uint64_t{1} << i % 64; }
    void reset(size_t i) { words_[i / 64] &= ~(uint64_t{1} << i % 64); }
    void unpack(size_t size, bool* mask) const {
        for (size_t i = 0; i < size; ++i) mask[i] = (*this)[i];
    }

  private:
    Pages<uint64_t> words_;
};

// Strongly connected components, successors first.
struct Components {
    Pages<int32_t> component;  // of each state; -1 outside
    Pages<int32_t> order;      // the states inside, component by component, each in post-order of a depth-first search
    Pages<int32_t> starts;     // where each component begins in `order`, and at the end how many states there are
    Pages<bool> trivial;       // of each component: one state without an edge to itself
    Pages<bool> bottom;        // of each component: no edge leaves it
    size_t count = 0;
};

// Of the subgraph of the states in `within` (null: all) and the edges of the rows in `choices` (null: all).
Components strong_components(const MatrixView& matrix, const bool* within, const bool* choices, const Stop& stop);

// What a state needs to be added to a set that is searched backwards.
enum class Step {
    SomeEntry,  // an edge into the set
    SomeRow,    // a row with an edge into the set, of those rows that may be used
    EveryRow,   // an edge into the set in each of its rows
};

struct BackwardSearch {
    const bool* through = nullptr;  // states that may be added
    const bool* goal = nullptr;     // where the search begins
    const bool* staying = nullptr;  // Step::SomeRow: only rows all of whose entries are in here may be used (null: all)
    int32_t* rows = nullptr;        // Step::SomeRow: where to write the row by which each state was added (null: nowhere)
};

// The states that are in the least set that contains the goal and is closed under the step; written to `found`.
void search_backward(const MatrixView& matrix, Step step, const BackwardSearch& search, bool* found, const Stop& stop);

// The states from which some strategy reaches the goal through the given states with probability 1 (prob1E). `found` has to
// hold the states that reach it with positive probability; those that do not reach it surely are taken away.
void search_sure(const MatrixView& matrix, const bool* through, const bool* goal, bool* found, const Stop& stop);

// Maximal end components: states and rows that a strategy can stay in for ever, and move about in as it likes.
struct EndComponents {
    Pages<int32_t> component;  // of each state; -1 where it is in none; numbered by their first states
    Pages<bool> staying;       // the rows of the end components
    size_t count = 0;
};

// Of the states in `within` (null: all) and the rows in `choices` (null: all).
EndComponents end_components(const MatrixView& matrix, const bool* within, const bool* choices, const Stop& stop);

// What an automaton makes of the states that it reads.
struct ReadLetters {
    const int32_t* letter;     // of each state
    const int32_t* successor;  // of automaton state q and letter a at [q * n_letters + a]
    size_t n_automaton_states, n_letters;
};

// The pairs of an automaton's state q and a state s that can be reached, numbered q * states + s and in this order, with
// the rows and entries of the model that each has.
struct AutomatonProduct {
    Pages<int64_t> pairs;
    Pages<int32_t> choice_starts;
    Pages<int64_t> rows, row_starts, entries;
    Pages<int32_t> columns;
};

struct TooLarge {};  // more states or rows than there are 32-bit numbers

// From the pairs `first` on.
AutomatonProduct automaton_product(const MatrixView& matrix, const ReadLetters& letters, const int64_t* first, size_t count,
                                   const Stop& stop);

// The states that a path from `start` visits, all its states being in `within` (null: all).
void search_forward(const MatrixView& matrix, const bool* start, const bool* within, bool* found, const Stop& stop);

}  // namespace galton
