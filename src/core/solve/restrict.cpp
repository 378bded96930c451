#include "solve/restrict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"

namespace galton {

namespace {

// A part of the unknowns, and how many rows and entries it has.
struct Part {
    size_t first, last;
    size_t rows = 0, entries = 0, longest = 0;
    bool loops = false;
};

template <class R>
class Restriction {
  public:
    Restriction(const Question& question, const R& rows) : q_(question), rows_(rows) {}

    Equations run(int threads) {
        const size_t worth = 20'000;
        const int parts = static_cast<int>(std::clamp<size_t>(q_.unknowns / worth, 1, static_cast<size_t>(threads)));
        for (int t = 0; t < parts; ++t) {
            auto [first, last] = share(q_.unknowns, t, parts);
            parts_.push_back({first, last});
        }
        run_on_threads(parts, [&](int t) { count(parts_[static_cast<size_t>(t)]); });
        allocate();
        run_on_threads(parts, [&](int t) { write(static_cast<size_t>(t)); });
        set_start(out_.rows.size(), out_.columns.size());
        if (out_.groups.size()) out_.groups[q_.unknowns] = static_cast<int32_t>(out_.rows.size());
        return std::move(out_);
    }

  private:
    template <class Visit>
    void rows_of(size_t unknown, Visit&& visit) const {
        const size_t first = q_.starts ? static_cast<size_t>(q_.starts[unknown]) : unknown;
        const size_t last = q_.starts ? static_cast<size_t>(q_.starts[unknown + 1]) : unknown + 1;
        for (size_t i = first; i < last; ++i) {
            const auto state = static_cast<size_t>(q_.members[i]);
            for (size_t r = rows_.first_row(state); r < rows_.first_row(state + 1); ++r)
                if (!q_.keep || q_.keep[r]) visit(r);
        }
    }

    void count(Part& part) {
        for (size_t u = part.first; u < part.last; ++u) {
            rows_of(u, [&](size_t r) {
                ++part.rows;
                const size_t begin = rows_.first_entry(r), end = rows_.first_entry(r + 1);
                part.longest = std::max(part.longest, end - begin);
                for (size_t e = begin; e < end; ++e) {
                    const int32_t target = q_.number[rows_.columns[e]];
                    if (target == static_cast<int32_t>(u)) {
                        part.loops = true;
                    } else if (target >= 0) {
                        ++part.entries;
                    }
                }
            });
        }
    }

    void allocate() {
        size_t rows = 0, entries = 0;
        bool scaled = q_.rates;
        for (const Part& part : parts_) {
            rows += part.rows;
            entries += part.entries;
            out_.longest = std::max(out_.longest, part.longest);
            scaled |= part.loops;
        }
        if (rows_.groups) out_.groups = Pages<int32_t>(q_.unknowns + 1);
        if (entries < size_t{1} << 31) {
            out_.starts = Pages<int32_t>(rows + 1);
        } else {
            out_.wide_starts = Pages<int64_t>(rows + 1);
        }
        out_.columns = Pages<int32_t>(entries);
        if (q_.matrix.bytes) {
            out_.bytes = Pages<uint8_t>(entries);
        } else if (q_.matrix.shorts) {
            out_.shorts = Pages<uint16_t>(entries);
        } else {
            out_.plain = Pages<double>(entries);
        }
        if (scaled) out_.scale = Pages<double>(rows);
        out_.constant = Pages<double>(rows);
        out_.rows = Pages<int32_t>(rows);
        out_.progress = Pages<int32_t>(q_.unknowns);
    }

    void write(size_t number) {
        size_t row = 0, entry = 0;
        for (size_t p = 0; p < number; ++p) {
            row += parts_[p].rows;
            entry += parts_[p].entries;
        }
        for (size_t u = parts_[number].first; u < parts_[number].last; ++u) {
            if (out_.groups.size()) out_.groups[u] = static_cast<int32_t>(row);
            out_.progress[u] = static_cast<int32_t>(row);
            bool found = false;
            rows_of(u, [&](size_t r) {
                set_start(row, entry);
                out_.rows[row] = static_cast<int32_t>(r);
                if (write_row(u, r, row, entry) && !found) {
                    found = true;
                    out_.progress[u] = static_cast<int32_t>(row);
                }
                ++row;
            });
        }
    }

    void set_start(size_t row, size_t entry) {
        if (out_.starts.size()) {
            out_.starts[row] = static_cast<int32_t>(entry);
        } else {
            out_.wide_starts[row] = static_cast<int64_t>(entry);
        }
    }

    // Returns whether the row makes progress.
    bool write_row(size_t unknown, size_t r, size_t row, size_t& entry) {
        double constant = q_.reward ? q_.reward[r] : 0.0, leaving = 0;
        bool loop = false, progress = false;
        for (size_t e = rows_.first_entry(r); e < rows_.first_entry(r + 1); ++e) {
            const int32_t column = rows_.columns[e], target = q_.number[column];
            if (target == static_cast<int32_t>(unknown)) {
                loop = true;
                continue;
            }
            const double value = rows_.values[e];
            leaving += value;
            progress |= target < static_cast<int32_t>(unknown);
            if (target < 0) {
                constant += value * q_.known[column];
                continue;
            }
            out_.columns[entry] = target;
            if (q_.matrix.bytes) {
                out_.bytes[entry] = q_.matrix.bytes[e];
            } else if (q_.matrix.shorts) {
                out_.shorts[entry] = q_.matrix.shorts[e];
            } else {
                out_.plain[entry] = value;
            }
            ++entry;
        }
        // A row that leads nowhere else never ends: what it collects is infinite.
        const double scale = leaving == 0 ? 1.0 : q_.rates || loop ? 1 / leaving : 1.0;
        if (out_.scale.size()) out_.scale[row] = scale;
        out_.constant[row] = leaving == 0 ? HUGE_VAL : constant * scale;
        return progress;
    }

    const Question& q_;
    const R& rows_;
    std::vector<Part> parts_;
    Equations out_;
};

}  // namespace

Equations restrict(const Question& question, int threads) {
    return visit(question.matrix, [&](const auto& rows) { return Restriction(question, rows).run(threads); });
}

}  // namespace galton
