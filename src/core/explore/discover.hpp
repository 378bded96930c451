// The first pass: all reachable states.
//
// Threads take blocks of states from a shared queue, expand them, and look the successors up in the table in batches:
// hash all, prefetch all, then probe, so that the misses of a batch overlap. A state that was not there joins the
// thread's next block. Nothing but the table and the queue is kept. At the end the entries of the table are sorted, which
// gives the states in canonical order.
#pragma once

#include <condition_variable>
#include <deque>
#include <vector>

#include "explore/expand.hpp"
#include "explore/ownership.hpp"
#include "explore/table.hpp"

namespace galton {

struct Limits {
    size_t states = SIZE_MAX;
    size_t memory = SIZE_MAX;  // bytes that the explorer itself may use
};

// Seen by the thread that watches: how far it is, and whether to stop; this is looked for with every successor of a block,
// because a single state may have billions of them.
struct Progress {
    std::atomic<size_t> states{0}, transitions{0}, rows{0};
    std::atomic<bool> stop{false};
};

inline void go_on(const Progress& progress) {
    if (progress.stop.load(std::memory_order_relaxed)) throw ExploreFailure{{Fault::Interrupted, -1, -1, -1, -1, 0, {}}};
}

struct Discovery {
    Pages<uint64_t> states;           // n × words, in canonical order
    size_t count = 0;
    std::vector<uint64_t> initial;    // their words
    size_t choices = 0, transitions = 0;  // before duplicates are merged; deadlocks are not counted. At most, among ranks
    double share = 1;                 // of these, how many there are likely to be
};

Discovery discover(const Plan& plan, int threads, const Limits& limits, Progress& progress);

// How many transitions some states have, before duplicates are merged.
std::vector<int32_t> count_transitions(const Plan& plan, const uint64_t* states, size_t count);

// The same on one of several ranks, which finds the states that belong to it. Each successor
// that belongs to another goes to its owner once, in an outbox that the caller empties. The caller also brings what others
// found.
class RankDiscovery {
  public:
    RankDiscovery(const Plan& plan, Ownership ownership, int threads, const Limits& limits, Progress& progress);
    ~RankDiscovery();

    // Take the initial states that belong to this rank; there have to be some anywhere.
    void begin();
    // States that belong to this rank, one after the other; only those that are new wait to be expanded.
    void receive(const uint64_t* states, size_t count);
    // Expand so many blocks, if there are so many.
    void expand(size_t blocks);
    std::vector<uint64_t> take_outbox(int rank);

    size_t states() const;
    size_t waiting() const;  // states that are to be expanded
    Pages<uint64_t> known() const;

    // All states of this rank, in canonical order. Nothing else may be called afterwards.
    Discovery finish();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace galton
