#include "eliminate.hpp"

#include <cfenv>
#include <cmath>
#include <queue>
#include <unordered_map>
#include <unordered_set>

// This file is compiled with -frounding-math: arithmetic happens in the mode that is set.

namespace galton {

namespace {

// A non-negative number between bounds, to be used with rounding upward: the lower bound is kept negated, so that it is
// rounded downward.
struct Interval {
    double minus_low = 0, high = 0;

    static Interval exactly(double value) { return {-value, value}; }
    static Interval between(double low, double high) { return {-low, high}; }
    // A number that was rounded once.
    static Interval around(double value) { return {-std::nextafter(value, -HUGE_VAL), std::nextafter(value, HUGE_VAL)}; }
    double low() const { return -minus_low; }
    Interval& operator+=(const Interval& b) {
        minus_low += b.minus_low;
        high += b.high;
        return *this;
    }
    friend Interval operator*(const Interval& a, const Interval& b) {
        return {a.minus_low * -b.minus_low, a.high * b.high};
    }
    friend Interval operator/(const Interval& a, const Interval& b) { return {a.minus_low / b.high, a.high / -b.minus_low}; }
};

class Component {
  public:
    explicit Component(size_t size) : out_(size), in_(size), leaving_(size), constant_(size), total_(size) {}

    void add(size_t from, size_t to, const Interval& rate) {
        if (from == to) return;
        out_[from][static_cast<int32_t>(to)] += rate;
        in_[to].insert(static_cast<int32_t>(from));
    }
    void leave(size_t from, const Interval& rate) { leaving_[from] += rate; }
    void collect(size_t state, const Interval& value) { constant_[state] += value; }

    // Eliminates all states, those with the fewest pairs of neighbours first; false when that is too much work.
    bool eliminate(size_t operations) {
        using Entry = std::pair<size_t, int32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        auto cost = [&](int32_t s) { return in_[at(s)].size() * (out_[at(s)].size() + 1); };
        for (size_t s = 0; s < out_.size(); ++s) queue.push({cost(static_cast<int32_t>(s)), static_cast<int32_t>(s)});
        std::vector<bool> gone(out_.size());
        while (!queue.empty()) {
            auto [old_cost, state] = queue.top();
            queue.pop();
            if (gone[at(state)]) continue;
            const size_t now = cost(state);
            if (now > old_cost) {
                queue.push({now, state});
                continue;
            }
            if (now > operations) return false;
            operations -= now;
            remove(state);
            gone[at(state)] = true;
            order_.push_back(state);
        }
        return true;
    }

    // The solution, last eliminated first.
    void solve(double* lower, double* upper) const {
        for (size_t k = order_.size(); k-- > 0;) {
            const size_t s = at(order_[k]);
            Interval sum = constant_[s];
            for (const auto& [to, rate] : out_[s]) sum += rate * Interval::between(lower[to], upper[to]);
            const Interval value = sum / total_[s];
            lower[s] = value.low();
            upper[s] = value.high;
        }
    }

  private:
    static size_t at(int32_t state) { return static_cast<size_t>(state); }

    void remove(int32_t state) {
        const size_t k = at(state);
        Interval total = leaving_[k];
        for (const auto& [to, rate] : out_[k]) {
            total += rate;
            in_[at(to)].erase(state);
        }
        total_[k] = total;
        for (int32_t from : in_[k]) {
            const size_t i = at(from);
            const Interval share = out_[i][state] / total;
            out_[i].erase(state);
            for (const auto& [to, rate] : out_[k]) add(i, at(to), share * rate);
            leaving_[i] += share * leaving_[k];
            constant_[i] += share * constant_[k];
        }
    }

    std::vector<std::unordered_map<int32_t, Interval>> out_;
    std::vector<std::unordered_set<int32_t>> in_;
    std::vector<Interval> leaving_, constant_, total_;
    std::vector<int32_t> order_;
};

}  // namespace

bool eliminate(const Question& question, const int32_t* rows_taken, Range range, double* lower, double* upper,
               size_t operations) {
    const int mode = std::fegetround();
    std::fesetround(FE_UPWARD);
    const size_t size = range.last - range.first;
    bool solved = visit(question.matrix, [&](const auto& rows) {
        Component component(size);
        for (size_t i = 0; i < size; ++i) {
            const auto row = static_cast<size_t>(rows_taken[i]);
            // What a state and a choice earn has been added up; zeros stay zero.
            if (question.reward && question.reward[row] != 0) component.collect(i, Interval::around(question.reward[row]));
            for (size_t e = rows.first_entry(row); e < rows.first_entry(row + 1); ++e) {
                const auto target = static_cast<size_t>(rows.columns[e]);
                const Interval rate = Interval::exactly(rows.values[e]);
                const int32_t unknown = question.number[target];
                const size_t local = static_cast<size_t>(unknown) - range.first;
                if (unknown >= 0 && local < size) {
                    component.add(i, local, rate);
                    continue;
                }
                component.leave(i, rate);
                const double known = question.known[target];
                component.collect(i, rate * (unknown < 0 ? Interval::exactly(known)
                                                         : Interval::between(lower[unknown], upper[unknown])));
            }
        }
        if (!component.eliminate(operations)) return false;
        component.solve(lower + range.first, upper + range.first);
        return true;
    });
    std::fesetround(mode);
    return solved;
}

}  // namespace galton
