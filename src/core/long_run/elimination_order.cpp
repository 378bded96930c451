#include "long_run/elimination_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <unordered_map>

namespace galton {

namespace {

// Pairs of a key and a state, smallest key first, for keys that never fall below the last one taken (Ahuja et al.
// 1990): pair p waits in the bucket of the highest bit in which its key differs from that one. Keys are the bits of
// floats, which order positive numbers as they should.
class RadixHeap {
  public:
    void push(uint32_t key, int32_t state) {
        buckets_[bucket(key)].push_back({key, state});
        ++size_;
    }
    bool empty() const { return size_ == 0; }
    std::pair<uint32_t, int32_t> pop() {
        if (buckets_[0].empty()) refill();
        auto pair = buckets_[0].back();
        buckets_[0].pop_back();
        --size_;
        return pair;
    }

  private:
    size_t bucket(uint32_t key) const { return static_cast<size_t>(std::bit_width(key ^ last_)); }
    void refill() {
        size_t b = 1;
        while (buckets_[b].empty()) ++b;
        auto pairs = std::move(buckets_[b]);
        buckets_[b].clear();
        last_ = std::min_element(pairs.begin(), pairs.end())->first;
        for (auto pair : pairs) buckets_[bucket(pair.first)].push_back(pair);
    }

    std::array<std::vector<std::pair<uint32_t, int32_t>>, 33> buckets_;
    uint32_t last_ = 0;
    size_t size_ = 0;
};

// The steps into each state: where from, and how long they take.
struct Backwards {
    std::vector<size_t> starts;
    std::vector<int32_t> sources;
    std::vector<float> times;
};

template <class Rows>
Backwards reverse(const Rows& rows) {
    Backwards back;
    const size_t n = rows.n_states;
    back.starts.assign(n + 2, 0);
    for (size_t e = 0; e < rows.first_entry(n); ++e) ++back.starts[static_cast<size_t>(rows.columns[e]) + 2];
    for (size_t s = 2; s <= n + 1; ++s) back.starts[s] += back.starts[s - 1];
    back.sources.resize(rows.first_entry(n));
    back.times.resize(rows.first_entry(n));
    for (size_t s = 0; s < n; ++s) {
        for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
            const size_t place = back.starts[static_cast<size_t>(rows.columns[e]) + 1]++;
            back.sources[place] = static_cast<int32_t>(s);
            back.times[place] = static_cast<float>(1 / rows.values[e]);
        }
    }
    return back;
}

template <class Rows>
int32_t walk(const Rows& rows, int32_t first, size_t steps) {
    std::unordered_map<int32_t, double> time;
    uint64_t random = 0x9E3779B97F4A7C15ull;
    auto s = static_cast<size_t>(first);
    for (size_t step = 0; step < steps; ++step) {
        double total = 0;
        for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
            if (static_cast<size_t>(rows.columns[e]) != s) total += rows.values[e];
        }
        if (step >= steps / 4) time[static_cast<int32_t>(s)] += 1 / total;  // the first part only finds the way
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        double left = static_cast<double>(random >> 11) * 0x1p-53 * total;
        size_t next = s;
        for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
            if (static_cast<size_t>(rows.columns[e]) == s) continue;
            next = static_cast<size_t>(rows.columns[e]);
            left -= rows.values[e];
            if (left < 0) break;
        }
        s = next;
    }
    auto less = [](const auto& a, const auto& b) { return std::pair(a.second, b.first) < std::pair(b.second, a.first); };
    return std::max_element(time.begin(), time.end(), less)->first;
}

// Neighbours in either direction.
struct Neighbours {
    std::vector<size_t> starts;
    std::vector<int32_t> states;
};

template <class Rows>
Neighbours neighbours(const Rows& rows) {
    const size_t n = rows.n_states;
    Neighbours graph;
    graph.starts.assign(n + 2, 0);
    auto for_each_edge = [&](const auto& take) {
        for (size_t s = 0; s < n; ++s) {
            for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
                const auto t = static_cast<size_t>(rows.columns[e]);
                if (s == t) continue;
                take(s, t);
                take(t, s);
            }
        }
    };
    for_each_edge([&](size_t s, size_t) { ++graph.starts[s + 2]; });
    for (size_t s = 2; s <= n + 1; ++s) graph.starts[s] += graph.starts[s - 1];
    graph.states.resize(graph.starts[n + 1]);
    for_each_edge([&](size_t s, size_t t) { graph.states[graph.starts[s + 1]++] = static_cast<int32_t>(t); });
    return graph;
}

class Dissection {
  public:
    Dissection(const Neighbours& graph, size_t n, int32_t last) : graph_(graph), part_(n, 0), level_(n) {
        for (size_t s = 0; s < n; ++s) {
            if (s != static_cast<size_t>(last)) order_.push_back(static_cast<int32_t>(s));
        }
        part_[static_cast<size_t>(last)] = -1;
        // Parts still to be cut, each a range of the order; what lies between two halves goes behind both.
        std::vector<std::pair<size_t, size_t>> parts{{0, order_.size()}};
        while (!parts.empty()) {
            auto [first, end] = parts.back();
            parts.pop_back();
            if (end - first <= SMALL) continue;
            auto [middle, behind] = cut(first, end);
            if (middle == end) continue;
            parts.push_back({first, middle});
            parts.push_back({middle, behind});
        }
        order_.push_back(last);
    }
    std::vector<int32_t> take() { return std::move(order_); }

  private:
    static constexpr size_t SMALL = 32;

    // Levels of a breadth-first search from a state that is far from the first one; those up to half the states are one
    // half, the next level is what lies between. The ends of the two halves; the first is `end` where nothing is cut
    // off.
    std::pair<size_t, size_t> cut(size_t first, size_t end) {
        name_part(first, end);
        const int32_t far = search(order_[first]).back();
        name_part(first, end);
        const std::vector<int32_t> found = search(far);
        if (found.size() < end - first) {  // not connected: what was found, and the rest
            auto reached = [&](int32_t s) { return level_[static_cast<size_t>(s)] >= 0; };
            auto rest = std::stable_partition(order_.begin() + index(first), order_.begin() + index(end), reached);
            return {static_cast<size_t>(rest - order_.begin()), end};
        }
        const int32_t half = level_[static_cast<size_t>(found[found.size() / 2])];
        auto begin = order_.begin() + index(first), stop = order_.begin() + index(end);
        auto level = [&](int32_t s) { return level_[static_cast<size_t>(s)]; };
        auto between = std::stable_partition(begin, stop, [&](int32_t s) { return level(s) != half; });
        auto other = std::stable_partition(begin, between, [&](int32_t s) { return level(s) < half; });
        if (other == begin || other == between) return {end, end};
        return {static_cast<size_t>(other - order_.begin()), static_cast<size_t>(between - order_.begin())};
    }
    static std::ptrdiff_t index(size_t i) { return static_cast<std::ptrdiff_t>(i); }
    void name_part(size_t first, size_t end) {
        ++name_;
        for (size_t i = first; i < end; ++i) {
            part_[static_cast<size_t>(order_[i])] = name_;
            level_[static_cast<size_t>(order_[i])] = -1;
        }
    }
    std::vector<int32_t> search(int32_t start) {
        std::vector<int32_t> found{start};
        level_[static_cast<size_t>(start)] = 0;
        for (size_t i = 0; i < found.size(); ++i) {
            const auto s = static_cast<size_t>(found[i]);
            for (size_t e = graph_.starts[s]; e < graph_.starts[s + 1]; ++e) {
                const auto t = static_cast<size_t>(graph_.states[e]);
                if (part_[t] != name_ || level_[t] >= 0) continue;
                level_[t] = level_[s] + 1;
                found.push_back(graph_.states[e]);
            }
        }
        return found;
    }

    const Neighbours& graph_;
    std::vector<int32_t> order_, part_, level_;
    int32_t name_ = 0;
};

}  // namespace

std::vector<int32_t> nested_dissection(const MatrixView& matrix, int32_t last) {
    const Neighbours graph = visit(matrix, [](const auto& rows) { return neighbours(rows); });
    return Dissection(graph, matrix.n_states, last).take();
}

int32_t busiest_state(const MatrixView& matrix, int32_t first, size_t steps) {
    return visit(matrix, [&](const auto& rows) { return walk(rows, first, steps); });
}

std::vector<int32_t> far_first(const MatrixView& matrix, int32_t last) {
    const Backwards back = visit(matrix, [](const auto& rows) { return reverse(rows); });
    const size_t n = matrix.n_states;
    std::vector<float> distance(n, std::numeric_limits<float>::infinity());
    std::vector<int32_t> order(n);
    size_t left = n;
    RadixHeap heap;
    distance[static_cast<size_t>(last)] = 0;
    heap.push(0, last);
    while (!heap.empty()) {
        auto [key, state] = heap.pop();
        const auto t = static_cast<size_t>(state);
        if (key != std::bit_cast<uint32_t>(distance[t]) || left == 0) continue;
        order[--left] = state;
        distance[t] = -1;  // settled
        const float here = std::bit_cast<float>(key);
        for (size_t e = back.starts[t]; e < back.starts[t + 1]; ++e) {
            const auto s = static_cast<size_t>(back.sources[e]);
            const float there = std::min(here + back.times[e], std::numeric_limits<float>::max());
            if (there < distance[s]) {
                distance[s] = there;
                heap.push(std::bit_cast<uint32_t>(there), back.sources[e]);
            }
        }
    }
    return order;
}

}  // namespace galton
