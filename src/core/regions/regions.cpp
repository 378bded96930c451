#include "regions/regions.hpp"

#include <algorithm>
#include <barrier>
#include <vector>

#include "base/flush.hpp"
#include "base/parallel.hpp"

namespace galton {

namespace {

constexpr size_t PAIR = 2 * LANES;  // below and above

namespace narrow {
#define WIDTH 2
#include "regions/step.inc"
#undef WIDTH
}  // namespace narrow

using Step = void (*)(const ParametricRows&, const double*, const double*, double*, size_t, size_t);

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#pragma GCC push_options
#pragma GCC target("avx2")
namespace wide {
#define WIDTH 4
#include "regions/step.inc"
#undef WIDTH
}  // namespace wide
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f")
namespace wider {
#define WIDTH 8
#include "regions/step.inc"
#undef WIDTH
}  // namespace wider
#pragma GCC pop_options

template <bool FORWARD>
Step best_step() {
    if (__builtin_cpu_supports("avx512f")) return wider::step_rows<FORWARD>;
    return __builtin_cpu_supports("avx2") ? wide::step_rows<FORWARD> : narrow::step_rows<FORWARD>;
}

#else

template <bool FORWARD>
Step best_step() {
    return narrow::step_rows<FORWARD>;
}

#endif

void add_weighted(const double* weight, const double* x, const int32_t* watched, double* sum, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
        const double* value = x + static_cast<size_t>(watched[i]) * PAIR;
        for (size_t j = 0; j < PAIR; ++j) sum[i * PAIR + j] += weight[j % LANES] * value[j];
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
    static const Step backward = best_step<false>(), forward = best_step<true>();
    const Step step_rows = rows.forward ? forward : backward;
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
