#include "simulate/philox.hpp"

namespace galton {

// Whole numbers only, so that the result is the same with any instructions; 256-bit ones take half the time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx2", "default")))
#endif
void draw_all(Seed seed, const uint64_t* paths, const uint64_t* steps, int n, double* first, double* second) {
    for (int i = 0; i < n; ++i) {
        const Random4 random = philox(counter_of(paths[i], steps[i], 0), seed.low, seed.high);
        first[i] = uniform(random[0], random[1]);
        second[i] = uniform(random[2], random[3]);
    }
}

}  // namespace galton
