#include "explore/discover.hpp"

#include <algorithm>
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
    size_t bytes() {
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

    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<States> blocks_;
    std::atomic<size_t> available_{0};
    size_t bytes_ = 0;
    int working_;
    bool done_ = false;
};

struct Shared {
    Shared(const Plan& plan, int threads, const Limits& limits, Progress& progress)
        : plan(plan), threads(threads), limits(limits), progress(progress), table(plan.program.words, threads == 1),
          queue(threads) {}
    const Plan& plan;
    const int threads;
    const Limits& limits;
    Progress& progress;
    StateTable table;
    Queue queue;
};

// One thread's share of the work; it is the sink of its own expander.
class Worker {
  public:
    explicit Worker(Shared& shared)
        : shared_(shared), words_(static_cast<size_t>(shared.plan.program.words)),
          reading_(shared.plan.program.reader.field >= 0), expander_(shared.plan), batch_(BATCH * words_), slots_(BATCH) {}

    void run() {
        States block;
        while (take(block)) {
            expander_.load(block.data(), static_cast<int>(block.size() / words_));
            moved_ = {};
            expander_.expand(*this);
            if (reading_) add_resting();
            flush();
        }
    }

    // Every state of the whole space that satisfies init … endinit.
    void enumerate_initial(std::vector<uint64_t>& initial);
    void represent(uint64_t* state) { expander_.represent(state); }
    void add_initial(const uint64_t* state) {
        for (size_t w = 0; w < words_; ++w) batch_[w * BATCH + pending_] = state[w];
        if (++pending_ == BATCH) flush();
    }
    void finish_initial() {
        flush();
        if (!fresh_.empty()) shared_.queue.push(std::move(fresh_));
        fresh_.clear();
    }

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

    // Insert the batch; the new ones join the next block.
    template <size_t W>
    void look_up() {
        StateTable& table = shared_.table;
        for (size_t k = 0; k < pending_; ++k) {
            slots_[k] = table.first_slot<W>(batch_.data() + k, BATCH);
            table.prefetch<W>(slots_[k]);
        }
        size_t states = 0, entries = 0;
        for (size_t k = 0; k < pending_; ++k) {
            auto [new_state, new_entry] = table.insert<W>(slots_[k], batch_.data() + k, BATCH);
            entries += new_entry;
            if (!new_state) continue;
            ++states;
            for (size_t w = 0; w < words_; ++w) fresh_.push_back(batch_[w * BATCH + k]);
            if (fresh_.size() == BLOCK * words_) {
                shared_.queue.push(std::move(fresh_));
                fresh_.clear();
                fresh_.reserve(BLOCK * words_);
            }
        }
        table.count(states, entries);
    }

    void flush() {
        if (pending_ == 0) return;
        StateTable& table = shared_.table;
        const size_t reserve = BATCH * static_cast<size_t>(shared_.threads);
        std::shared_lock reading(table.lock);
        while (!table.has_room(reserve)) {
            reading.unlock();
            {
                std::unique_lock alone(table.lock);
                if (!table.has_room(reserve)) grow();
            }
            reading.lock();
        }
        switch (words_) {
            case 1: look_up<1>(); break;
            case 2: look_up<2>(); break;
            default: look_up<0>(); break;
        }
        transitions += pending_;
        unreported_ += pending_;
        pending_ = 0;
        if (table.states() > std::min<size_t>(shared_.limits.states, INT32_MAX))  // states have 32-bit numbers
            throw ExploreFailure{
                {Fault::TooManyStates, -1, -1, -1, -1, static_cast<double>(table.states()), expander_.crowded_state()}};
        const size_t table_bytes = table.bytes();  // while no other thread makes it grow
        reading.unlock();
        report(table_bytes);
    }

    void grow() {
        size_t need = shared_.table.bytes_while_growing() + shared_.queue.bytes();
        if (need > shared_.limits.memory)
            throw ExploreFailure{{Fault::OutOfMemory, -1, -1, -1, -1, static_cast<double>(need), expander_.crowded_state()}};
        shared_.table.grow(shared_.threads);
    }

    void report(size_t table_bytes) {
        const size_t used = table_bytes + shared_.queue.bytes() + shared_.table.states() * words_ * sizeof(uint64_t);
        if (used > shared_.limits.memory)
            throw ExploreFailure{{Fault::OutOfMemory, -1, -1, -1, -1, static_cast<double>(used), expander_.crowded_state()}};
        shared_.progress.states.store(shared_.table.states(), std::memory_order_relaxed);
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
};

// Counts through the valuations like an odometer, a block at a time.
void Worker::enumerate_initial(std::vector<uint64_t>& initial) {
    const Program& program = shared_.plan.program;
    const Plan& plan = shared_.plan;
    Registers registers = plan.initial.count.allocate();
    const auto& ranges = program.initial_ranges;
    States block(BLOCK * words_);
    std::vector<int64_t> values;
    values.reserve(ranges.size());
    for (auto [low, high] : ranges) values.push_back(low);
    bool more = true;
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
            expander_.represent(state.data());
            initial.insert(initial.end(), state.begin(), state.end());
            add_initial(state.data());
        }
    }
}

}  // namespace

Discovery discover(const Plan& plan, int threads, const Limits& limits, Progress& progress) {
    Discovery result;
    Shared shared(plan, threads, limits, progress);
    std::vector<std::unique_ptr<Worker>> workers;
    workers.reserve(static_cast<size_t>(threads));
    for (int t = 0; t < threads; ++t) workers.push_back(std::make_unique<Worker>(shared));
    if (plan.program.initial < 0) {
        result.initial = plan.program.first_state;
        workers[0]->represent(result.initial.data());
        workers[0]->add_initial(result.initial.data());
    } else {
        workers[0]->enumerate_initial(result.initial);
        if (result.initial.empty()) throw ExploreFailure{{Fault::NoInitialState, -1, -1, -1, -1, 0, {}}};
    }
    workers[0]->finish_initial();
    for (auto& worker : workers) worker->transitions = 0;

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
    Pages<uint64_t> spare, entries = shared.table.take_entries(spare, threads);
    const auto words = static_cast<size_t>(plan.program.words);
    sort_records(entries, std::move(spare), words + 1, words, threads);
    result.states = unfold_entries(entries, words, threads);
    return result;
}

}  // namespace galton
