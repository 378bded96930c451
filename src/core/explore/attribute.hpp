// The reward of every single transition of a chain, which only its export needs.
//
// Several commands may lead from one state to the same target; a transition then earns their mean, weighted by
// probability or rate. One more expansion of all states finds, for each successor, its place in the finished matrix.
#pragma once

#include "explore/assemble.hpp"
#include "explore/rewards.hpp"
#include "explore/search.hpp"

namespace galton {

class Attribution {
  public:
    Attribution(const Plan& plan, const Pages<uint64_t>& states, SparseModel& model)
        : states_(states.data(), model.states, static_cast<size_t>(plan.program.words)), model_(model), expander_(plan),
          rewards_(plan, expander_) {}

    void run(const Progress& progress) {
        progress_ = &progress;
        for (first_ = 0; first_ < states_.size(); first_ += BLOCK) {
            const size_t n = std::min<size_t>(BLOCK, states_.size() - first_);
            go_on(progress);
            expander_.load(states_[first_], static_cast<int>(n));
            rewards_.start();
            weights_.assign(row_start(first_ + n) - row_start(first_), 0.0);
            expander_.expand(*this);
            for (size_t s = 0; s < model_.transition_rewards.size(); ++s)
                for (size_t k = 0; earns(s) && k < weights_.size(); ++k)
                    if (weights_[k] > 0) model_.transition_rewards[s][row_start(first_) + k] /= weights_[k];
        }
    }

    void begin(int action, const uint16_t* selection, int count) {
        earned_.resize(model_.transition_rewards.size());
        for (size_t s = 0; s < earned_.size(); ++s) {
            if (!earns(s)) continue;
            try {
                const double* reward = rewards_.of_action(action, s, mask_of(selection, count));
                earned_[s].assign(reward, reward + BLOCK);
            } catch (const ExploreFailure&) {
                one_by_one(action, s, selection, count);
            }
        }
    }
    void end(int, const uint16_t*, int) {}
    void emit(const uint16_t* selection, int count, uint64_t* const* successors, double p, const double* probabilities) {
        go_on(*progress_);
        for (int j = 0; j < count; ++j) {
            const double weight = probabilities ? probabilities[j] : p;
            if (weight == 0) continue;
            const size_t state = first_ + selection[j], target = states_.find(successors, static_cast<size_t>(j), state);
            const int32_t* columns = model_.columns.data();
            const int32_t* entry =
                std::lower_bound(columns + row_start(state), columns + row_start(state + 1), static_cast<int32_t>(target));
            const auto place = static_cast<size_t>(entry - columns);
            weights_[place - row_start(first_)] += weight;
            for (size_t s = 0; s < model_.transition_rewards.size(); ++s)
                if (earns(s)) model_.transition_rewards[s][place] += weight * earned_[s][selection[j]];
        }
    }

  private:
    // Whatever went wrong did so in states where all rates of the choice are 0, or the model would not have been made.
    void one_by_one(int action, size_t structure, const uint16_t* selection, int count) {
        earned_[structure].assign(BLOCK, 0.0);
        for (int j = 0; j < count; ++j) {
            try {
                earned_[structure][selection[j]] =
                    rewards_.of_action(action, structure, mask_of(selection + j, 1))[selection[j]];
            } catch (const ExploreFailure&) {
                earned_[structure][selection[j]] = 0.0;
            }
        }
    }

    bool earns(size_t structure) const { return model_.transition_rewards[structure].size() != 0; }
    size_t row_start(size_t row) const {
        return static_cast<size_t>(model_.row_starts.size() ? model_.row_starts[row] : model_.wide_row_starts[row]);
    }

    const Progress* progress_ = nullptr;
    SortedStates states_;
    SparseModel& model_;
    Expander expander_;
    BlockRewards rewards_;
    size_t first_ = 0;
    std::vector<double> weights_;
    std::vector<std::vector<double>> earned_;  // per structure, by the choice at hand
};

}  // namespace galton
