#include "regions/visit.hpp"

#include <algorithm>
#include <cmath>

#include "base/flush.hpp"

namespace galton {

namespace {

constexpr size_t FIRST_STEPS = 4, MOST_STEPS = 256;  // between two looks at who joins
constexpr double RATE_ABOVE = 1.001;                 // of uniformisation, beside the largest rate
constexpr size_t MANY = 50;                          // joining one for so many members is a lot

// The window and the states around it, numbered in the order in which they are met. States around it gather the mass
// that leaves the window, and join, with that mass, when it is enough; until then it waits there, which is close enough
// for a guess.
class Window {
  public:
    explicit Window(const RatesView& chain) : chain_(chain), place_(chain.n_states, -1) {}

    void start(const std::vector<int32_t>& initial) {
        for (const int32_t state : initial) meet(state);
        for (const int32_t state : initial) join(place_[state]);
        for (const int32_t state : initial) mass_[place_[state]] = 1.0;
    }

    void move(size_t steps) {
        const double length = 1 / rate();
        for (size_t k = 0; k < steps; ++k) {
            after_ = mass_;
            for (size_t i = 0; i < members_.size(); ++i) {
                const double flow = length * mass_[members_[i]];
                after_[members_[i]] -= flow * exits_[i];
                for (size_t e = starts_[i]; e < starts_[i + 1]; ++e) after_[targets_[e]] += flow * rates_[e];
            }
            mass_.swap(after_);
        }
    }

    void join(int32_t place) {
        const int32_t state = states_[place];
        inside_[place] = true;
        double exit = 0;
        for (int64_t e = chain_.starts[state]; e < chain_.starts[state + 1]; ++e) {
            exit += chain_.rates[e];
            rates_.push_back(chain_.rates[e]);
            targets_.push_back(meet(chain_.columns[e]));
        }
        members_.push_back(place);
        exits_.push_back(exit);
        starts_.push_back(targets_.size());
        fastest_ = std::max(fastest_, exit);
    }

    double rate() const { return RATE_ABOVE * fastest_; }
    size_t size() const { return members_.size(); }
    size_t entries() const { return targets_.size() + members_.size(); }
    const std::vector<double>& mass() const { return mass_; }
    bool is_inside(size_t place) const { return inside_[place]; }
    int32_t member(size_t i) const { return states_[members_[i]]; }

  private:
    int32_t meet(int32_t state) {
        int32_t& place = place_[state];
        if (place < 0) {
            place = static_cast<int32_t>(states_.size());
            states_.push_back(state);
            inside_.push_back(false);
            mass_.push_back(0.0);
        }
        return place;
    }

    const RatesView& chain_;
    std::vector<int32_t> place_, states_;
    std::vector<bool> inside_;
    std::vector<double> mass_, after_;
    std::vector<int32_t> members_, targets_;  // places
    std::vector<size_t> starts_{0};
    std::vector<double> rates_, exits_;
    double fastest_ = 0;
};

}  // namespace

bool visit(const RatesView& chain, const std::vector<int32_t>& initial, const VisitLimits& limits, uint8_t* likely) {
    FlushToZero flush;
    Window window(chain);
    window.start(initial);
    double now = 0, work = 0;
    size_t steps = FIRST_STEPS;
    while (now < limits.time && window.rate() > 0) {
        const double left = std::floor((limits.time - now) * window.rate()) + 1;
        const size_t count = static_cast<size_t>(std::min(static_cast<double>(steps), left));
        const size_t members = window.size();
        const std::vector<double> before = window.mass();
        work += static_cast<double>(count * window.entries());
        if (work > limits.most_work) return false;
        now += static_cast<double>(count) / window.rate();
        window.move(count);
        double moved = 0;
        for (size_t i = 0; i < before.size(); ++i)
            if (window.is_inside(i)) moved += std::abs(window.mass()[i] - before[i]);
        // Where nothing changes any more but what leaves, that goes on as it is.
        const bool settled = moved * left <= limits.settled * static_cast<double>(count);
        const double on = settled ? left / static_cast<double>(count) : 0.0;
        for (size_t i = 0; i < before.size(); ++i) {
            const double mass = window.mass()[i];
            if (!window.is_inside(i) && mass + (mass - before[i]) * on > limits.enough) window.join(static_cast<int32_t>(i));
        }
        const size_t joined = window.size() - members;
        if (window.size() > limits.most_states) return false;
        if (settled && !joined) break;
        if (!joined)
            steps = std::min(2 * steps, MOST_STEPS);
        else if (joined * MANY > members)
            steps = std::max(FIRST_STEPS, steps / 2);
    }
    for (size_t i = 0; i < window.size(); ++i) likely[window.member(i)] = 1;
    return true;
}

}  // namespace galton
