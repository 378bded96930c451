// States from which some strategy reaches the goal with probability 1: a nested fixed point (de Alfaro 1997).
//
// The largest set of states in which each can reach the goal by rows that never leave the set. The textbook starts the
// inner search anew whenever states fall out of the set, which a model with a timer makes happen once per tick. Here each
// state keeps the row by which it reaches the goal, and the successor it relies on. When a state falls out, only the
// states that rely on it, directly or not, look for another way; those that find none fall out in turn.
#include "graph/predecessors.hpp"

namespace galton {

namespace {

template <class Offset>
class Sure {
  public:
    Sure(const Pattern<Offset>& graph, const bool* through, const bool* goal, Bits&& candidates, const Stop& stop)
        : graph_(graph), patience_(stop), in_(std::move(candidates)), active_(graph.n_states), usable_(graph.n_rows) {
        for (size_t s = 0; s < graph.n_states; ++s) {
            if (in_[s] && through[s] && !goal[s]) active_.set(s);
        }
    }

    void run(bool* found) {
        if (!all_rows_usable()) {
            prepare();
            while (!searching_.empty()) {
                attach();
                detach();
            }
        }
        in_.unpack(graph_.n_states, found);
    }

  private:
    // Mark the rows that stay among the candidates; where all do, nothing is left to be done.
    bool all_rows_usable() {
        bool all = true;
        for_active([&](size_t, size_t row) {
            size_t entry = graph_.first_entry(row);
            const size_t end = graph_.first_entry(row + 1);
            while (entry < end && in_[static_cast<size_t>(graph_.columns[entry])]) ++entry;
            if (entry == end) usable_.set(row);
            all &= entry == end;
        });
        return all;
    }

    // At first every active state looks for a way.
    void prepare() {
        const size_t n = graph_.n_states;
        before_ = turn_round<Offset>(n, [&](auto&& visit) {
            for_active([&](size_t, size_t row) {
                if (!usable_[row]) return;
                for (size_t entry = graph_.first_entry(row), end = graph_.first_entry(row + 1); entry < end; ++entry) {
                    const auto target = static_cast<size_t>(graph_.columns[entry]);
                    if (active_[target]) visit(row, target);
                }
            });
        });
        owner_ = Pages<int32_t>(graph_.n_rows, SCATTERED);
        for_active([&](size_t s, size_t row) { owner_[row] = static_cast<int32_t>(s); });
        way_ = Pages<Way>(n, SCATTERED);
        lost_ = Bits(n);
        searching_ = Queue(n);
        queue_ = Queue(n);
        for (size_t s = 0; s < n; ++s) {
            if (active_[s]) lose(s);
        }
    }

    template <class Visit>
    void for_active(Visit&& visit) {
        for (size_t s = 0; s < graph_.n_states; ++s) {
            if (!active_[s]) continue;
            patience_.spend();
            for (size_t row = graph_.first_row(s), last = graph_.first_row(s + 1); row < last; ++row) visit(s, row);
        }
    }

    void lose(size_t state) {
        lost_.set(state);
        searching_.push(state);
    }

    // Find ways for the states that search: first those that rely on a state that did not search, then back from them, so
    // that ways are short and few states rely on another.
    void attach() {
        queue_.clear();
        for (size_t i = 0; i < searching_.size(); ++i) {
            patience_.spend();
            if (find_way(searching_[i])) queue_.push(searching_[i]);
        }
        for (size_t i = 0; i < queue_.size(); ++i) lost_.reset(queue_[i]);
        search_along(before_, queue_, patience_, fetch(), [&](size_t target, size_t row) {
            const auto s = static_cast<size_t>(owner_[row]);
            if (!lost_[s] || !usable_[row]) return;
            way_[s] = {static_cast<int32_t>(row), static_cast<int32_t>(target)};
            lost_.reset(s);
            queue_.push(s);
        });
    }

    bool find_way(size_t state) {
        for (size_t row = graph_.first_row(state), last = graph_.first_row(state + 1); row < last; ++row) {
            if (!usable_[row]) continue;
            for (size_t entry = graph_.first_entry(row), end = graph_.first_entry(row + 1); entry < end; ++entry) {
                const auto target = static_cast<size_t>(graph_.columns[entry]);
                if (lost_[target]) continue;
                way_[state] = {static_cast<int32_t>(row), static_cast<int32_t>(target)};
                return true;
            }
        }
        return false;
    }

    // States that found no way fall out; the rows that lead there cannot be used any more; whoever took one of them, and
    // whoever relies on that state, searches next.
    void detach() {
        queue_.clear();
        for (size_t i = 0; i < searching_.size(); ++i) {
            const size_t s = searching_[i];
            if (!lost_[s]) continue;
            in_.reset(s);
            queue_.push(s);
        }
        searching_.clear();
        search_along(before_, queue_, patience_, fetch(), [&](size_t, size_t row) {
            usable_.reset(row);
            const auto s = static_cast<size_t>(owner_[row]);
            if (!lost_[s] && way_[s].row == static_cast<int32_t>(row)) lose(s);
        });
        for (size_t i = 0; i < searching_.size(); ++i) {  // grows while it is read
            patience_.spend();
            const size_t target = searching_[i];
            for (size_t k = before_.begin(target); k < before_.end(target); ++k) {
                const int32_t row = before_.sources[k];
                const auto s = static_cast<size_t>(owner_[static_cast<size_t>(row)]);
                if (!lost_[s] && way_[s].row == row && way_[s].target == static_cast<int32_t>(target)) lose(s);
            }
        }
    }

    auto fetch() const {
        return [this](size_t row) { __builtin_prefetch(&owner_[row]); };
    }

    struct Way {
        int32_t row, target;
    };

    const Pattern<Offset> graph_;
    Patience patience_;
    Bits in_;       // the set, as it shrinks
    Bits active_;   // the states that were in it at first and are not in the goal
    Bits usable_;   // their rows that stay in the set
    Bits lost_{0};  // those of them that have no way now; for ever, once they fell out
    Predecessors<Offset> before_;
    Pages<int32_t> owner_;
    Pages<Way> way_;
    Queue searching_{0}, queue_{0};
};

}  // namespace

void search_sure(const MatrixView& matrix, const bool* through, const bool* goal, bool* found, const Stop& stop) {
    visit_pattern(matrix, [&]<class Offset>(const Pattern<Offset>& graph) {
        Sure<Offset>(graph, through, goal, Bits(matrix.n_states, found), stop).run(found);
    });
}

}  // namespace galton
