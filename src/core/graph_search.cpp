// Backward and forward reachability.
//
// A backward search needs predecessors, and to list them costs several passes of random writes. But states are numbered
// by the values of their variables, so that most models flow in one direction or the other: sweeps over the states that
// are not found yet, downwards and upwards in turn, find nearly everything in two or three passes that read memory in
// order and write a bitmap. Only when sweeping has cost as much as predecessors would, they are listed, and only for the
// states that are left: in all at most twice the cost of the better way.
#include <algorithm>

#include "graph.hpp"

namespace galton {

namespace {

template <class Offset, Step step>
class Backward {
  public:
    Backward(const Pattern<Offset>& graph, const BackwardSearch& search, const Stop& stop)
        : graph_(graph), search_(search), patience_(stop), found_(graph.n_states, search.goal),
          staying_(search.staying ? graph.n_states : 0), open_(graph.n_states) {
        if (search.staying) staying_ = Bits(graph.n_states, search.staying);
    }

    void run(bool* found) {
        first_sweep();
        // The cost of predecessors, in entries read by a sweep; as measured.
        const size_t budget = 4 * spent_;
        while (changed_ && begin_ < end_) {
            if (spent_ > budget) {
                search_predecessors();
                break;
            }
            changed_ = false;
            sweep_up();
            if (!changed_) break;
            changed_ = false;
            sweep_down();
        }
        found_.unpack(graph_.n_states, found);
    }

  private:
    // Downwards over all states. Those that stay open are listed, the highest first, at the end of `open_`.
    void first_sweep() {
        begin_ = end_ = open_.size();
        size_t next = end_;
        for (size_t s = graph_.n_states; s-- > 0;) {
            if (!search_.through[s] || found_[s]) continue;
            patience_.spend();
            if (!reaches(s)) open_[--next] = static_cast<int32_t>(s);
        }
        begin_ = next;
        changed_ = true;
    }

    // `open_[begin_, end_)` is ascending.
    void sweep_up() {
        size_t kept = begin_;
        for (size_t i = begin_; i < end_; ++i) {
            patience_.spend();
            if (!reaches(static_cast<size_t>(open_[i]))) open_[kept++] = open_[i];
        }
        end_ = kept;
    }

    void sweep_down() {
        size_t kept = end_;
        for (size_t i = end_; i-- > begin_;) {
            patience_.spend();
            if (!reaches(static_cast<size_t>(open_[i]))) open_[--kept] = open_[i];
        }
        begin_ = kept;
    }

    // Add the state if it can be added now.
    bool reaches(size_t state) {
        const size_t first = graph_.first_row(state), last = graph_.first_row(state + 1);
        bool add;
        if constexpr (step == Step::SomeEntry) {
            add = meets(graph_.first_entry(first), graph_.first_entry(last));
        } else {
            add = step == Step::EveryRow;
            for (size_t row = first; row < last; ++row) {
                const bool good = meets(graph_.first_entry(row), graph_.first_entry(row + 1)) && usable(row);
                if (good == (step == Step::EveryRow)) continue;
                add = good;
                if (add) choose(state, row);
                break;
            }
        }
        if (add) found_.set(state);
        changed_ |= add;
        return add;
    }

    bool meets(size_t entry, size_t end) {
        const size_t first = entry;
        while (entry < end && !found_[static_cast<size_t>(graph_.columns[entry])]) ++entry;
        spent_ += entry - first + 1;
        return entry < end;
    }

    bool usable(size_t row) const {
        if (!search_.staying) return true;
        size_t entry = graph_.first_entry(row);
        const size_t end = graph_.first_entry(row + 1);
        while (entry < end && staying_[static_cast<size_t>(graph_.columns[entry])]) ++entry;
        return entry == end;
    }

    void choose(size_t state, size_t row) {
        if (search_.rows) search_.rows[state] = static_cast<int32_t>(row);
    }

    // Predecessors of the open states among the open states, and a search with them. The predecessors of a state are rows
    // (in a chain, and where any edge will do, states). A state with an edge into the set already is where the search begins.
    void search_predecessors() {
        const size_t n = graph_.n_states;
        Bits inside(n);
        for (size_t i = begin_; i < end_; ++i) inside.set(static_cast<size_t>(open_[i]));
        Pages<Offset> ends(n + 1);
        for_open_edges(inside, [&](size_t, size_t target) { ++ends[target]; });
        for (size_t s = 0; s < n; ++s) ends[s + 1] += ends[s];
        Pages<int32_t> before(static_cast<size_t>(ends[n]));
        for_open_edges(inside, [&](size_t source, size_t target) {
            before[static_cast<size_t>(--ends[target])] = static_cast<int32_t>(source);
        });
        // Now `ends` holds where the predecessors of each state begin.
        Pages<int32_t> owner(step == Step::SomeEntry ? 0 : graph_.n_rows), left(step == Step::EveryRow ? n : 0);
        Bits met(step == Step::EveryRow ? graph_.n_rows : 0);
        Pages<int32_t> stack(end_ - begin_);
        size_t depth = 0;
        auto add = [&](size_t state) {
            found_.set(state);
            stack[depth++] = static_cast<int32_t>(state);
        };
        for (size_t i = begin_; i < end_; ++i) {
            const auto state = static_cast<size_t>(open_[i]);
            const size_t first = graph_.first_row(state), last = graph_.first_row(state + 1);
            if constexpr (step == Step::EveryRow) left[state] = static_cast<int32_t>(last - first);
            if constexpr (step != Step::SomeEntry) std::fill(&owner[first], &owner[first] + (last - first), open_[i]);
            if constexpr (step == Step::EveryRow) {
                for (size_t row = first; row < last; ++row) {
                    if (!meets_outside(row, inside)) continue;
                    met.set(row);
                    if (--left[state] == 0) add(state);
                }
            } else if (reaches(state)) {
                stack[depth++] = open_[i];
            }
        }
        while (depth) {
            patience_.spend();
            const auto target = static_cast<size_t>(stack[--depth]);
            for (auto i = static_cast<size_t>(ends[target]), end = static_cast<size_t>(ends[target + 1]); i < end; ++i) {
                const auto source = static_cast<size_t>(before[i]);
                if constexpr (step == Step::SomeEntry) {
                    if (!found_[source]) add(source);
                } else {
                    const auto state = static_cast<size_t>(owner[source]);
                    if (found_[state]) continue;
                    if constexpr (step == Step::SomeRow) {
                        choose(state, source);
                        add(state);
                    } else if (!met[source]) {
                        met.set(source);
                        if (--left[state] == 0) add(state);
                    }
                }
            }
        }
    }

    // Whether a row has an entry in the set that was there before predecessors were listed.
    bool meets_outside(size_t row, const Bits& inside) const {
        for (size_t entry = graph_.first_entry(row), end = graph_.first_entry(row + 1); entry < end; ++entry) {
            const auto target = static_cast<size_t>(graph_.columns[entry]);
            if (found_[target] && !inside[target]) return true;
        }
        return false;
    }

    template <class Visit>
    void for_open_edges(const Bits& inside, Visit&& visit) {
        for (size_t i = begin_; i < end_; ++i) {
            patience_.spend();
            const auto state = static_cast<size_t>(open_[i]);
            for (size_t row = graph_.first_row(state), last = graph_.first_row(state + 1); row < last; ++row) {
                if (step == Step::SomeRow && !usable(row)) continue;
                for (size_t entry = graph_.first_entry(row), end = graph_.first_entry(row + 1); entry < end; ++entry) {
                    const auto target = static_cast<size_t>(graph_.columns[entry]);
                    if (inside[target]) visit(step == Step::SomeEntry ? state : row, target);
                }
            }
        }
    }

    const Pattern<Offset> graph_;
    const BackwardSearch search_;
    Patience patience_;
    Bits found_, staying_;
    Pages<int32_t> open_;
    size_t begin_ = 0, end_ = 0;  // the open states are open_[begin_, end_)
    size_t spent_ = 0;            // entries read
    bool changed_ = false;
};

template <class Offset>
void forward(const Pattern<Offset>& graph, const bool* start, const bool* within, bool* found, const Stop& stop) {
    const size_t n = graph.n_states;
    Patience patience(stop);
    Bits closed(n);  // found already, or not to be entered
    Pages<int32_t> stack(n);
    size_t depth = 0;
    for (size_t s = 0; s < n; ++s) {
        const bool inside = !within || within[s];
        found[s] = start[s] && inside;
        if (found[s]) stack[depth++] = static_cast<int32_t>(s);
        if (found[s] || !inside) closed.set(s);
    }
    while (depth) {
        patience.spend();
        const auto state = static_cast<size_t>(stack[--depth]);
        size_t entry = graph.first_entry(graph.first_row(state));
        const size_t end = graph.first_entry(graph.first_row(state + 1));
        for (; entry < end; ++entry) {
            const auto target = static_cast<size_t>(graph.columns[entry]);
            if (closed[target]) continue;
            closed.set(target);
            found[target] = true;
            stack[depth++] = graph.columns[entry];
        }
    }
}

}  // namespace

void search_backward(const MatrixView& matrix, Step step, const BackwardSearch& search, bool* found, const Stop& stop) {
    visit_pattern(matrix, [&]<class Offset>(const Pattern<Offset>& graph) {
        switch (step) {
            case Step::SomeEntry: return Backward<Offset, Step::SomeEntry>(graph, search, stop).run(found);
            case Step::SomeRow: return Backward<Offset, Step::SomeRow>(graph, search, stop).run(found);
            case Step::EveryRow: return Backward<Offset, Step::EveryRow>(graph, search, stop).run(found);
        }
    });
}

void search_forward(const MatrixView& matrix, const bool* start, const bool* within, bool* found, const Stop& stop) {
    visit_pattern(matrix, [&](const auto& graph) { forward(graph, start, within, found, stop); });
}

}  // namespace galton
