// The model whose states are the blocks.
#include <numeric>
#include <set>

#include "lump/lump.hpp"

namespace galton {

namespace {

// The sum of doubles rounded once, but for the last bit of a sum that lies between two doubles by less than a part of
// 2^-100 (Knuth's TwoSum).
class Sum {
  public:
    void add(double x) {
        const double next = high_ + x, part = next - high_;
        low_ += (high_ - (next - part)) + (x - part);
        high_ = next;
    }
    double value() const { return high_ + low_; }

  private:
    double high_ = 0, low_ = 0;
};

struct Growing {
    std::vector<int32_t> groups{0};
    std::vector<int64_t> starts{0}, sources;
    std::vector<int32_t> columns, kinds;
    std::vector<double> values;
};

template <class T>
Pages<T> pages_of(const std::vector<T>& values) {
    Pages<T> pages(values.size());
    std::copy(values.begin(), values.end(), pages.data());
    return pages;
}

template <class Rows>
void add_row(const Rows& rows, const Sight& sight, size_t row, int32_t own, Scratch& scratch, Growing& out) {
    auto& entries = scratch.entries;
    entries.clear();
    for (size_t e = rows.first_entry(row); e < rows.first_entry(row + 1); ++e) {
        const int32_t to = rows.columns[e];
        const uint64_t kind = sight.kinds ? static_cast<uint64_t>(sight.kinds[e]) : 0;
        if (!sight.leaving || to != own) entries.emplace_back(static_cast<uint64_t>(to) * sight.n_kinds + kind, e);
    }
    std::sort(entries.begin(), entries.end());
    for (size_t i = 0; i < entries.size();) {
        const uint64_t target = entries[i].first;
        Sum sum;
        for (; i < entries.size() && entries[i].first == target; ++i) sum.add(rows.values[entries[i].second]);
        if (sum.value() == 0) continue;
        out.columns.push_back(static_cast<int32_t>(target / sight.n_kinds));
        if (sight.kinds) out.kinds.push_back(static_cast<int32_t>(target % sight.n_kinds));
        out.values.push_back(sum.value());
    }
    out.sources.push_back(static_cast<int64_t>(row));
    out.starts.push_back(static_cast<int64_t>(out.columns.size()));
}

}  // namespace

Quotient quotient(const MatrixView& matrix, size_t dictionary, const Sight& sight, const Stop& stop) {
    const std::vector<Residues> residues = residues_for(matrix, dictionary, 1);
    std::vector<int32_t> itself(matrix.n_states);
    std::iota(itself.begin(), itself.end(), 0);
    Growing out;
    visit(matrix, [&](const auto& rows) {
        using Rows = std::remove_cvref_t<decltype(rows)>;
        const Signatures<Rows> signatures(rows, sight, residues, dictionary);
        Scratch scratch;
        Patience patience(stop);
        std::set<std::vector<uint64_t>> seen;
        for (int32_t state : itself) {
            const size_t s = static_cast<size_t>(state);
            patience.spend();
            seen.clear();
            for (size_t row = rows.first_row(s); row < rows.first_row(s + 1); ++row) {
                if (rows.groups) {
                    std::vector<uint64_t> signature;
                    signatures.exact_row(row, itself.data(), state, scratch, signature);
                    if (!seen.insert(std::move(signature)).second) continue;
                }
                add_row(rows, sight, row, state, scratch, out);
            }
            out.groups.push_back(static_cast<int32_t>(out.sources.size()));
        }
    });
    return {matrix.groups ? pages_of(out.groups) : Pages<int32_t>(),
            pages_of(out.starts),
            pages_of(out.sources),
            pages_of(out.columns),
            pages_of(out.kinds),
            pages_of(out.values)};
}

}  // namespace galton
