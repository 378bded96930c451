#include "solve/krylov.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "solve/split.hpp"

namespace galton {

namespace {

// The recurrence of galton/backend/bicgstab.py, written out here for speed: a sweep is the product, the preconditioner and
// the inner products in one pass over memory, and threads meet four times a step. Tests hold it against the other.
//
// All threads run the same program, each on a part of the unknowns, and meet after every phase.
template <class R>
class BiCGStab {
  public:
    BiCGStab(const System& system, const R& rows, double* x, const int32_t* chosen, Range range, const double* sizes,
             std::vector<size_t> cuts)
        : system_(system), rows_(rows), x_(x), chosen_(chosen), first_(range.first), size_(range.last - range.first),
          given_(sizes), cuts_(std::move(cuts)), parts_(cuts_.size() - 1), barrier_(static_cast<std::ptrdiff_t>(parts_)),
          partial_(parts_) {
        for (auto* v : {&r_, &shadow_, &p_, &v_, &s_, &t_, &y_, &weight_, &best_}) v->resize(size_);
    }

    Sweeps run(int sweeps, double tolerance) {
        Sweeps result;
        run_on_threads(static_cast<int>(parts_), [&](int t) {
            Sweeps mine = work(static_cast<size_t>(t), sweeps, tolerance);
            if (t == 0) result = mine;
        });
        return result;
    }

  private:
    struct Sums {
        double a = 0, b = 0, largest = 0;
    };

    size_t row_of(size_t i) const {
        const size_t state = first_ + i;
        return rows_.groups ? static_cast<size_t>(chosen_[state]) : state;
    }

    // One Gauss–Seidel sweep from z through a part, y = (I - L)⁻¹ U z, and what is left, out = z - y. Unknowns outside the
    // range count as zero. `use(i)` is called when out[i] is known.
    template <class Use>
    void sweep(const double* z, double* out, size_t begin, size_t end, Use&& use) {
        double* y = y_.data();
        for (size_t i = begin; i < end; ++i) {
            const size_t row = row_of(i), last = rows_.first_entry(row + 1);
            double sum = 0;
            for (size_t e = rows_.first_entry(row); e < last; ++e) {
                const size_t c = static_cast<size_t>(rows_.columns[e]) - first_;
                if (c < size_) sum += rows_.values[e] * (c - begin < i - begin ? y : z)[c];
            }
            y[i] = system_.scale ? system_.scale[row] * sum : sum;
            out[i] = z[i] - y[i];
            use(i);
        }
    }

    // The same with the constants, from x itself: y = G(x).
    void sweep_from_x(size_t begin, size_t end) {
        double* y = y_.data();
        for (size_t i = begin; i < end; ++i) {
            const size_t row = row_of(i), last = rows_.first_entry(row + 1);
            double sum = 0;
            for (size_t e = rows_.first_entry(row); e < last; ++e) {
                const size_t column = static_cast<size_t>(rows_.columns[e]), c = column - first_;
                sum += rows_.values[e] * (c < size_ && c - begin < i - begin ? y[c] : x_[column]);
            }
            y[i] = (system_.scale ? system_.scale[row] * sum : sum) + system_.constant[row];
        }
    }

    Sums meet(size_t part, const Sums& mine) {
        partial_[part] = mine;
        barrier_.arrive_and_wait();
        Sums all;
        for (const Sums& one : partial_) {
            all.a += one.a;
            all.b += one.b;
            all.largest = std::max(all.largest, one.largest);
        }
        barrier_.arrive_and_wait();  // nobody may overwrite a sum that another has not read
        return all;
    }

    Sweeps work(size_t part, int sweeps, double tolerance) {
        const size_t begin = cuts_[part] - first_, end = cuts_[part + 1] - first_;
        double* x = x_ + first_;
        Sweeps done;
        const double* sizes = given_ ? given_ + first_ : x;
        for (size_t i = begin; i < end; ++i) weight_[i] = sizes[i] > 0 ? 1 / (sizes[i] * sizes[i]) : 0;
        sweep_from_x(begin, end);
        Sums sums;
        for (size_t i = begin; i < end; ++i) {
            r_[i] = shadow_[i] = y_[i] - x[i];
            p_[i] = v_[i] = 0;
            best_[i] = x[i];
            sums.a += shadow_[i] * r_[i] * weight_[i];
            if (sizes[i] > 0) sums.largest = std::max(sums.largest, std::abs(r_[i]) / sizes[i]);
        }
        sums = meet(part, sums);
        double rho = sums.a, rho_before = 1, alpha = 1, omega = 1, best = sums.largest;
        done.done = 1;
        done.residual = best;
        while (done.done < sweeps && done.residual > tolerance) {
            const double beta = rho / rho_before * (alpha / omega);
            for (size_t i = begin; i < end; ++i) p_[i] = r_[i] + beta * (p_[i] - omega * v_[i]);
            barrier_.arrive_and_wait();
            sums = {};
            sweep(p_.data(), v_.data(), begin, end, [&](size_t i) { sums.a += shadow_[i] * v_[i] * weight_[i]; });
            alpha = rho / meet(part, sums).a;
            for (size_t i = begin; i < end; ++i) s_[i] = r_[i] - alpha * v_[i];
            barrier_.arrive_and_wait();
            sums = {};
            sweep(s_.data(), t_.data(), begin, end, [&](size_t i) {
                sums.a += t_[i] * s_[i] * weight_[i];
                sums.b += t_[i] * t_[i] * weight_[i];
            });
            sums = meet(part, sums);
            omega = sums.b > 0 ? sums.a / sums.b : 0;
            sums = {};
            for (size_t i = begin; i < end; ++i) {
                x[i] += alpha * p_[i] + omega * s_[i];
                r_[i] = s_[i] - omega * t_[i];
                sums.a += shadow_[i] * r_[i] * weight_[i];
                const double size = std::abs(sizes[i]);
                if (r_[i] != 0) sums.largest = std::max(sums.largest, std::abs(r_[i]) / size);
            }
            sums = meet(part, sums);
            rho_before = rho;
            rho = sums.a;
            done.done += 2;
            done.residual = sums.largest;
            if (!std::isfinite(rho) || !std::isfinite(done.residual) || rho == 0 || omega == 0) break;
            // Residuals go up and down; a copy of what was good once is only made when it has become much better.
            if (done.residual < best / 10) {
                best = done.residual;
                for (size_t i = begin; i < end; ++i) best_[i] = x[i];
            }
        }
        if (!(done.residual <= 2 * best)) {
            for (size_t i = begin; i < end; ++i) x[i] = best_[i];
            done.residual = best;
        }
        barrier_.arrive_and_wait();
        return done;
    }

    const System& system_;
    const R& rows_;
    double* x_;
    const int32_t* chosen_;
    const size_t first_, size_;
    const double* given_;
    const std::vector<size_t> cuts_;
    const size_t parts_;
    std::barrier<> barrier_;
    std::vector<Sums> partial_;
    std::vector<double> r_, shadow_, p_, v_, s_, t_, y_, weight_, best_;
};

}  // namespace

Sweeps bicgstab(const System& system, double* x, const int32_t* chosen, Range range, int sweeps, double tolerance, int threads,
                const double* sizes) {
    return visit(system.matrix, [&](const auto& rows) {
        return BiCGStab(system, rows, x, chosen, range, sizes, split(rows, range, threads)).run(sweeps, tolerance);
    });
}

}  // namespace galton
