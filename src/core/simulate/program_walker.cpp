#include "simulate/program_walker.hpp"

namespace galton {

namespace {

constexpr double LARGEST = 1 - 0x1p-53;     // below 1
constexpr double MOST_SUCCESSORS = 4096;    // of one choice, to look for loops at all

template <class F>
void for_each(const Mask& mask, const F& f) {
    for (int k = 0; k < MASK_WORDS; ++k)
        for (uint64_t word = mask.bits[k]; word; word &= word - 1) f(static_cast<size_t>(64 * k + __builtin_ctzll(word)));
}

void set(Mask& mask, size_t i) { mask.bits[i >> 6] |= uint64_t{1} << (i & 63); }

// What moves at all, as a sink of the expander.
struct Movers {
    const std::vector<uint64_t>& rows;
    size_t words;
    Mask moved{};

    void begin(int, const uint16_t*, int) {}
    void end(int, const uint16_t*, int) {}
    void emit(const uint16_t* selection, int count, uint64_t* const* successors, double p, const double* probabilities) {
        for (int j = 0; j < count; ++j) {
            if ((probabilities ? probabilities[j] : p) == 0) continue;
            for (size_t w = 0; w < words; ++w)
                if (successors[w][j] != rows[selection[j] * words + w]) set(moved, selection[j]);
        }
    }
};

}  // namespace

ProgramWalker::ProgramWalker(const Plan& plan, const ProgramStart& start)
    : Expander(plan), start_(start), rates_(program_.type == ModelType::Ctmc),
      structures_(static_cast<size_t>(program_.reward_structures)), rewards_(plan, *this),
      rows_(static_cast<size_t>(LANES) * static_cast<size_t>(words_)), next_(rows_.size()), loops_(LANES),
      guards_(program_.commands.size()), rates_of_(program_.commands.size()), enabled_(program_.products.size()), total_(LANES),
      before_(LANES), target_(LANES), rest_(LANES), share_(LANES), settled_(LANES), actions_(LANES), product_lanes_(LANES),
      command_lanes_(LANES), update_lanes_(LANES), picks_(LANES) {
    static_assert(LANES == BLOCK);
    for (size_t c = 0; c < program_.commands.size(); ++c) {
        double weight = rates_ ? 0 : 1;
        for (const UpdatePlan& update : plan.commands[c].updates) {
            if (!rates_) break;
            const Source& rate = update.probability;
            const bool fine = rate.how == Source::Constant && rate.constant >= 0 && std::isfinite(rate.constant);
            weight += fine ? rate.constant : NAN;
        }
        constant_weights_.push_back(weight);
        if (std::isnan(weight)) rates_of_[c].resize(LANES);
    }
    for (const Product& product : program_.products) {
        factor_weights_.emplace_back(product.factors.size(), std::vector<double>(LANES));
        weights_.emplace_back(product.factors.size() > 1 ? LANES : 0);
        double branches = 1;
        for (const auto& factor : product.factors) {
            size_t most = 0;
            for (int command : factor) most = std::max(most, program_.commands[static_cast<size_t>(command)].updates.size());
            branches *= static_cast<double>(most * factor.size());
        }
        if (product.factors.size() > 1 && branches > MOST_SUCCESSORS) loops_can_be_found_ = false;
    }
    state_rewards_.assign(structures_, std::vector<double>(LANES));
    earned_ = state_rewards_;
}

void ProgramWalker::start(int lane, uint64_t path, Seed seed) {
    const auto words = static_cast<size_t>(words_);
    const size_t count = start_.states.size() / words;
    size_t which = 0;
    if (count > 1) {
        const Random4 random = seed.draw(path, BEFORE_THE_FIRST_STEP, 0);
        which = static_cast<size_t>(uniform(random[0], random[1]) * static_cast<double>(count));
    }
    std::copy_n(start_.states.data() + which * words, words, row(lane));
    loops_[static_cast<size_t>(lane)] = 0;
}

void ProgramWalker::copy(int from, int to) {
    std::copy_n(row(from), words_, row(to));
    loops_[static_cast<size_t>(to)] = loops_[static_cast<size_t>(from)];
}

void ProgramWalker::look(int n) {
    load(rows_.data(), n);
    run_guards();
    active_ = live_;
    if (program_.reader.field >= 0) {
        read_letters();
        settle();
    }
    rewards_.start();
    if (start_.goal >= 0) goal_ = rewards_.label(static_cast<size_t>(start_.goal));
    through_ = start_.through >= 0 ? rewards_.label(static_cast<size_t>(start_.through)) : live_;
    for (size_t s = 0; s < structures_; ++s) {
        std::fill(state_rewards_[s].begin(), state_rewards_[s].end(), 0.0);
        rewards_.add_states(s, state_rewards_[s].data());
    }
    weigh();
    if (start_.find_loops && loops_can_be_found_) find_loops(n);
}

// Where the automaton is after reading the states of the block decides what is asked, or not.
void ProgramWalker::settle() {
    if (start_.verdicts.empty()) return;
    const Field& field = program_.fields[static_cast<size_t>(program_.reader.field)];
    const uint64_t* words = bases_[field.word];
    for (int i = 0; i < n_; ++i)
        settled_[static_cast<size_t>(i)] = start_.verdicts[static_cast<size_t>(words[i] >> field.shift & field.mask())];
}

Look ProgramWalker::look_at(int lane) const {
    const double reward = structures_ ? state_rewards_[0][static_cast<size_t>(lane)] : 0.0;
    return {start_.goal >= 0 && test(goal_, lane), test(through_, lane), test(stuck_, lane), reward, 1};
}

void ProgramWalker::weigh() {
    for (size_t c = 0; c < guards_.size(); ++c) guards_[c] = enabled(static_cast<int>(c));
    std::fill(total_.begin(), total_.end(), 0.0);
    for (size_t q = 0; q < program_.products.size(); ++q) {
        const Product& product = program_.products[q];
        Mask enabled = active_;
        for (size_t f = 0; f < product.factors.size(); ++f) {
            Mask some;
            weigh_factor(product.factors[f], factor_weights_[q][f].data(), some);
            enabled = enabled & some;
            if (!any(enabled)) break;
        }
        enabled_[q] = enabled;
        if (!any(enabled)) continue;
        if (product.factors.size() > 1) {
            for_each(enabled, [&](size_t i) {
                double weight = 1;
                for (const auto& factor : factor_weights_[q]) weight *= factor[i];
                weights_[q][i] = weight;
            });
        }
        const std::vector<double>& weight = product.factors.size() > 1 ? weights_[q] : factor_weights_[q][0];
        for_each(enabled, [&](size_t i) { total_[i] += weight[i]; });
    }
    stuck_ = {};
    for (int i = 0; i < n_; ++i) {
        const double total = total_[static_cast<size_t>(i)];
        if (total == 0) set(stuck_, static_cast<size_t>(i));
        if (!std::isfinite(total)) fail(Fault::BadTotal, -1, -1, -1, -1, total, i);
    }
}

void ProgramWalker::weigh_factor(const std::vector<int>& factor, double* weight, Mask& enabled) {
    enabled = {};
    for (int command : factor) {
        const Mask& mask = guards_[static_cast<size_t>(command)];
        if (!any(mask)) continue;
        for_each(mask & ~enabled, [&](size_t i) { weight[i] = 0; });
        weigh_command(command, mask, weight);
        enabled = enabled | mask;
    }
}

void ProgramWalker::weigh_command(int command, const Mask& mask, double* weight) {
    const auto c = static_cast<size_t>(command);
    const double constant = constant_weights_[c];
    if (!std::isnan(constant)) {
        for_each(mask, [&](size_t i) { weight[i] += constant; });
        return;
    }
    const int count = select(mask, selection_);
    evaluate(command, selection_, count);
    for (int j = 0; j < count; ++j) {
        double rate = 0;
        for (size_t u = 0; u < plan_.commands[c].updates.size(); ++u) rate += probability_at(u, j);
        weight[selection_[j]] += rates_of_[c][selection_[j]] = rate;
    }
}

double ProgramWalker::weight_of(int command, size_t lane) const {
    const double constant = constant_weights_[static_cast<size_t>(command)];
    return std::isnan(constant) ? rates_of_[static_cast<size_t>(command)][lane] : constant;
}

// States that lead only to themselves, looked for where paths have stayed in place a power of two times.
void ProgramWalker::find_loops(int n) {
    Mask suspicious{};
    for (int i = 0; i < n; ++i) {
        const uint32_t loops = loops_[static_cast<size_t>(i)];
        if (loops >= start_.find_loops && (loops & (loops - 1)) == 0) set(suspicious, static_cast<size_t>(i));
    }
    if (!any(suspicious)) return;
    Movers movers{rows_, static_cast<size_t>(words_)};
    expand(movers);
    stuck_ = stuck_ | (suspicious & ~movers.moved);  // of others it would depend on who is in the block
}

void ProgramWalker::move(const uint16_t* lanes, int count, Seed seed, const uint64_t* paths, const uint64_t* steps,
                         const double* chances) {
    const auto words = static_cast<size_t>(words_);
    for (int j = 0; j < count; ++j) {
        const size_t i = lanes[j];
        target_[i] = chances[i] * total_[i];
        before_[i] = 0;
        for (size_t w = 0; w < words; ++w) next_[i * words + w] = bases_[w][i];
        for (auto& earned : earned_) earned[i] = 0;
    }
    Mask open = galton::mask_of(lanes, count);
    for (size_t q = 0; q < program_.products.size() && any(open); ++q) {
        const int taken = take_products(q, open);
        if (taken == 0) continue;
        open = open & ~galton::mask_of(product_lanes_.data(), taken);
        take_product(q, taken, seed, paths, steps);
    }
    for (int j = 0; j < count; ++j) {
        const size_t i = lanes[j];
        bool same = true;
        for (size_t w = 0; w < words; ++w) {
            same &= rows_[i * words + w] == next_[i * words + w];
            rows_[i * words + w] = next_[i * words + w];
        }
        loops_[i] = same ? loops_[i] + 1 : 0;
    }
}

// The lanes whose draw falls on a product; `rest_` is how far into the product's weight it falls.
int ProgramWalker::take_products(size_t product, const Mask& open) {
    const auto& weight = program_.products[product].factors.size() > 1 ? weights_[product] : factor_weights_[product][0];
    int taken = 0;
    for_each(open & enabled_[product], [&](size_t i) {
        const double before = before_[i];
        before_[i] = before + weight[i];
        if (!(before_[i] > target_[i])) return;
        rest_[i] = std::min(target_[i] - before, LARGEST * weight[i]);  // exact where weights are whole numbers
        product_lanes_[static_cast<size_t>(taken++)] = static_cast<uint16_t>(i);
    });
    return taken;
}

void ProgramWalker::take_product(size_t q, int count, Seed seed, const uint64_t* paths, const uint64_t* steps) {
    const Product& product = program_.products[q];
    for (int j = 0; j < count; ++j) actions_[product_lanes_[static_cast<size_t>(j)]] = product.action;
    for (size_t s = 0; s < structures_; ++s) {
        if (!rewards_.earns(product.action, s)) continue;
        const double* earned = rewards_.of_action(product.action, s, galton::mask_of(product_lanes_.data(), count));
        for (int j = 0; j < count; ++j) {
            const size_t i = product_lanes_[static_cast<size_t>(j)];
            earned_[s][i] = earned[i];
        }
    }
    for (size_t f = 0; f < product.factors.size(); ++f) {
        if (product.factors.size() > 1) {
            for (int j = 0; j < count; ++j) {
                const size_t i = product_lanes_[static_cast<size_t>(j)];
                const Random4 random = seed.draw(paths[i], steps[i], static_cast<uint32_t>(f) + 1);
                rest_[i] = uniform(random[0], random[1]) * factor_weights_[q][f][i];
            }
        }
        take_factor(product.factors[f], factor_weights_[q][f].data(), count);
    }
}

// A command of the factor for each lane of the product.
void ProgramWalker::take_factor(const std::vector<int>& factor, const double* weight, int count) {
    if (factor.size() == 1) {
        std::copy_n(product_lanes_.begin(), count, command_lanes_.begin());
        for (int j = 0; j < count; ++j) {
            const size_t i = command_lanes_[static_cast<size_t>(j)];
            share_[i] = std::min(rest_[i] / weight[i], LARGEST);
        }
        return take_command(factor[0], count);
    }
    Mask open = galton::mask_of(product_lanes_.data(), count);
    for_each(open, [&](size_t i) { before_[i] = 0; });
    for (int command : factor) {
        int taken = 0;
        for_each(open & guards_[static_cast<size_t>(command)], [&](size_t i) {
            const double mine = weight_of(command, i), before = before_[i];
            before_[i] = before + mine;
            if (!(before_[i] > rest_[i])) return;
            share_[i] = std::min((rest_[i] - before) / mine, LARGEST);
            command_lanes_[static_cast<size_t>(taken++)] = static_cast<uint16_t>(i);
        });
        if (taken == 0) continue;
        open = open & ~galton::mask_of(command_lanes_.data(), taken);
        take_command(command, taken);
        if (!any(open)) return;
    }
}

void ProgramWalker::take_command(int command, int count) {
    const CommandPlan& plan = plan_.commands[static_cast<size_t>(command)];
    evaluate(command, command_lanes_.data(), count);
    pick_updates(command, count);
    // What a tape has computed is in the order of the lanes it ran over.
    bool again = plan.updates.size() > 1 && !plan.tape.empty();
    for (const UpdatePlan& update : plan.updates)
        again |= plan.updates.size() > 1 && update.probability.how != Source::Constant;
    for (size_t u = 0; u < plan.updates.size(); ++u) {
        int mine = 0;
        for (int j = 0; j < count; ++j)
            if (picks_[static_cast<size_t>(j)] == static_cast<int>(u))
                update_lanes_[static_cast<size_t>(mine++)] = command_lanes_[static_cast<size_t>(j)];
        if (mine == 0) continue;
        if (again) evaluate(command, update_lanes_.data(), mine);
        new_bits(command, static_cast<int>(u), update_lanes_.data(), mine);
        const auto words = static_cast<size_t>(words_);
        for (size_t w = 0; w < words; ++w) {
            const uint64_t written = plan.updates[u].mask[w];
            if (!written) continue;
            const uint64_t *state = states_(0, static_cast<int>(w)), *bits = bits_(0, static_cast<int>(w));
            for (int j = 0; j < mine; ++j) {
                const size_t i = update_lanes_[static_cast<size_t>(j)];
                next_[i * words + w] ^= (state[i] ^ bits[j]) & written;
            }
        }
    }
}

// An update for each lane of the command, by its probability or rate; one of probability 0 is never picked.
void ProgramWalker::pick_updates(int command, int count) {
    const size_t updates = plan_.commands[static_cast<size_t>(command)].updates.size();
    if (updates == 1) {
        std::fill_n(picks_.begin(), count, 0);
        return;
    }
    for (int j = 0; j < count; ++j) {
        double sum = 0;
        for (size_t u = 0; u < updates; ++u) sum += probability_at(u, j);
        const double target = share_[command_lanes_[static_cast<size_t>(j)]] * sum;
        double before = 0;
        int pick = -1;
        for (size_t u = 0; u < updates; ++u) {
            const double mine = probability_at(u, j);
            if (mine == 0) continue;
            pick = static_cast<int>(u);
            before += mine;
            if (before > target) break;
        }
        picks_[static_cast<size_t>(j)] = pick;
    }
}

void ProgramWalker::record(int lane, Trace& trace) const {
    const auto words = static_cast<size_t>(words_), i = static_cast<size_t>(lane);
    for (size_t w = 0; w < words; ++w) trace.states.push_back(rows_[i * words + w]);
    trace.actions.push_back(-1);
    trace.state_rewards.resize(structures_);
    trace.step_rewards.resize(structures_);
    for (size_t s = 0; s < structures_; ++s) {
        trace.state_rewards[s].push_back(state_rewards_[s][i]);
        trace.step_rewards[s].push_back(0);
    }
}

void ProgramWalker::record_step(int lane, Trace& trace, size_t row) const {
    trace.actions[row] = actions_[static_cast<size_t>(lane)];
    for (size_t s = 0; s < structures_; ++s) trace.step_rewards[s][row] = earned_[s][static_cast<size_t>(lane)];
}

}  // namespace galton
