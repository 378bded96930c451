#include "explore/discover.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/parallel.hpp"
#include "base/sort.hpp"

namespace galton {

namespace {

// Blocks of states yet to be expanded, `words` words a state.
using States = std::vector<uint64_t>;

class Queue {
  public:
    explicit Queue(int threads) : working_(threads) {}

    void push(States states) {
        {
            std::lock_guard guard(mutex_);
            bytes_ += states.size() * sizeof(uint64_t);
            blocks_.push_back(std::move(states));
            available_ = blocks_.size();
        }
        ready_.notify_one();
    }
    bool try_pop(States& states) {
        std::lock_guard guard(mutex_);
        return pop_front(states);
    }
    // The next block, waiting for one; false when there will be none. The caller has no states of its own left.
    bool pop(States& states) {
        std::unique_lock guard(mutex_);
        --working_;
        if (working_ == 0 && blocks_.empty()) done_ = true;
        if (done_) ready_.notify_all();
        auto served = [&] { return done_ || !blocks_.empty(); };
        if (!served()) {
            ++idle;
            guard.unlock();
            for (int i = 0; i < SPINS && available_.load(std::memory_order_relaxed) == 0; ++i) std::this_thread::yield();
            guard.lock();
            ready_.wait(guard, served);
            --idle;
        }
        if (done_) return false;
        ++working_;
        return pop_front(states);
    }
    void abandon() {
        {
            std::lock_guard guard(mutex_);
            done_ = true;
        }
        ready_.notify_all();
    }
    size_t bytes() const {
        std::lock_guard guard(mutex_);
        return bytes_;
    }
    std::atomic<int> idle{0};

  private:
    bool pop_front(States& states) {
        if (blocks_.empty()) return false;
        states = std::move(blocks_.front());
        blocks_.pop_front();
        available_ = blocks_.size();
        bytes_ -= states.size() * sizeof(uint64_t);
        return true;
    }

    static constexpr int SPINS = 200;  // sleeping and waking take longer than a narrow frontier has work

    mutable std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<States> blocks_;
    std::atomic<size_t> available_{0};
    size_t bytes_ = 0;
    int working_;
    bool done_ = false;
};

struct Shared {
    Shared(const Plan& plan, Ownership ownership, int threads, const Limits& limits, Progress& progress)
        : plan(plan), ownership(ownership), threads(threads), limits(limits), progress(progress),
          table(plan.program.words, threads == 1), sent(plan.program.words, threads == 1), queue(threads),
          outboxes(static_cast<size_t>(ownership.ranks)), held(table.bytes() + sent.bytes()) {}
    const Plan& plan;
    const Ownership ownership;
    const int threads;
    const Limits& limits;
    Progress& progress;
    StateTable table, sent;  // what belongs to this rank, and what went to others
    Queue queue;
    std::mutex posting;
    std::vector<States> outboxes;  // by rank
    std::atomic<size_t> held;      // bytes of both tables
};

// One thread's share of the work; it is the sink of its own expander.
class Worker {
  public:
    explicit Worker(Shared& shared)
        : shared_(shared), words_(static_cast<size_t>(shared.plan.program.words)),
          reading_(shared.plan.program.reader.field >= 0), expander_(shared.plan), batch_(BATCH * words_), slots_(BATCH),
          foreign_(shared.ownership.shared() ? BATCH * words_ : 0), outboxes_(shared.outboxes.size()) {}

    void run() {
        States block;
        while (take(block)) expand(block);
    }

    // As long as there are blocks to expand, somebody wants more, and others have not waited for long.
    void run(std::atomic<int64_t>& wanted) {
        States block;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        while (wanted.fetch_sub(1) > 0 && std::chrono::steady_clock::now() < end) {
            go_on(shared_.progress);
            if (!shared_.queue.try_pop(block)) {
                if (fresh_.empty()) break;
                block.swap(fresh_);
                fresh_.clear();
            }
            expand(block);
        }
        flush();
        post();
    }

    // Every state of the whole space that satisfies init … endinit, as far as it belongs to this rank; whether there is any.
    bool enumerate_initial(std::vector<uint64_t>& initial);
    void represent(uint64_t* state) { expander_.represent(state); }
    void add_initial(const uint64_t* state) {
        for (size_t w = 0; w < words_; ++w) batch_[w * BATCH + pending_] = state[w];
        if (++pending_ == BATCH) flush();
    }
    void finish_initial() {
        flush();
        hand_over();
    }
    // What does not fill a block waits for more, since a block takes as long however few states it has.
    void hand_over() {
        if (!fresh_.empty()) shared_.queue.push(std::move(fresh_));
        fresh_.clear();
    }
    void add_received(const uint64_t* states, size_t count) {
        const size_t before = transitions;
        for (size_t i = 0; i < count; ++i) add_initial(states + i * words_);
        flush();
        transitions = before;
    }
    size_t kept() const { return fresh_.size() / words_; }  // states that no other thread can take yet

    void begin(int, const uint16_t*, int count) { choices += static_cast<size_t>(count); }
    void end(int, const uint16_t*, int) {}
    void emit(const uint16_t* selection, int count, uint64_t* const* successors, double, const double* probabilities) {
        go_on(shared_.progress);
        if (reading_) note_moves(selection, count, probabilities);
        if (pending_ + static_cast<size_t>(count) > BATCH) flush();
        if (!probabilities) {
            for (size_t w = 0; w < words_; ++w) std::copy_n(successors[w], count, batch_.data() + w * BATCH + pending_);
            pending_ += static_cast<size_t>(count);
        } else {
            for (int j = 0; j < count; ++j) {
                if (probabilities[j] == 0) continue;
                for (size_t w = 0; w < words_; ++w) batch_[w * BATCH + pending_] = successors[w][j];
                ++pending_;
            }
        }
    }

    size_t choices = 0, transitions = 0;

  private:
    static constexpr size_t BATCH = 4 * BLOCK;
    static constexpr size_t WORTH_SHARING = 48;  // states; waking another thread for fewer costs more than it gives

    void expand(const States& block) {
        expander_.load(block.data(), static_cast<int>(block.size() / words_));
        moved_ = {};
        expander_.expand(*this);
        if (reading_) add_resting();
        flush();
    }

    bool take(States& block) {
        if (shared_.progress.stop) return false;
        share_fresh();
        if (!fresh_.empty()) {
            if (shared_.queue.try_pop(block)) return true;
            block.swap(fresh_);
            fresh_.clear();
            return true;
        }
        return shared_.queue.pop(block);
    }

    void note_moves(const uint16_t* selection, int count, const double* probabilities) {
        for (int j = 0; j < count; ++j)
            moved_.bits[selection[j] >> 6] |= static_cast<uint64_t>(!probabilities || probabilities[j] != 0)
                                              << (selection[j] & 63);
    }

    // A state that cannot move is read again and again: what reads it goes on.
    void add_resting() {
        uint16_t selection[BLOCK];
        const int count = select(expander_.active() & ~moved_, selection);
        for (int j = 0; j < count; ++j) {
            if (pending_ == BATCH) flush();
            for (size_t w = 0; w < words_; ++w) batch_[w * BATCH + pending_] = expander_.resting()[w][selection[j]];
            ++pending_;
        }
    }

    // Where the frontier is narrow, threads that wait get their part of what was found.
    void share_fresh() {
        const auto waiting = static_cast<size_t>(shared_.queue.idle.load());
        const size_t found = fresh_.size() / words_;
        if (waiting == 0 || found < 2 * WORTH_SHARING) return;
        const size_t part = std::max(WORTH_SHARING, found / (waiting + 1)) * words_;
        for (size_t k = 0; k < waiting && fresh_.size() >= 2 * part; ++k) {
            shared_.queue.push(States(fresh_.end() - static_cast<std::ptrdiff_t>(part), fresh_.end()));
            fresh_.resize(fresh_.size() - part);
        }
    }

    // Insert a batch; `added(k)` is told of the new ones.
    template <size_t W, class Added>
    void look_up(StateTable& table, const std::vector<uint64_t>& batch, size_t count, Added&& added) {
        for (size_t k = 0; k < count; ++k) {
            slots_[k] = table.first_slot<W>(batch.data() + k, BATCH);
            table.prefetch<W>(slots_[k]);
        }
        size_t states = 0, entries = 0;
        for (size_t k = 0; k < count; ++k) {
            auto [new_state, new_entry] = table.insert<W>(slots_[k], batch.data() + k, BATCH);
            entries += new_entry;
            if (!new_state) continue;
            ++states;
            added(k);
        }
        table.count(states, entries);
    }

    // The same with room made in the table before.
    template <class Added>
    void insert(StateTable& table, const std::vector<uint64_t>& batch, size_t count, Added&& added) {
        const size_t reserve = BATCH * static_cast<size_t>(shared_.threads);
        std::shared_lock reading(table.lock);
        while (!table.has_room(reserve)) {
            reading.unlock();
            {
                std::unique_lock alone(table.lock);
                if (!table.has_room(reserve)) grow(table);
            }
            reading.lock();
        }
        switch (words_) {
            case 1: look_up<1>(table, batch, count, added); break;
            case 2: look_up<2>(table, batch, count, added); break;
            default: look_up<0>(table, batch, count, added); break;
        }
        if (table.states() > std::min<size_t>(shared_.limits.states, INT32_MAX))  // states have 32-bit numbers
            throw ExploreFailure{
                {Fault::TooManyStates, -1, -1, -1, -1, static_cast<double>(table.states()), expander_.crowded_state()}};
    }

    // The new ones of the batch join the next block; those that belong to others wait to be sent.
    void flush() {
        if (pending_ == 0) return;
        transitions += pending_;
        unreported_ += pending_;
        if (shared_.ownership.shared()) send_away();
        insert(shared_.table, batch_, pending_, [&](size_t k) {
            for (size_t w = 0; w < words_; ++w) fresh_.push_back(batch_[w * BATCH + k]);
            if (fresh_.size() == BLOCK * words_) {
                shared_.queue.push(std::move(fresh_));
                fresh_.clear();
                fresh_.reserve(BLOCK * words_);
            }
        });
        pending_ = 0;
        report();
    }

    // What belongs to others leaves the batch; what is new of it goes to its owner.
    void send_away() {
        const Ownership& ownership = shared_.ownership;
        size_t kept = 0, sent = 0;
        for (size_t k = 0; k < pending_; ++k) {
            const int owner = ownership.of(batch_.data() + k, BATCH);
            const bool mine = owner == ownership.rank;
            if (!mine) owners_[sent] = owner;
            auto& to = mine ? batch_ : foreign_;
            const size_t place = mine ? kept++ : sent++;
            for (size_t w = 0; w < words_; ++w) to[w * BATCH + place] = batch_[w * BATCH + k];
        }
        pending_ = kept;
        if (sent == 0) return;
        insert(shared_.sent, foreign_, sent, [&](size_t k) {
            States& outbox = outboxes_[static_cast<size_t>(owners_[k])];
            for (size_t w = 0; w < words_; ++w) outbox.push_back(foreign_[w * BATCH + k]);
        });
    }

    void post() {
        std::lock_guard guard(shared_.posting);
        for (size_t rank = 0; rank < outboxes_.size(); ++rank) {
            States& all = shared_.outboxes[rank];
            all.insert(all.end(), outboxes_[rank].begin(), outboxes_[rank].end());
            outboxes_[rank].clear();
        }
    }

    void grow(StateTable& table) {
        const size_t before = table.bytes(), need = shared_.held + table.bytes_while_growing() - before + shared_.queue.bytes();
        if (need > shared_.limits.memory)
            throw ExploreFailure{{Fault::OutOfMemory, -1, -1, -1, -1, static_cast<double>(need), expander_.crowded_state()}};
        table.grow(shared_.threads);
        shared_.held += table.bytes() - before;
    }

    void report() {
        const size_t states = shared_.table.states();
        const size_t used = shared_.held + shared_.queue.bytes() + states * words_ * sizeof(uint64_t);
        if (used > shared_.limits.memory)
            throw ExploreFailure{{Fault::OutOfMemory, -1, -1, -1, -1, static_cast<double>(used), expander_.crowded_state()}};
        shared_.progress.states.store(states, std::memory_order_relaxed);
        shared_.progress.transitions.fetch_add(std::exchange(unreported_, 0), std::memory_order_relaxed);
    }

    Shared& shared_;
    const size_t words_;
    const bool reading_;
    Mask moved_{};  // states of the block that have a successor, noted where they are read
    Expander expander_;
    std::vector<uint64_t> batch_;  // word w of candidate k at [w * BATCH + k]
    std::vector<size_t> slots_;
    size_t pending_ = 0, unreported_ = 0;
    States fresh_;
    std::vector<uint64_t> foreign_;  // like the batch
    int owners_[BATCH];
    std::vector<States> outboxes_;
};

// Counts through the valuations like an odometer, a block at a time.
bool Worker::enumerate_initial(std::vector<uint64_t>& initial) {
    const Program& program = shared_.plan.program;
    const Plan& plan = shared_.plan;
    Registers registers = plan.initial.count.allocate();
    const auto& ranges = program.initial_ranges;
    States block(BLOCK * words_);
    std::vector<int64_t> values;
    values.reserve(ranges.size());
    for (auto [low, high] : ranges) values.push_back(low);
    bool more = true, any = false;
    while (more && !shared_.progress.stop) {
        int n = 0;
        for (; n < BLOCK && more; ++n) {
            uint64_t* state = block.data() + static_cast<size_t>(n) * words_;
            std::fill_n(state, words_, 0);
            for (size_t v = 0; v < values.size(); ++v) {
                const Field& field = program.fields[v];
                state[field.word] |= static_cast<uint64_t>(values[v] - field.low) << field.shift;
            }
            more = false;
            for (size_t v = values.size(); v-- > 0;) {
                if (values[v] < ranges[v].second) {
                    ++values[v];
                    more = true;
                    break;
                }
                values[v] = ranges[v].first;
            }
        }
        expander_.load(block.data(), n);
        expander_.run(plan.initial, registers);
        uint16_t selection[BLOCK];
        int count = select(expander_.mask_of(plan.initial_guard, registers), selection);
        for (int j = 0; j < count; ++j) {
            std::vector<uint64_t> state = expander_.state_at(selection[j]);
            any = true;
            expander_.represent(state.data());
            if (!shared_.ownership.mine(state.data())) continue;
            initial.insert(initial.end(), state.begin(), state.end());
            add_initial(state.data());
        }
    }
    return any;
}

std::vector<std::unique_ptr<Worker>> make_workers(Shared& shared) {
    std::vector<std::unique_ptr<Worker>> workers;
    workers.reserve(static_cast<size_t>(shared.threads));
    for (int t = 0; t < shared.threads; ++t) workers.push_back(std::make_unique<Worker>(shared));
    return workers;
}

// The words of the initial states that belong to this rank, which wait to be expanded then.
std::vector<uint64_t> find_initial(Worker& worker, const Shared& shared) {
    const Program& program = shared.plan.program;
    std::vector<uint64_t> initial;
    if (program.initial < 0) {
        initial = program.first_state;
        worker.represent(initial.data());
        if (shared.ownership.mine(initial.data()))
            worker.add_initial(initial.data());
        else
            initial.clear();
    } else if (!worker.enumerate_initial(initial)) {
        throw ExploreFailure{{Fault::NoInitialState, -1, -1, -1, -1, 0, {}}};
    }
    worker.finish_initial();
    worker.transitions = 0;
    return initial;
}

Pages<uint64_t> sorted_states(StateTable& table, size_t words, int threads) {
    Pages<uint64_t> spare, entries = table.take_entries(spare, threads);
    sort_records(entries, std::move(spare), words + 1, words, threads);
    return unfold_entries(entries, words, threads);
}

}  // namespace

Discovery discover(const Plan& plan, int threads, const Limits& limits, Progress& progress) {
    Discovery result;
    const auto words = static_cast<size_t>(plan.program.words);
    Shared shared(plan, Ownership{0, 1, words}, threads, limits, progress);
    auto workers = make_workers(shared);
    result.initial = find_initial(*workers[0], shared);

    std::exception_ptr failure;
    std::mutex failing;
    run_on_threads(threads, [&](int t) {
        try {
            workers[static_cast<size_t>(t)]->run();
        } catch (...) {
            std::lock_guard guard(failing);
            if (!failure) failure = std::current_exception();
            progress.stop = true;
        }
        if (progress.stop) shared.queue.abandon();
    });
    if (failure) std::rethrow_exception(failure);
    for (auto& worker : workers) {
        result.choices += worker->choices;
        result.transitions += worker->transitions;
    }
    workers.clear();
    result.count = shared.table.states();
    result.states = sorted_states(shared.table, words, threads);
    return result;
}

std::vector<int32_t> count_transitions(const Plan& plan, const uint64_t* states, size_t count) {
    struct Counter {
        int32_t* counts;
        void begin(int, const uint16_t*, int) {}
        void end(int, const uint16_t*, int) {}
        void emit(const uint16_t* selection, int size, uint64_t* const*, double, const double* probabilities) {
            for (int j = 0; j < size; ++j) counts[selection[j]] += !probabilities || probabilities[j] != 0;
        }
    };
    std::vector<int32_t> counts(count);
    Expander expander(plan);
    for (size_t first = 0; first < count; first += BLOCK) {
        expander.load(states + first * static_cast<size_t>(plan.program.words),
                      static_cast<int>(std::min<size_t>(BLOCK, count - first)));
        Counter counter{counts.data() + first};
        expander.expand(counter);
    }
    return counts;
}

struct RankDiscovery::Parts {
    Parts(const Plan& plan, Ownership ownership, int threads, const Limits& limits, Progress& progress)
        : shared(plan, ownership, threads, limits, progress), workers(make_workers(shared)) {}
    Shared shared;
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<uint64_t> initial;
};

RankDiscovery::RankDiscovery(const Plan& plan, Ownership ownership, int threads, const Limits& limits, Progress& progress)
    : parts_(std::make_unique<Parts>(plan, ownership, threads, limits, progress)) {}

RankDiscovery::~RankDiscovery() = default;

void RankDiscovery::begin() { parts_->initial = find_initial(*parts_->workers[0], parts_->shared); }

void RankDiscovery::receive(const uint64_t* states, size_t count) { parts_->workers[0]->add_received(states, count); }

void RankDiscovery::expand(size_t blocks) {
    std::atomic<int64_t> wanted(static_cast<int64_t>(blocks));
    const int threads = waiting() > BLOCK ? parts_->shared.threads : 1;
    for (size_t t = 1; t < parts_->workers.size(); ++t)
        if (threads == 1) parts_->workers[t]->hand_over();
    run_on_threads(threads, [&](int t) { parts_->workers[static_cast<size_t>(t)]->run(wanted); });
}

std::vector<uint64_t> RankDiscovery::take_outbox(int rank) {
    return std::exchange(parts_->shared.outboxes[static_cast<size_t>(rank)], {});
}

size_t RankDiscovery::states() const { return parts_->shared.table.states(); }

size_t RankDiscovery::waiting() const {
    size_t states = parts_->shared.queue.bytes() / sizeof(uint64_t) / parts_->shared.ownership.words;
    for (const auto& worker : parts_->workers) states += worker->kept();
    return states;
}

Pages<uint64_t> RankDiscovery::known() const {
    const size_t words = parts_->shared.ownership.words;
    return unfold_entries(parts_->shared.table.copy_entries(), words, 1);
}

Discovery RankDiscovery::finish() {
    Shared& shared = parts_->shared;
    Discovery result;
    for (auto& worker : parts_->workers) {
        result.choices += worker->choices;
        result.transitions += worker->transitions;
    }
    parts_->workers.clear();
    result.initial = std::move(parts_->initial);
    result.count = shared.table.states();
    shared.sent.release();
    result.states = sorted_states(shared.table, shared.ownership.words, shared.threads);
    return result;
}

}  // namespace galton
