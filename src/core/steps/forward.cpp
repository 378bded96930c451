#include "steps/forward.hpp"

#include <algorithm>
#include <cmath>

#include "base/flush.hpp"

namespace galton {

namespace {

constexpr double UNIT = 0x1p-53;
constexpr double ROOM = 1.02;  // of the rate above that of a state, so that the chance to stay keeps its digits

// The states that are followed, and those around them, which mass may reach with the next step.
template <class R>
class Followed {
  public:
    Followed(const R& rows, const Leaving& chain, double rate, std::vector<int32_t>& place)
        : rows_(rows), chain_(chain), rate_(rate), place_(place) {}
    ~Followed() {
        for (const int32_t state : states_) place_[state] = -1;
    }

    void start(const int32_t* states, const double* mass, size_t count) {
        for (size_t i = 0; i < count; ++i) meet(states[i]);
        for (size_t i = 0; i < count; ++i) follow(place_[states[i]]);
        around_.erase(around_.begin(), around_.begin() + static_cast<ptrdiff_t>(count));
        for (size_t i = 0; i < count; ++i) mass_[place_[states[i]]] = mass[i];
    }

    // One step; mass may then be around the states that are followed.
    void step() {
        for (size_t p = 0; p < states_.size(); ++p) after_[p] = stay_[p] * mass_[p];
        for (size_t p = 0; p < states_.size(); ++p) {
            const double mass = mass_[p];
            for (size_t e = first_[p]; e < last_[p]; ++e) after_[targets_[e]] += mass * chances_[e];
        }
        mass_.swap(after_);
    }

    // How much has changed, all states together; right after a step.
    double change() const {
        double total = 0;
        for (size_t p = 0; p < states_.size(); ++p) total += std::abs(mass_[p] - after_[p]);
        return total;
    }

    // Follow the states that enough mass has come to and lose what has come to others; the rate of one that is too fast.
    double look_around(double keep, double& lost) {
        size_t left = 0;
        for (size_t i = 0; i < around_.size(); ++i) {  // grows on the way
            const int32_t place = around_[i];
            const double mass = mass_[place];
            if (mass > keep || (mass > 0 && exits_[place] == 0)) {
                if (ROOM * exits_[place] > rate_) return exits_[place];
                follow(place);
            } else {
                lost += mass;
                mass_[place] = 0;
                around_[left++] = place;
            }
        }
        around_.resize(left);
        return 0;
    }

    void add(double weight) {
        for (size_t p = 0; p < states_.size(); ++p) sum_[p] += weight * mass_[p];
    }

    double earning(const double* of) const {
        double total = 0;
        for (size_t p = 0; p < states_.size(); ++p) total += mass_[p] * of[states_[p]];
        return total;
    }

    size_t entries() const { return targets_.size() + states_.size(); }
    size_t met() const { return states_.size(); }
    size_t widest() const { return widest_; }

    // The states that the sum is about, in ascending order.
    void gather(Moved& found) const {
        std::vector<int32_t> places;
        for (size_t p = 0; p < states_.size(); ++p)
            if (sum_[p] > 0) places.push_back(static_cast<int32_t>(p));
        std::sort(places.begin(), places.end(), [&](int32_t a, int32_t b) { return states_[a] < states_[b]; });
        for (const int32_t p : places) {
            found.states.push_back(states_[p]);
            found.mass.push_back(sum_[p]);
        }
    }

  private:
    int32_t meet(int32_t state) {
        int32_t& place = place_[state];
        if (place < 0) {
            place = static_cast<int32_t>(states_.size());
            const bool moves = chain_.moving[state];
            states_.push_back(state);
            exits_.push_back(moves ? chain_.high[state] : 0.0);
            stay_.push_back(moves ? ((rate_ - chain_.high[state]) - chain_.low[state]) / rate_ : 1.0);
            for (auto* numbers : {&mass_, &after_, &sum_}) numbers->push_back(0.0);
            first_.push_back(0);
            last_.push_back(0);
            terms_.push_back(1);
            around_.push_back(place);
        }
        return place;
    }

    void follow(int32_t place) {
        const int32_t state = states_[place];
        const size_t begin = targets_.size();
        if (exits_[place] > 0) {
            for (size_t e = rows_.first_entry(state); e < rows_.first_entry(state + 1); ++e) {
                if (rows_.columns[e] == state) continue;
                const int32_t target = meet(rows_.columns[e]);
                targets_.push_back(target);
                chances_.push_back(rows_.values[e] / rate_);
                widest_ = std::max(widest_, ++terms_[target]);
            }
        }
        first_[place] = begin;
        last_[place] = targets_.size();
    }

    const R& rows_;
    const Leaving& chain_;
    const double rate_;
    std::vector<int32_t>& place_;
    std::vector<int32_t> states_, around_, targets_;  // places, but for the first
    std::vector<double> exits_, stay_, mass_, after_, sum_, chances_;
    std::vector<size_t> first_, last_, terms_;
    size_t widest_ = 1;
};

template <class R>
Moved run(const R& rows, const Leaving& chain, std::vector<int32_t>& place, const int32_t* states, const double* mass,
          size_t count, const Jumps& jumps) {
    FlushToZero flush;
    Moved found;
    Followed followed(rows, chain, jumps.rate, place);
    followed.start(states, mass, count);
    const size_t end = jumps.left + jumps.count;
    for (size_t k = 0; k < end; ++k) {
        const bool counts = k >= jumps.left;
        if (jumps.earning) found.earned += (counts ? jumps.tails[k - jumps.left] : 1.0) * followed.earning(jumps.earning);
        if (jumps.worth) found.worths.push_back(followed.earning(jumps.worth));
        if (counts) followed.add(jumps.weights[k - jumps.left]);
        if (k + 1 == end) break;
        followed.step();
        found.entries += followed.entries();
        ++found.steps;
        if (k == 0) {
            found.change = followed.change() + 2 * static_cast<double>(followed.widest() + 5) * UNIT;
            if (found.change <= jumps.standstill) break;
        }
        found.too_fast = followed.look_around(jumps.keep, found.lost);
        found.too_much =
            static_cast<double>(followed.met()) > jumps.most_states || static_cast<double>(found.entries) > jumps.most_entries;
        if (found.too_fast > 0 || found.too_much) return found;
    }
    found.met = followed.met();
    found.widest = followed.widest();
    followed.gather(found);
    return found;
}

}  // namespace

Moved Forward::advance(const int32_t* states, const double* mass, size_t count, const Jumps& jumps) {
    return visit(chain_.matrix, [&](const auto& rows) { return run(rows, chain_, place_, states, mass, count, jumps); });
}

}  // namespace galton
