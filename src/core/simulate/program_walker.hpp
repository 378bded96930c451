// Random paths through a program, without its state space.
//
// Execution plan: the expander decodes the states of all lanes and evaluates all guards as masks. A product of commands
// has a weight in each state: how many choices it offers or, in a CTMC, its rate. Both multiply over its factors, so a
// product is never multiplied out: first a product is drawn by its weight, then in each factor a command and one of its
// updates. Only what was drawn is evaluated. Forty synchronised modules with two branches each cost forty draws, where an
// explorer would see 2^40 successors.
//
// A product of one factor goes on with what is left of the number that chose it; each factor of a larger one has a number
// of its own.
#pragma once

#include "explore/rewards.hpp"
#include "simulate/paths.hpp"

namespace galton {

struct ProgramStart {
    std::vector<uint64_t> states;  // the initial ones, a row of words each
    int goal = -1, through = -1;   // labels of the program; -1: nowhere, and everywhere
    std::vector<uint8_t> verdicts;  // of the states of the automaton that reads, if there is one: Open, False or True
    uint32_t find_loops = 0;  // steps in place after which states that lead only to themselves are looked for; 0: never
};

class ProgramWalker : public Expander {
  public:
    ProgramWalker(const Plan& plan, const ProgramStart& start);

    void start(int lane, uint64_t path, Seed seed);
    void copy(int from, int to);
    void look(int n);
    Look look_at(int lane) const;
    Verdict settled(int lane) const {
        return start_.verdicts.empty() ? Verdict::Open : static_cast<Verdict>(settled_[static_cast<size_t>(lane)]);
    }
    double exit_rate(int lane) const { return total_[static_cast<size_t>(lane)]; }
    void move(const uint16_t* lanes, int count, Seed seed, const uint64_t* paths, const uint64_t* steps, const double* chances);
    double earned(int lane) const { return structures_ ? earned_[0][static_cast<size_t>(lane)] : 0.0; }
    void record(int lane, Trace& trace) const;
    void record_step(int lane, Trace& trace, size_t row) const;

  private:
    void weigh();
    void weigh_factor(const std::vector<int>& factor, double* weight, Mask& enabled);
    void weigh_command(int command, const Mask& mask, double* weight);
    void settle();
    void find_loops(int n);
    int take_products(size_t product, const Mask& open);
    void take_product(size_t product, int count, Seed seed, const uint64_t* paths, const uint64_t* steps);
    void take_factor(const std::vector<int>& factor, const double* weight, int count);
    void take_command(int command, int count);
    void pick_updates(int command, int count);
    double weight_of(int command, size_t lane) const;

    uint64_t* row(int lane) { return rows_.data() + static_cast<size_t>(lane) * static_cast<size_t>(words_); }

    const ProgramStart& start_;
    const bool rates_;
    const size_t structures_;
    BlockRewards rewards_;
    std::vector<uint64_t> rows_, next_;  // states, a row of words each
    std::vector<uint32_t> loops_;  // how often a path has stayed where it was
    std::vector<Mask> guards_;  // of each command
    std::vector<double> constant_weights_;  // of each command; not a number where it depends on the state
    std::vector<std::vector<double>> rates_of_;  // of those commands, by lane
    std::vector<std::vector<std::vector<double>>> factor_weights_;  // of each factor of each product, by lane
    std::vector<std::vector<double>> weights_;  // of products of several factors, by lane
    std::vector<Mask> enabled_;  // where each product is
    std::vector<double> total_, before_, target_, rest_, share_;  // by lane
    std::vector<std::vector<double>> state_rewards_, earned_;
    std::vector<uint8_t> settled_;
    std::vector<int32_t> actions_;
    std::vector<uint16_t> product_lanes_, command_lanes_, update_lanes_;
    std::vector<int> picks_;
    Mask goal_{}, through_{}, stuck_{};
    bool loops_can_be_found_ = true;
};

}  // namespace galton
