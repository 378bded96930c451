// Backward and forward reachability.
//
// A backward search needs predecessors, and to list them costs as much as seven passes over the edges. But states are
// numbered by the values of their variables, so that many models flow in one direction: sweeps over the states that are
// not found yet, downwards and upwards in turn, then find everything in two or three passes that read memory in order and
// write a bitmap. Models that do not need dozens of sweeps. So sweeping goes on while each sweep finds a fair part of what
// is left; then predecessors are listed, only among the states that are left, and the search ends along them.
#include "graph/predecessors.hpp"

namespace galton {

namespace {

// A sweep that finds less than this part of the open states is not followed by another.
constexpr size_t FAIR_PART = 8;

template <class Offset, Step step>
class Backward {
  public:
    Backward(const Pattern<Offset>& graph, const BackwardSearch& search, const Stop& stop)
        : graph_(graph), search_(search), patience_(stop), found_(graph.n_states, search.goal),
          staying_(search.staying ? Bits(graph.n_states, search.staying) : Bits(0)), open_(graph.n_states, SCATTERED) {}

    void run(bool* found) {
        first_sweep();
        for (bool up = true; begin_ < end_; up = !up) {
            const size_t before = end_ - begin_;
            up ? sweep_up() : sweep_down();
            const size_t added = before - (end_ - begin_);
            if (added == 0) break;
            if (added < before / FAIR_PART) {
                search_predecessors();
                break;
            }
        }
        found_.unpack(graph_.n_states, found);
    }

  private:
    // Downwards over all states. Those that stay open are listed in ascending order at the end of `open_`.
    void first_sweep() {
        begin_ = end_ = open_.size();
        for (size_t s = graph_.n_states; s-- > 0;) {
            if (!search_.through[s] || found_[s]) continue;
            patience_.spend();
            if (!add_if_it_reaches(s)) open_[--begin_] = static_cast<int32_t>(s);
        }
    }

    void sweep_up() {
        size_t kept = begin_;
        for (size_t i = begin_; i < end_; ++i) {
            patience_.spend();
            if (!add_if_it_reaches(static_cast<size_t>(open_[i]))) open_[kept++] = open_[i];
        }
        end_ = kept;
    }

    void sweep_down() {
        size_t kept = end_;
        for (size_t i = end_; i-- > begin_;) {
            patience_.spend();
            if (!add_if_it_reaches(static_cast<size_t>(open_[i]))) open_[--kept] = open_[i];
        }
        begin_ = kept;
    }

    bool add_if_it_reaches(size_t state) {
        const size_t first = graph_.first_row(state), last = graph_.first_row(state + 1);
        bool add = step == Step::EveryRow;
        if constexpr (step == Step::SomeEntry) {
            add = meets(graph_.first_entry(first), graph_.first_entry(last));
        } else if constexpr (step == Step::EveryRow) {
            for (size_t row = first; add && row < last; ++row) add = meets(row);
        } else {
            for (size_t row = first; !add && row < last; ++row) {
                add = meets(row) && usable(row);
                if (add) choose(state, row);
            }
        }
        if (add) found_.set(state);
        return add;
    }

    bool meets(size_t entry, size_t end) const {
        while (entry < end && !found_[static_cast<size_t>(graph_.columns[entry])]) ++entry;
        return entry < end;
    }

    bool meets(size_t row) const { return meets(graph_.first_entry(row), graph_.first_entry(row + 1)); }

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

    // The search among the open states, along predecessors: states where any edge will do, else rows.
    void search_predecessors() {
        Bits inside(graph_.n_states);
        for (size_t i = begin_; i < end_; ++i) inside.set(static_cast<size_t>(open_[i]));
        const auto before = turn_round<Offset>(graph_.n_states, [&](auto&& visit) { for_open_edges(inside, visit); });
        Queue queue(end_ - begin_);
        if constexpr (step == Step::SomeEntry) {
            begin_somewhere(queue, [](size_t) {});
            search_along(
                before, queue, patience_, [](size_t) {},
                [&](size_t, size_t source) {
                    if (!found_[source]) add(source, queue);
                });
        } else if constexpr (step == Step::SomeRow) {
            Pages<int32_t> owner(graph_.n_rows, SCATTERED);
            begin_somewhere(queue, [&](size_t state) { own(owner, state); });
            auto fetch = [&](size_t row) { __builtin_prefetch(&owner[row]); };
            search_along(before, queue, patience_, fetch, [&](size_t, size_t row) {
                const auto state = static_cast<size_t>(owner[row]);
                if (found_[state]) return;
                choose(state, row);
                add(state, queue);
            });
        } else {
            search_every_row(before, queue);
        }
    }

    // Each row that meets the set counts once; a state is added when all its rows have.
    void search_every_row(const Predecessors<Offset>& before, Queue& queue) {
        Pages<int32_t> owner(graph_.n_rows, SCATTERED), missing(graph_.n_states, SCATTERED);
        Bits met(graph_.n_rows);
        auto meet = [&](size_t row, size_t state) {
            if (met[row]) return;
            met.set(row);
            if (--missing[state] == 0) add(state, queue);
        };
        for (size_t i = begin_; i < end_; ++i) {
            patience_.spend();
            const auto state = static_cast<size_t>(open_[i]);
            own(owner, state);
            const size_t first = graph_.first_row(state), last = graph_.first_row(state + 1);
            missing[state] = static_cast<int32_t>(last - first);
            for (size_t row = first; row < last; ++row) {
                if (meets(row)) meet(row, state);
            }
        }
        auto fetch = [&](size_t row) { __builtin_prefetch(&owner[row]); };
        search_along(before, queue, patience_, fetch, [&](size_t, size_t row) { meet(row, static_cast<size_t>(owner[row])); });
    }

    // The open states that can be added at once are where the search begins.
    template <class Prepare>
    void begin_somewhere(Queue& queue, Prepare&& prepare) {
        for (size_t i = begin_; i < end_; ++i) {
            patience_.spend();
            const auto state = static_cast<size_t>(open_[i]);
            prepare(state);
            if (add_if_it_reaches(state)) queue.push(state);
        }
    }

    void add(size_t state, Queue& queue) {
        found_.set(state);
        queue.push(state);
    }

    void own(Pages<int32_t>& owner, size_t state) const {
        for (size_t row = graph_.first_row(state), last = graph_.first_row(state + 1); row < last; ++row) {
            owner[row] = static_cast<int32_t>(state);
        }
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
    size_t begin_ = 0, end_ = 0;  // open_[begin_, end_) are the states that may be added and are not yet
};

template <class Offset>
void forward(const Pattern<Offset>& graph, const bool* start, const bool* within, bool* found, const Stop& stop) {
    const size_t n = graph.n_states;
    Patience patience(stop);
    Bits closed(n);  // found already, or not to be entered
    Queue queue(n);
    for (size_t s = 0; s < n; ++s) {
        const bool inside = !within || within[s];
        found[s] = start[s] && inside;
        if (found[s]) queue.push(s);
        if (found[s] || !inside) closed.set(s);
    }
    auto first = [&](size_t state) { return graph.first_entry(graph.first_row(state)); };
    while (!queue.empty()) {
        patience.spend();
        queue.ahead(24, [&](size_t s) { __builtin_prefetch(graph.groups ? &graph.groups[s] : nullptr); });
        queue.ahead(16, [&](size_t s) { __builtin_prefetch(&graph.starts[graph.first_row(s)]); });
        queue.ahead(8, [&](size_t s) { __builtin_prefetch(&graph.columns[first(s)]); });
        const size_t state = queue.pop();
        for (size_t entry = first(state), end = first(state + 1); entry < end; ++entry) {
            const auto target = static_cast<size_t>(graph.columns[entry]);
            if (closed[target]) continue;
            closed.set(target);
            found[target] = true;
            queue.push(target);
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
