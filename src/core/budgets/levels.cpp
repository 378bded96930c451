#include "budgets/levels.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/parallel.hpp"

// This file is compiled with -frounding-math: arithmetic happens in the mode that is set, which is upward. A sum of negated
// terms, rounded upward, is the negated sum rounded downward.

namespace galton {

namespace {

constexpr double UNIT = 0x1p-53;
constexpr size_t ALONE = 1 << 14;       // unknowns that are not worth a second thread
constexpr size_t MOST_WEIGHING = 4096;  // sweeps that look for w
constexpr size_t PATIENT = 128;         // the same, where there is another way
constexpr size_t LARGEST_DIRECT = 512;  // unknowns for which there is
constexpr double INFINITE = std::numeric_limits<double>::infinity();

class RoundUp {
  public:
    RoundUp() : mode_(std::fegetround()) { std::fesetround(FE_UPWARD); }
    ~RoundUp() { std::fesetround(mode_); }

  private:
    int mode_;
};

}  // namespace

Levels::Levels(const LevelQuestion& question) : question_(question) {
    visit(question.matrix, [&](const auto& rows) {
        number(rows);
        weigh(rows);
    });
}

// Unknowns by depth: how many components lie between them and what is known.
template <class R>
void Levels::number(const R& rows) {
    const size_t n = rows.n_states, n_components = question_.n_components;
    std::vector<size_t> sizes(n_components + 1, 0);
    for (size_t s = 0; s < n; ++s)
        if (question_.component[s] >= 0) ++sizes[static_cast<size_t>(question_.component[s]) + 1];
    std::partial_sum(sizes.begin(), sizes.end(), sizes.begin());
    std::vector<int32_t> states(sizes.back());
    std::vector<size_t> next(sizes.begin(), sizes.end() - 1);
    for (size_t s = 0; s < n; ++s)
        if (question_.component[s] >= 0) states[next[static_cast<size_t>(question_.component[s])]++] = static_cast<int32_t>(s);

    std::vector<size_t> depth(n_components, 0), unknowns(n_components, 0);
    size_t deepest = 0;
    for (size_t c = 0; c < n_components; ++c) {
        auto first = states.begin() + static_cast<std::ptrdiff_t>(sizes[c]);
        auto last = states.begin() + static_cast<std::ptrdiff_t>(sizes[c + 1]);
        auto group = [&](int32_t s) { return question_.merged ? question_.merged[s] : -1; };
        std::stable_sort(first, last, [&](int32_t a, int32_t b) { return group(a) < group(b); });
        for (auto s = first; s != last; ++s) {
            unknowns[c] += s == first || group(*s) < 0 || group(*s) != group(*(s - 1));
            for (size_t r = rows.first_row(static_cast<size_t>(*s)); r < rows.first_row(static_cast<size_t>(*s) + 1); ++r) {
                if (!question_.stays[question_.classes[r]] || (question_.skip && question_.skip[r])) continue;
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                    const int32_t other = question_.component[rows.columns[e]];
                    if (other >= 0 && static_cast<size_t>(other) != c)
                        depth[c] = std::max(depth[c], depth[static_cast<size_t>(other)] + 1);
                }
            }
        }
        deepest = std::max(deepest, depth[c]);
    }
    std::vector<size_t> order(n_components);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return depth[a] != depth[b] ? depth[a] < depth[b] : (unknowns[a] > 1) < (unknowns[b] > 1);
    });

    unknown_of_.assign(n, -1);
    members_.reserve(states.size());
    starts_.push_back(0);
    if (n_components) layers_.assign(deepest + 1, Layer{});
    size_t open = n_components;  // the depth of the layer that is being filled
    for (size_t c : order) {
        Layer& layer = layers_[depth[c]];
        const size_t first = starts_.size() - 1;
        if (open != depth[c]) {
            open = depth[c];
            layer = {first, first, blocks_.size(), blocks_.size()};
        }
        for (size_t i = sizes[c]; i < sizes[c + 1]; ++i) {
            const int32_t s = states[i];
            const bool joined = i > sizes[c] && question_.merged && question_.merged[s] >= 0 &&
                                question_.merged[s] == question_.merged[states[i - 1]];
            if (joined) starts_.pop_back();
            members_.push_back(s);
            starts_.push_back(members_.size());
            unknown_of_[static_cast<size_t>(s)] = static_cast<int32_t>(starts_.size() - 2);
        }
        const size_t last = starts_.size() - 1;
        if (last - first > 1) {
            blocks_.push_back({first, last, 0, -1});
            layer.last_block = blocks_.size();
        } else {
            layer.last = last;
        }
    }
    loops_.assign(rows.n_rows, 0);
    for (size_t u = 0; u < n_unknowns(); ++u)
        for (size_t i = starts_[u]; i < starts_[u + 1]; ++i) {
            const auto s = static_cast<size_t>(members_[i]);
            for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
                if (!question_.stays[question_.classes[r]] || (question_.skip && question_.skip[r])) continue;
                bool leaves = false;
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                    const bool own = unknown_of_[static_cast<size_t>(rows.columns[e])] == static_cast<int32_t>(u);
                    loops_[r] |= own;
                    leaves |= !own;
                }
                if (!leaves) throw std::invalid_argument("a row that spends nothing leads nowhere else");
            }
        }
}

// 1 + A w of an unknown, for the row where that is most.
template <class R>
double Levels::longest(const R& rows, const Block& block, size_t unknown) const {
    double most = 0;
    for (size_t i = starts_[unknown]; i < starts_[unknown + 1]; ++i) {
        const auto s = static_cast<size_t>(members_[i]);
        for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
            if (!question_.stays[question_.classes[r]] || (question_.skip && question_.skip[r])) continue;
            double sum = 0, others = 0;  // the second is negated
            for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                const int32_t v = unknown_of_[static_cast<size_t>(rows.columns[e])];
                if (v == static_cast<int32_t>(unknown)) continue;
                others -= rows.values[e];
                if (inside(block, v)) sum += rows.values[e] * weights_[static_cast<size_t>(v)];
            }
            most = std::max(most, sum / -others);
        }
    }
    return 1 + most;
}

template <class R>
void Levels::weigh(const R& rows) {
    RoundUp mode;
    weights_.assign(blocks_.empty() ? 0 : n_unknowns(), 1.0);
    for (Block& block : blocks_) {
        if (!weigh_by_sweeps(rows, block) && !weigh_directly(rows, block)) ++hard_;
        for (size_t u = block.first; u < block.last; ++u) block.longest = std::max(block.longest, weights_[u]);
    }
}

// Sweeps until w grows by less than a half in each, which makes 2w what is needed.
template <class R>
bool Levels::weigh_by_sweeps(const R& rows, Block& block) {
    const size_t most = block.last - block.first <= LARGEST_DIRECT ? PATIENT : MOST_WEIGHING;
    for (size_t sweep = 0; sweep < most; ++sweep) {
        double growth = 0;
        for (size_t u = block.last; u-- > block.first;) {
            const double now = longest(rows, block, u);
            growth = std::max(growth, now - weights_[u]);
            weights_[u] = std::max(weights_[u], now);
        }
        if (growth <= 0.4 && double_weights(rows, block)) return true;
    }
    return false;
}

template <class R>
bool Levels::double_weights(const R& rows, const Block& block) {
    for (size_t u = block.first; u < block.last; ++u) weights_[u] *= 2;
    bool good = true;
    for (size_t u = block.first; u < block.last && good; ++u)
        good = weights_[u] < INFINITE && longest(rows, block, u) <= weights_[u];
    if (!good)
        for (size_t u = block.first; u < block.last; ++u) weights_[u] /= 2;
    return good;
}

// The longest way out as equations of their own, which then serve every level.
template <class R>
bool Levels::weigh_directly(const R& rows, Block& block) {
    const size_t count = block.last - block.first;
    if (count > LARGEST_DIRECT) return false;
    Direct direct{DirectEquations(count), {}, {}};
    std::vector<uint8_t> ends(count, 1);
    for (size_t u = block.first; u < block.last; ++u) {
        for (size_t i = starts_[u]; i < starts_[u + 1]; ++i) {
            const auto s = static_cast<size_t>(members_[i]);
            for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
                if (!question_.stays[question_.classes[r]] || (question_.skip && question_.skip[r])) continue;
                double others = 0;
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e)
                    if (unknown_of_[static_cast<size_t>(rows.columns[e])] != static_cast<int32_t>(u)) others += rows.values[e];
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                    const int32_t v = unknown_of_[static_cast<size_t>(rows.columns[e])];
                    if (v != static_cast<int32_t>(u) && inside(block, v))
                        direct.equations.add(static_cast<size_t>(v) - block.first, rows.values[e] / others);
                }
                direct.equations.end_row();
                direct.rows.push_back(r);
                ends[u - block.first] = 0;
            }
        }
        direct.equations.end_unknown();
    }
    const std::vector<double> ones(std::max(direct.rows.size(), count), 1.0);
    std::vector<double> w;
    FactoredPolicy policy;
    if (!direct.equations.solve(1, ones, ones, ends, w, policy)) return false;
    for (size_t i = 0; i < count; ++i) weights_[block.first + i] = w[i];
    if (!double_weights(rows, block)) return false;
    block.direct = static_cast<int>(directs_.size());
    directs_.push_back(std::move(direct));
    return true;
}

// Bounds on the value of a row: a mean, which lies between the numbers it is of, and what is earned.
template <class R>
Levels::Pair Levels::row_value(const R& rows, size_t row, size_t unknown, const double* from, bool stays) const {
    double low = 0, high = 0, others_low = 0, others = 0, least = INFINITE, most = 0;  // low ones are negated
    double total_low = 0, total = 0;
    const size_t first = rows.first_entry(row), last = rows.first_entry(row + 1);
    const bool loops = stays && loops_[row];
    for (size_t e = first; e < last; ++e) {
        const double p = rows.values[e];
        const auto column = static_cast<size_t>(rows.columns[e]);
        if (question_.earned) {
            total_low -= p;
            total += p;
        }
        if (loops && unknown_of_[column] == static_cast<int32_t>(unknown)) continue;
        others_low -= p;
        others += p;
        const double l = from[2 * column], h = from[2 * column + 1];
        low += p * -l;
        high += p * h;
        least = std::min(least, l);
        most = std::max(most, h);
    }
    const double earned = question_.earned ? question_.earned[row] : 0.0;
    if (earned > 0) {
        low += earned * total_low;
        high += earned * total;
        return {-(low / others), high / -others_low};
    }
    return {std::max(least, -(low / others)), std::min(high / -others_low, most)};
}

inline void Levels::better(Pair& found, Pair other, bool& any) const {
    if (!any) {
        found = other;
        any = true;
    } else if (question_.optimum < 0) {
        found = {std::min(found.low, other.low), std::min(found.high, other.high)};
    } else {
        found = {std::max(found.low, other.low), std::max(found.high, other.high)};
    }
}

// The best row of an unknown among those that stay in the level, those that leave it, or all; false if there is none.
template <class R, bool STAYING, bool LEAVING>
bool Levels::best(const R& rows, size_t unknown, const double* values, size_t own, const int64_t* targets,
                  Pair& found) const {
    const size_t size = 2 * rows.n_states;
    bool any = false;
    for (size_t i = starts_[unknown]; i < starts_[unknown + 1]; ++i) {
        const auto s = static_cast<size_t>(members_[i]);
        for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
            if (question_.skip && question_.skip[r]) continue;
            const uint16_t kind = question_.classes[r];
            const bool stays = question_.stays[kind];
            if (stays ? !STAYING : !LEAVING) continue;
            const int64_t target = stays ? static_cast<int64_t>(own) : targets[kind];
            if (target < 0)
                better(found, {0, 0}, any);
            else
                better(found, row_value(rows, r, unknown, values + static_cast<size_t>(target) * size, stays), any);
        }
    }
    return any;
}

// Whether a row belongs to a state of an unknown.
template <class R>
bool Levels::owns(const R& rows, size_t unknown, size_t row) const {
    for (size_t i = starts_[unknown]; i < starts_[unknown + 1]; ++i) {
        const auto s = static_cast<size_t>(members_[i]);
        if (row >= rows.first_row(s) && row < rows.first_row(s + 1)) return true;
    }
    return false;
}

inline void Levels::write(double* level, size_t unknown, Pair value) const {
    for (size_t i = starts_[unknown]; i < starts_[unknown + 1]; ++i) {
        level[2 * static_cast<size_t>(members_[i])] = value.low;
        level[2 * static_cast<size_t>(members_[i]) + 1] = value.high;
    }
}

// What the equations of a component have, solved directly, for sweeps to begin with.
template <class R>
void Levels::guess_directly(const R& rows, const Block& block, double* level, const std::vector<Pair>& outside,
                            const std::vector<uint8_t>& leaves) {
    Direct& direct = directs_[static_cast<size_t>(block.direct)];
    const size_t count = block.last - block.first;
    std::vector<double> found[2];
    for (size_t side = 0; side < 2; ++side) {
        std::vector<double> constants(direct.rows.size()), ends(count);
        size_t unknown = block.first;
        for (size_t k = 0; k < direct.rows.size(); ++k) {
            const size_t r = direct.rows[k];
            while (!owns(rows, unknown, r)) ++unknown;
            double sum = 0, others = 0, total = 0;
            for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                const auto column = static_cast<size_t>(rows.columns[e]);
                total += rows.values[e];
                if (unknown_of_[column] == static_cast<int32_t>(unknown)) continue;
                others += rows.values[e];
                if (!inside(block, unknown_of_[column])) sum += rows.values[e] * level[2 * column + side];
            }
            constants[k] = (sum + (question_.earned ? question_.earned[r] * total : 0.0)) / others;
        }
        for (size_t i = 0; i < count; ++i) ends[i] = side ? outside[i].high : outside[i].low;
        if (!direct.equations.solve(question_.optimum, constants, ends, leaves, found[side], direct.policies[side])) return;
    }
    for (size_t i = 0; i < count; ++i)
        if (std::isfinite(found[0][i]) && std::isfinite(found[1][i]))
            write(level, block.first + i, {std::max(found[0][i], 0.0), std::max(found[1][i], 0.0)});
}

template <class R>
LevelOutcome Levels::solve_block(const R& rows, const Block& block, double* values, size_t own, const int64_t* targets,
                                 double tolerance, size_t most_sweeps) {
    RoundUp mode;
    const size_t count = block.last - block.first;
    double* level = values + own * 2 * rows.n_states;
    std::vector<Pair> outside(count);
    std::vector<uint8_t> leaves(count);
    for (size_t i = 0; i < count; ++i) {
        outside[i] = {0, 0};
        leaves[i] = best<R, false, true>(rows, block.first + i, values, own, targets, outside[i]);
    }
    if (block.direct >= 0) guess_directly(rows, block, level, outside, leaves);
    auto worth = [&](size_t i) {
        Pair found{0, 0};
        bool any = best<R, true, false>(rows, block.first + i, values, own, targets, found);
        if (leaves[i]) better(found, outside[i], any);
        return found;
    };
    auto at = [&](size_t i) {
        const auto s = static_cast<size_t>(members_[starts_[block.first + i]]);
        return Pair{level[2 * s], level[2 * s + 1]};
    };
    LevelOutcome outcome{0, false};
    while (outcome.sweeps < most_sweeps) {
        ++outcome.sweeps;
        double change = 0, largest = 0;
        for (size_t k = 0; k < count; ++k) {
            const size_t i = outcome.sweeps % 2 ? count - 1 - k : k;
            const Pair old = at(i), now = worth(i);
            change = std::max({change, std::abs(now.low - old.low), std::abs(now.high - old.high)});
            largest = std::max(largest, now.high);
            write(level, block.first + i, now);
        }
        if (change * block.longest <= tolerance * largest || change <= 16 * UNIT * largest) {
            outcome.close = true;
            break;
        }
    }
    double below = 0, above = 0;  // what the equations are violated by
    for (size_t i = 0; i < count; ++i) {
        const Pair old = at(i), now = worth(i);
        below = std::max(below, old.low - now.low);
        above = std::max(above, now.high - old.high);
    }
    for (size_t i = 0; i < count; ++i) {
        const double w = weights_[block.first + i];
        Pair value = at(i);
        value.low = std::max(0.0, -(below * w - value.low));
        value.high += above * w;
        if (!question_.earned) value.high = std::min(value.high, 1.0);
        write(level, block.first + i, value);
    }
    return outcome;
}

LevelOutcome Levels::solve(double* values, size_t own, const int64_t* targets, double tolerance, size_t most_sweeps,
                           int threads) {
    if (hard_) throw std::logic_error("components without weights cannot be solved here");
    LevelOutcome outcome{0, true};
    visit(question_.matrix, [&](const auto& rows) {
        using R = std::decay_t<decltype(rows)>;
        double* level = values + own * 2 * rows.n_states;
        for (const Layer& layer : layers_) {
            const size_t count = layer.last - layer.first;
            const int shared = count > ALONE ? threads : 1;
            auto work = [&](int t) {
                RoundUp mode;
                const auto [first, last] = share(count, t, shared);
                for (size_t u = layer.first + first; u < layer.first + last; ++u) {
                    Pair found{0, 0};
                    best<R, true, true>(rows, u, values, own, targets, found);
                    write(level, u, found);
                }
            };
            if (shared > 1)
                run_on_threads(shared, work);
            else
                work(0);
            for (size_t b = layer.first_block; b < layer.last_block; ++b) {
                const LevelOutcome found = solve_block(rows, blocks_[b], values, own, targets, tolerance, most_sweeps);
                outcome.sweeps = std::max(outcome.sweeps, found.sweeps);
                outcome.close &= found.close;
            }
        }
    });
    return outcome;
}

}  // namespace galton
