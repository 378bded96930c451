#include "simulate/model_walker.hpp"

#include <algorithm>

namespace galton {

namespace {

constexpr int64_t FEW = 16;  // entries of a row that are looked at one by one

}  // namespace

void ModelToWalk::finish(const double* values) {
    sums.resize(columns.size());
    stuck.assign(states, 0);
    const size_t rows = row_starts.size() - 1;
    for (size_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (auto k = static_cast<size_t>(row_starts[r]); k < static_cast<size_t>(row_starts[r + 1]); ++k)
            sums[k] = sum += values[k];
    }
    for (size_t s = 0; s < states; ++s) {
        const size_t first = choice_starts.empty() ? s : static_cast<size_t>(choice_starts[s]);
        const size_t end = choice_starts.empty() ? s + 1 : static_cast<size_t>(choice_starts[s + 1]);
        bool loops = true;
        for (auto k = static_cast<size_t>(row_starts[first]); k < static_cast<size_t>(row_starts[end]); ++k)
            loops &= columns[k] == static_cast<int32_t>(s);
        stuck[s] = loops;
    }
}

void ModelWalker::start(int lane, uint64_t path, Seed seed) {
    size_t which = 0;
    if (model_.initial.size() > 1) {
        const Random4 random = seed.draw(path, BEFORE_THE_FIRST_STEP, 0);
        which = static_cast<size_t>(uniform(random[0], random[1]) * static_cast<double>(model_.initial.size()));
    }
    states_[static_cast<size_t>(lane)] = model_.initial[which];
}

// Rows of the states are fetched together, before they are needed.
void ModelWalker::look(int n) {
    for (int i = 0; i < n; ++i) {
        const auto state = static_cast<size_t>(states_[static_cast<size_t>(i)]);
        __builtin_prefetch(
            &model_.row_starts[model_.choice_starts.empty() ? state : static_cast<size_t>(model_.choice_starts[state])]);
        if (!model_.goal.empty()) __builtin_prefetch(&model_.goal[state]);
    }
}

Look ModelWalker::look_at(int lane) const {
    const auto state = static_cast<size_t>(states_[static_cast<size_t>(lane)]);
    Look look;
    look.goal = !model_.goal.empty() && model_.goal[state];
    look.through = model_.through.empty() || model_.through[state];
    look.stuck = model_.stuck[state];
    if (!model_.state_rewards.empty() && !model_.state_rewards[0].empty()) look.reward = model_.state_rewards[0][state];
    return look;
}

void ModelWalker::move(const uint16_t* lanes, int count, Seed seed, const uint64_t* paths, const uint64_t* steps,
                       const double* chances) {
    for (int j = 0; j < count; ++j) {
        const size_t i = lanes[j];
        const auto state = static_cast<size_t>(states_[i]);
        size_t row = state;
        if (!model_.choice_starts.empty()) {
            const auto first = static_cast<size_t>(model_.choice_starts[state]);
            const size_t choices = static_cast<size_t>(model_.choice_starts[state + 1]) - first;
            row = first;
            if (choices > 1) {
                const Random4 random = seed.draw(paths[i], steps[i], 1);
                row += static_cast<size_t>(uniform(random[0], random[1]) * static_cast<double>(choices));
            }
        }
        choices_[i] = static_cast<int32_t>(row);
        const int64_t begin = model_.row_starts[row], end = model_.row_starts[row + 1];
        const double *sums = model_.sums.data(), target = chances[i] * sums[end - 1];
        int64_t at = begin;
        if (end - begin <= FEW) {
            while (at < end - 1 && !(sums[at] > target)) ++at;
        } else {
            at = std::min<int64_t>(std::upper_bound(sums + begin, sums + end, target) - sums, end - 1);
        }
        states_[i] = model_.columns[static_cast<size_t>(at)];
    }
}

double ModelWalker::earned(int lane) const {
    if (model_.choice_rewards.empty() || model_.choice_rewards[0].empty()) return 0;
    return model_.choice_rewards[0][static_cast<size_t>(choices_[static_cast<size_t>(lane)])];
}

void ModelWalker::record(int lane, Trace& trace) const {
    const auto state = static_cast<size_t>(states_[static_cast<size_t>(lane)]);
    trace.states.push_back(state);
    trace.actions.push_back(-1);
    trace.state_rewards.resize(model_.state_rewards.size());
    trace.step_rewards.resize(model_.choice_rewards.size());
    for (size_t s = 0; s < model_.state_rewards.size(); ++s)
        trace.state_rewards[s].push_back(model_.state_rewards[s].empty() ? 0 : model_.state_rewards[s][state]);
    for (auto& rewards : trace.step_rewards) rewards.push_back(0);
}

void ModelWalker::record_step(int lane, Trace& trace, size_t row) const {
    const auto choice = static_cast<size_t>(choices_[static_cast<size_t>(lane)]);
    trace.actions[row] = static_cast<int32_t>(choice);
    for (size_t s = 0; s < model_.choice_rewards.size(); ++s)
        if (!model_.choice_rewards[s].empty()) trace.step_rewards[s][row] = model_.choice_rewards[s][choice];
}

}  // namespace galton
