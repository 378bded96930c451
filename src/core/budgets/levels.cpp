#include "budgets/levels.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

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
    RoundUp(const RoundUp&) = delete;
    RoundUp& operator=(const RoundUp&) = delete;

  private:
    int mode_;
};

}  // namespace

Levels::Levels(const LevelQuestion& question)
    : n_states_(question.matrix.n_states), optimum_(question.optimum), earns_(question.earned != nullptr),
      stays_(question.stays, question.stays + question.n_classes), landings_(question.n_landings) {
    for (size_t s = 0; s < n_states_; ++s)
        if (question.landing[s] >= 0) landings_[static_cast<size_t>(question.landing[s])] = static_cast<int32_t>(s);
    if (question.matrix.dictionary) {
        const MatrixView& m = question.matrix;
        size_t size = 0;
        for (size_t e = 0; e < m.n_entries; ++e) size = std::max<size_t>(size, m.bytes ? m.bytes[e] : m.shorts[e]);
        dictionary_.assign(m.dictionary, m.dictionary + (m.n_entries ? size + 1 : 0));
    }
    visit(question.matrix, [&](const auto& rows) {
        number(rows, question);
        pack(rows, question);
    });
    weigh();
}

// Unknowns by depth: how many components lie between them and what is known. In a layer they come in the order of states.
template <class R>
void Levels::number(const R& rows, const LevelQuestion& question) {
    const size_t n = n_states_, n_components = question.n_components;
    const int32_t* component = question.component;
    std::vector<size_t> sizes(n_components + 1, 0);
    for (size_t s = 0; s < n; ++s)
        if (component[s] >= 0) ++sizes[static_cast<size_t>(component[s]) + 1];
    std::partial_sum(sizes.begin(), sizes.end(), sizes.begin());
    std::vector<int32_t> states(sizes.back());
    std::vector<size_t> next(sizes.begin(), sizes.end() - 1);
    for (size_t s = 0; s < n; ++s)
        if (component[s] >= 0) states[next[static_cast<size_t>(component[s])]++] = static_cast<int32_t>(s);

    std::vector<size_t> depth(n_components, 0), unknowns(n_components, 0);
    size_t deepest = 0;
    auto group = [&](int32_t s) { return question.merged ? question.merged[s] : -1; };
    for (size_t c = 0; c < n_components; ++c) {
        auto first = states.begin() + static_cast<std::ptrdiff_t>(sizes[c]);
        auto last = states.begin() + static_cast<std::ptrdiff_t>(sizes[c + 1]);
        if (question.merged) std::stable_sort(first, last, [&](int32_t a, int32_t b) { return group(a) < group(b); });
        for (auto s = first; s != last; ++s) {
            unknowns[c] += s == first || group(*s) < 0 || group(*s) != group(*(s - 1));
            for (size_t r = rows.first_row(static_cast<size_t>(*s)); r < rows.first_row(static_cast<size_t>(*s) + 1); ++r) {
                if (!stays_[question.classes[r]] || (question.skip && question.skip[r])) continue;
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                    const int32_t other = component[rows.columns[e]];
                    if (other >= 0 && static_cast<size_t>(other) != c)
                        depth[c] = std::max(depth[c], depth[static_cast<size_t>(other)] + 1);
                }
            }
        }
        deepest = std::max(deepest, depth[c]);
    }
    std::vector<size_t> order(n_components);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        if (depth[a] != depth[b]) return depth[a] < depth[b];
        if ((unknowns[a] > 1) != (unknowns[b] > 1)) return unknowns[b] > 1;
        return states[sizes[a]] < states[sizes[b]];
    });

    unknown_of_.assign(n, -1);
    members_.reserve(states.size());
    starts_.reserve(states.size() + 1);
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
            if (i > sizes[c] && group(s) >= 0 && group(s) == group(states[i - 1])) starts_.pop_back();
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
}

// Copy the rows of unknowns. Where a row leads back to its own unknown, the others are all of it, and it earns that much more.
template <class R>
void Levels::pack(const R& rows, const LevelQuestion& question) {
    RoundUp mode;
    first_rows_.push_back(0);
    first_entries_.push_back(0);
    for (size_t u = 0; u < n_unknowns(); ++u) {
        for (size_t i = starts_[u]; i < starts_[u + 1]; ++i) {
            const auto s = static_cast<size_t>(members_[i]);
            for (size_t r = rows.first_row(s); r < rows.first_row(s + 1); ++r) {
                if (question.skip && question.skip[r]) continue;
                const bool stays = stays_[question.classes[r]];
                double others = 0, others_low = 0, total = 0, total_low = 0;  // low ones are negated
                for (size_t e = rows.first_entry(r); e < rows.first_entry(r + 1); ++e) {
                    const auto column = static_cast<size_t>(rows.columns[e]);
                    const double p = rows.values[e];
                    total += p;
                    total_low -= p;
                    if (stays && unknown_of_[column] == static_cast<int32_t>(u)) continue;
                    others += p;
                    others_low -= p;
                    columns_.push_back(stays ? rows.columns[e] : question.landing[column]);
                    if (columns_.back() < 0) throw std::invalid_argument("a row leads to a state that is no landing");
                    if (question.matrix.dictionary)
                        codes_.push_back(question.matrix.bytes ? question.matrix.bytes[e] : question.matrix.shorts[e]);
                    else
                        plain_.push_back(p);
                }
                if (columns_.size() == first_entries_.back())
                    throw std::invalid_argument("a row that spends nothing leads nowhere else");
                kinds_.push_back(question.classes[r]);
                first_entries_.push_back(columns_.size());
                if (earns_) {
                    const double earned = question.earned[r];
                    const bool loops = others != total || others_low != total_low;
                    earned_.push_back(loops ? Pair{-(earned * total_low / others), earned * total / -others_low}
                                            : Pair{earned, earned});
                }
            }
        }
        if (kinds_.size() > std::numeric_limits<uint32_t>::max()) throw std::length_error("too many choices");
        first_rows_.push_back(static_cast<uint32_t>(kinds_.size()));
    }
}

// 1 + A w of an unknown, for the row where that is most.
double Levels::longest(const Block& block, size_t unknown) const {
    double most = 0;
    for (size_t r = first_rows_[unknown]; r < first_rows_[unknown + 1]; ++r) {
        if (!stays_[kinds_[r]]) continue;
        double sum = 0, others = 0;  // the second is negated
        for (size_t e = first_entries_[r]; e < first_entries_[r + 1]; ++e) {
            others -= value(e);
            if (inside(block, columns_[e]))
                sum += value(e) * weights_[static_cast<size_t>(unknown_of_[static_cast<size_t>(columns_[e])])];
        }
        most = std::max(most, sum / -others);
    }
    return 1 + most;
}

void Levels::weigh() {
    RoundUp mode;
    weights_.assign(blocks_.empty() ? 0 : n_unknowns(), 1.0);
    for (Block& block : blocks_) {
        if (!weigh_by_sweeps(block) && !weigh_directly(block)) ++hard_;
        for (size_t u = block.first; u < block.last; ++u) block.longest = std::max(block.longest, weights_[u]);
    }
}

// Sweeps until w grows by less than a half in each, which makes 2w what is needed.
bool Levels::weigh_by_sweeps(Block& block) {
    const size_t most = block.last - block.first <= LARGEST_DIRECT ? PATIENT : MOST_WEIGHING;
    for (size_t sweep = 0; sweep < most; ++sweep) {
        double growth = 0;
        for (size_t u = block.last; u-- > block.first;) {
            const double now = longest(block, u);
            growth = std::max(growth, now - weights_[u]);
            weights_[u] = std::max(weights_[u], now);
        }
        if (growth <= 0.4 && double_weights(block)) return true;
    }
    return false;
}

bool Levels::double_weights(const Block& block) {
    for (size_t u = block.first; u < block.last; ++u) weights_[u] *= 2;
    bool good = true;
    for (size_t u = block.first; u < block.last && good; ++u) good = weights_[u] < INFINITE && longest(block, u) <= weights_[u];
    if (!good)
        for (size_t u = block.first; u < block.last; ++u) weights_[u] /= 2;
    return good;
}

// The longest way out as equations of their own, which then serve every level.
bool Levels::weigh_directly(Block& block) {
    const size_t count = block.last - block.first;
    if (count > LARGEST_DIRECT) return false;
    Direct direct{DirectEquations(count), {}, {}};
    std::vector<uint8_t> ends(count, 1);
    for (size_t u = block.first; u < block.last; ++u) {
        for (size_t r = first_rows_[u]; r < first_rows_[u + 1]; ++r) {
            if (!stays_[kinds_[r]]) continue;
            double others = 0;
            for (size_t e = first_entries_[r]; e < first_entries_[r + 1]; ++e) others += value(e);
            for (size_t e = first_entries_[r]; e < first_entries_[r + 1]; ++e)
                if (inside(block, columns_[e]))
                    direct.equations.add(static_cast<size_t>(unknown_of_[static_cast<size_t>(columns_[e])]) - block.first,
                                         value(e) / others);
            direct.equations.end_row();
            direct.rows.push_back(r);
            ends[u - block.first] = 0;
        }
        direct.equations.end_unknown();
    }
    const std::vector<double> ones(std::max(direct.rows.size(), count), 1.0);
    std::vector<double> w;
    FactoredPolicy policy;
    if (!direct.equations.solve(1, ones, ones, ends, w, policy)) return false;
    for (size_t i = 0; i < count; ++i) weights_[block.first + i] = w[i];
    if (!double_weights(block)) return false;
    block.direct = static_cast<int>(directs_.size());
    directs_.push_back(std::move(direct));
    return true;
}

// Bounds on the value of a row: a mean, which lies between the numbers it is of, and what is earned.
inline Levels::Pair Levels::row_value(size_t row, const double* from) const {
    double low = 0, high = 0, others_low = 0, others = 0, least = INFINITE, most = 0;  // low ones are negated
    for (size_t e = first_entries_[row]; e < first_entries_[row + 1]; ++e) {
        const double p = value(e);
        const double* bounds = from + 2 * static_cast<size_t>(columns_[e]);
        others_low -= p;
        others += p;
        low += p * -bounds[0];
        high += p * bounds[1];
        least = std::min(least, bounds[0]);
        most = std::max(most, bounds[1]);
    }
    const Pair mean{std::max(least, -(low / others)), std::min(high / -others_low, most)};
    if (!earns_) return mean;
    return {-(-mean.low - earned_[row].low), mean.high + earned_[row].high};
}

inline void Levels::better(Pair& found, Pair other, bool& any) const {
    if (!any) {
        found = other;
        any = true;
    } else if (optimum_ < 0) {
        found = {std::min(found.low, other.low), std::min(found.high, other.high)};
    } else {
        found = {std::max(found.low, other.low), std::max(found.high, other.high)};
    }
}

// The best row of an unknown among those that stay in the level, those that leave it, or all; false if there is none.
template <bool STAYING, bool LEAVING>
bool Levels::best(size_t unknown, const Place& place, Pair& found) const {
    bool any = false;
    for (size_t r = first_rows_[unknown]; r < first_rows_[unknown + 1]; ++r) {
        const uint16_t kind = kinds_[r];
        if (stays_[kind]) {
            if (STAYING) better(found, row_value(r, place.level), any);
        } else if (LEAVING) {
            const int64_t target = place.targets[kind];
            better(found,
                   target < 0 ? Pair{0, 0} : row_value(r, place.kept + static_cast<size_t>(target) * 2 * landings_.size()),
                   any);
        }
    }
    return any;
}

inline void Levels::write(double* level, size_t unknown, Pair value) const {
    for (size_t i = starts_[unknown]; i < starts_[unknown + 1]; ++i) {
        level[2 * static_cast<size_t>(members_[i])] = value.low;
        level[2 * static_cast<size_t>(members_[i]) + 1] = value.high;
    }
}

// What the equations of a component have, solved directly, for sweeps to begin with.
void Levels::guess_directly(const Block& block, double* level, const std::vector<Pair>& outside,
                            const std::vector<uint8_t>& leaves) {
    Direct& direct = directs_[static_cast<size_t>(block.direct)];
    const size_t count = block.last - block.first;
    std::vector<double> found[2];
    for (size_t side = 0; side < 2; ++side) {
        std::vector<double> constants(direct.rows.size()), ends(count);
        for (size_t k = 0; k < direct.rows.size(); ++k) {
            const size_t r = direct.rows[k];
            double sum = 0, others = 0;
            for (size_t e = first_entries_[r]; e < first_entries_[r + 1]; ++e) {
                others += value(e);
                if (!inside(block, columns_[e])) sum += value(e) * level[2 * static_cast<size_t>(columns_[e]) + side];
            }
            constants[k] = sum / others + (!earns_ ? 0.0 : side ? earned_[r].high : earned_[r].low);
        }
        for (size_t i = 0; i < count; ++i) ends[i] = side ? outside[i].high : outside[i].low;
        if (!direct.equations.solve(optimum_, constants, ends, leaves, found[side], direct.policies[side])) return;
    }
    for (size_t i = 0; i < count; ++i)
        if (std::isfinite(found[0][i]) && std::isfinite(found[1][i]))
            write(level, block.first + i, {std::max(0.0, found[0][i]), std::max(0.0, found[1][i])});
}

LevelOutcome Levels::solve_block(const Block& block, const Place& place, double tolerance, size_t most_sweeps) {
    RoundUp mode;
    const size_t count = block.last - block.first;
    double* level = place.level;
    std::vector<Pair> outside(count, Pair{0, 0});
    std::vector<uint8_t> leaves(count);
    for (size_t i = 0; i < count; ++i) leaves[i] = best<false, true>(block.first + i, place, outside[i]);
    if (block.direct >= 0) guess_directly(block, level, outside, leaves);
    auto worth = [&](size_t i) {
        Pair found{0, 0};
        bool any = best<true, false>(block.first + i, place, found);
        if (leaves[i]) better(found, outside[i], any);
        return found;
    };
    auto at = [&](size_t i) {
        const auto s = static_cast<size_t>(members_[starts_[block.first + i]]);
        return Pair{level[2 * s], level[2 * s + 1]};
    };
    LevelOutcome outcome{0, false};
    while (outcome.sweeps < most_sweeps && !outcome.close) {
        ++outcome.sweeps;
        double change = 0, largest = 0;
        for (size_t k = 0; k < count; ++k) {
            const size_t i = outcome.sweeps % 2 ? count - 1 - k : k;
            const Pair old = at(i), now = worth(i);
            change = std::max({change, std::abs(now.low - old.low), std::abs(now.high - old.high)});
            largest = std::max(largest, now.high);
            write(level, block.first + i, now);
        }
        outcome.close = change * block.longest <= tolerance * largest || change <= 16 * UNIT * largest;
    }
    double below = 0, above = 0;  // what the equations are violated by
    for (size_t i = 0; i < count; ++i) {
        const Pair old = at(i), now = worth(i);
        below = std::max(below, old.low - now.low);
        above = std::max(above, now.high - old.high);
    }
    for (size_t i = 0; i < count; ++i) {
        const double w = weights_[block.first + i];
        Pair found = at(i);
        found.low = std::max(0.0, -(below * w - found.low));
        found.high += above * w;
        if (!earns_) found.high = std::min(found.high, 1.0);
        write(level, block.first + i, found);
    }
    return outcome;
}

LevelOutcome Levels::solve(double* level, double* kept, size_t own, const int64_t* targets, double tolerance,
                           size_t most_sweeps, int threads) {
    if (hard_) throw std::logic_error("components without weights cannot be solved here");
    LevelOutcome outcome{0, true};
    const Place place{level, kept, targets};
    for (const Layer& layer : layers_) {
        const size_t count = layer.last - layer.first;
        const int shared = count > ALONE ? threads : 1;
        auto work = [&](int t) {
            RoundUp mode;
            const auto [first, last] = share(count, t, shared);
            for (size_t u = layer.first + first; u < layer.first + last; ++u) {
                Pair found{0, 0};
                best<true, true>(u, place, found);
                write(level, u, found);
            }
        };
        if (shared > 1)
            run_on_threads(shared, work);
        else
            work(0);
        for (size_t b = layer.first_block; b < layer.last_block; ++b) {
            const LevelOutcome found = solve_block(blocks_[b], place, tolerance, most_sweeps);
            outcome.sweeps = std::max(outcome.sweeps, found.sweeps);
            outcome.close &= found.close;
        }
    }
    double* landing = kept + own * 2 * landings_.size();
    for (size_t i = 0; i < landings_.size(); ++i) {
        const auto s = static_cast<size_t>(landings_[i]);
        landing[2 * i] = level[2 * s];
        landing[2 * i + 1] = level[2 * s + 1];
    }
    return outcome;
}

}  // namespace galton
