// All successors of a block of states, command by command.
//
// Execution plan: decode every variable into a column; run the tape of all guards, giving a mask per command; then for
// each product of commands take the states where it is enabled and compute their successors as columns. Successors
// begin as their state with what the reader makes of it, if there is one, which no command touches. A command's
// updates become XOR differences to the packed state, so a synchronisation is the XOR of its parts and the product of
// their probabilities. Where the program has symmetries, each successor becomes the state that stands for it. What happens with
// the successors is the sink's business: `discover.hpp` looks them up in the table of known states, `assemble.hpp` writes
// matrix rows.
//
// A sink has
//   begin(action, selection, count)                    a choice, enabled in these states of the block
//   emit(selection, count, words, p, column)           one successor of each: words[w][j]; probability p, or column[j]
//   end(action, selection, count)
// where the column, if there is one, may hold zeros: such successors do not exist.
#pragma once

#include <cmath>
#include <memory>

#include "explore/plan.hpp"

namespace galton {

inline constexpr double SUM_TOLERANCE = 1e-5;  // PRISM's

// Columns of 64-bit words, `words` to a group.
class WordColumns {
  public:
    WordColumns(int words, int groups)
        : words_(words), data_(static_cast<size_t>(words) * static_cast<size_t>(groups) * BLOCK) {}
    uint64_t* operator()(int group, int word) {
        return data_.data() + (static_cast<size_t>(group) * static_cast<size_t>(words_) + static_cast<size_t>(word)) * BLOCK;
    }
    void grow(int groups) {
        size_t size = static_cast<size_t>(words_) * static_cast<size_t>(groups) * BLOCK;
        if (data_.size() < size) data_.resize(size);
    }

  private:
    int words_;
    std::vector<uint64_t> data_;
};

class Expander {
  public:
    explicit Expander(const Plan& plan);

    // Take n states, one after the other, as the block: decode their variables.
    void load(const uint64_t* states, int n);

    template <class Sink>
    void expand(Sink& sink);

    // All states of the block.
    const Mask& live() const { return live_; }

    // The command whose successors are being emitted; of several that move together, the first module's.
    int command() const { return command_; }

    // Those that were expanded last, and not left as they are because nobody asks what follows them.
    const Mask& active() const { return active_; }

    // Where states are that cannot move: as they were, but what reads them goes on. Word w of state i at [w][i].
    uint64_t* const* resting() const { return bases_; }

    // The states of `where` in which a truth value holds; its tape has run.
    Mask mask_of(const GuardPlan& guard, const Registers& registers, const Mask& where);
    Mask mask_of(const GuardPlan& guard, const Registers& registers) { return mask_of(guard, registers, live_); }
    void run(const Tape& tape, Registers& registers) { tape.run(variables_.data(), n_, registers); }

    // The state that stands for one, in place.
    void represent(uint64_t* state) { representative_.replace(state, static_cast<size_t>(words_)); }

    // A number for each selected state, from its source: gather what its tape reads, run the tape, then read.
    void gather(const std::vector<int>& variables, const uint16_t* selection, int count);
    void run_gathered(const Tape& tape, int count) { tape.run(gathered_.data(), count, scratch_); }
    void read(const Source& source, const uint16_t* selection, int count, double* out);

    // A state whose successors are so many that it is worth telling where an exploration ends that grew too large; its
    // words, or none.
    std::vector<uint64_t> crowded_state() { return made_ > MANY_SUCCESSORS ? state_at(leaf_[0]) : std::vector<uint64_t>(); }

    std::vector<uint64_t> state_at(int i);
    [[noreturn]] void fail(Fault fault, int command, int update, int assignment, int node, double value, int state);

  protected:  // of what walks through a program at random (simulate/program_walker.hpp), too
    // A command's update over the states of the block, dense: position i holds the difference for state i.
    struct Part {
        int group;  // of deltas_
        const UpdatePlan* plan;
        bool constant;  // probability is the same everywhere
        double probability;
        int column;  // of probabilities_, if not constant
    };
    struct Alternative {
        int command;
        Mask mask;
        std::vector<Part> parts;
    };

    // Run the tapes of guards that matter for this block.
    void run_guards();
    // Whether a command's guard can hold in the block at all, and the active states where it does.
    bool possible(int command) const { return place_[static_cast<size_t>(command)] != NOWHERE; }
    Mask enabled(int command) {
        const int32_t place = place_[static_cast<size_t>(command)];
        if (place >= 0) return dispatched_[static_cast<size_t>(place)] & active_;
        return place == NOWHERE ? Mask{}
                                : mask_of(plan_.command_guards[static_cast<size_t>(command)], guard_registers_, active_);
    }

    void read_letters();
    void evaluate(int command, const uint16_t* selection, int count);
    void new_bits(int command, int update, const uint16_t* selection, int count);
    void read_assigned(int update, const AssignmentPlan& assignment, const uint16_t* selection, int count, double* out);
    void check_sum(int command, const uint16_t* selection, int count);
    void blame_range(int command, int update, const AssignmentPlan& assignment, const uint16_t* selection, int count);
    double probability_at(size_t update, int j) const {
        return probability_constant_[update] ? probability_value_[update] : probabilities_[update][static_cast<size_t>(j)];
    }

    template <class Sink>
    void expand_single(const Product& product, Sink& sink);
    template <class Sink>
    void expand_joint(const Product& product, Sink& sink);
    template <class Sink>
    void choose(const Product& product, int factor, const Mask& mask, Sink& sink);
    template <class Sink>
    void multiply(int action, const Mask& mask, Sink& sink);
    template <class Sink>
    void multiply_updates(size_t k, int level, int count, double p, const double* column, Sink& sink);
    void prepare(int command, const Mask& mask, Alternative& alternative);
    [[noreturn]] void blame_product(double value, int j);
    void check_products(int count);

    void count_successors(double branches, int count);

    static constexpr double MANY_SUCCESSORS = 1 << 20;  // of the states of a block, from which on each is watched

    double* factor_column(int level) {
        auto need = (static_cast<size_t>(level) + 1) * BLOCK;
        if (level_columns_.size() < need) level_columns_.resize(need);
        return level_columns_.data() + static_cast<size_t>(level) * BLOCK;
    }

    const Plan& plan_;
    const Program& program_;
    const int words_;
    int n_ = 0, command_ = -1;
    Mask live_{}, active_{};
    WordColumns states_, read_;
    std::vector<uint64_t*> base_words_;  // the words that successors begin with: of the states, or of those read
    uint64_t* const* bases_;
    std::vector<int32_t> letters_;
    std::vector<int32_t> decoded_, gathered_data_;
    std::vector<const int32_t*> variables_, gathered_;
    Registers guard_registers_, scratch_;
    static constexpr int32_t ON_TAPE = -1, NOWHERE = -2;
    std::vector<int32_t> place_;  // of each command's guard: with all others on the tape, or in dispatched_, or nowhere
    std::vector<Mask> dispatched_;  // guards of the values that the block has
    std::vector<int> placed_;  // their commands
    std::vector<int32_t> values_;
    uint16_t selection_[BLOCK], leaf_[BLOCK];

    // Of the command evaluated last: a column per update.
    std::vector<std::vector<double>> probabilities_;
    std::vector<char> probability_constant_;
    std::vector<double> probability_value_;
    WordColumns bits_, successors_;

    // Of the product being expanded.
    WordColumns deltas_;
    std::vector<std::vector<double>> dense_probabilities_;
    int used_groups_ = 0, used_columns_ = 0;
    std::vector<std::vector<Alternative>> alternatives_;
    std::vector<const Alternative*> chosen_;
    std::vector<const Alternative*> branching_;
    std::vector<const Part*> path_;  // the updates of the branching ones that lead to the successor at hand
    WordColumns levels_;
    double made_ = 0;  // successors by products, for any of the states of the block
    std::vector<double> made_by_;  // by each, once there are many
    std::vector<double> level_columns_;
    std::vector<double> number_;
    std::vector<uint64_t*> pointers_;
    Representative representative_;
};

template <class Sink>
void Expander::expand(Sink& sink) {
    run_guards();
    active_ = program_.terminal < 0 ? live_ : live_ & ~mask_of(plan_.terminal, guard_registers_);
    if (program_.reader.field >= 0) read_letters();
    if (!any(active_)) return;
    made_ = 0;
    for (const Product& product : program_.products) {
        if (product.factors.size() == 1)
            expand_single(product, sink);
        else
            expand_joint(product, sink);
    }
}

template <class Sink>
void Expander::expand_single(const Product& product, Sink& sink) {
    for (int command : product.factors[0]) {
        if (!possible(command)) continue;
        Mask mask = enabled(command);
        if (!any(mask)) continue;
        int count = select(mask, selection_);
        command_ = command;
        sink.begin(product.action, selection_, count);  // may use the scratch registers, so before the command does
        evaluate(command, selection_, count);
        const CommandPlan& plan = plan_.commands[static_cast<size_t>(command)];
        for (size_t u = 0; u < plan.updates.size(); ++u) {
            bool constant = probability_constant_[u];
            if (constant && probability_value_[u] == 0) continue;
            new_bits(command, static_cast<int>(u), selection_, count);
            for (int w = 0; w < words_; ++w) {
                const uint64_t keep = ~plan.updates[u].mask[static_cast<size_t>(w)];
                const uint64_t *state = bases_[w], *bits = bits_(0, w);
                uint64_t* out = pointers_[static_cast<size_t>(w)] = successors_(0, w);
                for (int j = 0; j < count; ++j) out[j] = (state[selection_[j]] & keep) | bits[j];
            }
            representative_.replace(pointers_.data(), count);
            sink.emit(selection_, count, pointers_.data(), constant ? probability_value_[u] : 1.0,
                      constant ? nullptr : probabilities_[u].data());
        }
        sink.end(product.action, selection_, count);
    }
}

template <class Sink>
void Expander::expand_joint(const Product& product, Sink& sink) {
    const size_t factors = product.factors.size();
    Mask together = active_;
    for (const auto& factor : product.factors) {
        Mask some{};
        for (int command : factor)
            if (possible(command)) some = some | enabled(command);
        together = together & some;
        if (!any(together)) return;
    }
    used_groups_ = used_columns_ = 0;
    if (alternatives_.size() < factors) alternatives_.resize(factors);
    for (size_t f = 0; f < factors; ++f) {
        alternatives_[f].clear();
        for (int command : product.factors[f]) {
            if (!possible(command)) continue;
            Mask mask = together & enabled(command);
            if (!any(mask)) continue;
            alternatives_[f].push_back({command, mask, {}});
            prepare(command, mask, alternatives_[f].back());
        }
    }
    chosen_.assign(factors, nullptr);
    choose(product, static_cast<int>(factors) - 1, together, sink);
}

// PRISM lets the command of the first module vary fastest; choices come out in its order.
template <class Sink>
void Expander::choose(const Product& product, int factor, const Mask& mask, Sink& sink) {
    if (factor < 0) return multiply(product.action, mask, sink);
    for (const Alternative& alternative : alternatives_[static_cast<size_t>(factor)]) {
        Mask both = mask & alternative.mask;
        if (!any(both)) continue;
        chosen_[static_cast<size_t>(factor)] = &alternative;
        choose(product, factor - 1, both, sink);
    }
}

// The chosen commands' updates, multiplied out: first what is common to all successors, then the branching ones.
template <class Sink>
void Expander::multiply(int action, const Mask& mask, Sink& sink) {
    int count = select(mask, leaf_);
    double branches = 1;
    for (const Alternative* alternative : chosen_) branches *= static_cast<double>(alternative->parts.size());
    made_ += branches;
    if (made_ > MANY_SUCCESSORS) count_successors(branches, count);
    command_ = chosen_[0]->command;
    sink.begin(action, leaf_, count);
    double p = 1;
    const double* column = nullptr;
    branching_.clear();
    for (int w = 0; w < words_; ++w) {
        const uint64_t* state = bases_[w];
        uint64_t* out = levels_(0, w);
        for (int j = 0; j < count; ++j) out[j] = state[leaf_[j]];
    }
    for (const Alternative* alternative : chosen_) {
        if (alternative->parts.size() != 1) {
            branching_.push_back(alternative);
            continue;
        }
        const Part& part = alternative->parts[0];
        for (int w = 0; w < words_; ++w) {
            if (!part.plan->mask[static_cast<size_t>(w)]) continue;
            const uint64_t* delta = deltas_(part.group, w);
            uint64_t* out = levels_(0, w);
            for (int j = 0; j < count; ++j) out[j] ^= delta[leaf_[j]];
        }
        if (part.constant) {
            p *= part.probability;
        } else {
            const double* factor = dense_probabilities_[static_cast<size_t>(part.column)].data();
            double* out = factor_column(0);
            for (int j = 0; j < count; ++j) out[j] = (column ? out[j] : 1.0) * factor[leaf_[j]];
            column = out;
        }
    }
    path_.resize(branching_.size());
    factor_column(static_cast<int>(branching_.size()));  // no growth, and no moving, while columns are in use
    if (column) column = factor_column(0);
    multiply_updates(0, 0, count, p, column, sink);
    sink.end(action, leaf_, count);
}

template <class Sink>
void Expander::multiply_updates(size_t k, int level, int count, double p, const double* column, Sink& sink) {
    if (k == branching_.size()) {
        for (int w = 0; w < words_; ++w) pointers_[static_cast<size_t>(w)] = levels_(level, w);
        representative_.replace(pointers_.data(), count);  // nobody else reads this level
        if (!column) {
            if (!(p > 0 && p < INFINITY)) blame_product(p, 0);
            sink.emit(leaf_, count, pointers_.data(), p, nullptr);
            return;
        }
        bool strange = false;
        for (int j = 0; j < count; ++j) {
            const double product = number_[static_cast<size_t>(j)] = p * column[j];
            strange |= !(product > 0 && product < INFINITY);
        }
        if (strange) check_products(count);
        sink.emit(leaf_, count, pointers_.data(), 1.0, number_.data());
        return;
    }
    for (const Part& part : branching_[k]->parts) {
        path_[k] = &part;
        for (int w = 0; w < words_; ++w) {
            const uint64_t* in = levels_(level, w);
            uint64_t* out = levels_(level + 1, w);
            if (part.plan->mask[static_cast<size_t>(w)]) {
                const uint64_t* delta = deltas_(part.group, w);
                for (int j = 0; j < count; ++j) out[j] = in[j] ^ delta[leaf_[j]];
            } else {
                std::memcpy(out, in, static_cast<size_t>(count) * sizeof(uint64_t));
            }
        }
        if (part.constant) {
            if (part.probability != 0) multiply_updates(k + 1, level + 1, count, p * part.probability, column, sink);
            continue;
        }
        const double* factor = dense_probabilities_[static_cast<size_t>(part.column)].data();
        double* out = factor_column(level + 1);
        for (int j = 0; j < count; ++j) out[j] = (column ? column[j] : 1.0) * factor[leaf_[j]];
        multiply_updates(k + 1, level + 1, count, p, out, sink);
    }
}

}  // namespace galton
