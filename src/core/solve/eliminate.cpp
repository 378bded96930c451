#include "solve/eliminate.hpp"

#include <algorithm>
#include <limits>

namespace galton {

namespace {

// Relative error of every number of a row when a state before it is eliminated, in units of 2^-53: the sum of that
// state's rates (3), quotient, product, sum; and two for all terms of second order.
constexpr double TOUCH = 8;
// Likewise when a state's value is put together from those behind it: the sum of products, the sum of rates, the quotient.
constexpr double VALUE = 10;

}  // namespace

Elimination::Elimination(size_t states) : rows_(states), before_(states), live_(states), gone_(states), left_(states) {}

void Elimination::add(size_t from, size_t to, double rate) {
    if (from != to) rows_[from].entries.push_back({static_cast<int32_t>(to), Scaled::of(rate)});
}

// Sorts the rows, adds up what leads to one state, and counts the rounding so far.
void Elimination::begin() {
    begun_ = true;
    for (size_t s = 0; s < rows_.size(); ++s) {
        Row& row = rows_[s];
        std::sort(row.entries.begin(), row.entries.end(), [](const Entry& a, const Entry& b) { return a.to < b.to; });
        size_t kept = 0;
        for (const Entry& entry : row.entries) {
            if (kept && row.entries[kept - 1].to == entry.to) {
                row.entries[kept - 1].rate += entry.rate;
                row.units += 1;
            } else {
                row.entries[kept++] = entry;
            }
        }
        row.entries.resize(kept);
        for (const Entry& entry : row.entries) before_[static_cast<size_t>(entry.to)].push_back(static_cast<int32_t>(s));
        units_ += 2 * row.units;
    }
    for (size_t s = 0; s < rows_.size(); ++s) {
        live_[s] = before_[s].size();
        queue_.push({cost(static_cast<int32_t>(s)), static_cast<int32_t>(s)});
    }
}

size_t Elimination::cost(int32_t state) const {
    const Row& row = rows_[static_cast<size_t>(state)];
    return live_[static_cast<size_t>(state)] * (row.entries.size() - row.deleted + 1);
}

Elimination::Status Elimination::advance(size_t operations, size_t keep) {
    if (!begun_) begin();
    while (left_ > keep) {
        const auto [before, state] = queue_.top();
        queue_.pop();
        if (gone_[static_cast<size_t>(state)]) continue;
        if (const size_t now = cost(state); now > before) {
            queue_.push({now, state});
            continue;
        }
        size_t spent = 1;
        if (!remove(state, spent)) return Status::Closed;
        --left_;
        if (spent >= operations) return left_ > keep ? Status::Busy : Status::Done;
        operations -= spent;
    }
    return Status::Done;
}

Scaled Elimination::total(const Row& row) const {
    int64_t largest = row.leaving.zero() ? std::numeric_limits<int64_t>::min() : row.leaving.e;
    for (const Entry& entry : row.entries)
        if (!entry.rate.zero()) largest = std::max(largest, entry.rate.e);
    ScaledSum sum(largest);
    sum.add(row.leaving);
    for (const Entry& entry : row.entries) sum.add(entry.rate);
    return sum.value();
}

bool Elimination::remove(int32_t state, size_t& operations) {
    const auto k = static_cast<size_t>(state);
    Row& row = rows_[k];
    row.total = total(row);
    if (row.total.zero()) return false;
    gone_[k] = true;
    std::erase_if(row.entries, [](const Entry& entry) { return entry.rate.zero(); });
    for (const Entry& entry : row.entries) --live_[static_cast<size_t>(entry.to)];
    for (int32_t from : before_[k]) {
        if (gone_[static_cast<size_t>(from)]) continue;
        operations += add_row(from, state);
        units_ += 2 * TOUCH;
    }
    before_[k] = {};
    order_.push_back(state);
    return true;
}

// Instead of the rate to an eliminated state come those to the states behind it; returns how much work that was.
size_t Elimination::add_row(int32_t into, int32_t state) {
    Row& row = rows_[static_cast<size_t>(into)];
    const Row& other = rows_[static_cast<size_t>(state)];
    const auto position = [&](int32_t to) {
        return std::lower_bound(row.entries.begin(), row.entries.end(), to, [](const Entry& e, int32_t t) { return e.to < t; });
    };
    const auto taken = position(state);
    const Scaled share = taken->rate / other.total;
    taken->rate = {};
    ++row.deleted;
    fresh_.clear();
    for (const Entry& entry : other.entries) {
        if (entry.to == into) continue;
        const Scaled rate = share * entry.rate;
        const auto place = position(entry.to);
        if (place != row.entries.end() && place->to == entry.to) {
            place->rate += rate;
        } else {
            fresh_.push_back({entry.to, rate});
            before_[static_cast<size_t>(entry.to)].push_back(into);
            ++live_[static_cast<size_t>(entry.to)];
        }
    }
    row.leaving += share * other.leaving;
    for (size_t c = 0; c < COLUMNS; ++c) row.constant[c] += share * other.constant[c];
    size_t work = other.entries.size() + 2;
    if (!fresh_.empty() || row.deleted > row.entries.size() / 2) {
        work += row.entries.size();
        std::erase_if(row.entries, [](const Entry& entry) { return entry.rate.zero(); });
        row.deleted = 0;
        const auto middle = static_cast<std::ptrdiff_t>(row.entries.size());
        row.entries.insert(row.entries.end(), fresh_.begin(), fresh_.end());
        std::inplace_merge(row.entries.begin(), row.entries.begin() + middle, row.entries.end(),
                           [](const Entry& a, const Entry& b) { return a.to < b.to; });
    }
    return work;
}

void Elimination::solve(double* lower, double* upper) {
    std::vector<Constants> value(rows_.size());
    std::vector<double> depth(rows_.size());
    std::vector<Scaled> terms;
    for (size_t at = order_.size(); at-- > 0;) {
        const auto s = static_cast<size_t>(order_[at]);
        const Row& row = rows_[s];
        for (size_t c = 0; c < COLUMNS; ++c) {
            terms.assign(1, row.constant[c]);
            for (const Entry& entry : row.entries) terms.push_back(entry.rate * value[static_cast<size_t>(entry.to)][c]);
            int64_t largest = std::numeric_limits<int64_t>::min();
            for (const Scaled& term : terms)
                if (!term.zero()) largest = std::max(largest, term.e);
            ScaledSum sum(largest);
            for (const Scaled& term : terms) sum.add(term);
            value[s][c] = sum.value() / row.total;
        }
        for (const Entry& entry : row.entries) depth[s] = std::max(depth[s], depth[static_cast<size_t>(entry.to)]);
        depth[s] += VALUE;
        depth_ = std::max(depth_, depth[s]);
    }
    const double e = error();
    for (size_t s = 0; s < rows_.size(); ++s) {
        lower[s] = e < 1 ? value[s][0].below(e) : 0.0;
        upper[s] = e < 1 ? value[s][1].above(e) : value[s][1].zero() ? 0.0 : HUGE_VAL;
    }
}

Scaled Elimination::quotient() const {
    const auto last = static_cast<size_t>(std::find(gone_.begin(), gone_.end(), false) - gone_.begin());
    return rows_[last].constant[0] / rows_[last].constant[1];
}

double Elimination::error() const {
    // As long as the sum is small, so is what its terms have in common; beyond, nothing is claimed.
    const double sum = (units_ + depth_ + VALUE) * 0x1p-53;
    return sum < 1e-3 ? sum * 1.01 : HUGE_VAL;
}

Elimination elimination_of(const Question& question, const int32_t* rows_taken, Range range, const double* lower,
                           const double* upper) {
    const size_t size = range.last - range.first;
    Elimination component(size);
    visit(question.matrix, [&](const auto& rows) {
        for (size_t i = 0; i < size; ++i) {
            const auto row = static_cast<size_t>(rows_taken[i]);
            double sum = 0;
            for (size_t e = rows.first_entry(row); e < rows.first_entry(row + 1); ++e) {
                const auto target = static_cast<size_t>(rows.columns[e]);
                const double rate = rows.values[e];
                sum += rate;
                const int32_t unknown = question.number[target];
                const size_t local = static_cast<size_t>(unknown) - range.first;
                if (unknown >= 0 && local < size) {
                    component.add(i, local, rate);
                    continue;
                }
                component.leave(i, rate);
                const double low = unknown < 0 ? question.known[target] : lower[unknown];
                const double high = unknown < 0 ? question.known[target] : upper[unknown];
                component.collect(i, 0, Scaled::of(rate) * Scaled::of(low));
                component.collect(i, 1, Scaled::of(rate) * Scaled::of(high));
            }
            if (!question.reward || question.reward[row] == 0) continue;
            // A step of a distribution is one step, whatever its numbers add up to; a rate is per unit of time.
            const Scaled earned = Scaled::of(question.reward[row]) * Scaled::of(question.rates ? 1.0 : sum);
            component.collect(i, 0, earned);
            component.collect(i, 1, earned);
            component.rounded(i, static_cast<double>(rows.first_entry(row + 1) - rows.first_entry(row)) + 1);
        }
    });
    return component;
}

Elimination elimination_of(const MatrixView& matrix, const double* reward) {
    Elimination chain(matrix.n_states);
    visit(matrix, [&](const auto& rows) {
        for (size_t s = 0; s < rows.n_states; ++s) {
            for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e)
                chain.add(s, static_cast<size_t>(rows.columns[e]), rows.values[e]);
            chain.collect(s, 0, Scaled::of(reward[s]));
            chain.collect(s, 1, Scaled::of(1.0));
            // Rows that are distributions are divided by their sums, which are 1 but for rounding.
            chain.rounded(s, static_cast<double>(rows.first_entry(s + 1) - rows.first_entry(s)) + 1);
        }
    });
    return chain;
}

}  // namespace galton
