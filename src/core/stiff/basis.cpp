#include "stiff/basis.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"

namespace galton {

namespace {

constexpr size_t BLOCK = 1024;      // numbers: 8 KB of each vector
constexpr size_t LANES = 8;         // sums side by side, which the compiler makes vectors of
constexpr size_t WORTH = 1u << 19;  // numbers gone over that are worth further threads

double dot(const double* a, const double* b, size_t n) {
    double sums[LANES] = {};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t lane = 0; lane < LANES; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// body(block, first number, how many) for all blocks.
template <class Body>
void over_blocks(size_t n, size_t work, int threads, const Body& body) {
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    const auto run = [&](size_t first, size_t last) {
        for (size_t block = first; block < last; ++block) body(block, block * BLOCK, std::min(BLOCK, n - block * BLOCK));
    };
    if (threads <= 1 || work < WORTH) return run(0, blocks);
    run_on_threads(threads, [&](int thread) {
        auto [first, last] = share(blocks, thread, threads);
        run(first, last);
    });
}

}  // namespace

double orthogonalise(const double* vectors, size_t m, size_t n, double* x, double* parts, int threads) {
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<double> sums(blocks * (m + 1)), now(m);
    const auto dots = [&](size_t block, size_t first, size_t count) {
        for (size_t k = 0; k < m; ++k) sums[block * (m + 1) + k] = dot(vectors + k * n + first, x + first, count);
    };
    const auto subtract = [&](size_t first, size_t count) {
        for (size_t k = 0; k < m; ++k) {
            const double part = now[k];
            const double* vector = vectors + k * n + first;
            for (size_t i = 0; i < count; ++i) x[first + i] -= part * vector[i];
        }
    };
    const auto add_up = [&] {
        std::fill(now.begin(), now.end(), 0.0);
        for (size_t block = 0; block < blocks; ++block) {
            for (size_t k = 0; k < m; ++k) now[k] += sums[block * (m + 1) + k];
        }
        for (size_t k = 0; k < m; ++k) parts[k] += now[k];
    };
    std::fill(parts, parts + m, 0.0);
    over_blocks(n, m * n, threads, dots);
    add_up();
    over_blocks(n, m * n, threads, [&](size_t block, size_t first, size_t count) {
        subtract(first, count);
        dots(block, first, count);
    });
    add_up();
    over_blocks(n, m * n, threads, [&](size_t block, size_t first, size_t count) {
        subtract(first, count);
        sums[block * (m + 1) + m] = dot(x + first, x + first, count);
    });
    double square = 0;
    for (size_t block = 0; block < blocks; ++block) square += sums[block * (m + 1) + m];
    return std::sqrt(square);
}

void combine(const double* factors, size_t rows, const double* vectors, size_t m, size_t n, double* sums, int threads) {
    over_blocks(n, rows * m * n, threads, [&](size_t, size_t first, size_t count) {
        for (size_t row = 0; row < rows; ++row) {
            double* sum = sums + row * n + first;
            for (size_t k = 0; k < m; ++k) {
                const double factor = factors[row * m + k];
                const double* vector = vectors + k * n + first;
                for (size_t i = 0; i < count; ++i) sum[i] += factor * vector[i];
            }
        }
    });
}

}  // namespace galton
