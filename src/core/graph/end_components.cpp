// Maximal end components by refinement of strongly connected components (de Alfaro 1997; Baier and Katoen 2008, 10.122).
//
// The textbook finds components, takes away the rows that leave theirs, and begins anew. Here the search itself takes rows
// away: components are finished successors first, and a row with an entry in a finished component can be in no end
// component, because nothing leads back from there. Whatever else that row would connect is then not connected, so that a
// chain of components that fall apart one after the other falls apart in one search. What a search leaves in doubt,
// components in which a row that was followed turned out to leave, is searched again, and nothing else is.
#include <limits>
#include <vector>

#include "graph/graph.hpp"

namespace galton {

namespace {

constexpr int32_t FINISHED = std::numeric_limits<int32_t>::max();

template <class Offset>
class EndComponentSearch {
  public:
    EndComponentSearch(const Pattern<Offset>& graph, const bool* within, const bool* choices, const Stop& stop)
        : graph_(graph), patience_(stop), number_(graph.n_states, SCATTERED), states_(graph.n_states, SCATTERED),
          order_(graph.n_states, SCATTERED), path_(graph.n_states, SCATTERED), doubtful_(graph.n_states) {
        result_.component = Pages<int32_t>(graph.n_states, SCATTERED);
        result_.staying = Pages<bool>(graph.n_rows, SCATTERED);
        for (size_t s = 0; s < graph.n_states; ++s) {
            result_.component[s] = -1;
            number_[s] = FINISHED;
            if (within && !within[s]) continue;
            states_[n_states_++] = static_cast<int32_t>(s);
            for (size_t row = graph.first_row(s); row < graph.first_row(s + 1); ++row) {
                result_.staying[row] = !choices || choices[row];
            }
        }
    }

    EndComponents run() {
        while (n_states_) round();
        renumber();
        return std::move(result_);
    }

  private:
    // A state on the current path. `low` is the earliest open state known to be reachable. What the row that is being looked
    // at contributes, by its entries and through the children it led to, is kept apart until the row is known to stay.
    struct Frame {
        Offset next, end;
        int32_t state, row, low, row_low, child_low;
    };

    // Search the states of `states_`, settle the components that are found, keep those in doubt in `states_`.
    void round() {
        for (size_t i = 0; i < n_states_; ++i) number_[static_cast<size_t>(states_[i])] = 0;
        time_ = 0;
        component_ = FINISHED - 1;
        done_ = 0;
        waiting_ = n_states_;
        const size_t searched = n_states_;
        for (size_t i = 0; i < searched; ++i) {
            if (number_[static_cast<size_t>(states_[i])] == 0) explore(states_[i]);
        }
        n_states_ = 0;
        for (size_t begin = 0, end; begin < searched; begin = end) {
            const int32_t component = number_[static_cast<size_t>(order_[begin])];
            end = begin + 1;
            while (end < searched && number_[static_cast<size_t>(order_[end])] == component) ++end;
            settle(begin, end);
        }
    }

    void explore(int32_t root) {
        enter(root);
        while (depth_) {
            Frame& frame = path_[depth_ - 1];
            const int32_t child = descend(frame);
            child < 0 ? leave(frame) : enter(child);
        }
    }

    void enter(int32_t state) {
        patience_.spend();
        Frame& frame = path_[depth_++];
        const auto row = static_cast<int32_t>(graph_.first_row(static_cast<size_t>(state)));
        frame = {0, 0, state, row, ++time_, FINISHED, FINISHED};
        number_[static_cast<size_t>(state)] = time_;
        const size_t first = static_cast<size_t>(row), last = graph_.first_row(static_cast<size_t>(state) + 1);
        for (size_t entry = graph_.first_entry(first), end = graph_.first_entry(last); entry < end; ++entry) {
            const auto target = static_cast<size_t>(graph_.columns[entry]);
            __builtin_prefetch(&number_[target]);
            if (graph_.groups) __builtin_prefetch(&graph_.groups[target]);
        }
    }

    // Look at the entries of the state on top of the path up to one that leads to a new state; -1 when none does. The
    // entry of a child is looked at again when the search comes back from it: by then the child has a number.
    int32_t descend(Frame& frame) {
        const auto last = static_cast<int32_t>(graph_.first_row(static_cast<size_t>(frame.state) + 1));
        while (true) {
            for (; frame.next < frame.end; ++frame.next) {
                const int32_t target = graph_.columns[frame.next];
                const int32_t number = number_[static_cast<size_t>(target)];
                if (number == 0) return target;
                if (number > component_) {
                    take_away(frame);
                    break;
                }
                frame.row_low = std::min(frame.row_low, number);
            }
            frame.low = std::min({frame.low, frame.row_low, frame.child_low});
            while (frame.row < last && !result_.staying[static_cast<size_t>(frame.row)]) ++frame.row;
            if (frame.row == last) return -1;
            const auto row = static_cast<size_t>(frame.row++);
            frame.next = graph_.starts[row];
            frame.end = graph_.starts[row + 1];
            frame.row_low = frame.child_low = FINISHED;
        }
    }

    // The row connects nothing. But a child that is still open may be in the component of a state further down the path,
    // and must not be finished with this one before: so the child counts, and what comes of it is in doubt.
    void take_away(Frame& frame) {
        result_.staying[static_cast<size_t>(frame.row - 1)] = false;
        frame.next = frame.end;
        frame.row_low = FINISHED;
        if (frame.child_low != FINISHED) doubtful_.set(static_cast<size_t>(frame.state));
    }

    void leave(const Frame& frame) {
        --depth_;
        if (frame.low == number_[static_cast<size_t>(frame.state)]) {
            close(frame.state);
        } else {
            order_[--waiting_] = frame.state;
            path_[depth_ - 1].child_low = std::min(path_[depth_ - 1].child_low, frame.low);
        }
    }

    void close(int32_t state) {
        const int32_t opened = number_[static_cast<size_t>(state)];
        while (waiting_ < n_states_ && number_[static_cast<size_t>(order_[waiting_])] > opened) {
            const int32_t other = order_[waiting_++];
            number_[static_cast<size_t>(other)] = component_;
            order_[done_++] = other;
        }
        order_[done_++] = state;
        number_[static_cast<size_t>(state)] = component_--;
        time_ = opened - 1;
    }

    // The component order_[begin, end) is an end component if none of the rows that connected it leaves it.
    void settle(size_t begin, size_t end) {
        const int32_t component = number_[static_cast<size_t>(order_[begin])];
        const size_t kept = n_states_;
        bool sure = true;
        for (size_t i = begin; i < end; ++i) {
            patience_.spend();
            const auto state = static_cast<size_t>(order_[i]);
            sure &= keep_rows(state, component) && !doubtful_[state];
            doubtful_.reset(state);
        }
        if (!sure) return;
        n_states_ = kept;
        for (size_t i = begin; i < end; ++i) {
            result_.component[static_cast<size_t>(order_[i])] = static_cast<int32_t>(result_.count);
            number_[static_cast<size_t>(order_[i])] = FINISHED;
        }
        ++result_.count;
    }

    // Take the rows of a state away that leave its component; keep the state for the next search if one stays. Returns
    // whether one stays and none had to be taken away.
    bool keep_rows(size_t state, int32_t component) {
        bool stays = false, leaves = false;
        for (size_t row = graph_.first_row(state), last = graph_.first_row(state + 1); row < last; ++row) {
            if (!result_.staying[row]) continue;
            result_.staying[row] = all_in(row, component);
            (result_.staying[row] ? stays : leaves) = true;
        }
        if (stays) {
            states_[n_states_++] = static_cast<int32_t>(state);
        } else {
            number_[state] = FINISHED;
        }
        return stays && !leaves;
    }

    bool all_in(size_t row, int32_t component) const {
        size_t entry = graph_.first_entry(row);
        const size_t end = graph_.first_entry(row + 1);
        while (entry < end && number_[static_cast<size_t>(graph_.columns[entry])] == component) ++entry;
        return entry == end;
    }

    void renumber() {
        std::vector<int32_t> numbers(result_.count, -1);
        int32_t next = 0;
        for (size_t s = 0; s < graph_.n_states; ++s) {
            int32_t& component = result_.component[s];
            if (component < 0) continue;
            int32_t& number = numbers[static_cast<size_t>(component)];
            if (number < 0) number = next++;
            component = number;
        }
    }

    const Pattern<Offset> graph_;
    Patience patience_;
    EndComponents result_;
    Pages<int32_t> number_;  // of a state: 0 before its visit, the time of it, its component; as in components.cpp
    Pages<int32_t> states_;  // to be searched, the first n_states_
    Pages<int32_t> order_;   // [0, done_) in finished components, [waiting_, n_states_) visited and in open ones
    Pages<Frame> path_;
    Bits doubtful_;
    size_t n_states_ = 0, depth_ = 0, done_ = 0, waiting_ = 0;
    int32_t time_ = 0, component_ = FINISHED - 1;
};

}  // namespace

EndComponents end_components(const MatrixView& matrix, const bool* within, const bool* choices, const Stop& stop) {
    return visit_pattern(matrix, [&]<class Offset>(const Pattern<Offset>& graph) {
        return EndComponentSearch<Offset>(graph, within, choices, stop).run();
    });
}

}  // namespace galton
