#include "solve/exit_order.hpp"

#include <algorithm>

namespace galton {

namespace {

// A breadth-first search backwards from the exits of one component.
template <class R>
class ExitSearch {
  public:
    ExitSearch(const R& rows, const int32_t* component, const uint8_t* keep)
        : rows_(rows), component_(component), keep_(keep), local_(rows.n_states) {}

    // A component of two needs no search.
    void order_two(int32_t* states) const {
        if (!leaves(states[0]) && leaves(states[1])) std::swap(states[0], states[1]);
    }

    void run(int32_t* states, size_t size) {
        for (size_t i = 0; i < size; ++i) local_[static_cast<size_t>(states[i])] = static_cast<int32_t>(i);
        list_predecessors(states, size);
        queue_.clear();
        reached_.assign(size, false);
        for (size_t i = 0; i < size; ++i)
            if (exit_[i]) push(static_cast<int32_t>(i));
        if (queue_.empty()) push(0);  // a bottom component is not left; any order will do
        for (size_t next = 0; next < queue_.size(); ++next) {
            const auto i = static_cast<size_t>(queue_[next]);
            for (size_t k = starts_[i]; k < starts_[i + 1]; ++k) push(predecessors_[k]);
        }
        sorted_.clear();
        for (int32_t i : queue_) sorted_.push_back(states[i]);
        std::copy(sorted_.begin(), sorted_.end(), states);
    }

  private:
    void push(int32_t i) {
        if (reached_[static_cast<size_t>(i)]) return;
        reached_[static_cast<size_t>(i)] = true;
        queue_.push_back(i);
    }

    template <class Visit>
    void successors(int32_t state, Visit&& visit) const {
        const auto s = static_cast<size_t>(state);
        for (size_t r = rows_.first_row(s); r < rows_.first_row(s + 1); ++r) {
            if (keep_ && !keep_[r]) continue;
            for (size_t e = rows_.first_entry(r); e < rows_.first_entry(r + 1); ++e) visit(rows_.columns[e]);
        }
    }

    bool leaves(int32_t state) const {
        bool found = false;
        successors(state, [&](int32_t t) { found |= component_[t] != component_[state]; });
        return found;
    }

    void list_predecessors(const int32_t* states, size_t size) {
        const int32_t mine = component_[states[0]];
        exit_.assign(size, false);
        starts_.assign(size + 1, 0);
        for (size_t i = 0; i < size; ++i) {
            successors(states[i], [&](int32_t t) {
                if (component_[t] != mine) {
                    exit_[i] = true;
                } else {
                    ++starts_[static_cast<size_t>(local_[static_cast<size_t>(t)]) + 1];
                }
            });
        }
        for (size_t i = 0; i < size; ++i) starts_[i + 1] += starts_[i];
        predecessors_.resize(starts_[size]);
        fill_.assign(starts_.begin(), starts_.end() - 1);
        for (size_t i = 0; i < size; ++i) {
            successors(states[i], [&](int32_t t) {
                if (component_[t] != mine) return;
                predecessors_[fill_[static_cast<size_t>(local_[static_cast<size_t>(t)])]++] = static_cast<int32_t>(i);
            });
        }
    }

    const R& rows_;
    const int32_t* component_;
    const uint8_t* keep_;
    std::vector<int32_t> local_, queue_, predecessors_, sorted_;
    std::vector<size_t> starts_, fill_;
    std::vector<bool> exit_, reached_;
};

}  // namespace

void order_by_exit(const MatrixView& matrix, const int32_t* component, const int32_t* starts, size_t count, const uint8_t* keep,
                   int32_t* order) {
    visit(matrix, [&](const auto& rows) {
        ExitSearch search(rows, component, keep);
        for (size_t c = 0; c < count; ++c) {
            const auto first = static_cast<size_t>(starts[c]), size = static_cast<size_t>(starts[c + 1]) - first;
            if (size == 2) search.order_two(order + first);
            if (size > 2) search.run(order + first, size);
        }
    });
}

}  // namespace galton
