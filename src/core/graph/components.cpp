// Strongly connected components by one depth-first search (Tarjan 1972, with the single number per state of Pearce 2016).
//
// A state's number is 0 before its visit, the time of its visit while its component is open, and, counted down from the
// largest integer, the number of its component afterwards. So one comparison tells what an edge means, and states outside
// the subgraph are simply states whose component is long finished. Finished states whose component is open wait in the
// free end of the array that the result is written to: they are in post-order there, which is the order wanted.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "graph/graph.hpp"

namespace galton {

namespace {

// A sweep that finishes less than this part of the states that are left is the last.
constexpr size_t FAIR_PART = 8;
constexpr int32_t OUTSIDE = std::numeric_limits<int32_t>::max();

struct Nothing {};
struct RowsLeft {
    int32_t row, last_row;
};

// A state on the current path. Where some rows are left out it also has to know the rows it has not looked at.
template <class Offset, bool masked>
struct PathFrame : std::conditional_t<masked, RowsLeft, Nothing> {
    Offset next, end;                 // entries not looked at
    uint32_t state : 31, leaves : 1;  // an edge leaves the component
    uint32_t low : 31, loops : 1;     // the earliest open state known to be reachable; an edge leads to the state itself
};

template <class Offset, bool masked>
class DepthFirst {
    using Frame = PathFrame<Offset, masked>;

  public:
    DepthFirst(const Pattern<Offset>& graph, const bool* within, const bool* choices, const Stop& stop)
        : graph_(graph), choices_(choices), patience_(stop) {
        const size_t n = graph.n_states;
        number_ = Pages<int32_t>(n, SCATTERED);
        inside_ = n;
        if (within) {
            inside_ = 0;
            for (size_t s = 0; s < n; ++s) {
                number_[s] = within[s] ? 0 : OUTSIDE;
                inside_ += within[s];
            }
        }
        result_.order = Pages<int32_t>(inside_, SCATTERED);
        result_.starts = Pages<int32_t>(inside_ + 1);
        result_.trivial = Pages<bool>(inside_);
        result_.bottom = Pages<bool>(inside_);
        path_ = Pages<Frame>(inside_, SCATTERED);
        waiting_ = inside_;
    }

    Components run() {
        trim();
        for (size_t s = 0; s < graph_.n_states; ++s) {
            if (number_[s] == 0) explore(s);
        }
        for (size_t s = 0; s < graph_.n_states; ++s) {
            number_[s] = number_[s] == OUTSIDE ? -1 : OUTSIDE - 1 - number_[s];
        }
        result_.component = std::move(number_);
        result_.starts.shrink(result_.count + 1);
        result_.trivial.shrink(result_.count);
        result_.bottom.shrink(result_.count);
        return std::move(result_);
    }

  private:
    // States that only lead to finished ones are components of their own. Where a model flows in one direction, sweeps find
    // most of them, and read memory in order, which no depth-first search does.
    void trim() {
        for (bool down = true;; down = !down) {
            const size_t before = done_, left = inside_ - done_;
            for (size_t i = 0; i < graph_.n_states; ++i) finish_if_last(down ? graph_.n_states - 1 - i : i);
            if (done_ - before <= left / FAIR_PART) return;
        }
    }

    void finish_if_last(size_t state) {
        if (number_[state] != 0) return;
        patience_.spend();
        bool loops = false, leaves = false;
        for (size_t row = graph_.first_row(state), last = graph_.first_row(state + 1); row < last; ++row) {
            if (masked && !choices_[row]) continue;
            for (size_t entry = graph_.first_entry(row), end = graph_.first_entry(row + 1); entry < end; ++entry) {
                const auto target = static_cast<size_t>(graph_.columns[entry]);
                if (number_[target] == 0 && target != state) return;
                (target == state ? loops : leaves) = true;
            }
        }
        finish(state, 0, loops, leaves);
    }

    void explore(size_t root) {
        enter(root);
        while (depth_) {
            Frame& frame = path_[depth_ - 1];
            if (!descend(frame)) leave(frame);
        }
    }

    void enter(size_t state) {
        patience_.spend();
        Frame& frame = path_[depth_++];
        const size_t row = graph_.first_row(state), last = graph_.first_row(state + 1);
        if constexpr (masked) {
            frame.row = static_cast<int32_t>(row);
            frame.last_row = static_cast<int32_t>(last);
            frame.next = frame.end = 0;
        } else {
            frame.next = graph_.starts[row];
            frame.end = graph_.starts[last];
            for (Offset entry = frame.next; entry < frame.end; ++entry) {
                const auto target = static_cast<size_t>(graph_.columns[entry]);
                __builtin_prefetch(&number_[target]);
                if (graph_.groups) __builtin_prefetch(&graph_.groups[target]);
            }
        }
        frame.state = static_cast<uint32_t>(state);
        frame.low = static_cast<uint32_t>(++time_);
        frame.leaves = frame.loops = 0;
        number_[state] = time_;
    }

    // Look at the entries of the state on top of the path up to one that leads to a new state; false when none does.
    bool descend(Frame& frame) {
        const auto state = static_cast<int32_t>(frame.state);
        auto low = static_cast<int32_t>(frame.low);
        Offset next = frame.next, end = frame.end;
        bool leaves = false, loops = false;
        int32_t found = -1;
        while (true) {
            while (next < end) {
                const int32_t target = graph_.columns[next++];
                const int32_t number = number_[static_cast<size_t>(target)];
                if (number == 0) {
                    found = target;
                    break;
                }
                low = std::min(low, number);
                leaves |= number >= next_component_ + 1;
                loops |= target == state;
            }
            if (found >= 0 || !next_row(frame, next, end)) break;
        }
        frame.next = next;
        frame.end = end;
        frame.low = static_cast<uint32_t>(low);
        frame.leaves |= leaves;
        frame.loops |= loops;
        if (found < 0) return false;
        enter(static_cast<size_t>(found));
        return true;
    }

    bool next_row([[maybe_unused]] Frame& frame, [[maybe_unused]] Offset& next, [[maybe_unused]] Offset& end) {
        if constexpr (masked) {
            while (frame.row < frame.last_row) {
                const auto row = static_cast<size_t>(frame.row++);
                if (!choices_[row]) continue;
                next = graph_.starts[row];
                end = graph_.starts[row + 1];
                return true;
            }
        }
        return false;
    }

    // The state on top of the path is finished: it waits for its component, or is the last of it.
    void leave(const Frame& frame) {
        --depth_;
        const auto state = static_cast<int32_t>(frame.state);
        const auto low = static_cast<int32_t>(frame.low);
        const bool leaves = frame.leaves;
        const bool last = low == number_[static_cast<size_t>(state)];
        if (last) {
            close(frame);
        } else {
            result_.order[--waiting_] = state;
        }
        if (!depth_) return;
        Frame& parent = path_[depth_ - 1];
        parent.leaves |= last || leaves;
        if (!last && low < static_cast<int32_t>(parent.low)) parent.low = static_cast<uint32_t>(low);
    }

    void close(const Frame& root) {
        const auto state = static_cast<int32_t>(root.state);
        const int32_t opened = number_[static_cast<size_t>(state)];
        int32_t* order = result_.order.data();
        size_t end = waiting_;
        while (end < inside_ && number_[static_cast<size_t>(order[end])] > opened) {
            number_[static_cast<size_t>(order[end++])] = next_component_;
        }
        const size_t others = end - waiting_;
        std::reverse(order + waiting_, order + end);
        std::copy(order + waiting_, order + end, order + done_);
        waiting_ = end;
        time_ = opened - 1;  // so that times and components never meet, even with 2^31 states
        finish(static_cast<size_t>(state), others, root.loops, root.leaves);
    }

    // The last state of a component, after the others, which are in their place already.
    void finish(size_t state, size_t others, bool loops, bool leaves) {
        number_[state] = next_component_--;
        result_.order[done_ + others] = static_cast<int32_t>(state);
        result_.trivial[result_.count] = others == 0 && !loops;
        result_.bottom[result_.count] = !leaves;
        done_ += others + 1;
        result_.starts[++result_.count] = static_cast<int32_t>(done_);
    }

    const Pattern<Offset> graph_;
    const bool* const choices_;
    Patience patience_;
    Components result_;
    Pages<int32_t> number_;
    Pages<Frame> path_;
    size_t inside_ = 0, depth_ = 0;
    size_t done_ = 0, waiting_ = 0;  // order[0, done_) is final, order[waiting_, inside_) waits, latest first
    int32_t time_ = 0, next_component_ = OUTSIDE - 1;
};

}  // namespace

Components strong_components(const MatrixView& matrix, const bool* within, const bool* choices, const Stop& stop) {
    return visit_pattern(matrix, [&]<class Offset>(const Pattern<Offset>& graph) {
        if (choices != nullptr) return DepthFirst<Offset, true>(graph, within, choices, stop).run();
        return DepthFirst<Offset, false>(graph, within, choices, stop).run();
    });
}

}  // namespace galton
