#include "lump/lump.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "base/parallel.hpp"
#include "graph/predecessors.hpp"
#include "lump/groups.hpp"

namespace galton {

namespace {

constexpr size_t FEW = 8192;  // states that are not worth a second thread
constexpr size_t PART = 4;    // below a part of 1/PART of the states that moved, their predecessors are looked up

template <class Rows>
class Refinement {
  public:
    Refinement(const Rows& rows, const Sight& sight, const std::vector<Residues>& residues, size_t dictionary, int32_t* block,
               const LumpLimits& limits, int threads, const Stop& stop)
        : rows_(rows), signatures_(rows, sight, residues, dictionary), leaving_(sight.leaving), block_(block), limits_(limits),
          threads_(threads), stop_(stop), marked_(rows.n_states) {
        for (size_t s = 0; s < rows_.n_states; ++s) {
            const size_t b = static_cast<size_t>(block_[s]);
            if (b >= sizes_.size()) sizes_.resize(b + 1, 0);
            ++sizes_[b];
        }
        hashes_.resize(sizes_.size(), 0);
        seen_.resize(sizes_.size(), 0);
        largest_.resize(sizes_.size(), -1);
    }

    Lumping run() {
        look_at_all();
        while (may_go_on()) {
            if (looked_at_.empty() && verified()) {
                result_.finished = true;
                number();
                break;
            }
            if (!looked_at_.empty()) split();
            look_at_what_moved();
        }
        return std::move(result_);
    }

  private:
    using Offset = std::remove_cvref_t<decltype(*Rows::starts)>;

    bool may_go_on() const {
        if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
        return sizes_.size() <= limits_.blocks && result_.entries <= limits_.entries;
    }

    int32_t size_of_block(size_t state) const { return sizes_[static_cast<size_t>(block_[state])]; }

    void look_at_all() {
        looked_at_.clear();
        for (size_t s = 0; s < rows_.n_states; ++s) {
            if (size_of_block(s) > 1) looked_at_.push_back(static_cast<int32_t>(s));
        }
    }

    // Split blocks by the hashes of the states looked at. The others have the one that their block has had so far: nothing
    // they lead to has moved.
    void split() {
        ++result_.rounds;
        const size_t n = looked_at_.size();
        const int threads = n < FEW ? 1 : threads_;
        group_.resize(n);
        std::vector<Groups> mine(static_cast<size_t>(threads));
        std::vector<size_t> work(mine.size(), 0);
        run_on_threads(threads, [&](int t) {
            const auto [begin, end] = share(n, t, threads);
            Groups& groups = mine[static_cast<size_t>(t)];
            Scratch scratch;
            for (size_t i = begin; i < end; ++i) {
                const size_t s = static_cast<size_t>(looked_at_[i]);
                group_[i] = groups.add(block_[s], signatures_.hash(s, block_, scratch));
                work[static_cast<size_t>(t)] += signatures_.entries(s);
                if ((i & 0xffff) == 0 && stop_.load(std::memory_order_relaxed)) throw Stopped{};
            }
        });
        result_.entries += std::accumulate(work.begin(), work.end(), size_t{0});
        // The groups of all threads, in the order of their states: the same for any number of threads but for the order.
        Groups all;
        std::vector<std::vector<int32_t>> place(mine.size());
        for (size_t t = 0; t < mine.size(); ++t) {
            for (const Group& group : mine[t].all()) place[t].push_back(all.add(group.block, group.key, group.count));
        }
        const std::vector<int32_t> numbers = numbered(all.all());
        moved_.clear();
        for (int t = 0; t < threads; ++t) {
            const auto [begin, end] = share(n, t, threads);
            const auto& places = place[static_cast<size_t>(t)];
            for (size_t i = begin; i < end; ++i) {
                move(looked_at_[i], numbers[static_cast<size_t>(places[static_cast<size_t>(group_[i])])]);
            }
        }
    }

    // Which block each group becomes. States that were not looked at stay; where there are none, the largest group does.
    std::vector<int32_t> numbered(const std::vector<Group>& groups) {
        std::vector<int32_t> numbers(groups.size());
        for (size_t g = 0; g < groups.size(); ++g) {
            const size_t b = static_cast<size_t>(groups[g].block);
            seen_[b] += groups[g].count;
            int32_t& best = largest_[b];
            if (best < 0 || groups[static_cast<size_t>(best)].count < groups[g].count) best = static_cast<int32_t>(g);
        }
        for (size_t g = 0; g < groups.size(); ++g) {
            const auto& [key, block, count] = groups[g];
            const size_t b = static_cast<size_t>(block);
            const bool all_seen = seen_[b] == sizes_[b], is_largest = largest_[b] == static_cast<int32_t>(g);
            const bool stays = all_seen ? is_largest : key == hashes_[b];
            numbers[g] = stays ? block : add_block(key);
        }
        for (size_t g = 0; g < groups.size(); ++g) {
            const size_t b = static_cast<size_t>(groups[g].block);
            if (seen_[b] == sizes_[b] && largest_[b] == static_cast<int32_t>(g)) hashes_[b] = groups[g].key;
        }
        for (const Group& group : groups) {
            seen_[static_cast<size_t>(group.block)] = 0;
            largest_[static_cast<size_t>(group.block)] = -1;
        }
        return numbers;
    }

    int32_t add_block(uint64_t key) {
        sizes_.push_back(0);
        hashes_.push_back(key);
        seen_.push_back(0);
        largest_.push_back(-1);
        return static_cast<int32_t>(sizes_.size() - 1);
    }

    void move(int32_t state, int32_t to) {
        int32_t& block = block_[state];
        if (block == to) return;
        --sizes_[static_cast<size_t>(block)];
        ++sizes_[static_cast<size_t>(to)];
        block = to;
        moved_.push_back(state);
    }

    // Next, states that lead to one that moved. Where most moved, all are looked at: turning the edges round costs as much
    // as some rounds.
    void look_at_what_moved() {
        if (moved_.size() * PART >= rows_.n_states) return look_at_all();
        looked_at_.clear();
        if (moved_.empty()) return;
        if (before_.starts.size() == 0) turn();
        for (int32_t state : moved_) {
            const size_t s = static_cast<size_t>(state);
            if (leaving_) look_at(state);
            for (size_t i = before_.begin(s); i < before_.end(s); ++i) look_at(before_.sources[i]);
        }
        sort_looked_at();
    }

    // In the order of states, which are neighbours in memory; the marks are taken away.
    void sort_looked_at() {
        if (looked_at_.size() * 64 < rows_.n_states) {
            std::sort(looked_at_.begin(), looked_at_.end());
            for (int32_t state : looked_at_) marked_[static_cast<size_t>(state)] = 0;
            return;
        }
        looked_at_.clear();
        for (size_t s = 0; s < rows_.n_states; ++s) {
            if (marked_[s]) looked_at_.push_back(static_cast<int32_t>(s));
        }
        std::fill(marked_.begin(), marked_.end(), uint8_t{0});
    }

    void look_at(int32_t state) {
        const size_t s = static_cast<size_t>(state);
        if (marked_[s] || size_of_block(s) == 1) return;
        marked_[s] = 1;
        looked_at_.push_back(state);
    }

    void turn() {
        Patience patience(stop_);
        before_ = turn_round<Offset>(rows_.n_states, [&](auto&& visit) {
            for (size_t s = 0; s < rows_.n_states; ++s) {
                patience.spend();
                const size_t end = rows_.first_entry(rows_.first_row(s + 1));
                for (size_t e = rows_.first_entry(rows_.first_row(s)); e < end; ++e) {
                    visit(s, static_cast<size_t>(rows_.columns[e]));
                }
            }
        });
        result_.entries += rows_.first_entry(rows_.n_rows);
    }

    // The states, block by block, in ascending order in each.
    void sort_by_block() {
        starts_.assign(sizes_.size() + 1, 0);
        std::partial_sum(sizes_.begin(), sizes_.end(), starts_.begin() + 1);
        by_block_.resize(rows_.n_states);
        std::vector<int32_t> next(starts_.begin(), starts_.end() - 1);
        for (size_t s = 0; s < rows_.n_states; ++s) {
            by_block_[static_cast<size_t>(next[static_cast<size_t>(block_[s])]++)] = static_cast<int32_t>(s);
        }
    }

    // Whether all states of each block have the very same signature; if not, blocks are split by them.
    bool verified() {
        sort_by_block();
        std::vector<size_t> wrong;
        std::mutex adding;
        const int threads = rows_.n_states < FEW ? 1 : threads_;
        run_on_threads(threads, [&](int t) {
            // Shares of states, not of blocks, of which one may be large: each looks at the part of a block that it has.
            auto [begin, end] = share(rows_.n_states, t, threads);
            Scratch scratch;
            std::vector<uint64_t> expected, found;
            int32_t of = -1;
            for (size_t i = begin; i < end; ++i) {
                const size_t s = static_cast<size_t>(by_block_[i]), b = static_cast<size_t>(block_[s]);
                if ((i & 0xffff) == 0 && stop_.load(std::memory_order_relaxed)) throw Stopped{};
                if (sizes_[b] == 1) continue;
                if (of != block_[s]) {
                    of = block_[s];
                    signatures_.exact(static_cast<size_t>(by_block_[static_cast<size_t>(starts_[b])]), block_, scratch,
                                      expected);
                }
                signatures_.exact(s, block_, scratch, found);
                if (found == expected) continue;
                std::lock_guard guard(adding);
                if (wrong.empty() || wrong.back() != b) wrong.push_back(b);
            }
        });
        result_.entries += rows_.first_entry(rows_.n_rows);
        std::sort(wrong.begin(), wrong.end());
        wrong.erase(std::unique(wrong.begin(), wrong.end()), wrong.end());
        moved_.clear();
        for (size_t b : wrong) split_exactly(b);
        return wrong.empty();
    }

    void split_exactly(size_t b) {
        Scratch scratch;
        std::map<std::vector<uint64_t>, std::vector<int32_t>> parts;
        std::vector<uint64_t> found;
        for (int32_t i = starts_[b]; i < starts_[b + 1]; ++i) {
            const int32_t state = by_block_[static_cast<size_t>(i)];
            signatures_.exact(static_cast<size_t>(state), block_, scratch, found);
            parts[found].push_back(state);
        }
        for (auto part = std::next(parts.begin()); part != parts.end(); ++part) {
            const int32_t to = add_block(hashes_[b]);
            to_move_.emplace_back(to, part->second);
        }
        // Only now: signatures of one block are compared over one partition.
        for (const auto& [to, states] : to_move_) {
            for (int32_t state : states) move(state, to);
        }
        to_move_.clear();
    }

    // Number the blocks by their first states.
    void number() {
        std::vector<int32_t> rank(sizes_.size(), -1);
        result_.first = Pages<int32_t>(sizes_.size());
        int32_t count = 0;
        for (size_t s = 0; s < rows_.n_states; ++s) {
            int32_t& mine = rank[static_cast<size_t>(block_[s])];
            if (mine < 0) {
                result_.first[static_cast<size_t>(count)] = static_cast<int32_t>(s);
                mine = count++;
            }
            block_[s] = mine;
        }
    }

    const Rows rows_;
    const Signatures<Rows> signatures_;
    const bool leaving_;
    int32_t* block_;
    const LumpLimits limits_;
    const int threads_;
    const Stop& stop_;
    std::vector<int32_t> sizes_;    // of each block
    std::vector<uint64_t> hashes_;  // of each block: that of its states
    std::vector<int32_t> seen_, largest_;  // of each block, for a while: how many states were looked at, and most of them
    std::vector<int32_t> looked_at_, group_, moved_;
    std::vector<uint8_t> marked_;
    std::vector<int32_t> starts_, by_block_;
    std::vector<std::pair<int32_t, std::vector<int32_t>>> to_move_;
    Predecessors<Offset> before_;
    Lumping result_;
};

}  // namespace

std::vector<Residues> residues_for(const MatrixView& matrix, size_t dictionary, int threads) {
    Reach reach;
    if (matrix.dictionary) {
        for (size_t k = 0; k < dictionary; ++k) reach.add(matrix.dictionary[k]);
    } else {
        std::mutex joining;
        run_on_threads(matrix.n_entries < FEW ? 1 : threads, [&](int t) {
            const auto [begin, end] = share(matrix.n_entries, t, matrix.n_entries < FEW ? 1 : threads);
            Reach mine;
            for (size_t e = begin; e < end; ++e) mine.add(matrix.plain[e]);
            std::lock_guard guard(joining);
            reach.add(mine);
        });
    }
    size_t longest = 1;
    visit_pattern(matrix, [&](const auto& rows) {
        for (size_t r = 0; r < rows.n_rows; ++r) longest = std::max(longest, rows.first_entry(r + 1) - rows.first_entry(r));
    });
    std::vector<Residues> found;
    for (size_t k = 0; k < reach.primes(longest); ++k) found.emplace_back(LACKING[k]);
    return found;
}

Lumping lump(const MatrixView& matrix, size_t dictionary, const Sight& sight, int32_t* block, const LumpLimits& limits,
             int threads, const Stop& stop) {
    const std::vector<Residues> residues = residues_for(matrix, dictionary, threads);
    return visit(matrix, [&](const auto& rows) {
        using Rows = std::remove_cvref_t<decltype(rows)>;
        return Refinement<Rows>(rows, sight, residues, dictionary, block, limits, threads, stop).run();
    });
}

size_t split_by_keys(size_t n, const uint64_t* keys, int32_t* block) {
    Groups groups;
    for (size_t i = 0; i < n; ++i) block[i] = groups.add(block[i], keys[i]);
    return groups.size();
}

}  // namespace galton
