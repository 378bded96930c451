#include "regions.hpp"

#include <algorithm>
#include <barrier>
#include <vector>

#include "flush.hpp"
#include "parallel.hpp"

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define GALTON_WIDER __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GALTON_WIDER
#endif

namespace galton {

namespace {

constexpr size_t PAIR = 2 * LANES;  // below and above

// One number per box. Arrays of NumPy are aligned for doubles only.
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

// One step for some rows. An explicit vector type, because the choice between two rates is not always vectorised
// otherwise.
GALTON_WIDER void step_rows(const ParametricRows& rows, const double* rates, const double* from, double* to, size_t first,
                            size_t last) {
    for (size_t row = first; row < last; ++row) {
        const size_t state = static_cast<size_t>(rows.states[row]) * PAIR;
        const Lanes below = *reinterpret_cast<const Lanes*>(from + state);
        const Lanes above = *reinterpret_cast<const Lanes*>(from + state + LANES);
        Lanes fall{}, rise{};
        for (int64_t e = rows.starts[row]; e < rows.starts[row + 1]; ++e) {
            const double* target = from + static_cast<size_t>(rows.columns[e]) * PAIR;
            const double* term = rates + static_cast<size_t>(rows.terms[e]) * PAIR;
            const Lanes least = *reinterpret_cast<const Lanes*>(term), most = *reinterpret_cast<const Lanes*>(term + LANES);
            const Lanes down = *reinterpret_cast<const Lanes*>(target) - below;
            const Lanes up = *reinterpret_cast<const Lanes*>(target + LANES) - above;
            const double c = rows.coefficients[e];
            fall += c * (down > 0 ? least : most) * down;
            rise += c * (up > 0 ? most : least) * up;
        }
        *reinterpret_cast<Lanes*>(to + state) = below + fall;
        *reinterpret_cast<Lanes*>(to + state + LANES) = above + rise;
    }
}

GALTON_WIDER void add_weighted(const double* weight, const double* x, const int32_t* watched, double* sum, size_t first,
                               size_t last) {
    const Lanes w = *reinterpret_cast<const Lanes*>(weight);
    for (size_t i = first; i < last; ++i) {
        const double* value = x + static_cast<size_t>(watched[i]) * PAIR;
        double* total = sum + i * PAIR;
        *reinterpret_cast<Lanes*>(total) += w * *reinterpret_cast<const Lanes*>(value);
        *reinterpret_cast<Lanes*>(total + LANES) += w * *reinterpret_cast<const Lanes*>(value + LANES);
    }
}

void largest_change(const ParametricRows& rows, const double* before, const double* after, size_t first, size_t last,
                    double* changes) {
    for (size_t row = first; row < last; ++row) {
        const size_t state = static_cast<size_t>(rows.states[row]) * PAIR;
        for (size_t i = 0; i < PAIR; ++i)
            changes[i] = std::max({changes[i], after[state + i] - before[state + i], before[state + i] - after[state + i]});
    }
}

}  // namespace

bool region_steps(const ParametricRows& rows, size_t steps, const double* rates, const double* weights, double* x,
                  double* other, const int32_t* watched, size_t n_watched, double* sum, double* changes, int threads) {
    double* buffers[2] = {x, other};
    std::vector<double> found(static_cast<size_t>(threads) * PAIR, 0.0);
    std::barrier meeting(threads);
    run_on_threads(threads, [&](int thread) {
        FlushToZero flush;
        const auto [first, last] = share(rows.n_rows, thread, threads);
        const auto [begin, end] = share(n_watched, thread, threads);
        for (size_t k = 0; k < steps; ++k) {
            const double* from = buffers[k % 2];
            if (weights) add_weighted(weights + k * LANES, from, watched, sum, begin, end);
            step_rows(rows, rates, from, buffers[(k + 1) % 2], first, last);
            if (threads > 1) meeting.arrive_and_wait();
        }
        if (steps)
            largest_change(rows, buffers[(steps + 1) % 2], buffers[steps % 2], first, last,
                           found.data() + static_cast<size_t>(thread) * PAIR);
    });
    std::fill(changes, changes + PAIR, 0.0);
    for (size_t i = 0; i < found.size(); ++i) changes[i % PAIR] = std::max(changes[i % PAIR], found[i]);
    return steps % 2 == 1;
}

}  // namespace galton
