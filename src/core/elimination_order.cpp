#include "elimination_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <unordered_map>

namespace galton {

namespace {

// Pairs of a key and a state, smallest key first, for keys that never fall below the last one taken (Ahuja et al. 1990):
// pair p waits in the bucket of the highest bit in which its key differs from that one. Keys are the bits of floats,
// which order positive numbers as they should.
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
            if ((left -= rows.values[e]) < 0) break;
        }
        s = next;
    }
    auto less = [](const auto& a, const auto& b) { return std::pair(a.second, b.first) < std::pair(b.second, a.first); };
    return std::max_element(time.begin(), time.end(), less)->first;
}

}  // namespace

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
