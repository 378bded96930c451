// Labels and rewards of a block of states, evaluated when the states are known.
#pragma once

#include <cmath>

#include "explore/expand.hpp"

namespace galton {

class BlockRewards {
  public:
    BlockRewards(const Plan& plan, Expander& expander)
        : plan_(plan), expander_(expander), structures_(static_cast<size_t>(plan.program.reward_structures)),
          registers_(plan.finish.count.allocate()), columns_(static_cast<size_t>(plan.program.actions) * structures_),
          ready_(static_cast<size_t>(plan.program.actions)), earning_(columns_.size()), numbers_(BLOCK) {
        for (const RewardPlan& item : plan.rewards)
            if (item.action >= 0 && item.action < plan.program.actions) {
                char& kind = earning_[place(item.action, static_cast<size_t>(item.structure))];
                kind = std::max<char>(kind, is_partial(item) ? 2 : 1);
            }
    }

    // A new block has been loaded.
    void start() {
        expander_.run(plan_.finish, registers_);
        std::fill(ready_.begin(), ready_.end(), 0);
    }

    Mask label(size_t number) { return expander_.mask_of(plan_.labels[number], registers_); }

    // Add the state rewards of a structure.
    void add_states(size_t structure, double* out) {
        for (const RewardPlan& item : plan_.rewards) {
            if (item.action >= 0 || static_cast<size_t>(item.structure) != structure) continue;
            add(item, expander_.live(), out);
            for (int i = 0; i < BLOCK; ++i)
                if (!std::isfinite(out[i])) expander_.fail(Fault::BadReward, -1, -1, -1, item.node, out[i], i);
        }
    }

    // The last reward that an action earns, for messages about all of them.
    int node_of(int action, size_t structure) const {
        int node = -1;
        for (const RewardPlan& item : plan_.rewards)
            if (item.action == action && static_cast<size_t>(item.structure) == structure) node = item.node;
        return node;
    }

    // Whether an action ever earns anything.
    bool earns(int action, size_t structure) const { return earning_[place(action, structure)] != 0; }

    // What taking an action earns, by position in the block; only meant for states of `where`, in which it is taken.
    // What can be evaluated anywhere is evaluated once for the block; partial items only where they are needed.
    const double* of_action(int action, size_t structure, const Mask& where) {
        if (!ready_[static_cast<size_t>(action)]) {
            ready_[static_cast<size_t>(action)] = 1;
            for (size_t s = 0; s < structures_; ++s) columns_[place(action, s)].assign(BLOCK, 0.0);
            for (const RewardPlan& item : plan_.rewards)
                if (item.action == action && !is_partial(item))
                    add(item, expander_.live(), columns_[place(action, static_cast<size_t>(item.structure))].data());
        }
        if (earning_[place(action, structure)] != 2) return columns_[place(action, structure)].data();
        sum_ = columns_[place(action, structure)];
        for (const RewardPlan& item : plan_.rewards)
            if (item.action == action && static_cast<size_t>(item.structure) == structure && is_partial(item))
                add(item, where, sum_.data());
        return sum_.data();
    }

  private:
    // A reward that is not finite is an error, so one that might not be is partial, too.
    static bool is_partial(const RewardPlan& item) { return item.guard.partial || item.risky; }

    size_t place(int action, size_t structure) const { return static_cast<size_t>(action) * structures_ + structure; }

    void add(const RewardPlan& item, const Mask& where, double* out) {
        uint16_t selection[BLOCK];
        int count = select(expander_.mask_of(item.guard, registers_, where), selection);
        if (count == 0) return;
        expander_.gather(item.variables, selection, count);
        expander_.run_gathered(item.tape, count);
        expander_.read(item.value, selection, count, numbers_.data());
        for (int j = 0; j < count; ++j) {
            const double value = numbers_[static_cast<size_t>(j)];
            if (!std::isfinite(value)) expander_.fail(Fault::BadReward, -1, -1, -1, item.node, value, selection[j]);
            out[selection[j]] += value;
        }
    }

    const Plan& plan_;
    Expander& expander_;
    const size_t structures_;
    Registers registers_;
    std::vector<std::vector<double>> columns_;  // by place(action, structure)
    std::vector<char> ready_;
    std::vector<char> earning_;                 // likewise: 0 nothing, 1 something, 2 something partial
    std::vector<double> numbers_, sum_;
};

}  // namespace galton
