#include "explore/assemble.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "base/parallel.hpp"
#include "explore/rewards.hpp"
#include "explore/search.hpp"
#include "matrix/rows.hpp"
#include "matrix/values.hpp"

namespace galton {

namespace {

// A matrix entry on its way to its row: the column above, a handle of the value below, so that sorting needs one word.
using Entry = uint64_t;

Entry make_entry(size_t column, uint32_t handle) { return static_cast<uint64_t>(column) << 32 | handle; }
uint32_t column_of(Entry entry) { return static_cast<uint32_t>(entry >> 32); }
uint32_t handle_of(Entry entry) { return static_cast<uint32_t>(entry); }

struct Choice {
    uint16_t state, action;
    uint32_t end;  // of its entries among those of the state
};

struct GivenUp {};

// Choices have 32-bit numbers.
void check_choices(size_t count) {
    if (count >= INT32_MAX) throw ExploreFailure{{Fault::TooManyStates, -1, -1, -1, -1, static_cast<double>(count), {}}};
}

// Rows come out block by block, but blocks are done by whichever thread is free: each waits for its turn to learn where
// its rows begin, then copies them while the next goes on.
class Turns {
  public:
    // Returns where block `number` begins; the next begins after its rows.
    std::pair<size_t, size_t> take(size_t number, size_t choices, size_t transitions) {
        while (next_.load(std::memory_order_acquire) != number) {
            if (given_up) throw GivenUp{};
            std::this_thread::yield();
        }
        auto begin = std::pair{choices_, transitions_};
        choices_ += choices;
        transitions_ += transitions;
        next_.store(number + 1, std::memory_order_release);
        return begin;
    }
    size_t choices() const { return choices_; }
    size_t transitions() const { return transitions_; }
    std::atomic<bool> given_up{false};  // a thread failed: its turn will never end

  private:
    std::atomic<size_t> next_{0};
    size_t choices_ = 0, transitions_ = 0;
};

constexpr size_t LARGE_BLOCK = size_t{1} << 22;  // entries

struct Shared {
    const Plan& plan;
    SortedStates states;
    const Ownership* ownership;  // where other ranks have states, too
    SparseModel& model;
    Progress& progress;
    size_t room;  // bytes that a thread may take for the rows of a block
    ValueDictionary dictionary;
    Turns turns;
    std::atomic<size_t> next_block{0};
    std::vector<char> has_state_rewards, has_choice_rewards;
    std::mutex mutex;
    std::vector<std::unique_ptr<MetGhosts>> met;       // by thread
    std::vector<std::pair<uint32_t, size_t>> written;  // of each block: by which thread, and its first choice

    size_t blocks() const { return (states.size() + BLOCK - 1) / BLOCK; }
};

class Worker {
  public:
    Worker(Shared& shared, int thread)
        : shared_(shared), thread_(static_cast<uint32_t>(thread)), program_(shared.plan.program),
          chain_(program_.type != ModelType::Mdp), structures_(static_cast<size_t>(program_.reward_structures)),
          known_(shared.states, shared.ownership, shared.ownership ? shared.met[thread_].get() : nullptr),
          expander_(shared.plan), rewards_(shared.plan, expander_), cache_(shared.dictionary), filled_(BLOCK + 1),
          choices_of_(BLOCK + 1), rates_(BLOCK) {
        for (char has : shared.has_choice_rewards) any_choice_rewards_ |= has != 0;
        state_choice_rewards_.assign(structures_, std::vector<double>(BLOCK));
        choice_rewards_.resize(structures_);
    }

    void run() {
        const size_t blocks = shared_.blocks();
        for (;;) {
            size_t block = shared_.next_block.fetch_add(1);
            if (block >= blocks) return;
            if (shared_.progress.stop || shared_.turns.given_up) throw GivenUp{};
            first_ = block * BLOCK;
            n_ = static_cast<int>(std::min<size_t>(BLOCK, shared_.states.size() - first_));
            expand();
            add_self_loops();
            gather_rows();
            write(block);
            shared_.progress.rows.fetch_add(static_cast<size_t>(n_), std::memory_order_relaxed);
        }
    }

    std::vector<int32_t> deadlocks;
    size_t off_state = SIZE_MAX;  // as in the model
    double off_sum = 1;

    // The sink's side.

    void begin(int action, const uint16_t* selection, int count) {
        earns_ = false;
        for (size_t s = 0; s < structures_; ++s) earns_ |= rewards_.earns(action, s);
        if (earns_)
            for (int j = 0; j < count; ++j) rates_[selection[j]] = 0;
    }

    void emit(const uint16_t* selection, int count, uint64_t* const* successors, double p, const double* probabilities) {
        go_on(shared_.progress);
        make_room(used_ + static_cast<size_t>(count));
        const uint32_t same = probabilities ? 0 : handle(p);
        size_t guess = first_ + selection[0];
        int last = selection[0];
        for (int j = 0; j < count; ++j) {
            const int state = selection[j];
            if (probabilities && probabilities[j] == 0) continue;
            guess += static_cast<size_t>(state - last);
            last = state;
            const size_t target = known_.find(successors, static_cast<size_t>(j), guess);
            if (target == KnownStates::UNKNOWN) throw std::logic_error("a successor was not among the states found before");
            entries_[used_] = make_entry(target, probabilities ? handle(probabilities[j]) : same);
            owners_[used_++] = static_cast<uint16_t>(state);
            ++filled_[static_cast<size_t>(state)];
        }
        if (earns_)
            for (int j = 0; j < count; ++j) rates_[selection[j]] += probabilities ? probabilities[j] : p;
    }

    void end(int action, const uint16_t* selection, int count) {
        for (int j = 0; j < count; ++j) ++choices_of_[selection[j]];
        if (!chain_) {
            for (int j = 0; j < count; ++j)
                choices_.push_back({selection[j], static_cast<uint16_t>(action), filled_[selection[j]]});
        }
        if (earns_ || (any_choice_rewards_ && !chain_)) add_choice_rewards(action, selection, count);
    }

  private:
    void expand() {
        expander_.load(shared_.states[first_], n_);
        used_ = 0;
        block_values_.clear();
        choices_.clear();
        std::fill(filled_.begin(), filled_.end(), 0);
        std::fill(choices_of_.begin(), choices_of_.end(), 0);
        for (auto& rewards : choice_rewards_) rewards.clear();
        for (auto& rewards : state_choice_rewards_) std::fill(rewards.begin(), rewards.end(), 0.0);
        rewards_.start();
        finish_states();
        expander_.expand(*this);
    }

    void finish_states() {
        SparseModel& model = shared_.model;
        for (size_t k = 0; k < model.labels.size(); ++k) {
            const Mask mask = rewards_.label(k);
            uint8_t* out = model.labels[k].data() + first_;
            for (int i = 0; i < n_; ++i) out[i] = test(mask, i);
        }
        for (size_t s = 0; s < structures_; ++s) {
            if (!model.state_rewards[s].size()) continue;
            // Not summed in place: a fresh page that is read before it is written faults twice, and stops all threads.
            sums_.assign(BLOCK, 0.0);
            rewards_.add_states(s, sums_.data());
            std::copy_n(sums_.data(), n_, model.state_rewards[s].data() + first_);
        }
    }

    void add_choice_rewards(int action, const uint16_t* selection, int count) {
        Mask taken = mask_of(selection, count);
        for (int j = 0; earns_ && j < count; ++j)  // a choice whose rates are all 0 is none
            if (rates_[selection[j]] == 0) taken.bits[selection[j] >> 6] &= ~(uint64_t{1} << (selection[j] & 63));
        for (size_t s = 0; s < structures_; ++s) {
            if (!shared_.has_choice_rewards[s]) continue;
            const double* reward = rewards_.of_action(action, s, taken);
            for (int j = 0; j < count; ++j) {
                const size_t state = selection[j];
                double earned = reward[state];
                if (chain_)
                    earned = state_choice_rewards_[s][state] +=
                        earned * (program_.type == ModelType::Ctmc ? rates_[state] : 1.0);
                else
                    choice_rewards_[s].push_back(earned);
                if (!std::isfinite(earned) && test(taken, selection[j]))
                    expander_.fail(Fault::BadReward, -1, -1, -1, rewards_.node_of(action, s), earned, selection[j]);
            }
        }
    }

    // A state that cannot move stays where it is, for ever; an automaton that reads it goes on.
    void add_self_loops() {
        for (int i = 0; i < n_; ++i) {
            auto state = static_cast<size_t>(i);
            if (filled_[state] != 0) continue;
            size_t target = first_ + state;
            if (test(expander_.active(), i)) {
                deadlocks.push_back(static_cast<int32_t>(target));
                size_t guess = target;
                target = known_.find(expander_.resting(), state, guess);
                if (target == KnownStates::UNKNOWN) throw std::logic_error("a state that rests was not found before");
            }
            make_room(used_ + 1);
            entries_[used_] = make_entry(target, handle(1.0));
            owners_[used_++] = static_cast<uint16_t>(i);
            filled_[state] = 1;
            choices_of_[state] = 1;
            if (!chain_) {
                choices_.push_back({static_cast<uint16_t>(i), 0, 1});
                for (auto& rewards : choice_rewards_) rewards.push_back(0.0);
            }
        }
    }

    // Entries and choices by state, in the order in which they came.
    void gather_rows() {
        starts_.assign(static_cast<size_t>(n_) + 1, 0);
        for (int i = 0; i < n_; ++i)
            starts_[static_cast<size_t>(i) + 1] = starts_[static_cast<size_t>(i)] + filled_[static_cast<size_t>(i)];
        next_.assign(starts_.begin(), starts_.end());
        for (size_t k = 0; k < used_; ++k) sorted_[next_[owners_[k]]++] = entries_[k];

        written_ = 0;
        lengths_.clear();
        if (chain_) {
            for (int i = 0; i < n_; ++i) {
                auto state = static_cast<size_t>(i);
                double share = program_.type == ModelType::Dtmc ? static_cast<double>(choices_of_[state]) : 1.0;
                add_row(state, starts_[state], starts_[state + 1], share);
                for (auto& rewards : state_choice_rewards_) rewards[state] /= share;
            }
            return;
        }
        choice_starts_.assign(static_cast<size_t>(n_) + 1, 0);
        for (int i = 0; i < n_; ++i)
            choice_starts_[static_cast<size_t>(i) + 1] =
                choice_starts_[static_cast<size_t>(i)] + choices_of_[static_cast<size_t>(i)];
        choice_order_.resize(choices_.size());
        next_.assign(choice_starts_.begin(), choice_starts_.end());
        for (size_t k = 0; k < choices_.size(); ++k) choice_order_[next_[choices_[k].state]++] = static_cast<uint32_t>(k);
        for (int i = 0; i < n_; ++i) {
            size_t begin = starts_[static_cast<size_t>(i)], row = begin;
            for (size_t c = choice_starts_[static_cast<size_t>(i)]; c < choice_starts_[static_cast<size_t>(i) + 1]; ++c) {
                size_t end = begin + choices_[choice_order_[c]].end;
                add_row(static_cast<size_t>(i), row, end, 1.0);
                row = end;
            }
        }
    }

    // Sort by target, merge equal targets, and keep the result. Equal targets stay in the order of the commands, so
    // that their sum is rounded the same way whatever thread computes it.
    void add_row(size_t state, size_t begin, size_t end, double share) {
        Entry* row = sorted_.data() + begin;
        const size_t size = end - begin;
        if (size <= 32) {
            for (size_t i = 1; i < size; ++i) {
                const Entry entry = row[i];
                size_t k = i;
                for (; k > 0 && column_of(entry) < column_of(row[k - 1]); --k) row[k] = row[k - 1];
                row[k] = entry;
            }
        } else {
            std::stable_sort(row, row + size, [](Entry a, Entry b) { return column_of(a) < column_of(b); });
        }
        const size_t before = written_;
        for (size_t i = 0; i < size;) {
            const uint32_t column = column_of(row[i]);
            uint32_t result = handle_of(row[i]);
            size_t next = i + 1;
            if ((next < size && column_of(row[next]) == column) || share != 1) {
                double value = value_of(result);
                for (; next < size && column_of(row[next]) == column; ++next) value += value_of(handle_of(row[next]));
                result = handle(value / share);
            }
            columns_[written_] = static_cast<int32_t>(column);
            handles_[written_] = result;
            ++written_;
            i = next;
        }
        lengths_.push_back(static_cast<uint32_t>(written_ - before));
        if (program_.type == ModelType::Ctmc)
            check_total(state, before);
        else
            finish_row(state, before);
    }

    // See matrix/rows.hpp; the row is what was written last, from `before` on.
    void finish_row(size_t state, size_t before) {
        const size_t size = written_ - before;
        const RowSum sum = sum_row(size, [&](size_t k) { return value_of(handles_[before + k]); });
        if (!is_off(sum, size)) return;
        for (size_t k = before; k < written_; ++k) handles_[k] = handle(sum.share(value_of(handles_[k])));
        if (std::abs(sum.distance()) <= OFF_BY_MORE_THAN_ROUNDING || first_ + state >= off_state) return;
        off_state = first_ + state;
        off_sum = sum.high + sum.low;
    }

    void check_total(size_t state, size_t before) {
        double sum = 0;
        for (size_t k = before; k < written_; ++k) sum += value_of(handles_[k]);
        if (!(sum < INFINITY)) blame_total(state);
    }

    // Expand the state once more, to see which command is too much.
    [[noreturn]] void blame_total(size_t state) {
        struct Adder {
            const Expander& expander;
            double sum = 0;
            int command = -1;
            void begin(int, const uint16_t*, int) {}
            void end(int, const uint16_t*, int) {}
            void emit(const uint16_t*, int, uint64_t* const*, double p, const double* probabilities) {
                if (sum < INFINITY) command = expander.command();
                sum += probabilities ? probabilities[0] : p;
            }
        } adder{expander_};
        expander_.load(shared_.states[first_ + state], 1);
        expander_.expand(adder);
        expander_.fail(Fault::BadTotal, adder.command, -1, -1, -1, adder.sum, 0);
    }

    // Values travel as handles: codes of the dictionary or, where there are too many values for one, places in a list
    // that lasts for this block.
    uint32_t handle(double value) {
        if (shared_.model.coding != Coding::Plain) return cache_.code(value);
        block_values_.push_back(value);
        return static_cast<uint32_t>(block_values_.size() - 1);
    }
    double value_of(uint32_t handle) const {
        return shared_.model.coding != Coding::Plain ? cache_.value(handle) : block_values_[handle];
    }

    void make_room(size_t size) {
        if (entries_.size() >= size) return;
        size = std::max(size, 2 * entries_.size());
        // Entries of a block have 32-bit numbers. Smaller blocks are not counted: they fit in what everybody has.
        const size_t bytes = size * (sizeof(Entry) * 2 + sizeof(uint16_t) + sizeof(int32_t) + sizeof(uint32_t));
        if (size > UINT32_MAX || (size > LARGE_BLOCK && bytes > shared_.room))
            throw ExploreFailure{{Fault::OutOfMemory, -1, -1, -1, -1, static_cast<double>(bytes), expander_.crowded_state()}};
        entries_.resize(size);
        sorted_.resize(size);
        owners_.resize(size);
        columns_.resize(size);
        handles_.resize(size);
    }

    void write(size_t block) {
        SparseModel& model = shared_.model;
        auto [choice, transition] = shared_.turns.take(block, lengths_.size(), written_);
        if (shared_.ownership) {
            if (!chain_) check_choices(choice + lengths_.size());
            shared_.written[block] = {thread_, choice};
        }
        size_t end = transition;
        for (size_t k = 0; k < lengths_.size(); ++k) {
            end += lengths_[k];
            if (model.row_starts.size())
                model.row_starts[choice + k + 1] = static_cast<int32_t>(end);
            else
                model.wide_row_starts[choice + k + 1] = static_cast<int64_t>(end);
        }
        std::copy_n(columns_.data(), written_, model.columns.data() + transition);
        for (size_t k = 0; k < written_; ++k) {
            switch (model.coding) {
                case Coding::Bytes: model.byte_index[transition + k] = static_cast<uint8_t>(handles_[k]); break;
                case Coding::Shorts: model.short_index[transition + k] = static_cast<uint16_t>(handles_[k]); break;
                case Coding::Plain: model.values[transition + k] = value_of(handles_[k]); break;
            }
        }
        for (size_t s = 0; s < structures_; ++s) {
            if (!shared_.has_choice_rewards[s]) continue;
            double* out = model.choice_rewards[s].data() + choice;
            if (chain_)
                std::copy_n(state_choice_rewards_[s].data(), n_, out);
            else
                for (size_t k = 0; k < choice_order_.size(); ++k) out[k] = choice_rewards_[s][choice_order_[k]];
        }
        if (chain_) return;
        for (size_t k = 0; k < choice_order_.size(); ++k) model.choice_actions[choice + k] = choices_[choice_order_[k]].action;
        for (int i = 0; i < n_; ++i)
            model.choice_starts[first_ + static_cast<size_t>(i) + 1] =
                static_cast<int32_t>(choice + choice_starts_[static_cast<size_t>(i) + 1]);
    }

    Shared& shared_;
    const uint32_t thread_;
    const Program& program_;
    const bool chain_;
    const size_t structures_;
    bool any_choice_rewards_ = false;
    bool earns_ = false;  // the choice at hand
    KnownStates known_;
    Expander expander_;
    BlockRewards rewards_;
    ValueCache cache_;
    size_t first_ = 0;
    int n_ = 0;
    std::vector<Entry> entries_, sorted_;
    std::vector<uint16_t> owners_;      // positions in the block
    std::vector<double> block_values_;
    size_t used_ = 0, written_ = 0;
    std::vector<Choice> choices_;
    std::vector<uint32_t> filled_, choices_of_, starts_, next_, choice_starts_, choice_order_, lengths_;
    std::vector<double> rates_, sums_;
    std::vector<std::vector<double>> state_choice_rewards_, choice_rewards_;
    std::vector<int32_t> columns_;
    std::vector<uint32_t> handles_;
};

void allocate(SparseModel& model, const Plan& plan, const Discovery& found, Shared& shared) {
    const Program& program = plan.program;
    const bool chain = program.type != ModelType::Mdp;
    // Upper bounds: every state might yet turn out to need a self-loop. Pages that are never touched cost nothing.
    const size_t choices = chain ? found.count : found.choices + found.count;
    const size_t transitions = found.transitions + found.count;
    model.states = found.count;
    if (transitions < INT32_MAX)
        model.row_starts = Pages<int32_t>(choices + 1);
    else
        model.wide_row_starts = Pages<int64_t>(choices + 1);
    model.columns = Pages<int32_t>(transitions);
    model.byte_index = Pages<uint8_t>(model.coding == Coding::Bytes ? transitions : 0);
    model.short_index = Pages<uint16_t>(model.coding == Coding::Shorts ? transitions : 0);
    model.values = Pages<double>(model.coding == Coding::Plain ? transitions : 0);
    if (!chain) {
        model.choice_starts = Pages<int32_t>(found.count + 1);
        model.choice_actions = Pages<uint16_t>(choices);
    }
    const auto structures = static_cast<size_t>(program.reward_structures);
    shared.has_state_rewards.assign(structures, 0);
    shared.has_choice_rewards.assign(structures, 0);
    for (const RewardItem& item : program.rewards)
        if (item.action < program.actions)
            (item.action < 0 ? shared.has_state_rewards : shared.has_choice_rewards)[static_cast<size_t>(item.structure)] = 1;
    model.labels.clear();
    model.state_rewards.clear();
    model.choice_rewards.clear();
    for (size_t k = 0; k < plan.labels.size(); ++k) model.labels.emplace_back(found.count);
    for (size_t s = 0; s < structures; ++s) {
        model.state_rewards.emplace_back(shared.has_state_rewards[s] ? found.count : 0);
        model.choice_rewards.emplace_back(shared.has_choice_rewards[s] ? choices : 0);
    }
}

// What the model will take, roughly: duplicates are not merged yet, and values may need more than a byte.
size_t bytes_needed(const Plan& plan, const Discovery& found) {
    const bool chain = plan.program.type != ModelType::Mdp;
    auto likely = [&](size_t most) {
        return found.share < 1 ? static_cast<size_t>(found.share * static_cast<double>(most)) : most;
    };
    const size_t choices = chain ? found.count : likely(found.choices);
    size_t per_state = plan.labels.size(), per_choice = sizeof(int32_t);
    if (!chain) {
        per_state += sizeof(int32_t);
        per_choice += sizeof(uint16_t);
    }
    std::vector<char> seen(2 * static_cast<size_t>(plan.program.reward_structures));
    for (const RewardItem& item : plan.program.rewards) {
        char& counted = seen[2 * static_cast<size_t>(item.structure) + (item.action < 0)];
        if (!counted) (item.action < 0 ? per_state : per_choice) += sizeof(double);
        counted = 1;
    }
    return found.count * per_state + choices * per_choice + likely(found.transitions) * (sizeof(int32_t) + sizeof(uint8_t));
}

void trim(SparseModel& model) {
    model.row_starts.shrink(model.choices + 1);
    model.wide_row_starts.shrink(model.choices + 1);
    model.columns.shrink(model.transitions);
    model.short_index.shrink(model.transitions);
    model.byte_index.shrink(model.transitions);
    model.values.shrink(model.transitions);
    model.choice_actions.shrink(model.choices);
    for (auto& rewards : model.choice_rewards) rewards.shrink(model.choices);
}

// Put the dictionary in order, and the numbers with it: which thread met a value first must not show.
void sort_values(SparseModel& model, ValueDictionary& dictionary, int threads) {
    const std::vector<uint16_t> rank = dictionary.sort();
    model.dictionary = dictionary.values();
    run_on_threads(threads, [&](int t) {
        auto [begin, end] = share(model.transitions, t, threads);
        if (model.coding == Coding::Bytes)
            for (size_t i = begin; i < end; ++i) model.byte_index[i] = static_cast<uint8_t>(rank[model.byte_index[i]]);
        else
            for (size_t i = begin; i < end; ++i) model.short_index[i] = rank[model.short_index[i]];
    });
}

// False when there are too many distinct values to number them.
bool try_assemble(Shared& shared, int threads) {
    std::exception_ptr failure;
    bool too_many = false;
    run_on_threads(threads, [&](int t) {
        try {
            Worker worker(shared, t);
            worker.run();
            std::lock_guard guard(shared.mutex);
            shared.model.deadlocks.insert(shared.model.deadlocks.end(), worker.deadlocks.begin(), worker.deadlocks.end());
            if (worker.off_state < shared.model.off_state) {
                shared.model.off_state = worker.off_state;
                shared.model.off_sum = worker.off_sum;
            }
            return;
        } catch (const GivenUp&) {
        } catch (const TooManyValues&) {
            std::lock_guard guard(shared.mutex);
            too_many = true;
        } catch (...) {
            std::lock_guard guard(shared.mutex);
            if (!failure) failure = std::current_exception();
        }
        shared.turns.given_up = true;
    });
    if (failure) std::rethrow_exception(failure);
    if (shared.progress.stop) throw ExploreFailure{{Fault::Interrupted, -1, -1, -1, -1, 0, {}}};
    return !too_many;
}

// The ghosts of a row come last. They have the numbers that a thread gave them, and get their places.
template <class Code>
class Placing {
  public:
    Placing(SparseModel& model, Code* codes) : model_(model), codes_(codes) {}

    void place(size_t row, const std::vector<uint32_t>& places) {
        const auto states = static_cast<int32_t>(model_.states);
        int32_t* columns = model_.columns.data();
        const size_t begin = start(row), end = start(row + 1);
        size_t first = end;
        for (; first > begin && columns[first - 1] >= states; --first)
            columns[first - 1] = states + static_cast<int32_t>(places[static_cast<size_t>(columns[first - 1] - states)]);
        if (std::is_sorted(columns + first, columns + end)) return;
        entries_.clear();
        for (size_t i = first; i < end; ++i) entries_.emplace_back(columns[i], codes_[i]);
        std::sort(entries_.begin(), entries_.end());  // no two have the same column
        for (size_t i = first; i < end; ++i) std::tie(columns[i], codes_[i]) = entries_[i - first];
    }

  private:
    size_t start(size_t row) const {
        return model_.row_starts.size() ? static_cast<size_t>(model_.row_starts[row])
                                        : static_cast<size_t>(model_.wide_row_starts[row]);
    }

    SparseModel& model_;
    Code* codes_;
    std::vector<std::pair<int32_t, Code>> entries_;
};

template <class Code>
void place_ghosts(Shared& shared, const std::vector<std::vector<uint32_t>>& places, Code* codes, int threads) {
    const size_t blocks = shared.blocks(), choices = shared.model.choices;
    run_on_threads(threads, [&](int t) {
        Placing<Code> placing(shared.model, codes);
        auto [begin, end] = share(blocks, t, threads);
        for (size_t block = begin; block < end; ++block) {
            auto [thread, row] = shared.written[block];
            const size_t last = block + 1 < blocks ? shared.written[block + 1].second : choices;
            for (; row < last; ++row) placing.place(row, places[thread]);
        }
    });
}

void place_ghosts(Shared& shared, Ghosts& ghosts, int threads) {
    SparseModel& model = shared.model;
    const auto places = put_in_order(shared.met, ghosts, threads);
    if (ghosts.starts.back() == 0) return;
    if (model.states + ghosts.starts.back() >= INT32_MAX)  // columns have 32-bit numbers
        throw ExploreFailure{{Fault::TooManyStates, -1, -1, -1, -1, static_cast<double>(model.states), {}}};
    switch (model.coding) {
        case Coding::Bytes: return place_ghosts(shared, places, model.byte_index.data(), threads);
        case Coding::Shorts: return place_ghosts(shared, places, model.short_index.data(), threads);
        case Coding::Plain: return place_ghosts(shared, places, model.values.data(), threads);
    }
}

}  // namespace

SparseModel assemble(const Plan& plan, const Pages<uint64_t>& states, const Discovery& found, int threads, const Limits& limits,
                     Progress& progress, Ghosts* ghosts) {
    SparseModel model;
    const size_t need = states.bytes() + bytes_needed(plan, found);
    if (need > limits.memory) throw ExploreFailure{{Fault::OutOfMemory, -1, -1, -1, -1, static_cast<double>(need), {}}};
    if (plan.program.type == ModelType::Mdp && !ghosts) check_choices(found.choices + found.count);
    const SortedStates sorted(states.data(), found.count, static_cast<size_t>(plan.program.words));
    for (Coding coding : {Coding::Bytes, Coding::Shorts, Coding::Plain}) {
        // Too many values for a coding usually show in the first blocks; little is done twice.
        model.coding = coding;
        model.deadlocks.clear();
        model.off_state = SIZE_MAX;
        progress.rows = 0;
        Shared shared{plan,
                      sorted,
                      ghosts ? &ghosts->ownership : nullptr,
                      model,
                      progress,
                      (limits.memory - need) / static_cast<size_t>(threads),
                      ValueDictionary(coding == Coding::Bytes ? 1 << 8 : 1 << 16),
                      {},
                      {},
                      {},
                      {},
                      {},
                      {},
                      {}};
        allocate(model, plan, found, shared);
        if (ghosts) {
            for (int t = 0; t < threads; ++t) shared.met.push_back(std::make_unique<MetGhosts>(sorted.words()));
            shared.written.resize(shared.blocks());
        }
        if (!try_assemble(shared, threads)) continue;
        model.choices = shared.turns.choices();
        model.transitions = shared.turns.transitions();
        if (coding != Coding::Plain) sort_values(model, shared.dictionary, threads);
        if (ghosts) place_ghosts(shared, *ghosts, threads);
        break;
    }
    trim(model);
    std::sort(model.deadlocks.begin(), model.deadlocks.end());
    std::vector<uint64_t*> key(sorted.words());
    for (size_t i = 0; i < found.initial.size(); i += sorted.words()) {
        for (size_t w = 0; w < sorted.words(); ++w) key[w] = const_cast<uint64_t*>(found.initial.data()) + i + w;
        model.initial.push_back(static_cast<int32_t>(sorted.find(key.data(), 0, 0)));
    }
    std::sort(model.initial.begin(), model.initial.end());
    model.initial.erase(std::unique(model.initial.begin(), model.initial.end()), model.initial.end());  // of an orbit
    return model;
}

}  // namespace galton
