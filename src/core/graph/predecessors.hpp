// The edges of a graph, turned round, and a search along them.
#pragma once

#include <algorithm>

#include "graph/graph.hpp"

namespace galton {

// For each state the sources (states or rows, as the caller likes) of the edges that lead to it.
template <class Offset>
struct Predecessors {
    Pages<Offset> starts;
    Pages<int32_t> sources;

    size_t begin(size_t state) const { return static_cast<size_t>(starts[state]); }
    size_t end(size_t state) const { return static_cast<size_t>(starts[state + 1]); }
};

// `for_edges(visit)` calls visit(source, target) for each edge; it is called twice and must do the same both times.
template <class Offset, class ForEdges>
Predecessors<Offset> turn_round(size_t n_states, ForEdges&& for_edges) {
    Predecessors<Offset> result{Pages<Offset>(n_states + 1, SCATTERED), {}};
    Offset* starts = result.starts.data();
    for_edges([&](size_t, size_t target) { ++starts[target]; });
    for (size_t s = 0; s < n_states; ++s) starts[s + 1] += starts[s];
    result.sources = Pages<int32_t>(static_cast<size_t>(starts[n_states]), SCATTERED);
    int32_t* sources = result.sources.data();
    // Each list is filled from its end, after which `starts` holds where it begins.
    for_edges([&](size_t source, size_t target) { sources[--starts[target]] = static_cast<int32_t>(source); });
    return result;
}

// States to be looked at, first come first served. In this order, unlike on a stack, the next ones are known, and what
// will be needed of them can be fetched ahead: a search is five times as fast.
class Queue {
  public:
    explicit Queue(size_t size) : states_(size, SCATTERED) {}
    void push(size_t state) { states_[tail_++] = static_cast<int32_t>(state); }
    bool empty() const { return head_ == tail_; }
    size_t pop() { return static_cast<size_t>(states_[head_++]); }
    void clear() { head_ = tail_ = 0; }
    size_t size() const { return tail_; }
    size_t operator[](size_t i) const { return static_cast<size_t>(states_[i]); }

    // Visit the state that is `distance` behind the first, if there is one.
    template <class Visit>
    void ahead(size_t distance, Visit&& visit) const {
        if (head_ + distance < tail_) visit(static_cast<size_t>(states_[head_ + distance]));
    }

  private:
    Pages<int32_t> states_;
    size_t head_ = 0, tail_ = 0;
};

// visit(target, source) for the predecessors of each state in the queue, until it is empty; `visit` may add states. What
// it will need of a source is fetched by `fetch(source)`.
template <class Offset, class Fetch, class Visit>
void search_along(const Predecessors<Offset>& before, Queue& queue, Patience& patience, Fetch&& fetch, Visit&& visit) {
    while (!queue.empty()) {
        patience.spend();
        queue.ahead(24, [&](size_t s) { __builtin_prefetch(&before.starts[s]); });
        queue.ahead(16, [&](size_t s) { __builtin_prefetch(&before.sources[before.begin(s)]); });
        queue.ahead(8, [&](size_t s) {
            for (size_t i = before.begin(s); i < before.end(s); ++i) fetch(static_cast<size_t>(before.sources[i]));
        });
        const size_t target = queue.pop();
        for (size_t i = before.begin(target), end = before.end(target); i < end; ++i) {
            visit(target, static_cast<size_t>(before.sources[i]));
        }
    }
}

}  // namespace galton
